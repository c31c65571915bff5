//! Check the integrated density against the multivariate normal density of the targets.

use super::*;
use crate::density::MultivariateNormal;
use crate::density::special::LOG_SQRT_2PI;
use crate::random::{Purpose, Seed};

const CASES: [(Shape, usize); 5] = [
    (Shape { inputs: 1, hidden: 8, outputs: 1, direct: false }, 30),
    (Shape { inputs: 2, hidden: 10, outputs: 1, direct: true }, 17),
    (Shape { inputs: 3, hidden: 2, outputs: 3, direct: true }, 9),
    (Shape { inputs: 2, hidden: 0, outputs: 2, direct: true }, 8),
    (Shape { inputs: 2, hidden: 4, outputs: 1, direct: false }, 1),
];

struct Data {
    inputs: Matrix,
    rows: Rows,
    hidden: Vec<f64>,
    scales: Vec<f64>,
    targets: Vec<f64>,
    precisions: Vec<f64>,
}

impl Data {
    fn new(shape: Shape, n: usize, stream: &mut Stream) -> Self {
        let inputs = Matrix::from_fn(n, shape.inputs, |_, _| stream.normal());
        let mut normal =
            |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
        let (hidden, targets) = (normal(shape.tail().start), normal(shape.outputs * n));
        let scales = normal(shape.tail().len()).iter().map(|z| z.exp()).collect();
        let precisions = normal(shape.outputs * n).iter().map(|z| (1.0 + z).exp()).collect();
        let rows = Rows::new(&inputs);
        Data { inputs, rows, hidden, scales, targets, precisions }
    }

    fn value(&self, marginal: &mut Marginal<'_>, hidden: &[f64], scales: &[f64]) -> f64 {
        marginal.log_density(hidden, scales, &self.targets, &self.precisions).unwrap()
    }

    fn design(&self, shape: Shape, row: usize) -> Vec<f64> {
        let units = shape.hidden;
        let x = |k| self.inputs[(row, k)];
        let mut design: Vec<f64> = (0..units)
            .map(|h| {
                let sum: f64 = (0..shape.inputs).map(|k| self.hidden[k * units + h] * x(k)).sum();
                (sum + self.hidden[shape.inputs * units + h]).tanh()
            })
            .collect();
        design.push(1.0);
        design.extend((0..if shape.direct { shape.inputs } else { 0 }).map(x));
        design
    }

    /// log N(y_o; 0, ΦA²Φᵀ + P⁻¹) with the normaliser of the residuals taken out.
    fn reference(&self, shape: Shape, output: usize) -> f64 {
        let n = self.rows.len();
        let p = &self.precisions[output * n..(output + 1) * n];
        let designs: Vec<Vec<f64>> = (0..n).map(|row| self.design(shape, row)).collect();
        let covariance = Matrix::from_fn(n, n, |i, j| {
            let shared: f64 = (0..shape.columns())
                .map(|c| {
                    let scale = self.scales[c * shape.outputs + output];
                    designs[i][c] * scale * scale * designs[j][c]
                })
                .sum();
            shared + if i == j { 1.0 / p[i] } else { 0.0 }
        });
        let cholesky = Cholesky::new(&covariance).unwrap();
        let normal = MultivariateNormal::new(vec![0.0; n], cholesky).unwrap();
        let y = &self.targets[output * n..(output + 1) * n];
        let normaliser: f64 = p.iter().map(|p| LOG_SQRT_2PI - 0.5 * p.ln()).sum();
        normal.log_density(y, &mut vec![0.0; n]) + normaliser
    }
}

#[test]
fn values_are_those_of_the_multivariate_normal_density() {
    let mut stream = Seed(2).stream(Purpose::Data, [0, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        let mut marginal = Marginal::new(shape, &data.rows);
        let value = data.value(&mut marginal, &data.hidden, &data.scales);
        let expected: f64 = (0..shape.outputs).map(|o| data.reference(shape, o)).sum();
        assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} {expected}");
    }
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut stream = Seed(2).stream(Purpose::Data, [1, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        let mut marginal = Marginal::new(shape, &data.rows);
        let mut gradient = MarginalGradient::new(&shape, &data.rows);
        let (targets, precisions) = (&data.targets, &data.precisions);
        marginal
            .log_density_gradient(&data.hidden, &data.scales, targets, precisions, &mut gradient)
            .unwrap();
        let close = |claimed: f64, value: &mut dyn FnMut(f64) -> f64| {
            let h = 1e-3;
            let mut central = |h: f64| (value(h) - value(-h)) / (2.0 * h);
            let numeric = (4.0 * central(h / 2.0) - central(h)) / 3.0;
            let size = claimed.abs().max(1.0);
            assert!((claimed - numeric).abs() < 1e-7 * size, "{shape:?}: {claimed} {numeric}");
        };
        for i in 0..data.hidden.len() {
            close(gradient.hidden[i], &mut |h| {
                let mut hidden = data.hidden.clone();
                hidden[i] += h;
                data.value(&mut marginal, &hidden, &data.scales)
            });
        }
        for i in 0..data.scales.len() {
            close(gradient.log_scales[i], &mut |h| {
                let mut scales = data.scales.clone();
                scales[i] *= h.exp();
                data.value(&mut marginal, &data.hidden, &scales)
            });
        }
        // log p_i enters with -½ squares_i.
        for i in 0..precisions.len() {
            close(-0.5 * gradient.squares[i], &mut |h| {
                let mut moved = precisions.clone();
                moved[i] *= h.exp();
                marginal.log_density(&data.hidden, &data.scales, targets, &moved).unwrap()
            });
        }
    }
}
