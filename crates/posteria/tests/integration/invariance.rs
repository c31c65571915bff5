//! Start from exact draws, move a few steps: the distribution must not change.
//!
//! Independent replicates make this the sharpest test of a transition: it sees biases far
//! below what a chain's autocorrelation would let through. Test functions are compared before
//! and after the steps, which takes the noise of the exact draws out.

use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind, Nuts, NutsOptions, Persistence, Retry};
use posteria::sample::{
    Adapt, DirectionWalk, FittedStudentT, Independence, Kernel, Metropolis, MetropolisHastings,
    RandomWalk, Refresh, Scan, Sequence, Slice, Stage,
};
use posteria::target::{LogDensity, Point};

use crate::kernels::Pull;
use crate::targets::{Banana, Skewed};

const REPLICATES: usize = 80_000;
const STEPS: usize = 3;
const FUNCTIONS: usize = 8;
/// Largest |z| of eight test functions: false-alarm rate below 6e-5 per kernel and target.
const LARGEST_Z: f64 = 4.5;

/// A density that can be drawn from.
trait Exact: LogDensity {
    fn draw(&self, position: &mut [f64], stream: &mut Stream);
}

impl Exact for Banana {
    fn draw(&self, position: &mut [f64], stream: &mut Stream) {
        position[0] = stream.normal();
        position[1] = 0.5 * position[0].powi(2) + Banana::WIDTH * stream.normal();
    }
}

impl Exact for Skewed {
    fn draw(&self, position: &mut [f64], stream: &mut Stream) {
        for (u, shape) in position.iter_mut().zip(Skewed::SHAPES) {
            *u = stream.gamma(shape).ln();
        }
    }
}

fn functions(point: &Point) -> [f64; FUNCTIONS] {
    let (x, y) = (point.position[0], point.position[1]);
    [x, x * x, x.powi(4), y, y * y, x * y, x * x * y, point.log_density]
}

/// Checks `kernel` on one target. Kernels that learn may have done so before.
fn check_on(name: &str, target: &mut dyn Exact, kernel: &mut dyn Kernel) {
    let mut stream = Seed(17).stream(Purpose::Chain, [0, 0]);
    let mut point = Point { position: vec![0.0; 2], gradient: vec![0.0; 2], log_density: 0.0 };
    let stage = Stage::default();
    let (mut sums, mut squares) = ([0.0; FUNCTIONS], [0.0; FUNCTIONS]);
    for _ in 0..REPLICATES {
        target.draw(&mut point.position, &mut stream);
        point.evaluate(target).expect("a usable density");
        let before = functions(&point);
        // A new stage begins with a fresh momentum.
        kernel.enter(&stage);
        for _ in 0..STEPS {
            kernel.step(target, &mut point, &mut stream);
        }
        for (i, (after, before)) in functions(&point).into_iter().zip(before).enumerate() {
            sums[i] += after - before;
            squares[i] += (after - before).powi(2);
        }
    }
    let count = REPLICATES as f64;
    for (i, (sum, square)) in sums.into_iter().zip(squares).enumerate() {
        let mean = sum / count;
        let z = mean / ((square / count - mean * mean) / count).sqrt();
        assert!(z.abs() < LARGEST_Z, "{name}: function {i} is {z} standard errors off");
    }
}

fn check(name: &str, mut kernel: Box<dyn Kernel>) {
    check_on(&format!("{name}, banana"), &mut Banana, &mut kernel);
    check_on(&format!("{name}, skewed"), &mut Skewed, &mut kernel);
}

/// As [`check`], after a warm-up on each target.
fn check_learned(name: &str, kernel: impl Fn() -> Box<dyn Kernel>) {
    let targets: [&mut dyn Exact; 2] = [&mut Banana, &mut Skewed];
    for target in targets {
        let mut kernel = kernel();
        let mut stream = Seed(18).stream(Purpose::Chain, [0, 0]);
        let mut point = Point::new(target, vec![0.1, 0.1]).expect("a usable start");
        for adapt in [Adapt::Metric, Adapt::StepSize] {
            kernel.enter(&Stage { adapt, ..Stage::default() });
            for _ in 0..1000 {
                kernel.step(target, &mut point, &mut stream);
            }
        }
        check_on(&format!("{name}, learned"), target, &mut kernel);
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

/// Steps so long that a good part of the first trajectories is rejected.
#[test]
fn second_trajectories() {
    let retry = |below| Some(Retry { below, step_ratio: 0.3, steps_ratio: 0.5 });
    let options = HmcOptions { step_size: 1.2, retry: retry(1.0), ..options() };
    check("retry", Box::new(Hmc::new(2, options.clone())));
    let hopeless = HmcOptions { retry: retry(0.2), ..options.clone() };
    check("retry of the hopeless", Box::new(Hmc::new(2, hopeless)));
    let fast = HmcOptions { fast_force: true, ..options };
    check("retry by a coarse force", Box::new(Hmc::new(2, fast)));
}

#[test]
fn trajectories_by_a_coarse_force() {
    let fast = HmcOptions { fast_force: true, ..options() };
    let persistence = Persistence { decay: 0.9, reset_every: 0 };
    for (name, options) in [
        ("coarse force", fast.clone()),
        ("coarse force, windows", HmcOptions { window: 2, ..fast.clone() }),
        ("coarse force, persistence", HmcOptions { leapfrog_steps: 1, persistence, ..fast }),
    ] {
        let mut kernel = Hmc::new(2, options);
        check_on(&format!("{name}, banana"), &mut Banana, &mut kernel);
        check_on(&format!("{name}, skewed"), &mut Skewed, &mut kernel);
    }
}

#[test]
fn no_u_turn_sampler() {
    let options = NutsOptions {
        step_size: 0.35,
        metric: MetricKind::Given(vec![1.3, 0.8]),
        ..NutsOptions::default()
    };
    check("NUTS", Box::new(Nuts::new(2, options.clone())));
    let wide = NutsOptions { step_size: 0.9, ..options.clone() };
    check("NUTS with wide steps", Box::new(Nuts::new(2, wide)));
    let shallow = NutsOptions { max_tree_depth: 2, ..options };
    check("shallow NUTS", Box::new(Nuts::new(2, shallow)));
}

#[test]
fn random_walk() {
    let walk = || RandomWalk::new(&[0.8, 0.5]);
    check("random walk", Box::new(Metropolis::new(walk())));
    check_learned("random walk", || Box::new(Metropolis::new(walk().learn_covariance())));
}

#[test]
fn slice_sampling() {
    check("slice", Box::new(Slice::new(&[2.0, 1.0])));
    // Intervals that seldom reach the ends of a slice: the division of the steps counts.
    let short = Slice::new(&[0.3, 0.3]).max_steps_out(3).scan(Scan::Shuffled);
    check("short slice", Box::new(short));
    // No steps out at all: where the interval lies about the present point counts.
    check("fixed slice", Box::new(Slice::new(&[2.5, 1.5]).max_steps_out(0)));
    check_learned("slice", || Box::new(Slice::new(&[0.1, 5.0])));
}

#[test]
fn independence() {
    let proposal = || FittedStudentT::new(&[0.8, 0.5]);
    check("independence", Box::new(Independence::new(proposal())));
    check_learned("independence", || Box::new(Independence::new(proposal())));
    let always = || proposal().walk_share(0.0).inflation(0.8).dof(3.0);
    check_learned("independence alone", || Box::new(Independence::new(always())));
}

#[test]
fn a_proposal_that_is_not_symmetric() {
    check("user's proposal", Box::new(MetropolisHastings::new(Pull)));
}

fn direction_walk() -> DirectionWalk {
    DirectionWalk::new(vec![vec![(0, 1.0)], vec![(1, 0.5), (0, -0.3)], vec![(1, 1.0)]], 0.7)
}

#[test]
fn walks_along_directions() {
    check("direction walk", Box::new(direction_walk()));
    check_learned("direction walk", || Box::new(direction_walk().repeats(2)));
}

#[test]
fn combined_kernels() {
    let hmc = || Box::new(Hmc::new(2, options()));
    let walk = || Box::new(direction_walk());
    check("sequence", Box::new(Sequence::new(vec![hmc(), walk(), hmc()])));
}

#[test]
fn a_group_proposed_from_its_prior() {
    // The first coordinate of the banana is standard normal before the second is seen; the
    // second moves by itself.
    let refresh = |correlations: &[f64]| Refresh::new(vec![vec![0]], correlations);
    for (name, refresh) in [
        ("fresh", refresh(&[0.0])),
        ("Crank-Nicolson", refresh(&[0.7])),
        ("mirrored", refresh(&[0.0, 0.5]).mirrors(vec![vec![0]]).attempts(2)),
    ] {
        let second = Box::new(DirectionWalk::along_axes([1], 0.5));
        let mut kernel = Sequence::new(vec![Box::new(refresh), second]);
        check_on(name, &mut Banana, &mut kernel);
    }
}
