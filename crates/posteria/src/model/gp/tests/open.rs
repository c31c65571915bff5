//! What hyperparameters leave open, against the joint normal distribution written out.

use posteria_linalg::{Cholesky, Matrix};

use super::super::marginal::Marginal;
use super::super::observed::Observed;
use super::super::open::Open;
use super::prediction::{Plain, assert_close, row, slope, some_draw, stream, wave};
use super::{data, posterior};
use crate::data::{InputColumn, Standardization};
use crate::draws::Draws;
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::predict::{EffectOptions, input_effects};

const ROWS: usize = 12;
const DRAWS: usize = 4000;
/// Standard errors of a mean or a covariance of whitened draws: with some 400 of them in all tests
/// of this file together, a false alarm in 4000.
const ERRORS: f64 = 5.0;

/// A normal distribution of several numbers.
struct Joint {
    means: Vec<f64>,
    covariances: Matrix,
}

impl Joint {
    /// Numbers whose covariances with each other and with the known values are given, the latter
    /// with covariance C.
    fn given(known: (&[f64], &Matrix), cross: &Matrix, prior: &Matrix) -> Self {
        let factor = Cholesky::new(known.1).unwrap();
        let mut solved = Matrix::from_fn(cross.columns(), cross.rows(), |i, j| cross[(j, i)]);
        factor.solve_matrix(&mut solved);
        let count = cross.rows();
        let inner = |a: usize, f: &dyn Fn(usize) -> f64| -> f64 {
            (0..cross.columns()).map(|k| solved[(k, a)] * f(k)).sum()
        };
        Joint {
            means: (0..count).map(|a| inner(a, &|k| known.0[k])).collect(),
            covariances: Matrix::from_fn(count, count, |a, b| {
                prior[(a, b)] - inner(a, &|k| cross[(b, k)])
            }),
        }
    }

    /// Whether draws have these means and covariances.
    fn check(&self, draws: &[Vec<f64>], what: &str) {
        let factor = Cholesky::new(&self.covariances).unwrap();
        let count = draws.len() as f64;
        let whitened: Vec<Vec<f64>> = draws
            .iter()
            .map(|draw| {
                let mut z: Vec<f64> = draw.iter().zip(&self.means).map(|(x, m)| x - m).collect();
                factor.solve_lower(&mut z);
                z
            })
            .collect();
        for a in 0..self.means.len() {
            let mean = whitened.iter().map(|z| z[a]).sum::<f64>() / count;
            assert!(mean.abs() < ERRORS / count.sqrt(), "{what}: mean {a} is {mean}");
            for b in 0..=a {
                let product = whitened.iter().map(|z| z[a] * z[b]).sum::<f64>() / count;
                let (expected, error) = if a == b { (1.0, 2.0_f64.sqrt()) } else { (0.0, 1.0) };
                let off = (product - expected).abs() / error * count.sqrt();
                assert!(off < ERRORS, "{what}: covariance {a}, {b} is {product}");
            }
        }
    }
}

/// Covariances of one target's function at the training rows and of its targets there, jitter
/// included, standardised; the targets, and the residual variance.
struct Training {
    function: Matrix,
    targets: Matrix,
    values: Vec<f64>,
    noise: f64,
}

impl Training {
    fn new(posterior: &GpPosterior, state: &[f64], target: usize) -> Self {
        let Observed::Real(residual) = &posterior.observed else { unreachable!() };
        let plain = Plain::new(posterior, state, target);
        let noise = residual.log_scale(state, target * ROWS).exp().powi(2);
        let at = |i: usize| row(&posterior.inputs, i);
        let of = |own: f64| {
            Matrix::from_fn(ROWS, ROWS, |i, j| {
                let diagonal = if i == j { posterior.jitter.powi(2) + own } else { 0.0 };
                plain.at(&at(i), &at(j)) + diagonal
            })
        };
        let values = posterior.targets[target * ROWS..(target + 1) * ROWS].to_vec();
        Training { function: of(0.0), targets: of(noise), values, noise }
    }

    /// The function at the training rows given the targets.
    fn fitted(&self) -> Joint {
        Joint::given((&self.values, &self.targets), &self.function, &self.function)
    }
}

/// Standardised values of one target among numbers of all targets, row by row.
fn standardised(values: &[f64], scaling: &Standardization, target: usize) -> Vec<f64> {
    values.iter().skip(target).step_by(2).map(|value| scaling.apply(*value)).collect()
}

/// All rows are neighbours of each other in the second specification: it must be exact then.
#[test]
fn fitted_values_and_new_targets_are_joint_draws() {
    let data = data(ROWS, &[&wave, &slope]);
    for (index, text) in ["", "neighbours = 11"].iter().enumerate() {
        let posterior = posterior(text, &data);
        let (state, mut draw) = some_draw(&posterior, &mut stream(40 + index as u64));
        let layout = posterior.layout();
        let [fitted, mean] =
            ["fitted", "fitted_mean"].map(|it| layout.variable(it).unwrap().range());
        let mut evaluator = posterior.evaluator();
        let mut rows = vec![0.0; ROWS];
        let mut predictor = posterior.predictor().unwrap();
        let (mut functions, mut targets) = (Vec::new(), Vec::new());
        for number in 0..DRAWS {
            let stream = &mut stream(1000 + number as u64);
            evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            evaluator.complete(&mut draw, stream);
            functions.push(draw[fitted.clone()].to_vec());
            let mut replicate = vec![f64::NAN; 2 * ROWS];
            predictor.replicate(&draw, stream, &mut replicate);
            targets.push(replicate);
        }
        for (target, scaling) in posterior.target_scaling.iter().enumerate() {
            let training = Training::new(&posterior, &state, target);
            let mut expected = training.fitted();
            let kept = standardised(&draw[mean.clone()], scaling, target);
            // Neighbours predict a row as a new one, without the jitter of its own target.
            let tolerance = if index == 0 { 1e-6 } else { 1e-3 };
            for (found, expected) in kept.iter().zip(&expected.means) {
                assert!((found - expected).abs() < tolerance, "{text}: {found} {expected}");
            }
            let of = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
                all.iter().map(|values| standardised(values, scaling, target)).collect()
            };
            expected.check(&of(&functions), &format!("{text} fitted {target}"));
            for i in 0..ROWS {
                expected.covariances[(i, i)] += training.noise;
            }
            expected.check(&of(&targets), &format!("{text} targets {target}"));
        }
    }
}

#[test]
fn some_rows_of_many_are_drawn_jointly() {
    let data = data(ROWS, &[&wave]);
    let posterior = posterior("mean = 'constant'", &data);
    let (state, _) = some_draw(&posterior, &mut stream(43));
    let mut logs = vec![0.0; posterior.covariance.parameters().len()];
    posterior.processes[0].hyperparameters.write_parameters(&state, &mut logs);
    let noise = 0.04;
    let mut marginal = Marginal::new(&posterior.covariance, &posterior.inputs, posterior.jitter);
    marginal.set(&logs);
    marginal.factorize(&[1.0 / noise; ROWS]).unwrap();
    let mut evaluator = posterior.covariance.evaluator(&posterior.inputs);
    evaluator.set(&logs);
    let mut function = Matrix::zeros(ROWS, ROWS);
    evaluator.fill(&mut function);
    function.mirror_lower();
    (0..ROWS).for_each(|i| function[(i, i)] += posterior.jitter.powi(2));
    let mut targets = function.clone();
    (0..ROWS).for_each(|i| targets[(i, i)] += noise);
    let some = [1, 4, 5, 10];
    let cross = Matrix::from_fn(4, ROWS, |i, j| function[(some[i], j)]);
    let prior = Matrix::from_fn(4, 4, |i, j| function[(some[i], some[j])]);
    let joint = Joint::given((&[0.0; ROWS], &targets), &cross, &prior);
    let mut open = Open::new(ROWS, 4);
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|number| {
            let mut values = vec![0.0; 4];
            open.add(&mut marginal, &some, &mut stream(3000 + number as u64), &mut values).unwrap();
            values
        })
        .collect();
    joint.check(&draws, "some rows");
}

#[test]
fn what_is_drawn_follows_from_its_stream_alone() {
    let data = data(ROWS, &[&wave]);
    let posterior = posterior("", &data);
    let (state, draw) = some_draw(&posterior, &mut stream(44));
    let complete = |times: usize| {
        let (mut evaluator, mut draw, mut rows) =
            (posterior.evaluator(), draw.clone(), [0.0; ROWS]);
        for _ in 0..times {
            evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            evaluator.complete(&mut draw, &mut stream(5));
        }
        draw.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(complete(1), complete(3));
}

#[test]
fn sums_of_the_function_have_their_moments() {
    // More than two blocks.
    const NEW: usize = 150;
    let data = data(ROWS, &[&wave]);
    let mut stream = stream(45);
    let inputs = Matrix::from_fn(NEW, 2, |_, _| stream.normal());
    let weights: Vec<f64> = (0..NEW).map(|_| stream.normal()).collect();
    for text in ["", "neighbours = 11", "[residual]\nfamily = 'student-t'\ndof = 4.0"] {
        let posterior = posterior(text, &data);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let plain = Plain::new(&posterior, &state, 0);
        let training = Training::new(&posterior, &state, 0);
        let cross = Matrix::from_fn(NEW, ROWS, |i, j| {
            plain.at(&row(&inputs, i), &row(&posterior.inputs, j))
        });
        let prior = Matrix::from_fn(NEW, NEW, |i, j| plain.at(&row(&inputs, i), &row(&inputs, j)));
        let joint = match posterior.keeps_latents() {
            true => {
                let latents = &state[posterior.latents.clone()];
                Joint::given((latents, &training.function), &cross, &prior)
            }
            false => Joint::given((&training.values, &training.targets), &cross, &prior),
        };
        let scaling = &posterior.target_scaling[0];
        let mean: f64 = joint.means.iter().zip(&weights).map(|(m, w)| w * scaling.invert(*m)).sum();
        let variance: f64 = (0..NEW * NEW)
            .map(|k| weights[k / NEW] * weights[k % NEW] * joint.covariances[(k / NEW, k % NEW)])
            .sum();
        let mut predictor = posterior.predictor().unwrap();
        let found = predictor.weighted_sums(&draw, &inputs, &weights).unwrap();
        assert_close(found[0].0, mean, text);
        assert!((found[0].1 / (variance * scaling.scale.powi(2)) - 1.0).abs() < 1e-6, "{text}");
    }
}

/// Derivatives of the squared exponential are written out here once more.
#[test]
fn slopes_are_joint_draws_of_the_derivative() {
    let data = data(ROWS, &[&wave]);
    let inputs = Matrix::from_fn(4, 2, |i, k| 0.9 * i as f64 - 1.3 + 0.3 * k as f64);
    for (index, text) in ["", "neighbours = 11"].iter().enumerate() {
        let posterior = posterior(text, &data);
        let (state, draw) = some_draw(&posterior, &mut stream(50 + index as u64));
        let plain = Plain::new(&posterior, &state, 0);
        let training = Training::new(&posterior, &state, 0);
        let mut logs = vec![0.0; posterior.covariance.parameters().len()];
        posterior.processes[0].hyperparameters.write_parameters(&state, &mut logs);
        let square = (2.0 * logs[2]).exp();
        let cross = Matrix::from_fn(4, ROWS, |i, j| {
            let (x, y) = (row(&inputs, i), row(&posterior.inputs, j));
            -2.0 * square * (x[1] - y[1]) * plain.at(&x, &y)
        });
        let prior = Matrix::from_fn(4, 4, |i, j| {
            let (x, y) = (row(&inputs, i), row(&inputs, j));
            let step = x[1] - y[1];
            (2.0 * square - 4.0 * square * square * step * step) * plain.at(&x, &y)
        });
        let joint = Joint::given((&training.values, &training.targets), &cross, &prior);
        let mut predictor = posterior.predictor().unwrap();
        let scale = posterior.target_scaling[0].scale;
        let draws: Vec<Vec<f64>> = (0..DRAWS)
            .map(|number| {
                let mut slopes = vec![f64::NAN; 4];
                let stream = &mut stream(9000 + number as u64);
                assert!(predictor.draw_slopes(&draw, &inputs, 1, stream, &mut slopes));
                slopes.iter().map(|slope| slope / scale).collect()
            })
            .collect();
        joint.check(&draws, text);
    }
    let rough = posterior("covariance = ['exponential(a)', 'linear']", &data);
    let (_, draw) = some_draw(&rough, &mut stream(52));
    let mut predictor = rough.predictor().unwrap();
    let mut slopes = vec![0.0; 4];
    assert!(!predictor.draw_slopes(&draw, &inputs, 0, &mut stream(53), &mut slopes));
    assert!(predictor.draw_slopes(&draw, &inputs, 1, &mut stream(53), &mut slopes));
}

/// A linear covariance is a linear model: the comparison is its weight, and what is open of it is
/// the posterior variance of the weight.
#[test]
fn effects_include_what_is_open() {
    let data = data(ROWS, &[&wave]);
    let posterior = posterior("covariance = 'linear'\nmean = 'zero'", &data);
    let (state, draw) = some_draw(&posterior, &mut stream(60));
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let noise = residual.log_scale(&state, 0).exp().powi(2) + posterior.jitter.powi(2);
    let mut logs = vec![0.0; posterior.covariance.parameters().len()];
    posterior.processes[0].hyperparameters.write_parameters(&state, &mut logs);
    // Precision of the two weights: XᵀX/noise + diag(1/ρ²).
    let x = |i: usize, k: usize| posterior.inputs[(i, k)];
    let precision = |a: usize, b: usize| {
        let products: f64 = (0..ROWS).map(|i| x(i, a) * x(i, b)).sum();
        products / noise + if a == b { (-2.0 * logs[a]).exp() } else { 0.0 }
    };
    let [p00, p01, p11] = [precision(0, 0), precision(0, 1), precision(1, 1)];
    let variance = p00 / (p00 * p11 - p01 * p01);
    let layout = posterior.layout().clone();
    let values = draw.repeat(3);
    let draws = Draws { draws: 3, values, ..Draws::empty(layout, 1, 0) };
    let scaling = Standardization { centre: 0.0, scale: 4.0 };
    let column =
        InputColumn { name: "b".into(), inputs: 1..2, scaling: vec![scaling], is_number: true };
    let mut predictor = posterior.predictor().unwrap();
    let options = EffectOptions::default();
    let effects = input_effects(&mut *predictor, &draws, &data.inputs, &column, &options);
    let expected = variance.sqrt() * posterior.target_scaling[0].scale / 4.0;
    let found = effects[0].comparison.sd;
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    assert!(effects[0].rms_derivative.unwrap().sd > 0.0);
}
