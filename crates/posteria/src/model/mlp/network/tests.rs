//! Check the network against plain loops, central differences and extreme weights.

use posteria_linalg::Matrix;

use super::*;
use crate::random::{Purpose, Seed, Stream};
use crate::target::{Infeasible, LogDensity, check_gradient};

/// The log likelihood as a density of the weights.
struct Weights<'a, 'p> {
    network: Network<'p>,
    likelihood: Likelihood<'a>,
}

impl LogDensity for Weights<'_, '_> {
    fn dim(&self) -> usize {
        self.network.shape.len()
    }

    fn log_density(&mut self, weights: &[f64]) -> Result<f64, Infeasible> {
        Ok(self.network.log_likelihood(weights, &self.likelihood))
    }

    fn log_density_gradient(&mut self, w: &[f64], gradient: &mut [f64]) -> Result<f64, Infeasible> {
        Ok(self.network.log_likelihood_gradient(w, &self.likelihood, gradient))
    }
}

const fn shape(inputs: usize, hidden: usize, outputs: usize, direct: bool) -> Shape {
    Shape { inputs, hidden, outputs, direct }
}

/// Shapes and numbers of rows: one row, odd numbers, several tiles, no hidden units.
const CASES: [(Shape, usize); 11] = [
    (shape(1, 8, 1, false), 100),
    (shape(2, 10, 1, true), 37),
    (shape(4, 8, 3, false), 65),
    (shape(3, 0, 1, true), 20),
    (shape(3, 0, 3, true), 9),
    (shape(2, 0, 2, false), 8),
    (shape(5, 3, 2, true), 1),
    (shape(13, 7, 1, false), 300),
    (shape(1, 1, 5, true), 530),
    (shape(0, 2, 1, false), 17),
    (shape(2, 5, 4, true), 16),
];

struct Data {
    inputs: Matrix,
    rows: Rows,
    weights: Vec<f64>,
    targets: Vec<f64>,
    positive: Vec<f64>,
    signs: Vec<f64>,
    codes: Vec<u32>,
}

impl Data {
    fn new(shape: Shape, n: usize, stream: &mut Stream) -> Self {
        let inputs = Matrix::from_fn(n, shape.inputs, |_, _| stream.normal());
        let mut normal =
            |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
        let (weights, targets) = (normal(shape.len()), normal(shape.outputs * n));
        let positive = normal(shape.outputs * n).iter().map(|z| z.exp()).collect();
        let signs = normal(shape.outputs * n).iter().map(|z| 1.0_f64.copysign(*z)).collect();
        let codes = (0..n).map(|i| ((i * 7 + 3) % shape.outputs) as u32).collect();
        Data { rows: Rows::new(&inputs), inputs, weights, targets, positive, signs, codes }
    }

    fn likelihoods(&self) -> [Likelihood<'_>; 5] {
        let (targets, inverse_scales) = (&self.targets[..], &self.positive[..]);
        [
            Likelihood::Squares { targets, precisions: inverse_scales },
            Likelihood::StudentT { targets, inverse_scales, dof: 3.5 },
            Likelihood::Absolute { targets, inverse_scales },
            Likelihood::Logistic { signs: &self.signs },
            Likelihood::Softmax { codes: &self.codes },
        ]
    }

    /// The outputs of one row by plain loops.
    fn outputs(&self, shape: Shape, w: &[f64], row: usize) -> Vec<f64> {
        let units = shape.hidden;
        let x = |k: usize| self.inputs[(row, k)];
        let hidden: Vec<f64> = (0..units)
            .map(|h| {
                let sum: f64 = (0..shape.inputs).map(|k| w[k * units + h] * x(k)).sum();
                (sum + w[shape.inputs * units + h]).tanh()
            })
            .collect();
        let count = shape.outputs;
        let (v, b) = (&w[shape.output_weights()], &w[shape.output_bias()]);
        let d = &w[shape.direct_weights()];
        (0..count)
            .map(|o| {
                let direct: f64 =
                    d.iter().skip(o).step_by(count).zip(0..).map(|(d, k)| d * x(k)).sum();
                b[o] + (0..units).map(|h| v[h * count + o] * hidden[h]).sum::<f64>() + direct
            })
            .collect()
    }
}

/// The log likelihood of one row by its formula.
fn row_value(likelihood: &Likelihood<'_>, f: &[f64], row: usize, n: usize) -> f64 {
    if let Likelihood::Outcomes { outcomes, given } = likelihood {
        return outcomes.terms(row, f[0], given).value;
    }
    if let Likelihood::Softmax { codes } = likelihood {
        return f[codes[row] as usize] - f.iter().map(|f| f.exp()).sum::<f64>().ln();
    }
    let term = |o: usize, f: f64| match *likelihood {
        Likelihood::Squares { targets, precisions } => {
            -0.5 * precisions[o * n + row] * (targets[o * n + row] - f).powi(2)
        }
        Likelihood::StudentT { targets, inverse_scales, dof } => {
            let z = (targets[o * n + row] - f) * inverse_scales[o * n + row];
            -0.5 * (dof + 1.0) * (z * z / dof).ln_1p()
        }
        Likelihood::Absolute { targets, inverse_scales } => {
            -((targets[o * n + row] - f) * inverse_scales[o * n + row]).abs()
        }
        Likelihood::Logistic { signs } => -(-signs[o * n + row] * f).exp().ln_1p(),
        Likelihood::Softmax { .. } | Likelihood::Outcomes { .. } => unreachable!("treated above"),
    };
    f.iter().enumerate().map(|(o, f)| term(o, *f)).sum()
}

#[test]
fn outputs_and_values_are_those_of_plain_loops() {
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        let mut network = Network::new(shape, &data.rows);
        let mut outputs = vec![f64::NAN; shape.outputs * n];
        network.outputs(&data.weights, &mut outputs);
        let expected: Vec<Vec<f64>> =
            (0..n).map(|row| data.outputs(shape, &data.weights, row)).collect();
        for (row, expected) in expected.iter().enumerate() {
            for (o, expected) in expected.iter().enumerate() {
                assert!((outputs[o * n + row] - expected).abs() < 1e-13, "{shape:?}");
            }
        }
        for likelihood in data.likelihoods() {
            let value = network.log_likelihood(&data.weights, &likelihood);
            let expected: f64 =
                (0..n).map(|row| row_value(&likelihood, &expected[row], row, n)).sum();
            let close = (value - expected).abs() < 1e-12 * expected.abs().max(n as f64);
            assert!(close, "{shape:?} {likelihood:?}: {value} {expected}");
        }
    }
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut stream = Seed(1).stream(Purpose::Data, [1, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        for likelihood in data.likelihoods() {
            let network = Network::new(shape, &data.rows);
            let mut target = Weights { network, likelihood };
            let check = check_gradient(&mut target, &data.weights).unwrap();
            // |y - f| has kinks within the width of the differences.
            let kinked = matches!(likelihood, Likelihood::Absolute { .. });
            let tolerance = if kinked { 0.05 * n as f64 } else { 1e-8 };
            assert!(check.error < tolerance, "{shape:?} {likelihood:?} {check:?}");
            let mut gradient = vec![f64::NAN; shape.len()];
            let value = target.log_density_gradient(&data.weights, &mut gradient).unwrap();
            let alone = target.log_density(&data.weights).unwrap();
            assert_eq!(value.to_bits(), alone.to_bits());
        }
    }
}

#[test]
fn slopes_of_absolute_residuals_are_signs() {
    // An output bias alone: the derivative is Σ sign(y - f)/s, 0 for the second row.
    let (shape, inputs) = (shape(0, 0, 1, false), Matrix::zeros(4, 0));
    let rows = Rows::new(&inputs);
    let mut network = Network::new(shape, &rows);
    let (targets, inverse_scales) = ([3.0, 1.0, -2.0, 7.0], [0.5, 4.0, 2.0, 8.0]);
    let likelihood = Likelihood::Absolute { targets: &targets, inverse_scales: &inverse_scales };
    let mut gradient = [f64::NAN];
    let value = network.log_likelihood_gradient(&[1.0], &likelihood, &mut gradient);
    assert_eq!(gradient[0].to_bits(), 6.5_f64.to_bits());
    assert_eq!(value.to_bits(), (-55.0_f64).to_bits());
    network.force(&[1.0], &likelihood, &mut gradient);
    assert_eq!(gradient[0].to_bits(), 6.5_f64.to_bits());
}

#[test]
fn forces_are_gradients_in_single_precision() {
    let mut stream = Seed(1).stream(Purpose::Data, [2, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        let mut network = Network::new(shape, &data.rows);
        for likelihood in data.likelihoods() {
            let mut gradient = vec![f64::NAN; shape.len()];
            let mut force = vec![f64::NAN; shape.len()];
            network.log_likelihood_gradient(&data.weights, &likelihood, &mut gradient);
            network.force(&data.weights, &likelihood, &mut force);
            let size = gradient.iter().fold(1.0_f64, |size, g| size.max(g.abs()));
            for (force, gradient) in force.iter().zip(&gradient) {
                let error = (force - gradient).abs() / size;
                assert!(error < 1e-4, "{shape:?} {likelihood:?}: {force} {gradient}");
            }
            let mut again = vec![0.0; shape.len()];
            network.clone().force(&data.weights, &likelihood, &mut again);
            assert_eq!(again, force);
        }
    }
}

#[test]
fn extreme_weights_never_give_a_wrong_number() {
    let mut stream = Seed(1).stream(Purpose::Data, [3, 0]);
    let (shape, n) = (shape(2, 5, 3, true), 37);
    let data = Data::new(shape, n, &mut stream);
    let mut network = Network::new(shape, &data.rows);
    let mut gradient = vec![0.0; shape.len()];
    for at in 0..shape.len() {
        for extreme in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e155, 1e9] {
            let mut weights = data.weights.clone();
            weights[at] = extreme;
            let outputs: Vec<Vec<f64>> =
                (0..n).map(|row| data.outputs(shape, &weights, row)).collect();
            for likelihood in data.likelihoods() {
                let value = network.log_likelihood_gradient(&weights, &likelihood, &mut gradient);
                network.force(&weights, &likelihood, &mut vec![0.0; shape.len()]);
                let expected: f64 =
                    (0..n).map(|row| row_value(&likelihood, &outputs[row], row, n)).sum();
                let exact = expected.is_finite() && extreme.is_finite();
                let close = (value - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                // The plain softmax overflows where ours does not.
                let stable = matches!(likelihood, Likelihood::Softmax { .. });
                assert!(
                    close || !value.is_finite() || stable,
                    "{at} {extreme}: {value} {expected}"
                );
                assert!(!exact || value.is_finite(), "{at} {extreme}: {value} {expected}");
                assert!(!extreme.is_nan() || value.is_nan(), "{at}: {value}");
            }
        }
    }
}

#[test]
fn saturated_units_have_finite_gradients() {
    let inputs = Matrix::from_fn(20, 1, |row, _| row as f64 - 9.5);
    let rows = Rows::new(&inputs);
    let shape = shape(1, 2, 1, false);
    let mut network = Network::new(shape, &rows);
    let signs: Vec<f64> = (0..20).map(|row| if row < 10 { -1.0 } else { 1.0 }).collect();
    let mut gradient = vec![f64::NAN; shape.len()];
    let weights = [1e8, 30.0, 0.0, 0.0, 500.0, 500.0, 0.0];
    let likelihood = Likelihood::Logistic { signs: &signs };
    let value = network.log_likelihood_gradient(&weights, &likelihood, &mut gradient);
    // Every row is classified with margin 1000: log(1 + e^-1000) is 0 to any precision.
    assert!(value.abs() < 1e-300 && gradient.iter().all(|g| g.abs() < 1e-300));
}

#[test]
#[should_panic(expected = "one entry per output and row")]
fn too_few_targets_are_refused() {
    let rows = Rows::new(&Matrix::zeros(9, 1));
    let mut network = Network::new(shape(1, 1, 1, false), &rows);
    network.log_likelihood(&[0.0; 4], &Likelihood::Logistic { signs: &[1.0; 8] });
}

/// Counts: the value by its terms, the gradient by differences; rows that fill a tile do not count.
#[test]
fn counts_have_the_gradient_of_their_value() {
    use crate::data::{Dataset, Targets};
    use crate::model::outcome::Outcomes;
    use crate::model::residual::ResidualPrior;
    use crate::model::spec::Spec;

    let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
    let n = 37;
    let shape = Shape { inputs: 2, hidden: 3, outputs: 1, direct: true };
    let inputs = Matrix::from_fn(n, 2, |_, _| stream.normal());
    let values: Vec<f64> = (0..n).map(|row| (row % 5) as f64).collect();
    let data = Dataset {
        offsets: Some((0..n).map(|row| 0.1 * (row % 7) as f64).collect()),
        ..Dataset::unscaled(inputs.clone(), Targets::Counts { name: "y".into(), values })
    };
    let spec = Spec::from_toml("[residual]\nfamily = 'negative-binomial'").unwrap();
    let outcomes = Outcomes::new(&ResidualPrior::new(&spec).unwrap(), &data, 0);
    let rows = Rows::new(&inputs);
    let mut network = Network::new(shape, &rows);
    let weights: Vec<f64> = (0..shape.len()).map(|_| 0.5 * stream.normal()).collect();
    for counts in [f64::INFINITY, 2.5] {
        let likelihood = Likelihood::Outcomes { outcomes: &outcomes, given: &[counts] };
        let mut gradient = vec![0.0; shape.len()];
        let value = network.log_likelihood_gradient(&weights, &likelihood, &mut gradient);
        let mut outputs = vec![0.0; n];
        network.outputs(&weights, &mut outputs);
        let terms: f64 = (0..n).map(|row| row_value(&likelihood, &outputs[row..], row, n)).sum();
        assert!((value - terms).abs() < 1e-10 * terms.abs(), "{value} {terms}");
        for (index, slope) in gradient.iter().enumerate() {
            let mut at = |step: f64| {
                let mut moved = weights.clone();
                moved[index] += step;
                network.log_likelihood(&moved, &likelihood)
            };
            let numeric = (at(1e-4) - at(-1e-4)) / 2e-4;
            assert!((slope - numeric).abs() < 1e-5 * slope.abs().max(1.0), "{index}: {slope}");
        }
    }
}
