//! Jumps between input sets keep their prior, and find the sets' exact probabilities.

use super::*;
use crate::data::Dataset;
use crate::density::InverseGamma;
use crate::density::special::{log_sum_exp, logistic};
use crate::model::Posterior;
use crate::model::selection::checks::{assert_prior_of_sets_kept, prior_of, sections, set_of};
use crate::random::Stream;

fn noise(count: usize, columns: usize, index: u64) -> Dataset {
    let mut stream = stream(index);
    let x = random_matrix(count, columns, &mut stream);
    let y = (0..count).map(|row| x[(row, 0)] + stream.normal()).collect();
    real(x, y)
}

#[test]
fn without_data_all_priors_and_schemes_keep_the_prior_of_sets() {
    let models = [
        "[prior.weights]\nsharing = 'per-input'\nscale = 0.8\ndof = 6.0\n",
        "[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n",
    ];
    for count in [1, 2, 5] {
        for (index, section) in sections(count).iter().enumerate() {
            let text = format!("{}{section}", models[index % 2]);
            let posterior = conditioned(&text, &noise(4, count, 80));
            assert_prior_of_sets_kept(&posterior, section, count, (800, 10));
        }
    }
}

#[test]
fn without_data_the_sizes_of_many_inputs_keep_their_prior() {
    for section in sections(30).iter().step_by(3) {
        let text = format!("[prior.weights]\nfixed = 1.0\n{section}");
        let posterior = conditioned(&text, &noise(3, 30, 81));
        assert_prior_of_sets_kept(&posterior, section, 30, (300, 8));
    }
}

/// Only the inputs of a set.
fn subset(data: &Dataset, set: &[bool]) -> Dataset {
    let kept: Vec<usize> = (0..set.len()).filter(|k| set[*k]).collect();
    let Targets::Real { values, .. } = &data.targets else { unreachable!() };
    let x = Matrix::from_fn(data.rows(), kept.len(), |row, k| data.inputs[(row, kept[k])]);
    real(x, values.values().to_vec())
}

/// Exact probabilities of all sets of `count` inputs.
fn exact(model: &str, section: &str, data: &Dataset, count: usize) -> Vec<f64> {
    let prior = prior_of(section, count);
    let logs: Vec<f64> = (0..1_usize << count)
        .map(|bits| {
            let set: Vec<bool> = (0..count).map(|k| bits >> k & 1 == 1).collect();
            let posterior = conditioned(model, &subset(data, &set));
            prior.log_probability(&set) + posterior.log_evidence().unwrap()
        })
        .collect();
    let total = log_sum_exp(&logs);
    logs.iter().map(|log| (log - total).exp()).collect()
}

/// y depends on three of the inputs, weakly on one of them, and two are nearly the same.
fn correlated(count: usize) -> Dataset {
    let mut stream = stream(82);
    let mut x = random_matrix(25, count, &mut stream);
    for row in 0..25 {
        x[(row, 1)] = 0.9 * x[(row, 0)] + 0.3 * x[(row, 1)];
    }
    let y = (0..25)
        .map(|row| 0.5 * x[(row, 0)] + 0.4 * x[(row, 2)] + 0.25 * x[(row, 3)] + stream.normal())
        .collect();
    real(x, y)
}

/// Total variation of visits from the exact probabilities, and the greatest z of a set's or an
/// input's probability.
fn compare(model: &str, section: &str, count: usize, sweeps: usize) -> (f64, f64) {
    let data = correlated(count);
    let exact = exact(model, section, &data, count);
    let posterior = conditioned(&format!("{model}{section}"), &data);
    let mut stream = stream(83);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(1.0);
    let mut visits = Vec::with_capacity(sweeps);
    for index in 0..sweeps + 200 {
        sweep.pass(&mut state, &mut stream);
        if index >= 200 {
            let set = &state[state.len() - count..];
            visits.push(set.iter().rev().fold(0, |bits, b| 2 * bits + usize::from(*b > 0.5)));
        }
    }
    let share = |bits: usize| visits.iter().filter(|v| **v == bits).count() as f64 / sweeps as f64;
    let distance =
        exact.iter().enumerate().map(|(bits, p)| 0.5 * (share(bits) - p).abs()).sum::<f64>();
    let mut worst = 0.0_f64;
    let z = |p: f64, inside: &dyn Fn(usize) -> bool| {
        let values: Vec<f64> = visits.iter().map(|bits| f64::from(inside(*bits))).collect();
        z_score(&values, p, 0.0).abs()
    };
    for k in 0..count {
        let inside = |bits: usize| bits >> k & 1 == 1;
        let p = exact.iter().enumerate().filter(|(bits, _)| inside(*bits)).map(|(_, p)| p).sum();
        worst = worst.max(z(p, &inside));
    }
    for (bits, p) in exact.iter().enumerate().filter(|(_, p)| **p > 0.01) {
        worst = worst.max(z(*p, &|v| v == bits));
    }
    (distance, worst)
}

const MODELS: [&str; 3] = [
    "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0\n",
    "[prior.weights]\nfixed = 0.7\n[residual]\nscale = 0.5\nscale_dof = 3.0\n",
    "[prior.weights]\nscale = 0.5\ndof = 4.0\n[residual]\nscale = 0.5\nscale_dof = 3.0\n",
];

#[test]
fn visits_have_the_exact_probabilities_of_all_sets() {
    for (index, model) in MODELS.into_iter().enumerate() {
        let section = [
            "[selection]\nprior = 'uniform-models'\n",
            "[selection]\nprior = 'uniform-sizes'\nscheme = 'birth-death'\n",
            "[selection]\nprior = { beta_binomial = [2, 4] }\nscheme = 'birth-death'\ndeath = 0.6\n",
        ][index];
        let (distance, z) = compare(model, section, 6, 20_000);
        // 20 000 all but independent sweeps over sets of which forty matter: a total variation of
        // about 0.02; |z| of fifty probabilities passes 4.9 with probability 5e-4 (seeds fixed).
        assert!(distance < 0.03 && z < 4.9, "{model}: {distance} {z}");
    }
}

#[test]
fn visits_have_the_exact_probabilities_of_a_thousand_sets() {
    // In closed form; where evidences are by quadrature, and of ten times as many sweeps, it is one of
    // the long validations.
    let (distance, z) = compare(MODELS[0], "[selection]\nprior = 'uniform-sizes'\n", 10, 20_000);
    // Some 300 sets matter: Σ √(p/20 000) / 2.5 is about 0.05; |z| as above.
    assert!(distance < 0.08 && z < 4.9, "{distance} {z}");
}

const ROWS: usize = 5;

/// Alternates targets given the state and a sweep given the targets: every function of the state
/// has to keep its mean under the prior [Geweke 2004].
fn geweke(
    text: &str,
    scales: usize,
    mut sweep: impl FnMut(&super::Linear, &mut Vec<f64>, &mut Stream),
    regression: bool,
) {
    let model = model(text);
    let weights = InverseGamma::new(0.8, 6.0).unwrap();
    let residual = InverseGamma::new(0.6, 5.0).unwrap();
    let section = "[selection]\nprior = { probabilities = [0.3, 0.6] }\n";
    let prior = prior_of(section, 2);
    let from_prior = |stream: &mut Stream| {
        let logs: Vec<f64> = (0..scales).map(|_| weights.draw_log_scale(stream)).collect();
        let mut state = vec![stream.normal()];
        (0..2).for_each(|k| state.push(logs[k % scales].exp() * stream.normal()));
        state.extend(logs);
        if regression {
            state.push(residual.draw_log_scale(stream));
        }
        let mut set = [false; 2];
        prior.draw(&mut set, stream);
        state.extend(set.map(f64::from));
        state
    };
    let functions = |state: &[f64]| {
        let set = &state[state.len() - 2..];
        let mut values = vec![state[0].tanh(), (state[0].powi(2) + 0.01).ln()];
        for k in 0..2 {
            let w = state[1 + k];
            values.extend([set[k], set[k] * w.tanh(), set[k] * (w * w + 0.01).ln()]);
            // What is out keeps its prior too.
            values.extend([(1.0 - set[k]) * (w * w + 0.01).ln(), set[k] * state[3]]);
        }
        values.push(set[0] * set[1]);
        for u in &state[3..state.len() - 2] {
            values.extend([*u, u * u]);
        }
        values
    };
    let mut noise = stream(84);
    let marginal = Table::collect(20_000, || functions(&from_prior(&mut noise)));
    let mut state = from_prior(&mut noise);
    let successive = Table::collect(20_000, || {
        sweep(&model, &mut state, &mut noise);
        functions(&state)
    });
    successive.assert_means_of(&marginal, text);
}

const SECTION: &str = "[selection]\nprior = { probabilities = [0.3, 0.6] }\ntries = 2\n";

fn output(x: &Matrix, row: usize, state: &[f64]) -> f64 {
    let set = &state[state.len() - 2..];
    state[0] + set[0] * state[1] * x[(row, 0)] + set[1] * state[2] * x[(row, 1)]
}

#[test]
fn jumps_keep_the_joint_distribution_of_a_regression() {
    let x = random_matrix(ROWS, 2, &mut stream(85));
    for (sharing, scales) in [("", 1), ("sharing = 'per-input'\n", 2)] {
        let text = format!(
            "[prior.weights]\n{sharing}scale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
             [residual]\nscale = 0.6\nscale_dof = 5.0\n{SECTION}"
        );
        let sweep = |model: &super::Linear, state: &mut Vec<f64>, stream: &mut Stream| {
            let scale = state[state.len() - 3].exp();
            let y = (0..ROWS).map(|row| output(&x, row, state) + scale * stream.normal()).collect();
            let posterior = model.condition(&real(x.clone(), y), nuts()).unwrap();
            posterior.sweep(1.0).pass(state, stream);
        };
        geweke(&text, scales, sweep, true);
    }
}

#[test]
fn jumps_keep_the_joint_distribution_of_a_logistic_regression() {
    let x = random_matrix(ROWS, 2, &mut stream(86));
    for (sharing, scales) in [("", 1), ("sharing = 'per-input'\n", 2)] {
        let text = format!(
            "[prior.weights]\n{sharing}scale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
             {SECTION}"
        );
        let sweep = |model: &super::Linear, state: &mut Vec<f64>, stream: &mut Stream| {
            let yes = |row| stream.uniform() < logistic(output(&x, row, state));
            let codes = (0..ROWS).map(yes).map(usize::from).collect();
            let posterior = model.condition(&classes(x.clone(), codes), nuts()).unwrap();
            posterior.sweep(1.0).pass(state, stream);
        };
        geweke(&text, scales, sweep, false);
    }
}

#[test]
fn draws_hold_nothing_of_inputs_that_are_out() {
    let text = "[prior.weights]\nsharing = 'per-input'\n[selection]\nalways = ['x1']\n";
    let posterior = conditioned(text, &noise(12, 3, 87));
    let layout = posterior.layout();
    let at = |name: &str| layout.variable(name).unwrap().range();
    let mut stream = stream(88);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(1.0);
    let (mut draw, mut rows) = (vec![0.0; layout.len()], vec![0.0; 12]);
    let (mut seen, mut predictor) = ([false; 2], posterior.predictor().unwrap());
    let mut parameters = vec![0.0; 24];
    for _ in 0..200 {
        sweep.pass(&mut state, &mut stream);
        posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        let set = set_of(&posterior, &state);
        assert!(set[1], "always in");
        let candidates = f64::from(set[0]) + f64::from(set[2]);
        assert!((draw[at("inputs_in_model").start] - candidates).abs() < 1e-12);
        for k in 0..3 {
            let (w, a) = (draw[at("weights").start + k], draw[at("relevance").start + k]);
            assert!(if set[k] { w.abs() > 0.0 && a > 0.0 } else { w == 0.0 && a == 0.0 });
        }
        seen[usize::from(set[0])] = true;
        // A predictor knows the draw alone; its density of the training rows is the evaluator's.
        predictor.at_training_rows(&draw, &mut parameters);
        let Targets::Real { values, .. } = &noise(12, 3, 87).targets else { unreachable!() };
        for (row, pair) in parameters.chunks(2).enumerate() {
            let z = (values[(row, 0)] - pair[0]) / pair[1];
            let log = -0.5 * z * z - pair[1].ln() - crate::density::special::LOG_SQRT_2PI;
            assert!((log - rows[row]).abs() < 1e-9);
        }
    }
    assert_eq!(seen, [true, true], "x0 was in and out");
}
