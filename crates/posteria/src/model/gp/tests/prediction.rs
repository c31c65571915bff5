//! Predictions at new rows, against plain formulas.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::super::observed::Observed;
use super::{data, posterior};
use crate::data::{Column, Dataset, Roles, Table};
use crate::density::special::{log_sum_exp, logistic, normal_cdf};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::predict::{Family, Predictive, Predictor};
use crate::random::{Purpose, Seed, Stream};

pub(super) fn stream(index: u64) -> Stream {
    Seed(11).stream(Purpose::Data, [index, 0])
}

pub(super) fn wave(a: f64, b: f64) -> f64 {
    7.0 + 3.0 * (0.8 * a).sin() + 0.02 * b + 0.3 * (17.0 * a).sin()
}

pub(super) fn slope(a: f64, b: f64) -> f64 {
    500.0 + 40.0 * a + 0.1 * b * a
}

/// A state with moderate hyperparameters and random latent values, and its draw.
pub(super) fn some_draw(posterior: &GpPosterior, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
    let mut state = posterior.start(stream);
    for process in &posterior.processes {
        for slot in process.hyperparameters.slots.clone() {
            state[slot] = 0.4 * stream.normal();
        }
    }
    for latent in &mut state[posterior.latents.clone()] {
        *latent = stream.normal();
    }
    let mut draw = vec![f64::NAN; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
    (state, draw)
}

/// The squared exponential covariance of a state, written out, without jitter.
pub(super) struct Plain {
    logs: Vec<f64>,
}

impl Plain {
    pub(super) fn new(posterior: &GpPosterior, state: &[f64], function: usize) -> Self {
        let process = posterior.processes.iter().find(|p| p.targets.contains(&function)).unwrap();
        let mut logs = vec![0.0; posterior.covariance.parameters().len()];
        process.hyperparameters.write_parameters(state, &mut logs);
        Plain { logs }
    }

    pub(super) fn at(&self, x: &[f64], other: &[f64]) -> f64 {
        let each = self.logs[1..].iter().zip(x.iter().zip(other));
        let r: f64 = each.map(|(log, (a, b))| (log.exp() * (a - b)).powi(2)).sum();
        (2.0 * self.logs[0]).exp() * (-r).exp()
    }
}

pub(super) fn row(inputs: &Matrix, row: usize) -> Vec<f64> {
    (0..inputs.columns()).map(|k| inputs[(row, k)]).collect()
}

/// Mean and variance of f(x*) given values with these covariances and noise variances:
/// kᵀC⁻¹y and c - kᵀC⁻¹k, jitter included in f(x*).
pub(super) fn kriging(
    plain: &Plain,
    rows: &[Vec<f64>],
    (values, noise): (&[f64], &[f64]),
    at: &[f64],
    jitter: f64,
) -> (f64, f64) {
    let n = rows.len();
    let c = Matrix::from_fn(n, n, |i, j| {
        plain.at(&rows[i], &rows[j]) + if i == j { jitter * jitter + noise[i] } else { 0.0 }
    });
    let factor = Cholesky::new(&c).unwrap();
    let k: Vec<f64> = rows.iter().map(|row| plain.at(row, at)).collect();
    let mut solved = k.clone();
    factor.solve(&mut solved);
    let variance = plain.at(at, at) + jitter * jitter - dot(&k, &solved);
    (dot(&solved, values), variance)
}

#[track_caller]
pub(super) fn assert_close(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= 1e-8 * expected.abs().max(1e-3), "{what}: {found} {expected}");
}

fn new_rows(stream: &mut Stream) -> Matrix {
    Matrix::from_fn(5, 2, |_, _| stream.normal())
}

#[test]
fn normal_targets_are_predicted_by_the_plain_formulas() {
    let data = data(12, &[&wave, &slope]);
    let mut stream = stream(0);
    for text in ["", "processes = 'shared'", "processes = 'shared'\n[residual]\nsharing = 'common'"]
    {
        let posterior = posterior(text, &data);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let inputs = new_rows(&mut stream);
        let mut predictor = posterior.predictor().unwrap();
        assert_eq!(predictor.family(), Family::Normal { outputs: 2 });
        let (mut parameters, mut functions) = (vec![f64::NAN; 20], vec![f64::NAN; 10]);
        predictor.at(&draw, &inputs, &mut parameters);
        predictor.functions(&draw, &inputs, &mut functions);
        let Observed::Real(residual) = &posterior.observed else { unreachable!() };
        let rows: Vec<Vec<f64>> = (0..12).map(|i| row(&posterior.inputs, i)).collect();
        for target in 0..2 {
            let plain = Plain::new(&posterior, &state, target);
            let sigma = residual.log_scale(&state, target * 12).exp();
            let values = &posterior.targets[target * 12..(target + 1) * 12];
            let scaling = &posterior.target_scaling[target];
            for new in 0..5 {
                let at = row(&inputs, new);
                let noise = [sigma * sigma; 12];
                let (mean, variance) = kriging(&plain, &rows, (values, &noise), &at, 0.01);
                let found = &parameters[4 * new + 2 * target..][..2];
                assert_close(found[0], scaling.invert(mean), text);
                let sd = (variance + sigma * sigma).sqrt() * scaling.scale;
                assert_close(found[1], sd, text);
                assert_close(functions[2 * new + target], scaling.invert(mean), text);
            }
        }
    }
}

#[test]
fn other_residuals_are_added_to_the_function_given_the_latents() {
    let data = data(12, &[&wave]);
    let mut stream = stream(1);
    for (family, dof) in [("student-t", 4.0), ("per-case", 4.0), ("laplace", f64::NAN)] {
        let text = format!("[residual]\nfamily = '{family}'");
        let text = if dof > 0.0 { format!("{text}\ndof = 4.0") } else { text };
        let posterior = posterior(&text, &data);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let inputs = new_rows(&mut stream);
        let mut predictor = posterior.predictor().unwrap();
        let width = predictor.family().width();
        let mut parameters = vec![f64::NAN; 5 * width];
        predictor.at(&draw, &inputs, &mut parameters);
        let Observed::Real(residual) = &posterior.observed else { unreachable!() };
        let rows: Vec<Vec<f64>> = (0..12).map(|i| row(&posterior.inputs, i)).collect();
        let plain = Plain::new(&posterior, &state, 0);
        let latents = &state[posterior.latents.clone()];
        let scaling = &posterior.target_scaling[0];
        let scale = residual.log_scale(&state, 0).exp() * scaling.scale;
        for new in 0..5 {
            let at = row(&inputs, new);
            let (mean, variance) = kriging(&plain, &rows, (latents, &[0.0; 12]), &at, 0.01);
            let found = &parameters[new * width..(new + 1) * width];
            assert_close(found[0], scaling.invert(mean), family);
            assert_close(found[1], variance.sqrt() * scaling.scale, family);
            assert_close(found[2], scale, family);
            if width == 4 {
                assert_close(found[3], dof, family);
            } else {
                assert_eq!(predictor.family(), Family::NormalPlusLaplace { outputs: 1 });
            }
        }
    }
}

/// Rows of a group have its scale; rows of no group the prior of one, which makes a t of it.
#[test]
fn groups_have_their_scales_and_new_groups_the_prior_of_one() {
    let data = super::leave_one_out::grouped(12);
    let posterior = posterior("[residual]\nby = ['b']\nscale_dof = 3.0", &data);
    let (state, draw) = some_draw(&posterior, &mut stream(2));
    let mut predictor = posterior.predictor().unwrap();
    assert_eq!(predictor.family(), Family::NormalPlusStudentT { outputs: 1 });
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let seen = [row(&posterior.inputs, 0)[1], row(&posterior.inputs, 1)[1]];
    let inputs = Matrix::from_fn(3, 2, |i, k| match (i, k) {
        (_, 0) => 0.3,
        (2, _) => 77.0,
        (i, _) => seen[i],
    });
    let mut parameters = [f64::NAN; 12];
    predictor.at(&draw, &inputs, &mut parameters);
    let unit = posterior.target_scaling[0].scale;
    for row in 0..2 {
        let scale = residual.log_scale(&state, row).exp() * unit;
        assert_close(parameters[4 * row + 2], scale, "scale");
        assert!(parameters[4 * row + 3] == f64::INFINITY);
    }
    let above = posterior.layout().variable("residual_scale_above").unwrap().offset;
    assert_close(parameters[10], draw[above], "scale of the groups");
    assert_close(parameters[11], 3.0, "degrees of freedom of the groups");
    let predictive = Predictive::new(predictor.family(), &parameters[8..]);
    let sd = (parameters[9].powi(2) + 3.0 * parameters[10].powi(2)).sqrt();
    assert_close(predictive.sd(0).unwrap(), sd, "deviation");
}

/// Rows of classes; `labels` is indexed by the row modulo its length.
fn classes(rows: usize, labels: &[&str]) -> Dataset {
    let a = (0..rows).map(|row| (0.7 * row as f64).sin()).collect();
    let b = (0..rows).map(|row| (1.3 * row as f64).cos() * 3.0).collect();
    let texts = (0..rows).map(|row| labels[row % labels.len()]);
    let columns = vec![
        ("a".into(), Column::numbers(a)),
        ("b".into(), Column::numbers(b)),
        ("c".into(), Column::from_texts(texts).unwrap()),
    ];
    let table = Table::new("memory", columns).unwrap();
    Dataset::new(&table, &Roles { targets: vec!["c".into()], ..Roles::default() }).unwrap().0
}

#[test]
fn two_classes_have_the_averaged_probability() {
    let data = classes(11, &["no", "yes"]);
    let mut stream = stream(3);
    for link in ["logit", "probit"] {
        let posterior = posterior(&format!("link = '{link}'"), &data);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let inputs = new_rows(&mut stream);
        let mut predictor = posterior.predictor().unwrap();
        assert_eq!(predictor.family(), Family::Bernoulli);
        let (mut odds, mut functions) = ([f64::NAN; 5], [f64::NAN; 5]);
        predictor.at(&draw, &inputs, &mut odds);
        predictor.functions(&draw, &inputs, &mut functions);
        let rows: Vec<Vec<f64>> = (0..11).map(|i| row(&posterior.inputs, i)).collect();
        let plain = Plain::new(&posterior, &state, 0);
        let latents = &state[posterior.latents.clone()];
        for new in 0..5 {
            let at = row(&inputs, new);
            let (mean, variance) = kriging(&plain, &rows, (latents, &[0.0; 11]), &at, 0.1);
            let probability = |f: f64| if link == "logit" { logistic(f) } else { normal_cdf(f) };
            // The trapezoid rule over f; the logistic limits it to 1e-9 at these deviations.
            let average: f64 = (-400..=400)
                .map(|k| {
                    let z = 0.02 * f64::from(k);
                    let weight = 0.02 * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
                    weight * probability(mean + variance.sqrt() * z)
                })
                .sum();
            assert_close(logistic(odds[new]), average, link);
            assert_close(logistic(functions[new]), probability(mean), link);
        }
    }
}

#[test]
fn several_classes_have_averaged_probabilities() {
    let data = classes(11, &["x", "y", "z"]);
    let mut stream = stream(4);
    let posterior = posterior("", &data);
    let (state, draw) = some_draw(&posterior, &mut stream);
    let inputs = new_rows(&mut stream);
    let mut predictor = posterior.predictor().unwrap();
    assert_eq!(predictor.family(), Family::Categorical { classes: 3 });
    let (mut logs, mut functions) = ([f64::NAN; 15], [f64::NAN; 15]);
    predictor.at(&draw, &inputs, &mut logs);
    predictor.functions(&draw, &inputs, &mut functions);
    let rows: Vec<Vec<f64>> = (0..11).map(|i| row(&posterior.inputs, i)).collect();
    let latents = &state[posterior.latents.clone()];
    let plain = Plain::new(&posterior, &state, 0);
    // (1, -1, 0)/√2 and (1, 1, -2)/√6.
    let expand = |g: [f64; 2]| {
        let (first, second) = (g[0] / 2f64.sqrt(), g[1] / 6f64.sqrt());
        [first + second, second - first, -2.0 * second]
    };
    for new in 0..5 {
        let at = row(&inputs, new);
        let given = |j: usize| (&latents[j * 11..(j + 1) * 11], &[0.0; 11][..]);
        let [(first, variance), (second, _)] =
            [0, 1].map(|j| kriging(&plain, &rows, given(j), &at, 0.1));
        let mut sums = [0.0; 3];
        for k in 0..81 * 81 {
            let z = [k / 81, k % 81].map(|k| 0.2 * (k as f64 - 40.0));
            let weight = 0.04 * (-0.5 * dot(&z, &z)).exp() / std::f64::consts::TAU;
            let f = expand([first + variance.sqrt() * z[0], second + variance.sqrt() * z[1]]);
            let total = log_sum_exp(&f);
            (0..3).for_each(|class| sums[class] += weight * (f[class] - total).exp());
        }
        for (class, sum) in sums.iter().enumerate() {
            // What the lattice of the softmax promises of log probabilities.
            let error = (logs[3 * new + class] - sum.ln()).abs();
            assert!(error < 1e-7, "log probability of class {class}: off by {error}");
            let mean = expand([first, second])[class];
            assert_close(functions[3 * new + class], mean, "function");
        }
    }
}

/// Drawn functions have the mean and covariances of the plain formulas: over 4000 draws five
/// standard errors of 3 means, 3 variances and 3 covariances, false alarm 1e-5 altogether.
#[test]
fn functions_are_drawn_jointly_given_targets_and_from_the_prior() {
    const COUNT: usize = 4000;
    let data = data(8, &[&wave]);
    for text in ["", "[residual]\nfamily = 'laplace'"] {
        let posterior = posterior(text, &data);
        let mut stream = stream(5);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let mut inputs = Matrix::from_fn(3, 2, |_, _| stream.normal());
        // A row far away, where nothing is known, and two close together.
        (0..2).for_each(|k| inputs[(0, k)] = 40.0 + k as f64);
        (0..2).for_each(|k| inputs[(2, k)] = inputs[(1, k)] + 0.2);
        let mut predictor = posterior.predictor().unwrap();
        let plain = Plain::new(&posterior, &state, 0);
        let unit = posterior.target_scaling[0].scale;
        let rows: Vec<Vec<f64>> = (0..8).map(|i| row(&posterior.inputs, i)).collect();
        for prior in [false, true] {
            let Observed::Real(residual) = &posterior.observed else { unreachable!() };
            let noise =
                if text.is_empty() { (2.0 * residual.log_scale(&state, 0)).exp() } else { 0.0 };
            let noise = if prior { 1e12 } else { noise };
            let c = Matrix::from_fn(8, 8, |i, j| {
                plain.at(&rows[i], &rows[j]) + if i == j { 1e-4 + noise } else { 0.0 }
            });
            let factor = Cholesky::new(&c).unwrap();
            let covariance = |i: usize, j: usize| {
                let (a, b) = (row(&inputs, i), row(&inputs, j));
                let known: Vec<f64> = rows.iter().map(|row| plain.at(row, &a)).collect();
                let mut solved: Vec<f64> = rows.iter().map(|row| plain.at(row, &b)).collect();
                factor.solve(&mut solved);
                plain.at(&a, &b) - dot(&known, &solved) + if i == j && !prior { 1e-4 } else { 0.0 }
            };
            let mut means = [posterior.target_scaling[0].invert(0.0); 3];
            if !prior {
                predictor.functions(&draw, &inputs, &mut means);
            }
            let (mut sums, mut products) = ([0.0; 3], [[0.0; 3]; 3]);
            let mut values = [f64::NAN; 3];
            for _ in 0..COUNT {
                match prior {
                    true => {
                        predictor.draw_prior_functions(&draw, &inputs, &mut stream, &mut values);
                    }
                    false => predictor.draw_functions(&draw, &inputs, &mut stream, &mut values),
                }
                let z: Vec<f64> = (0..3).map(|i| (values[i] - means[i]) / unit).collect();
                for i in 0..3 {
                    sums[i] += z[i] / COUNT as f64;
                    (0..3).for_each(|j| products[i][j] += z[i] * z[j] / COUNT as f64);
                }
            }
            let root = (COUNT as f64).sqrt();
            for (i, (sum, products)) in sums.iter().zip(&products).enumerate() {
                assert!(sum.abs() < 5.0 * covariance(i, i).sqrt() / root, "{text} {prior} {i}");
                for (j, product) in products.iter().enumerate() {
                    let expected = covariance(i, j);
                    let spread = (covariance(i, i) * covariance(j, j) + expected.powi(2)).sqrt();
                    let error = (product - expected).abs();
                    assert!(error < 5.0 * spread / root, "{text} {prior} {i} {j}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_is_kept_between_calls_changes_nothing() {
    let data = data(12, &[&wave, &slope]);
    let mut stream = stream(6);
    for text in ["", "processes = 'shared'", "[residual]\nfamily = 'student-t'"] {
        let posterior = posterior(text, &data);
        let draws = [0, 1, 2].map(|_| some_draw(&posterior, &mut stream).1);
        let inputs = new_rows(&mut stream);
        let mut kept = posterior.predictor().unwrap();
        let width = kept.family().width();
        let at = |predictor: &mut dyn Predictor, draw: &[f64]| {
            let mut parameters = vec![f64::NAN; 5 * width];
            predictor.at(draw, &inputs, &mut parameters);
            parameters
        };
        let left_out = |predictor: &mut dyn Predictor, draw: &[f64]| {
            let mut parameters = vec![f64::NAN; 12 * width];
            predictor.leave_one_out(draw, &mut parameters);
            parameters
        };
        for number in [0, 0, 1, 2, 0, 1, 1] {
            let fresh = at(&mut *posterior.predictor().unwrap(), &draws[number]);
            assert_eq!(at(&mut *kept, &draws[number]), fresh, "{text}");
            let without = left_out(&mut *posterior.predictor().unwrap(), &draws[number]);
            assert_eq!(left_out(&mut *kept, &draws[number]), without, "{text}");
            assert_eq!(at(&mut *kept, &draws[number]), fresh, "{text}");
        }
        // Rows do not depend on their block.
        let block = inputs.rows_in(3..5);
        let mut parameters = vec![f64::NAN; 2 * width];
        kept.at(&draws[0], &block, &mut parameters);
        let whole = at(&mut *kept, &draws[0]);
        for (found, expected) in parameters.iter().zip(&whole[3 * width..]) {
            assert_close(*found, *expected, text);
        }
    }
}
