//! Take the outputs of a network as linear in its weights.

use super::network::{Rows, Shape};

/// The outputs f(x, w̄) + Σ_i (w_i - w̄_i) ∂f/∂w_i(x, w̄) of a network that is taken as linear in
/// its weights w about w̄ [MacKay 1992b].
pub(super) struct LinearOutputs {
    shape: Shape,
    about: Vec<f64>,
    /// Hidden units of a row at w̄, and how they change along w - w̄.
    units: Vec<f64>,
    changes: Vec<f64>,
}

impl LinearOutputs {
    /// Linear about the weights `about`.
    ///
    /// # Panics
    /// If there is not one number per weight.
    pub(super) fn new(shape: Shape, about: &[f64]) -> Self {
        assert_eq!(about.len(), shape.len(), "one number per weight");
        let hidden = || vec![0.0; shape.hidden];
        LinearOutputs { shape, about: about.to_vec(), units: hidden(), changes: hidden() }
    }

    /// Writes the outputs at the rows, o·n + i.
    pub(super) fn outputs(&mut self, weights: &[f64], rows: &Rows, outputs: &mut [f64]) {
        let LinearOutputs { shape, about, units, changes } = self;
        let (hidden, count, n) = (shape.hidden, shape.outputs, rows.len());
        let [input, bias, output] =
            [shape.input_weights(), shape.hidden_bias(), shape.output_weights()].map(|r| r.start);
        let [output_bias, direct] = [shape.output_bias(), shape.direct_weights()].map(|r| r.start);
        for row in 0..n {
            let x = |k: usize| rows.double().value(row, k);
            for h in 0..hidden {
                let sum = |values: &[f64]| {
                    let terms = (0..shape.inputs).map(|k| values[input + k * hidden + h] * x(k));
                    values[bias + h] + terms.sum::<f64>()
                };
                let at = sum(about);
                units[h] = at.tanh();
                changes[h] = (1.0 - units[h] * units[h]) * (sum(weights) - at);
            }
            for o in 0..count {
                // What is linear in w already is so wherever it is looked at.
                let mut value = weights[output_bias + o];
                for h in 0..hidden {
                    let at = output + h * count + o;
                    value += weights[at] * units[h] + about[at] * changes[h];
                }
                if shape.direct {
                    value += (0..shape.inputs)
                        .map(|k| weights[direct + k * count + o] * x(k))
                        .sum::<f64>();
                }
                outputs[o * n + row] = value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use posteria_linalg::Matrix;

    use super::*;
    use crate::model::mlp::Network;
    use crate::random::{Purpose, Seed};

    /// Against the network itself: the error is of second order in the step.
    #[test]
    fn the_outputs_are_tangent_to_those_of_the_network() {
        for (hidden, direct) in [(0, true), (3, false), (3, true)] {
            let shape = Shape { inputs: 2, hidden, outputs: 2, direct };
            let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
            let mut normals =
                |count: usize| (0..count).map(|_| stream.normal()).collect::<Vec<_>>();
            let (about, step, x) = (normals(shape.len()), normals(shape.len()), normals(10));
            let rows = Rows::new(&Matrix::from_fn(5, 2, |row, k| x[2 * row + k]));
            let moved = |t: f64| -> Vec<f64> {
                about.iter().zip(&step).map(|(about, step)| about + t * step).collect()
            };
            let outputs = |weights: &[f64]| {
                let mut outputs = vec![0.0; 10];
                Network::new(shape, &rows).outputs(weights, &mut outputs);
                outputs
            };
            let mut linear = LinearOutputs::new(shape, &about);
            let mut far = vec![0.0; 10];
            linear.outputs(&moved(1.0), &rows, &mut far);
            let middle = outputs(&about);
            let t = 1e-5;
            let sides = outputs(&moved(t)).into_iter().zip(outputs(&moved(-t)));
            for ((far, middle), (high, low)) in far.iter().zip(&middle).zip(sides) {
                let slope = (high - low) / (2.0 * t);
                assert!((far - middle - slope).abs() < 1e-7, "{far} {middle} {slope}");
            }
        }
    }
}
