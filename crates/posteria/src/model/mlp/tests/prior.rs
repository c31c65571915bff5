//! With the likelihood switched off every kernel returns the prior.

use super::cases::{PRIORS, TARGETS};
use super::joint_distribution::KERNELS;
use super::*;
use reference::{Factor, functions, residual_factors, weight_factors};

const PASSES: usize = 3200;

fn factors(posterior: &MlpPosterior, state: &[f64]) -> Vec<Factor> {
    let mut factors = weight_factors(posterior, state, true);
    factors.extend(residual_factors(posterior, state));
    factors
}

#[test]
fn a_start_from_the_prior_is_a_draw_of_it() {
    let mut stream = stream(40);
    for (index, target) in TARGETS.iter().enumerate() {
        let priors = cases::priors(target, index);
        let world = World::new(*target, (2, true), &priors, "start = 'prior'");
        let posterior = world.empty();
        let mut table = Table::default();
        for _ in 0..4000 {
            let state = posterior.start(&mut stream);
            table.push(&functions(&factors(&posterior, &state)));
        }
        table.assert_zero_means(target.name);
    }
}

/// A chain at inverse temperature 0 of targets that would matter.
fn check(target: Target, layers: Layers, number: usize, kernel: &str) {
    let mut stream = stream(41);
    let world = World::new(target, layers, &cases::priors(&target, number), kernel);
    let empty = world.empty();
    let mut state = from_prior(&empty, &mut stream);
    let posterior = world.posterior(&world.draw_targets(&empty, &state, &mut stream));
    let mut sweep = posterior.sweep(0.0);
    tune(&mut sweep, &state, 200, &mut stream);
    let mut table = Table::default();
    for _ in 0..PASSES {
        sweep.pass(&mut state, &mut stream);
        table.push(&functions(&factors(&posterior, &state)));
    }
    table.assert_zero_means(&format!("{}, {layers:?}, priors {number}, {kernel}", target.name));
}

#[test]
fn every_kernel_returns_every_prior() {
    let mut index = 0;
    for (_, kernel) in KERNELS {
        for number in 0..PRIORS.len() {
            // Another target for every chain: residual scales have a prior too.
            let mut target = TARGETS[index % TARGETS.len()];
            if target == cases::COVARIANCE && kernel.contains("kernel") {
                target = cases::NORMAL;
            }
            check(target, (2, number % 2 == 0), number, kernel);
            index += 5;
        }
    }
}
