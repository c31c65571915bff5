//! Counts and durations of every kind of model: the joint distribution is kept, the prior returned, and the
//! posterior that of quadrature and of published estimates.

mod durations;
mod ordered;
mod two_classes;

use std::sync::Arc;

use posteria_linalg::Matrix;

use crate::data::{Dataset, Standardization, Targets, Task};
use crate::density::NegativeBinomial;
use crate::model::gp::GaussianProcess;
use crate::model::linear::Linear;
use crate::model::mlp::Mlp;
use crate::model::spec::{ModelKind, Spec};
use crate::model::{KernelFactory, Posterior};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::hmc::{MetricKind, Nuts, NutsOptions};
use crate::sample::{Adapt, Stage, Sweep};

const BATCHES: usize = 64;
/// |z| of a mean over 64 batches passes this by chance with probability 1e-6; all tests here look at
/// some 800 means. Seeds are fixed.
const FAR: f64 = 5.4;
const TRANSITIONS: usize = 4096;
const ROWS: usize = 4;

/// Kind, sections, and whether rows have exposures.
const MODELS: [(ModelKind, &str, bool); 3] = [
    (
        ModelKind::Linear,
        "[prior.weights]\nscale = 0.5\nlog_sd = 0.5\n[prior.intercept]\nfixed = 0.7\n",
        true,
    ),
    (
        ModelKind::Mlp,
        "[model]\nhidden = 2\n[sampling]\nleapfrog_steps = 6\nstart = 'dispersed'\n\
         [prior.input_weights]\nfixed = 0.8\n[prior.hidden_bias]\nfixed = 0.5\n\
         [prior.output_weights]\nscale = 0.6\nlog_sd = 0.4\n[prior.output_bias]\nfixed = 0.7\n",
        true,
    ),
    (
        ModelKind::Gp,
        "[prior.magnitude]\nfamily = 'log-normal'\nscale = 0.7\nlog_sd = 0.5\n\
         [prior.relevance]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.5\nwidth_scaled = false\n",
        false,
    ),
];

const FAMILIES: [&str; 4] = [
    "[residual]\nfamily = 'poisson'\n",
    "[residual]\nfamily = 'negative-binomial'\nscale = 0.5\nlog_sd = 0.6\n",
    "[residual]\nfamily = 'weibull'\nscale = 0.6\nlog_sd = 0.5\n",
    "[residual]\nfamily = 'log-normal'\nscale = 0.6\nlog_sd = 0.5\n",
];

/// When durations of the rows are censored.
const CENSORED_AT: [f64; ROWS] = [1.8, 30.0, 2.5, 1.2];

fn stream(index: u64) -> Stream {
    Seed(1837).stream(Purpose::Data, [index, 0])
}

/// Durations of the same rows, of which those that are negative are censored.
fn durations(values: &[f64]) -> Dataset {
    Dataset {
        target_scaling: vec![Standardization { centre: 2_f64.ln(), scale: 0.7 }],
        targets: Targets::Durations {
            name: "y".into(),
            times: values.iter().map(|y| y.abs()).collect(),
            censored: Some(values.iter().map(|y| *y < 0.0).collect()),
        },
        task: Task::Duration,
        ..dataset(values, false)
    }
}

/// Counts of rows with two inputs, nothing standardised, functions about a mean of two.
fn dataset(values: &[f64], exposed: bool) -> Dataset {
    let inputs = Matrix::from_fn(values.len(), 2, |row, input| match input {
        0 => (0.9 * row as f64).sin() * 1.3,
        _ => (0.4 + 1.7 * row as f64).cos(),
    });
    let exposure = |row: usize| 0.6 * (1.3 * row as f64).sin();
    let targets = Targets::Counts { name: "y".into(), values: values.to_vec() };
    Dataset {
        input_names: vec!["a".into(), "b".into()],
        target_scaling: vec![Standardization { centre: 2_f64.ln(), scale: 1.0 }],
        offsets: exposed.then(|| (0..values.len()).map(exposure).collect()),
        ..Dataset::unscaled(inputs, targets)
    }
}

fn kernel() -> KernelFactory<'static> {
    Arc::new(|dim| {
        let options = NutsOptions { metric: MetricKind::Unit, ..NutsOptions::default() };
        Box::new(Nuts::new(dim, NutsOptions { step_size: 0.4, ..options }))
    })
}

fn posterior(kind: ModelKind, text: &str, data: &Dataset) -> Box<dyn Posterior> {
    let mut spec = Spec::from_toml(text).unwrap();
    spec.model.kind = kind;
    match kind {
        ModelKind::Linear => {
            Box::new(Linear::new(&spec).unwrap().condition(data, kernel()).unwrap())
        }
        ModelKind::Mlp => Box::new(Mlp::new(&spec).unwrap().condition(data, None).unwrap()),
        _ => Box::new(GaussianProcess::new(&spec).unwrap().condition(data, None).unwrap()),
    }
}

/// New counts given a state, or durations as far as they can be watched, as the predictor draws them.
fn draw_outcomes(posterior: &dyn Posterior, state: &[f64], stream: &mut Stream) -> Vec<f64> {
    let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; ROWS]);
    posterior.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
    let mut counts = vec![0.0; ROWS];
    let mut predictor = posterior.predictor().unwrap();
    predictor.replicate(&draw, stream, &mut counts);
    if predictor.family().duration().is_some() {
        for (duration, end) in counts.iter_mut().zip(CENSORED_AT) {
            *duration = if *duration > end { -end } else { *duration };
        }
    }
    counts
}

/// Bounded functions of a state and its counts.
fn functions(state: &[f64], counts: &[f64]) -> Vec<f64> {
    let squashed: Vec<f64> = state.iter().map(|value| value.tanh()).collect();
    let mut values = squashed.clone();
    values.extend(squashed.iter().map(|value| value * value));
    values.extend(squashed.windows(2).map(|pair| pair[0] * pair[1]));
    for (row, count) in counts.iter().enumerate() {
        let share = count / (2.0 + count.abs());
        values.push(share);
        values.push(share * squashed[row % squashed.len()]);
        values.push(share * squashed[squashed.len() - 1 - row % squashed.len()]);
    }
    values
}

fn tune(sweep: &mut Sweep<'_>, state: &mut [f64], stream: &mut Stream) {
    for (adapt, passes) in
        [(Adapt::StepSize, 40), (Adapt::Metric, 100), (Adapt::StepSize, 60), (Adapt::Nothing, 0)]
    {
        sweep.enter(&Stage { adapt, ..Stage::default() });
        (0..passes).for_each(|_| {
            sweep.pass(state, stream);
        });
    }
}

/// Mean and its squared standard error, by batches.
fn mean(rows: &[Vec<f64>], index: usize) -> (f64, f64) {
    let size = rows.len() / BATCHES;
    let means: Vec<f64> = rows
        .chunks_exact(size)
        .map(|batch| batch.iter().map(|row| row[index]).sum::<f64>() / size as f64)
        .collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, variance / count)
}

fn assert_same_means(found: &[Vec<f64>], expected: &[Vec<f64>], what: &str) {
    for index in 0..found[0].len() {
        let ((a, of_a), (b, of_b)) = (mean(found, index), mean(expected, index));
        let z = (a - b) / (of_a + of_b).sqrt();
        // Entries that never change have no errors: NaN.
        assert!(z.abs() < FAR || (a - b).abs() < 1e-12, "{what}: {index} is {a}, not {b}: {z}");
    }
}

/// The successive-conditional simulator [Geweke 2004] beside independent draws, and the sweep at inverse
/// temperature 0: of a posterior of new outcomes of the same rows, and some usual ones to begin with.
fn check_one(
    conditioned: impl Fn(&[f64]) -> Box<dyn Posterior>,
    usual: f64,
    stream: &mut Stream,
    what: &str,
) {
    let empty = conditioned(&[usual; ROWS]);
    let independent: Vec<Vec<f64>> = (0..2 * TRANSITIONS)
        .map(|_| {
            let state = empty.prior_state(stream).unwrap();
            functions(&state, &draw_outcomes(&*empty, &state, stream))
        })
        .collect();
    let mut state = empty.prior_state(stream).unwrap();
    let mut current = conditioned(&draw_outcomes(&*empty, &state, stream));
    let mut memory = {
        let mut sweep = current.tempering().unwrap().short_sweep(1.0);
        tune(&mut sweep, &mut state.clone(), stream);
        sweep.memory()
    };
    let mut rows = Vec::with_capacity(TRANSITIONS);
    for _ in 0..TRANSITIONS {
        let outcomes = draw_outcomes(&*current, &state, stream);
        current = conditioned(&outcomes);
        let mut sweep = current.tempering().unwrap().short_sweep(1.0);
        sweep.enter(&Stage::default());
        sweep.recall(&memory).unwrap();
        sweep.pass(&mut state, stream);
        memory = sweep.memory();
        rows.push(functions(&state, &outcomes));
    }
    assert_same_means(&rows, &independent, what);
    let mut sweep = empty.sweep(0.0);
    tune(&mut sweep, &mut state, stream);
    let rows: Vec<Vec<f64>> = (0..TRANSITIONS)
        .map(|_| {
            sweep.pass(&mut state, stream);
            functions(&state, &[])
        })
        .collect();
    let count = rows[0].len();
    let prior: Vec<Vec<f64>> = independent.iter().map(|row| row[..count].to_vec()).collect();
    assert_same_means(&rows, &prior, &format!("prior, {what}"));
}

fn check(model: usize, seed: u64) {
    let (kind, sections, exposed) = MODELS[model];
    for (number, family) in FAMILIES.into_iter().enumerate() {
        let text = format!("{sections}{family}");
        let conditioned = |values: &[f64]| match number {
            0 | 1 => posterior(kind, &text, &dataset(values, exposed)),
            _ => posterior(kind, &text, &durations(values)),
        };
        let usual = f64::from(u8::from(number > 1));
        let stream = &mut stream(10 * seed + number as u64);
        check_one(conditioned, usual, stream, &format!("{kind:?}, {family}"));
    }
}

#[test]
fn linear_models_keep_the_joint_distribution() {
    check(0, 1);
}

#[test]
fn networks_keep_the_joint_distribution() {
    check(1, 2);
}

#[test]
fn processes_keep_the_joint_distribution() {
    check(2, 3);
}

/// The states of a chain.
fn chain(posterior: &dyn Posterior, passes: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let mut state = posterior.start(stream);
    let mut sweep = posterior.sweep(1.0);
    tune(&mut sweep, &mut state, stream);
    (0..passes)
        .map(|_| {
            sweep.pass(&mut state, stream);
            state.clone()
        })
        .collect()
}

/// An intercept alone, and the overdispersion beside it: both integrals by sums over a fine grid.
#[test]
fn posterior_means_are_those_of_quadrature() {
    let counts = [3.0, 0.0, 9.0, 1.0];
    for (number, family) in FAMILIES.into_iter().take(2).enumerate() {
        let text = format!("[prior.intercept]\nfixed = 0.7\n{family}");
        let data = Dataset {
            inputs: Matrix::zeros(ROWS, 0),
            input_names: Vec::new(),
            input_scaling: Vec::new(),
            ..dataset(&counts, true)
        };
        let posterior = posterior(ModelKind::Linear, &text, &data);
        let rows: Vec<Vec<f64>> = chain(&*posterior, 8192, &mut stream(50 + number as u64))
            .into_iter()
            .map(|state| vec![state[0], state[0] * state[0], state[state.len() - 1]])
            .collect();
        let offsets = data.offsets.as_ref().unwrap();
        let scales = if number == 0 { 1 } else { 161 };
        let (mut total, mut sums) = (0.0, [0.0; 3]);
        for k in 0..scales {
            let t = 10.0 * (k as f64 / 160.0 - 0.5);
            let log_sigma = 0.5_f64.ln() + 0.6 * t;
            let shape = if number == 0 { f64::INFINITY } else { (-2.0 * log_sigma).exp() };
            for j in 0..401 {
                let b = 8.0 * (j as f64 / 400.0 - 0.5);
                let likelihood: f64 = counts
                    .iter()
                    .zip(offsets)
                    .map(|(y, offset)| {
                        let log_mean = 2_f64.ln() + offset + b;
                        NegativeBinomial::of_log_mean(log_mean, shape).log_probability(*y)
                    })
                    .sum();
                let weight =
                    (likelihood - 0.5 * (b / 0.7).powi(2) - 0.5 * t * t * f64::from(number as u8))
                        .exp();
                total += weight;
                let of_last = if number == 0 { 0.0 } else { log_sigma };
                let terms = [b, b * b, of_last];
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
            }
        }
        for (index, sum) in sums.iter().enumerate().take(if number == 0 { 2 } else { 3 }) {
            let (found, variance) = mean(&rows, index);
            let z = (found - sum / total) / variance.sqrt();
            assert!(z.abs() < FAR, "{family}: {index} is {found}, not {}: {z}", sum / total);
        }
    }
}

/// Counts by outcome and treatment [Dobson 1990, p. 93], the example of `glm` in R: estimates
/// 3.045, -0.4543, -0.2930, 0, 0 with standard errors 0.171, 0.202, 0.193, 0.2, 0.2. Means of a
/// posterior under vague priors differ from maximum likelihood by some tenths of an error.
#[test]
fn vague_priors_give_the_published_estimates() {
    let counts = [18.0, 17.0, 15.0, 20.0, 10.0, 20.0, 25.0, 13.0, 12.0];
    let indicator = |yes: bool| f64::from(u8::from(yes));
    let inputs = Matrix::from_fn(9, 4, |row, k| match k {
        0 | 1 => indicator(row % 3 == k + 1),
        _ => indicator(row / 3 == k - 1),
    });
    let data = Dataset {
        inputs,
        input_names: ["o2", "o3", "t2", "t3"].map(String::from).to_vec(),
        input_scaling: vec![Standardization::IDENTITY; 4],
        offsets: None,
        ..dataset(&counts, false)
    };
    let text = "[prior.weights]\nfixed = 10.0\n[prior.intercept]\nfixed = 10.0\n\
                [residual]\nfamily = 'poisson'\n";
    let posterior = posterior(ModelKind::Linear, text, &data);
    let states = chain(&*posterior, 8000, &mut stream(60));
    let published = [
        (3.045 - 2_f64.ln(), 0.1709),
        (-0.4543, 0.2022),
        (-0.2930, 0.1927),
        (0.0, 0.2),
        (0.0, 0.2),
    ];
    for (index, (estimate, error)) in published.into_iter().enumerate() {
        let count = states.len() as f64;
        let mean = states.iter().map(|state| state[index]).sum::<f64>() / count;
        let square = states.iter().map(|state| (state[index] - mean).powi(2)).sum::<f64>();
        let sd = (square / count).sqrt();
        assert!((mean - estimate).abs() < 0.2 * error, "{index}: {mean}, not {estimate}");
        assert!((sd / error - 1.0).abs() < 0.1, "{index}: {sd}, not {error}");
    }
}
