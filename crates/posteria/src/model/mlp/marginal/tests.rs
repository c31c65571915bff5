//! Check the integrated density against the multivariate normal density of the targets.

use super::*;
use crate::density::MultivariateNormal;
use crate::density::special::LOG_SQRT_2PI;
use crate::random::{Purpose, Seed};

const CASES: [(Shape, usize); 6] = [
    (Shape { inputs: 1, hidden: 2, outputs: 1, direct: false }, 300),
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

#[test]
fn many_columns_take_the_blocked_factorisation() {
    let mut stream = Seed(2).stream(Purpose::Data, [2, 0]);
    let shape = Shape { inputs: 30, hidden: 10, outputs: 1, direct: true };
    let data = Data::new(shape, 60, &mut stream);
    let mut marginal = Marginal::new(shape, &data.rows);
    let value = data.value(&mut marginal, &data.hidden, &data.scales);
    let expected = data.reference(shape, 0);
    assert!((value - expected).abs() < 1e-9 * expected.abs(), "{value} {expected}");
}

#[test]
fn output_weights_follow_their_conditional_distribution() {
    let mut stream = Seed(2).stream(Purpose::Data, [3, 0]);
    let shape = Shape { inputs: 2, hidden: 3, outputs: 2, direct: true };
    let data = Data::new(shape, 12, &mut stream);
    let mut marginal = Marginal::new(shape, &data.rows);
    data.value(&mut marginal, &data.hidden, &data.scales);
    let (columns, outputs, n) = (shape.columns(), shape.outputs, data.rows.len());
    // S = diag(a)⁻² + ΦᵀPΦ and S m = ΦᵀPy, by plain loops.
    let conditional = |output: usize| {
        let p = &data.precisions[output * n..];
        let designs: Vec<Vec<f64>> = (0..n).map(|row| data.design(shape, row)).collect();
        let precision = Matrix::from_fn(columns, columns, |i, j| {
            let prior = data.scales[i * outputs + output].powi(-2);
            (0..n).map(|row| p[row] * designs[row][i] * designs[row][j]).sum::<f64>()
                + if i == j { prior } else { 0.0 }
        });
        let mut mean: Vec<f64> = (0..columns)
            .map(|j| {
                (0..n).map(|row| p[row] * designs[row][j] * data.targets[output * n + row]).sum()
            })
            .collect();
        let cholesky = Cholesky::new(&precision).unwrap();
        cholesky.solve(&mut mean);
        (mean, cholesky)
    };
    let draws = 4000;
    let mut tail = vec![0.0; columns * outputs];
    let expected = [conditional(0), conditional(1)];
    let mut sums = vec![0.0; columns * outputs];
    let mut squares = vec![0.0; columns * columns * outputs];
    for _ in 0..draws {
        marginal.draw_output_weights(&mut stream, &mut tail);
        for (o, (mean, precision)) in expected.iter().enumerate() {
            // Lᵀ (w - m) is standard normal.
            let mut whitened: Vec<f64> =
                (0..columns).map(|j| tail[j * outputs + o] - mean[j]).collect();
            precision.multiply_lower_transposed(&mut whitened);
            for i in 0..columns {
                sums[o * columns + i] += whitened[i];
                for j in 0..columns {
                    squares[(o * columns + i) * columns + j] += whitened[i] * whitened[j];
                }
            }
        }
    }
    // 84 statistics, |z| < 4.8 each: false-alarm rate 1.3e-4 (seed fixed).
    let root = f64::from(draws).sqrt();
    for sum in sums {
        assert!((sum / root).abs() < 4.8, "mean off by {} standard errors", sum / root);
    }
    for (at, sum) in squares.iter().enumerate() {
        let equal = at / columns % columns == at % columns;
        let (mean, sd) = if equal { (1.0, 2.0_f64.sqrt()) } else { (0.0, 1.0) };
        let z = (sum / f64::from(draws) - mean) / sd * root;
        assert!(z.abs() < 4.8, "covariance off by {z} standard errors");
    }
}

#[test]
fn overflow_is_infeasible() {
    let mut stream = Seed(2).stream(Purpose::Data, [4, 0]);
    let (shape, n) = CASES[1];
    let data = Data::new(shape, n, &mut stream);
    let mut marginal = Marginal::new(shape, &data.rows);
    let mut gradient = MarginalGradient::new(&shape, &data.rows);
    for extreme in [f64::NAN, f64::INFINITY, 1e200] {
        let mut scales = data.scales.clone();
        scales[3] = extreme;
        let (targets, precisions) = (&data.targets, &data.precisions);
        assert!(marginal.log_density(&data.hidden, &scales, targets, precisions).is_err());
        let with_gradient = marginal.log_density_gradient(
            &data.hidden,
            &scales,
            targets,
            precisions,
            &mut gradient,
        );
        assert!(with_gradient.is_err());
    }
    let mut hidden = data.hidden.clone();
    hidden[2] = f64::NAN;
    assert!(marginal.log_density(&hidden, &data.scales, &data.targets, &data.precisions).is_err());
    // Saturation is no overflow.
    hidden[2] = 1e300;
    assert!(marginal.log_density(&hidden, &data.scales, &data.targets, &data.precisions).is_ok());
}

#[test]
fn mean_outputs_are_those_of_the_mean_weights() {
    let mut stream = Seed(9).stream(Purpose::Data, [0, 0]);
    for (shape, n) in CASES {
        let data = Data::new(shape, n, &mut stream);
        let mut marginal = Marginal::new(shape, &data.rows);
        data.value(&mut marginal, &data.hidden, &data.scales);
        let rows: Vec<usize> = (0..n).step_by(n.div_ceil(5)).collect();
        let mut found = vec![0.0; rows.len() * shape.outputs];
        marginal.mean_outputs(&rows, &mut found);
        for output in 0..shape.outputs {
            // (ΦᵀPΦ + A⁻²) m = ΦᵀPy.
            let p = &data.precisions[output * n..][..n];
            let y = &data.targets[output * n..][..n];
            let designs: Vec<Vec<f64>> = (0..n).map(|row| data.design(shape, row)).collect();
            let precision = Matrix::from_fn(shape.columns(), shape.columns(), |i, j| {
                let scale = data.scales[i * shape.outputs + output];
                (0..n).map(|r| designs[r][i] * p[r] * designs[r][j]).sum::<f64>()
                    + if i == j { scale.powi(-2) } else { 0.0 }
            });
            let mut mean: Vec<f64> = (0..shape.columns())
                .map(|j| (0..n).map(|r| designs[r][j] * p[r] * y[r]).sum())
                .collect();
            Cholesky::new(&precision).unwrap().solve(&mut mean);
            for (index, row) in rows.iter().enumerate() {
                let known = dot(&designs[*row], &mean);
                let error = found[index * shape.outputs + output] - known;
                assert!(error.abs() < 1e-8 * known.abs().max(1.0), "{shape:?} row {row}: {error}");
            }
        }
    }
}
