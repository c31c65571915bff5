//! Compare the lengths of trajectories found in warm-up with the best by brute force.

use posteria::diagnose::bulk_effective_size;
use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{Hmc, HmcOptions, LengthSearch, MetricKind};
use posteria::sample::{Adapt, Kernel, Stage};
use posteria::target::Point;

use crate::targets::Gaussian;

const LONGEST: usize = 512;

/// Ten scales whose variances differ by `condition`, the largest one 1.
fn gaussian(condition: f64) -> Gaussian {
    let scale = |i: usize| condition.powf(0.5 * (i as f64 / 9.0 - 1.0));
    Gaussian { scales: (0..10).map(scale).collect() }
}

fn kernel(leapfrog_steps: usize, tune: bool) -> Hmc {
    let options = HmcOptions {
        leapfrog_steps,
        metric: MetricKind::Unit,
        tune_length: tune.then(|| LengthSearch::over(1..=LONGEST)),
        ..HmcOptions::default()
    };
    Hmc::new(10, options)
}

/// Adapts for 500 steps, then makes `draws` draws: the effective ones of the slowest coordinate
/// and of its square, whichever are fewer, per leapfrog step.
fn efficiency(kernel: &mut Hmc, condition: f64, seed: u64, draws: usize) -> f64 {
    let mut target = gaussian(condition);
    let mut stream = Seed(seed).stream(Purpose::Chain, [0, 0]);
    let mut point = Point::new(&mut target, vec![0.1; 10]).expect("a usable start");
    kernel.enter(&Stage { adapt: Adapt::Metric, ..Stage::default() });
    for _ in 0..500 {
        kernel.step(&mut target, &mut point, &mut stream);
    }
    kernel.enter(&Stage::default());
    let (mut values, mut steps) = (Vec::new(), 0);
    for _ in 0..draws {
        steps += kernel.step(&mut target, &mut point, &mut stream).leapfrog_steps;
        values.push(point.position[9]);
    }
    let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
    let size = bulk_effective_size(&[values]).min(bulk_effective_size(&[squares]));
    size / f64::from(steps)
}

#[test]
fn the_length_is_within_a_factor_of_two_of_the_best() {
    for condition in [1.0, 100.0, 10_000.0] {
        let lengths: Vec<usize> = (0..=LONGEST.ilog2()).map(|doublings| 1 << doublings).collect();
        let efficiencies: Vec<f64> = lengths
            .iter()
            .map(|length| efficiency(&mut kernel(*length, false), condition, 1, 2000))
            .collect();
        let best = (0..lengths.len())
            .max_by(|a, b| efficiencies[*a].total_cmp(&efficiencies[*b]))
            .expect("a length");
        for (start, seed) in [1, 16, 512].into_iter().flat_map(|start| [(start, 2), (start, 3)]) {
            let mut kernel = kernel(start, true);
            efficiency(&mut kernel, condition, seed, 10);
            let found = kernel.leapfrog_steps();
            assert!(
                2 * found >= lengths[best] && found <= 2 * lengths[best],
                "condition {condition} from {start}: {found}, but {} is best",
                lengths[best]
            );
        }
    }
}

#[test]
fn the_length_stays_in_its_range_and_is_frozen_after_warmup() {
    let options = |leapfrog_steps| HmcOptions {
        leapfrog_steps,
        metric: MetricKind::Unit,
        tune_length: Some(LengthSearch::over(20..=40)),
        ..HmcOptions::default()
    };
    // The best lengths would be about 2 and about 100.
    for (condition, bound) in [(1.0, 20), (10_000.0, 40)] {
        for start in [1, 25, 1000] {
            let mut kernel = Hmc::new(10, options(start));
            assert!((20..=40).contains(&kernel.leapfrog_steps()));
            efficiency(&mut kernel, condition, 4, 10);
            let found = kernel.leapfrog_steps();
            assert!((20..=40).contains(&found));
            assert!(start == 25 || found == bound, "condition {condition} from {start}: {found}");
            let before = kernel.memory();
            let mut target = gaussian(condition);
            let mut stream = Seed(5).stream(Purpose::Chain, [0, 0]);
            let mut point = Point::new(&mut target, vec![0.1; 10]).expect("a usable start");
            for _ in 0..200 {
                kernel.step(&mut target, &mut point, &mut stream);
            }
            assert_eq!(kernel.leapfrog_steps(), found);
            // All but the count of trajectories, which comes first, and the momentum.
            assert_eq!(kernel.memory()[14..], before[14..]);
        }
    }
}
