//! Classes: the joint distribution of the model is kept, and the truth has every rank.

use posteria_linalg::{Cholesky, Matrix};

use super::classes::{
    KERNELS, LOG_SD, PRIORS, TARGETS, assert_means, dataset, probabilities, stream, tune,
};
use super::posterior;
use super::ranks::Ranks;
use crate::model::Posterior;
use crate::model::gp::{GpPosterior, start};
use crate::random::Stream;
use crate::sample::Stage;

/// Log hyperparameters in units of their prior deviation, and latents whitened by their prior:
/// independent standard normal numbers under the prior. By the plain formula for
/// η² exp(-Σρ²d²) + δJ².
fn standardised(posterior: &GpPosterior, state: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let slots = posterior.processes[0].hyperparameters.slots.clone();
    let t: Vec<f64> = state[slots].iter().map(|log| log / LOG_SD).collect();
    let (x, rows) = (&posterior.inputs, posterior.row_count());
    let k = Matrix::from_fn(rows, rows, |i, j| {
        let r: f64 =
            (0..2).map(|k| ((LOG_SD * t[1 + k]).exp() * (x[(i, k)] - x[(j, k)])).powi(2)).sum();
        (2.0 * LOG_SD * t[0] - r).exp() + if i == j { 0.01 } else { 0.0 }
    });
    let factor = Cholesky::new(&k).unwrap();
    let mut z = state[posterior.latents.clone()].to_vec();
    z.chunks_exact_mut(rows).for_each(|function| factor.solve_lower(function));
    (t, z)
}

/// Functions of hyperparameters and latents whose means are zero under the prior.
fn prior_functions(t: &[f64], z: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = t.iter().chain(z).copied().collect();
    let mut functions = all.clone();
    for (i, a) in all.iter().enumerate() {
        functions.extend(all[..i].iter().map(|b| a * b));
        functions.push(a * a - 1.0);
        functions.extend(t.iter().map(|t| t * (a * a - 1.0)).take(if i < t.len() { 0 } else { 3 }));
    }
    functions
}

/// Codes drawn from the model given a state.
fn draw_codes(posterior: &GpPosterior, state: &[f64], stream: &mut Stream) -> Vec<usize> {
    let draw = |row: usize| {
        let mut left = stream.uniform();
        let probabilities = probabilities(posterior, state, row);
        let found = probabilities.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        found.unwrap_or(probabilities.len() - 1)
    };
    (0..posterior.row_count()).map(draw).collect()
}

/// The successive-conditional simulator [Geweke 2004]: targets given the state, then a sweep given
/// the targets, with sites and proposals of the data at the beginning.
fn check_joint(model: &str, classes: usize, sampling: &str, index: u64) {
    const TRANSITIONS: usize = 4096;
    let text = format!("{model}\n[sampling]\n{sampling}\n{PRIORS}");
    let mut stream = stream(100 + index);
    let mut current = posterior(&text, &dataset(&[0; 4], classes));
    let mut state = start::from_prior(&current, &mut stream).unwrap();
    current = posterior(&text, &dataset(&draw_codes(&current, &state, &mut stream), classes));
    let mut memory = {
        let mut sweep = current.sweep(1.0);
        tune(&mut sweep, &mut state.clone(), &mut stream);
        sweep.memory()
    };
    let mut rows = Vec::new();
    for _ in 0..TRANSITIONS {
        let codes = draw_codes(&current, &state, &mut stream);
        current = posterior(&text, &dataset(&codes, classes));
        let mut sweep = current.sweep(1.0);
        sweep.enter(&Stage::default());
        sweep.recall(&memory).unwrap();
        sweep.pass(&mut state, &mut stream);
        memory = sweep.memory();
        let (t, z) = standardised(&current, &state);
        let mut functions = prior_functions(&t, &z);
        for (row, code) in codes.iter().enumerate() {
            let probabilities = probabilities(&current, &state, row);
            for (class, p) in probabilities.iter().enumerate() {
                let residual = f64::from(u8::from(class == *code)) - p;
                functions.extend([residual, residual * z[row], residual * t[0], residual * t[1]]);
            }
        }
        rows.push(functions);
    }
    let expected = vec![0.0; rows[0].len()];
    assert_means(&rows, &expected, &text);
}

fn check_joint_of(kernel: usize) {
    for (index, (model, classes)) in TARGETS.into_iter().enumerate() {
        check_joint(model, classes, KERNELS[kernel], (10 * kernel + index) as u64);
    }
}

#[test]
fn sites_and_guesses_keep_the_joint_distribution() {
    check_joint_of(0);
}

#[test]
fn sites_and_trajectories_keep_the_joint_distribution() {
    check_joint_of(1);
}

#[test]
fn ellipses_keep_the_joint_distribution() {
    check_joint_of(2);
}

#[test]
fn a_walk_keeps_the_joint_distribution() {
    check_joint_of(3);
}

#[test]
fn inverse_temperature_zero_is_the_prior() {
    for (model, classes) in TARGETS {
        let text = format!("{model}\n{PRIORS}");
        let posterior = posterior(&text, &dataset(&[0, 1, 1, 0, 1], classes));
        let mut stream = stream(7);
        let mut state = posterior.start(&mut stream);
        let mut sweep = posterior.sweep(0.0);
        sweep.enter(&Stage::default());
        let mut rows = Vec::new();
        for _ in 0..2048 {
            sweep.pass(&mut state, &mut stream);
            let (t, z) = standardised(&posterior, &state);
            rows.push(prior_functions(&t, &z));
        }
        let expected = vec![0.0; rows[0].len()];
        assert_means(&rows, &expected, &text);
    }
}

/// Simulation-based calibration [Talts et al. 2018] from the usual start with the usual warm-up.
/// Each of the 18 quantities fails by chance with probability 1e-5 (fixed seeds).
#[test]
fn ranks_of_the_truth_are_uniform() {
    const REPLICATIONS: usize = 96;
    for (model, classes) in TARGETS {
        let text = format!("{model}\n{PRIORS}");
        let mut stream = stream(8);
        let empty = posterior(&text, &dataset(&[0; 10], classes));
        let mut ranks = Ranks::default();
        for _ in 0..REPLICATIONS {
            let truth = start::from_prior(&empty, &mut stream).unwrap();
            let codes = draw_codes(&empty, &truth, &mut stream);
            let posterior = posterior(&text, &dataset(&codes, classes));
            let quantities = |state: &[f64]| {
                let latents = &state[posterior.latents.clone()];
                let likelihood: f64 = codes
                    .iter()
                    .enumerate()
                    .map(|(row, code)| probabilities(&posterior, state, row)[*code].ln())
                    .sum();
                vec![state[0], state[1], state[2], latents[0], latents[5], likelihood]
            };
            let mut state = posterior.start(&mut stream);
            let mut sweep = posterior.sweep(1.0);
            tune(&mut sweep, &mut state, &mut stream);
            ranks.add(&quantities(&truth), || {
                (0..4).for_each(|_| {
                    sweep.pass(&mut state, &mut stream);
                });
                quantities(&state)
            });
        }
        ranks.assert_uniform(&text);
    }
}
