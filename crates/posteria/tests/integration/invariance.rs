//! Start from exact draws, move a few steps: the distribution must not change.
//!
//! Independent replicates make this the sharpest test of a transition: it sees biases far
//! below what a chain's autocorrelation would let through.

use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind, Nuts, NutsOptions, Persistence};
use posteria::sample::{Kernel, Stage};
use posteria::target::Point;

use crate::targets::Banana;

const REPLICATES: usize = 100_000;
const STEPS: usize = 3;
/// Largest |z| of six test functions: false-alarm rate below 4e-5 per kernel.
const LARGEST_Z: f64 = 4.5;

/// Test functions of (x, y) with x ~ N(0, 1), y ~ N(x²/2, width²), and their expectations.
fn functions(x: f64, y: f64) -> [f64; 6] {
    [x, x * x, x.powi(4), y, y * y, x * x * y]
}

fn expectations() -> [f64; 6] {
    let variance = Banana::WIDTH * Banana::WIDTH;
    [0.0, 1.0, 3.0, 0.5, 0.75 + variance, 1.5]
}

fn check(name: &str, mut kernel: Box<dyn Kernel>) {
    let mut stream = Seed(17).stream(Purpose::Chain, [0, 0]);
    let mut target = Banana;
    let mut point = Point::new(&mut target, vec![0.0, 0.0]).expect("a usable start");
    let stage = Stage::default();
    let (mut sums, mut squares) = ([0.0; 6], [0.0; 6]);
    for _ in 0..REPLICATES {
        let x = stream.normal();
        point.position[0] = x;
        point.position[1] = 0.5 * x * x + Banana::WIDTH * stream.normal();
        point.evaluate(&mut target).expect("a usable density");
        // A new stage begins with a fresh momentum.
        kernel.enter(&stage);
        for _ in 0..STEPS {
            kernel.step(&mut target, &mut point, &mut stream);
        }
        let values = functions(point.position[0], point.position[1]);
        for ((value, sum), square) in values.into_iter().zip(&mut sums).zip(&mut squares) {
            *sum += value;
            *square += value * value;
        }
    }
    let count = REPLICATES as f64;
    for (i, truth) in expectations().into_iter().enumerate() {
        let mean = sums[i] / count;
        let variance = squares[i] / count - mean * mean;
        let z = (mean - truth) / (variance / count).sqrt();
        assert!(z.abs() < LARGEST_Z, "{name}: function {i} is {z} standard errors off");
    }
}

fn options() -> HmcOptions {
    HmcOptions {
        step_size: 0.4,
        leapfrog_steps: 4,
        metric: MetricKind::Given(vec![1.3, 0.8]),
        ..HmcOptions::default()
    }
}

#[test]
fn hybrid_monte_carlo() {
    check("HMC", Box::new(Hmc::new(2, options())));
    check("Langevin", Box::new(Hmc::langevin(2, options())));
    let both_ways = HmcOptions { random_direction: true, ..options() };
    check("random direction", Box::new(Hmc::new(2, both_ways)));
}

#[test]
fn windows() {
    check("windows", Box::new(Hmc::new(2, HmcOptions { window: 2, ..options() })));
    check("overlapping windows", Box::new(Hmc::new(2, HmcOptions { window: 4, ..options() })));
}

#[test]
fn persistence() {
    let persistence = Persistence { decay: 0.9, reset_every: 0 };
    let options = HmcOptions { leapfrog_steps: 1, leapfrog_jitter: 0.0, persistence, ..options() };
    check("persistence", Box::new(Hmc::new(2, options.clone())));
    let windowed = HmcOptions { window: 2, leapfrog_steps: 2, ..options };
    check("persistence with windows", Box::new(Hmc::new(2, windowed)));
}

#[test]
fn no_u_turn_sampler() {
    let options = NutsOptions {
        step_size: 0.35,
        metric: MetricKind::Given(vec![1.3, 0.8]),
        ..NutsOptions::default()
    };
    check("NUTS", Box::new(Nuts::new(2, options.clone())));
    let shallow = NutsOptions { max_tree_depth: 2, ..options };
    check("shallow NUTS", Box::new(Nuts::new(2, shallow)));
}
