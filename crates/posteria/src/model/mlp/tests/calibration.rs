//! Simulation-based calibration: the truth has every rank among the draws [Talts et al. 2018].

use super::cases::{BINARY, CLASSES, NORMAL, STUDENT_T_GRID};
use super::joint_distribution::KERNELS;
use super::*;
use crate::density::special::regularized_gamma_upper;
use reference::{Kind, residual_factors, weight_factors};

const REPLICATIONS: usize = 96;
const DRAWS: usize = 31;
const THIN: usize = 3;
/// Ranks 0, …, 31 in eight bins of equal probability.
const BINS: usize = 8;
/// Probability of failing by chance, for each quantity of each model (fixed seeds).
const FALSE_ALARM: f64 = 1e-5;

/// Scales, degrees of freedom and outputs, which are identified, and the log likelihood, which
/// depends on everything.
fn quantities(world: &World, posterior: &MlpPosterior, state: &[f64]) -> Vec<f64> {
    let mut factors = weight_factors(posterior, state, true);
    factors.extend(residual_factors(posterior, state));
    let mut values: Vec<f64> = factors
        .iter()
        .filter(|factor| factor.kind == Kind::Scale)
        .map(|factor| factor.scores[0])
        .collect();
    values.extend(world.outputs(&state[..posterior.shape.len()]).iter().take(3));
    values.push(reference::log_density(&world.target_factors(posterior, state, false)));
    values
}

fn check(target: Target, number: usize, sampling: &str) {
    let mut stream = stream(80);
    let mut world = World::new(target, (2, false), &cases::priors(&target, number), sampling);
    world.inputs = inputs(10, 2, &mut stream);
    let empty = world.empty();
    let mut counts: Vec<[f64; BINS]> = Vec::new();
    for _ in 0..REPLICATIONS {
        let truth = from_prior(&empty, &mut stream);
        let posterior = world.posterior(&world.draw_targets(&empty, &truth, &mut stream));
        let at_truth = quantities(&world, &posterior, &truth);
        let mut ranks = vec![0; at_truth.len()];
        let mut state = posterior.start(&mut stream);
        let mut sweep = posterior.sweep(1.0);
        sweep.enter(&Stage { adapt: Adapt::StepSize, ..Stage::default() });
        for _ in 0..80 {
            sweep.pass(&mut state, &mut stream);
        }
        sweep.enter(&Stage::default());
        for _ in 0..DRAWS {
            for _ in 0..THIN {
                sweep.pass(&mut state, &mut stream);
            }
            let values = quantities(&world, &posterior, &state);
            for (rank, (value, truth)) in ranks.iter_mut().zip(values.iter().zip(&at_truth)) {
                *rank += usize::from(value < truth);
            }
        }
        counts.resize(ranks.len(), [0.0; BINS]);
        for (counts, rank) in counts.iter_mut().zip(ranks) {
            counts[rank * BINS / (DRAWS + 1)] += 1.0;
        }
    }
    let expected = REPLICATIONS as f64 / BINS as f64;
    for (index, counts) in counts.iter().enumerate() {
        let chi_square: f64 = counts.iter().map(|n| (n - expected).powi(2) / expected).sum();
        let p = regularized_gamma_upper(0.5 * (BINS - 1) as f64, 0.5 * chi_square);
        assert!(p > FALSE_ALARM, "{}, quantity {index}: p = {p}, {counts:?}", target.name);
    }
}

#[test]
fn ranks_of_the_truth_of_a_regression_are_uniform() {
    check(NORMAL, 3, KERNELS[0].1);
    check(STUDENT_T_GRID, 0, KERNELS[0].1);
}

#[test]
fn ranks_of_the_truth_of_a_classification_are_uniform() {
    check(BINARY, 1, KERNELS[0].1);
    check(CLASSES, 3, KERNELS[1].1);
}
