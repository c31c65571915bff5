//! Alternate targets given the state and a sweep given the targets: the joint distribution must
//! stay that of the model [Geweke 2004].

use super::cases::TARGETS;
use super::*;
use reference::{functions, residual_factors, weight_factors};

/// Kernels with few leapfrog steps: what is to be proved does not depend on their number.
pub(super) const KERNELS: [(&str, &str); 3] = [
    ("auto", "leapfrog_steps = 4"),
    ("hmc", "kernel = 'hmc'\nleapfrog_steps = 5\nwindow = 3\npersistence = 0.6"),
    ("nuts", "kernel = 'nuts'"),
];

const TRANSITIONS: usize = 4096;

/// One round of the kernels of a sweep. Where a sweep repeats its round, so as to be worth a draw,
/// repetitions would cost six times as much and prove no more.
fn round(posterior: &MlpPosterior) -> Sweep<'_> {
    crate::model::mlp::sweep::short_sweep(posterior, 1.0)
}

/// Runs the successive-conditional simulator from an exact draw of the joint distribution.
fn check(world: &World, seed: u64, what: &str) {
    let mut stream = stream(seed);
    let empty = world.empty();
    let mut state = from_prior(&empty, &mut stream);
    let mut memory = {
        let posterior = world.posterior(&world.draw_targets(&empty, &state, &mut stream));
        let mut sweep = round(&posterior);
        tune(&mut sweep, &state, 200, &mut stream);
        sweep.memory()
    };
    let mut table = Table::default();
    for _ in 0..TRANSITIONS {
        let targets = world.draw_targets(&empty, &state, &mut stream);
        let posterior = world.posterior(&targets);
        // The kernel of the previous transition, momentum included, goes on with new targets.
        let mut sweep = round(&posterior);
        sweep.enter(&Stage::default());
        sweep.recall(&memory).unwrap();
        sweep.pass(&mut state, &mut stream);
        memory = sweep.memory();
        let mut factors = world.target_factors(&posterior, &state, true);
        factors.extend(residual_factors(&posterior, &state));
        factors.extend(weight_factors(&posterior, &state, true));
        table.push(&functions(&factors));
    }
    table.assert_zero_means(what);
}

fn check_kernel(kernel: usize) {
    let (name, sampling) = KERNELS[kernel];
    for (index, target) in TARGETS.into_iter().enumerate() {
        if target == cases::COVARIANCE && kernel > 0 {
            continue;
        }
        // Every target meets other priors and another shape with every kernel.
        let number = index + 2 * kernel;
        let layers = match (index + kernel) % 4 {
            0 => (3, false),
            1 => (0, true),
            2 => (2, true),
            _ => (2, false),
        };
        let mut world = World::new(target, layers, &cases::priors(&target, number), sampling);
        world.inputs = inputs(4 + index % 2, 2, &mut stream(50));
        let what = format!("{}, {layers:?}, priors {number}, {name}", target.name);
        check(&world, 100 * kernel as u64 + index as u64, &what);
    }
}

#[test]
fn the_automatic_kernel_keeps_the_joint_distribution() {
    check_kernel(0);
}

#[test]
fn hybrid_monte_carlo_with_windows_and_persistence_keeps_the_joint_distribution() {
    check_kernel(1);
}

#[test]
fn the_no_u_turn_sampler_keeps_the_joint_distribution() {
    check_kernel(2);
}
