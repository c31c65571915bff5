//! Check the network against central differences.

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

/// Shapes and numbers of rows.
const CASES: [(Shape, usize); 8] = [
    (Shape { inputs: 1, hidden: 8, outputs: 1, direct: false }, 100),
    (Shape { inputs: 2, hidden: 10, outputs: 1, direct: true }, 37),
    (Shape { inputs: 4, hidden: 8, outputs: 3, direct: false }, 65),
    (Shape { inputs: 3, hidden: 0, outputs: 1, direct: true }, 20),
    (Shape { inputs: 3, hidden: 0, outputs: 3, direct: true }, 9),
    (Shape { inputs: 2, hidden: 0, outputs: 2, direct: false }, 8),
    (Shape { inputs: 5, hidden: 3, outputs: 2, direct: true }, 1),
    (Shape { inputs: 13, hidden: 7, outputs: 1, direct: false }, 300),
];

struct Data {
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
        let codes = (0..n).map(|i| ((i * 7) % shape.outputs) as u32).collect();
        Data { rows: Rows::new(&inputs), weights, targets, positive, signs, codes }
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
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        for likelihood in data.likelihoods() {
            let network = Network::new(shape, &data.rows);
            let mut target = Weights { network, likelihood };
            let check = check_gradient(&mut target, &data.weights).unwrap();
            // |y - f| has kinks, so central differences across one are off.
            let kinked = matches!(likelihood, Likelihood::Absolute { .. });
            assert!(check.error < 1e-8 || kinked, "{shape:?} {likelihood:?} {check:?}");
        }
    }
}
