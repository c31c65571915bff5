//! Say which of the networks that differ by names and signs of hidden units stands for all.

use super::network::Shape;
use crate::model::Symmetry;

impl Shape {
    /// What takes these weights to the one of the 2^H H! equal networks whose hidden units are in
    /// order of the size of their output weights, the largest of which are positive
    /// [MacKay 1992b]. Searches that find the same mode under another name give the same weights.
    pub(crate) fn canonical(&self, weights: &[f64]) -> Symmetry {
        let (hidden, count) = (self.hidden, self.outputs);
        let out = &weights[self.output_weights()];
        let of_unit = |unit: usize| &out[unit * count..][..count];
        let size = |unit: usize| of_unit(unit).iter().map(|weight| weight * weight).sum::<f64>();
        let sign = |unit: usize| {
            let larger = |a: f64, b: &f64| if b.abs() > a.abs() { *b } else { a };
            of_unit(unit).iter().fold(0.0, larger).signum()
        };
        let mut order: Vec<usize> = (0..hidden).collect();
        order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
        let mut source: Vec<usize> = (0..self.len()).collect();
        let mut signs = vec![1.0; self.len()];
        let [inputs, biases, outputs] =
            [self.input_weights(), self.hidden_bias(), self.output_weights()].map(|it| it.start);
        for (unit, &from) in order.iter().enumerate() {
            let inputs = (0..self.inputs).map(|k| (inputs + k * hidden + unit, k));
            let inputs =
                inputs.map(|(place, k)| (place, self.input_weights().start + k * hidden + from));
            let bias = (biases + unit, biases + from);
            let outputs =
                (0..count).map(|o| (outputs + unit * count + o, outputs + from * count + o));
            for (place, own) in inputs.chain([bias]).chain(outputs) {
                (source[place], signs[place]) = (own, sign(from));
            }
        }
        Symmetry::new(source, signs)
    }
}

#[cfg(test)]
mod tests {
    use posteria_linalg::Matrix;

    use super::*;
    use crate::model::mlp::{Network, Rows};
    use crate::random::{Purpose, Seed};

    #[test]
    fn equal_networks_have_the_same_canonical_weights_and_outputs() {
        for direct in [false, true] {
            let shape = Shape { inputs: 2, hidden: 3, outputs: 2, direct };
            let mut stream = Seed(9).stream(Purpose::Data, [0, 0]);
            let weights: Vec<f64> = (0..shape.len()).map(|_| stream.normal()).collect();
            let canonical = shape.canonical(&weights).weights(&weights);
            // Names go round by one, and two units change their signs.
            let mut other = weights.clone();
            let [inputs, biases, outputs] =
                [shape.input_weights(), shape.hidden_bias(), shape.output_weights()]
                    .map(|it| it.start);
            for unit in 0..3 {
                let (from, sign) = ((unit + 1) % 3, if unit == 1 { 1.0 } else { -1.0 });
                (0..2).for_each(|k| {
                    other[inputs + 3 * k + unit] = sign * weights[inputs + 3 * k + from];
                    other[outputs + 2 * unit + k] = sign * weights[outputs + 2 * from + k];
                });
                other[biases + unit] = sign * weights[biases + from];
            }
            assert_ne!(other, weights);
            assert_eq!(shape.canonical(&other).weights(&other), canonical);
            let rows =
                Rows::new(&Matrix::from_fn(4, 2, |row, k| (row as f64 - 1.5) * (1.0 + k as f64)));
            let outputs = |weights: &[f64]| {
                let mut outputs = vec![0.0; 8];
                Network::new(shape, &rows).outputs(weights, &mut outputs);
                outputs
            };
            let pairs = outputs(&canonical).into_iter().zip(outputs(&weights));
            pairs.for_each(|(one, other)| assert!((one - other).abs() < 1e-12, "{one} {other}"));
        }
    }
}
