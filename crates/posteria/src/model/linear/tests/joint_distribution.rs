//! Alternate data given parameters and parameters given data: both must keep the prior
//! [Geweke 2004]; and ranks of the truth among draws must be uniform.

use super::*;
use crate::density::InverseGamma;
use crate::density::special::logistic;
use crate::model::Posterior;

const ROWS: usize = 5;
const TRANSITIONS: usize = 20_000;

fn design(stream: &mut Stream) -> Matrix {
    random_matrix(ROWS, 2, stream)
}

/// Scale priors of the tests: enough degrees of freedom for moments of log scales.
const PRIORS: &str = "[prior.weights]\nSHARING\nscale = 0.8\ndof = 6.0\n\
                      [prior.intercept]\nfixed = 1.0\n";
const RESIDUAL: &str = "[residual]\nscale = 0.6\nscale_dof = 5.0\n";

fn output(x: &Matrix, row: usize, state: &[f64]) -> f64 {
    state[0] + state[1] * x[(row, 0)] + state[2] * x[(row, 1)]
}

fn regression_targets(x: &Matrix, state: &[f64], stream: &mut Stream) -> Vec<f64> {
    let scale = state[state.len() - 1].exp();
    (0..ROWS).map(|row| output(x, row, state) + scale * stream.normal()).collect()
}

/// An exact draw of the state from the prior.
fn prior_state(scales: usize, regression: bool, stream: &mut Stream) -> Vec<f64> {
    let weights = InverseGamma::new(0.8, 6.0).unwrap();
    let log_scales: Vec<f64> = (0..scales).map(|_| weights.draw_log_scale(stream)).collect();
    let mut state = vec![stream.normal()];
    for k in 0..2 {
        state.push(log_scales[k % scales].exp() * stream.normal());
    }
    state.extend(log_scales);
    if regression {
        let residual = InverseGamma::new(0.6, 5.0).unwrap();
        state.push(residual.draw_log_scale(stream));
    }
    state
}

/// Functions of the state with moments: log scales and their squares, and of the heavy-tailed
/// weights bounded or logarithmic ones.
fn functions(state: &[f64]) -> Vec<f64> {
    let mut values = Vec::new();
    for w in &state[..3] {
        values.push(w.tanh());
        values.push((w * w + 0.01).ln());
    }
    values.push((state[1] * state[2]).tanh());
    for u in &state[3..] {
        values.push(*u);
        values.push(u * u);
    }
    values
}

/// Compares both simulators; `transition` moves the state given new data of its own.
fn geweke(
    scales: usize,
    regression: bool,
    mut transition: impl FnMut(&mut Vec<f64>, &mut Stream) -> f64,
    log_likelihood: impl Fn(&[f64], &mut Stream) -> f64,
) {
    let mut noise = stream(20);
    let marginal = Table::collect(TRANSITIONS, || {
        let state = prior_state(scales, regression, &mut noise);
        let mut row = functions(&state);
        row.push(log_likelihood(&state, &mut noise));
        row
    });
    let mut state = prior_state(scales, regression, &mut noise);
    let successive = Table::collect(TRANSITIONS, || {
        let log_likelihood = transition(&mut state, &mut noise);
        let mut row = functions(&state);
        row.push(log_likelihood);
        row
    });
    assert_eq!(marginal.0.len(), successive.0.len());
    successive.assert_means_of(&marginal, "joint distribution");
}

#[test]
fn the_joint_distribution_of_a_regression_is_kept() {
    let x = design(&mut stream(21));
    let log_likelihood = |x: &Matrix, y: &[f64], state: &[f64]| -> f64 {
        let log_scale = state[state.len() - 1];
        (0..ROWS)
            .map(|row| {
                let z = (y[row] - output(x, row, state)) * (-log_scale).exp();
                -0.5 * z * z - log_scale
            })
            .sum()
    };
    for (sharing, scales) in [("", 1), ("sharing = 'per-input'", 2)] {
        let model = model(&(PRIORS.replace("SHARING", sharing) + RESIDUAL));
        geweke(
            scales,
            true,
            |state, stream| {
                let y = regression_targets(&x, state, stream);
                let posterior = model.condition(&real(x.clone(), y.clone()), nuts()).unwrap();
                posterior.sweep(1.0).pass(state, stream);
                log_likelihood(&x, &y, state)
            },
            |state, stream| log_likelihood(&x, &regression_targets(&x, state, stream), state),
        );
    }
}

#[test]
fn the_joint_distribution_of_a_logistic_regression_is_kept() {
    let x = design(&mut stream(22));
    let model = model(&PRIORS.replace("SHARING", ""));
    let draw = |state: &[f64], stream: &mut Stream| -> Vec<usize> {
        let yes = |row| stream.uniform() < logistic(output(&x, row, state));
        (0..ROWS).map(yes).map(usize::from).collect()
    };
    let log_likelihood = |codes: &[usize], state: &[f64]| -> f64 {
        (0..ROWS)
            .map(|row| {
                let p = logistic(output(&x, row, state));
                if codes[row] == 1 { p } else { 1.0 - p }.max(1e-300).ln()
            })
            .sum()
    };
    geweke(
        1,
        false,
        |state, stream| {
            let codes = draw(state, stream);
            let data = classes(x.clone(), codes.clone());
            model.condition(&data, nuts()).unwrap().sweep(1.0).pass(state, stream);
            log_likelihood(&codes, state)
        },
        |state, stream| log_likelihood(&draw(state, stream), state),
    );
}

#[test]
fn ranks_of_the_truth_are_uniform() {
    // 64 replications, ranks among 63 draws in 8 bins: chi-square with 7 degrees of freedom
    // passes 29.9 by chance with probability 1e-4, for each of six quantities (seeds fixed).
    const DRAWS: usize = 63;
    let model = model(&(PRIORS.replace("SHARING", "") + RESIDUAL));
    let mut noise = stream(23);
    let x = random_matrix(12, 2, &mut noise);
    let mut counts = vec![[0.0; 8]; 6];
    for _ in 0..64 {
        let truth = prior_state(1, true, &mut noise);
        let scale = truth[4].exp();
        let y = (0..12).map(|row| output(&x, row, &truth) + scale * noise.normal()).collect();
        let posterior = model.condition(&real(x.clone(), y), nuts()).unwrap();
        let mut evaluator = posterior.evaluator();
        let mut quantities = |state: &[f64]| -> Vec<f64> {
            let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 12]);
            let terms = evaluator.evaluate(state, &mut draw, &mut rows).unwrap();
            [state, &[terms.log_likelihood]].concat()
        };
        let at_truth = quantities(&truth);
        let mut ranks = [0; 6];
        let mut state = posterior.start(&mut noise);
        let mut sweep = posterior.sweep(1.0);
        for index in 0..DRAWS + 10 {
            for _ in 0..10 {
                sweep.pass(&mut state, &mut noise);
            }
            if index >= 10 {
                for (rank, (value, truth)) in
                    ranks.iter_mut().zip(quantities(&state).iter().zip(&at_truth))
                {
                    *rank += usize::from(value < truth);
                }
            }
        }
        for (counts, rank) in counts.iter_mut().zip(ranks) {
            counts[rank * 8 / (DRAWS + 1)] += 1.0;
        }
    }
    for (index, counts) in counts.iter().enumerate() {
        let chi_square: f64 = counts.iter().map(|count| (count - 8.0_f64).powi(2) / 8.0).sum();
        assert!(chi_square < 29.9, "quantity {index}: {counts:?}");
    }
}
