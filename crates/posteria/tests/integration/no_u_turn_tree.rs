//! Follow every leaf of No-U-Turn trajectories with a tree that keeps all of them.
//!
//! The target records where it is asked. From these positions alone the momenta are known, and
//! a plain list of them says where each trajectory has to end. A criterion that treats the two
//! halves of a stretch differently would bias the chain by less than any moment shows.

use std::collections::VecDeque;

use posteria::random::{Purpose, Seed};
use posteria::sample::Kernel;
use posteria::sample::hmc::{MetricKind, Nuts, NutsOptions};
use posteria::target::{Infeasible, LogDensity, Point};

use crate::targets::{Banana, Funnel, Gaussian};

/// Rounding of a few dozen leapfrog steps.
const ROUNDING: f64 = 1e-6;
const TRAJECTORIES: usize = 3000;

/// Records every position at which the density is asked for.
struct Recorded<T> {
    target: T,
    asked: Vec<Leaf>,
}

impl<T: LogDensity> LogDensity for Recorded<T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.target.log_density(position)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let value = self.target.log_density_gradient(position, gradient);
        self.asked.push(Leaf { position: position.to_vec(), gradient: gradient.to_vec() });
        value
    }
}

#[derive(Clone)]
struct Leaf {
    position: Vec<f64>,
    gradient: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Momentum at `to`, reached from `from` by one leapfrog step.
fn momentum_after(from: &Leaf, to: &Leaf, step: f64) -> Vec<f64> {
    (0..to.position.len())
        .map(|i| (to.position[i] - from.position[i]) / step + 0.5 * step * to.gradient[i])
        .collect()
}

/// Whether the momentum at either end of a stretch points against the way from end to end, by
/// the trapezoidal rule [Betancourt 2017].
fn ends_turned(momenta: &[Vec<f64>]) -> bool {
    let ends = [&momenta[0], &momenta[momenta.len() - 1]];
    let mut way = vec![0.0; momenta[0].len()];
    for (weight, momentum) in momenta.iter().map(|r| (1.0, r)).chain(ends.map(|end| (-0.5, end))) {
        way.iter_mut().zip(momentum).for_each(|(way, r)| *way += weight * r);
    }
    ends.into_iter().any(|end| dot(&way, end) <= 0.0)
}

/// Whether a stretch of two halves turned: as a whole, or either half with the next leaf of
/// the other.
fn turned(momenta: &[Vec<f64>]) -> bool {
    let half = momenta.len() / 2;
    ends_turned(momenta) || ends_turned(&momenta[..=half]) || ends_turned(&momenta[half - 1..])
}

/// Where a trajectory that visited `asked`, from `start`, has to end: (leaves, doublings).
fn expected_end(start: &Leaf, asked: &[Leaf], step: f64, greatest_depth: u32) -> (usize, u32) {
    // The direction of the first leaf is called forwards; nothing depends on it.
    let first: Vec<f64> = (0..start.position.len())
        .map(|i| (asked[0].position[i] - start.position[i]) / step - 0.5 * step * start.gradient[i])
        .collect();
    let mut tree = VecDeque::from([(start.clone(), first)]);
    let mut done = 0;
    for depth in 0..greatest_depth {
        let length = 1 << depth;
        let forwards = {
            let (leaf, momentum) = &tree[tree.len() - 1];
            let distance = |i: usize| {
                let ahead = step * momentum[i] + 0.5 * step * step * leaf.gradient[i];
                (asked[done].position[i] - leaf.position[i] - ahead).abs()
            };
            (0..momentum.len()).map(distance).fold(0.0, f64::max) < ROUNDING
        };
        let step = if forwards { step } else { -step };
        let mut half: Vec<Vec<f64>> = Vec::new();
        for _ in 0..length {
            let edge = if forwards { tree.back() } else { tree.front() };
            let (edge, _) = edge.expect("a tree has leaves");
            let leaf = asked[done].clone();
            let momentum = momentum_after(edge, &leaf, step);
            done += 1;
            half.push(momentum.clone());
            if forwards {
                tree.push_back((leaf, momentum));
            } else {
                tree.push_front((leaf, momentum));
            }
            let mut stretch = 2;
            while half.len().is_multiple_of(stretch) {
                if turned(&half[half.len() - stretch..]) {
                    return (done, depth + 1);
                }
                stretch *= 2;
            }
        }
        let all: Vec<Vec<f64>> = tree.iter().map(|(_, momentum)| momentum.clone()).collect();
        if turned(&all) {
            return (done, depth + 1);
        }
        assert!(depth + 1 == greatest_depth || done < asked.len(), "ended before it turned");
    }
    (done, greatest_depth)
}

fn check(name: &str, target: impl LogDensity, step_size: f64) {
    const GREATEST_DEPTH: u32 = 5;
    let dim = target.dim();
    let mut target = Recorded { target, asked: Vec::new() };
    let metric = MetricKind::Unit;
    let options =
        NutsOptions { step_size, metric, max_tree_depth: GREATEST_DEPTH, ..NutsOptions::default() };
    let mut kernel = Nuts::new(dim, options);
    let mut stream = Seed(61).stream(Purpose::Chain, [0, 0]);
    let mut point = Point::new(&mut target, vec![0.5; dim]).expect("a usable start");
    let mut deepest = 0;
    for trajectory in 0..TRAJECTORIES {
        let start = Leaf { position: point.position.clone(), gradient: point.gradient.clone() };
        target.asked.clear();
        let step = kernel.step(&mut target, &mut point, &mut stream);
        if step.diverging {
            continue;
        }
        deepest = deepest.max(step.tree_depth);
        let expected = expected_end(&start, &target.asked, step_size, GREATEST_DEPTH);
        let found = (target.asked.len(), step.tree_depth);
        assert_eq!(found, expected, "{name}, step size {step_size}, trajectory {trajectory}");
    }
    assert!(deepest > 2, "{name}: no stretch had two halves");
}

#[test]
fn trajectories_end_where_a_stretch_turns() {
    for step_size in [0.15, 0.3, 0.45] {
        check("banana", Banana, step_size);
        check("funnel", Funnel { count: 4 }, step_size);
        check("normal", Gaussian { scales: vec![1.0, 1.0, 0.7, 0.5, 0.4] }, step_size);
    }
}
