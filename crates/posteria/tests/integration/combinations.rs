//! Count what kernels made of kernels evaluate, and read what they report.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{Hmc, HmcOptions, Nuts, NutsOptions};
use posteria::sample::{Block, Conditional, DirectionWalk, Kernel, Sequence, Stage, Step, Update};
use posteria::target::{Counted, Infeasible, LogDensity, Point};

use crate::targets::Banana;

fn hmc(leapfrog_steps: usize) -> Box<dyn Kernel> {
    let options = HmcOptions { leapfrog_steps, leapfrog_jitter: 0.0, ..HmcOptions::default() };
    Box::new(Hmc::new(2, options))
}

fn walk() -> Box<dyn Kernel> {
    Box::new(DirectionWalk::along_axes([0, 1], 0.5))
}

/// Values and gradients of each of `steps` steps, and their reports.
fn costs(kernel: &mut dyn Kernel, steps: usize) -> Vec<(u64, u64, Step)> {
    let mut target = Counted::new(Banana);
    let mut stream = Seed(2).stream(Purpose::Chain, [0, 0]);
    let mut point = Point::new(&mut target, vec![0.1, 0.2]).expect("a usable start");
    kernel.enter(&Stage::default());
    (0..steps)
        .map(|_| {
            (target.values, target.gradients) = (0, 0);
            let step = kernel.step(&mut target, &mut point, &mut stream);
            (target.values, target.gradients, step)
        })
        .collect()
}

#[test]
fn a_trajectory_costs_one_gradient_per_leapfrog_step_and_no_value() {
    for (values, gradients, step) in costs(&mut hmc(7), 50) {
        assert_eq!((values, gradients), (0, 7));
        assert_eq!((step.evaluations, step.leapfrog_steps), (7, 7));
    }
}

#[test]
fn a_trajectory_by_forces_costs_one_force_per_step_and_one_value() {
    let options = HmcOptions {
        leapfrog_steps: 7,
        leapfrog_jitter: 0.0,
        fast_force: true,
        ..HmcOptions::default()
    };
    let mut kernel = Hmc::new(2, options);
    assert!(!kernel.needs_gradient());
    let mut target = Counted::new(Banana);
    let mut stream = Seed(2).stream(Purpose::Chain, [0, 0]);
    let mut point = Point::new(&mut target, vec![0.1, 0.2]).expect("a usable start");
    let mut cost = |target: &mut Counted<Banana>, point: &mut Point| {
        (target.values, target.gradients, target.forces) = (0, 0, 0);
        let step = kernel.step(target, point, &mut stream);
        assert_eq!((step.evaluations, step.leapfrog_steps), (8, 7));
        (target.values, target.gradients, target.forces)
    };
    assert_eq!(cost(&mut target, &mut point), (1, 0, 1 + 7));
    // The force at the end of a trajectory is the one at the start of the next.
    for _ in 0..50 {
        assert_eq!(cost(&mut target, &mut point), (1, 0, 7));
    }
    // Not so when somebody has evaluated the point meanwhile: the density may be another.
    point.evaluate(&mut target).expect("a usable density");
    assert_eq!(cost(&mut target, &mut point), (1, 0, 1 + 7));
    point.gradient.fill(f64::NAN);
    assert_eq!(cost(&mut target, &mut point), (1, 0, 1 + 7));
}

/// N(±1, 0.01²) with the sign from the state: at zero both have the same density.
struct Flipping {
    side: f64,
    forces: Arc<AtomicUsize>,
}

impl LogDensity for Flipping {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        Ok(-0.5e4 * (position[0] - self.side).powi(2))
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        gradient[0] = -1e4 * (position[0] - self.side);
        self.log_density(position)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.forces.fetch_add(1, Ordering::Relaxed);
        self.log_density_gradient(position, gradient).map(|_| ())
    }
}

impl Conditional for Flipping {
    fn condition(&mut self, state: &[f64]) -> bool {
        self.side = state[1];
        true
    }
}

#[test]
fn a_density_that_changed_is_not_driven_by_its_old_force() {
    let forces = Arc::new(AtomicUsize::new(0));
    // Steps so wide that every trajectory is refused: the position stays at zero.
    let options = HmcOptions {
        step_size: 1.0,
        leapfrog_steps: 1,
        leapfrog_jitter: 0.0,
        fast_force: true,
        ..HmcOptions::default()
    };
    let target = Flipping { side: 1.0, forces: Arc::clone(&forces) };
    let mut block = Block::new("block", 0, target, Hmc::new(1, options));
    let mut stream = Seed(6).stream(Purpose::Chain, [0, 0]);
    for update in 1..=20 {
        let mut state = [0.0, if update % 2 == 0 { 1.0 } else { -1.0 }];
        assert!(!block.update(&mut state, &mut stream).accepted);
        assert_eq!(forces.load(Ordering::Relaxed), 2 * update);
    }
}

#[test]
fn a_sequence_evaluates_a_lost_gradient_once() {
    let mut sequence = Sequence::new(vec![hmc(3), walk(), walk(), hmc(4)]);
    assert!(sequence.needs_gradient());
    assert_eq!(sequence.names().count(), 4);
    for (values, gradients, step) in costs(&mut sequence, 50) {
        assert_eq!((values, gradients), (4, 3 + 1 + 4));
        assert_eq!((step.evaluations, step.leapfrog_steps), (12, 7));
    }
    // After walks at the end the gradient is lost until the next step begins.
    let costs = costs(&mut Sequence::new(vec![hmc(3), walk()]), 50);
    assert_eq!((costs[0].0, costs[0].1), (2, 3));
    assert!(costs[1..].iter().all(|cost| (cost.0, cost.1) == (2, 1 + 3)));
}

#[test]
fn kernels_without_gradient_make_a_sequence_without_gradient() {
    let mut sequence = Sequence::new(vec![walk(), walk()]);
    assert!(!sequence.needs_gradient());
    for (values, gradients, step) in costs(&mut sequence, 50) {
        assert_eq!((values, gradients), (4, 0));
        assert_eq!(step.leapfrog_steps, 0);
    }
}

#[test]
fn a_sequence_reports_its_first_trajectory() {
    let nuts = Box::new(Nuts::new(2, NutsOptions::default()));
    let mut alone = hmc(3);
    let mut sequence = Sequence::new(vec![hmc(3), nuts, walk()]);
    let (alone, all) = (costs(&mut alone, 1)[0].2, costs(&mut sequence, 1)[0].2);
    assert_eq!(all.acceptance.to_bits(), alone.acceptance.to_bits());
    assert_eq!(all.energy.to_bits(), alone.energy.to_bits());
    assert_eq!(all.step_size.to_bits(), alone.step_size.to_bits());
    assert!(all.tree_depth > 0);
}
