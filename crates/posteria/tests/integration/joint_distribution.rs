//! Joint-distribution tests of kernels [Geweke 2004]: alternate data given
//! parameters with the kernel given data; the parameters must keep their prior.

use posteria::density::special::logistic;
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind, Nuts, NutsOptions, Persistence};
use posteria::sample::{DirectionWalk, Kernel, Refresh, Sequence};
use posteria::target::{Point, Tempered};

use crate::targets::Neuron;

/// Largest |z| over the nine test functions: false-alarm rate below 6e-4 per kernel.
const LARGEST_Z: f64 = 4.0;
const TRANSITIONS: usize = 40_000;
const BATCHES: usize = 200;

/// Mean of batch means against `truth`, in standard errors.
fn z_score(values: &[f64], truth: f64) -> f64 {
    let size = values.len() / BATCHES;
    let means: Vec<f64> =
        values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean - truth) / (variance / count).sqrt()
}

fn redraw_targets(neuron: &mut Neuron, weights: &[f64], stream: &mut Stream) {
    for (row, target) in neuron.inputs.iter().zip(&mut neuron.targets) {
        let activation: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
        *target = f64::from(u8::from(stream.uniform() < logistic(activation)));
    }
}

fn check(name: &str, mut kernel: Box<dyn Kernel>) {
    let mut stream = Seed(31).stream(Purpose::Chain, [0, 0]);
    let inputs: Vec<Vec<f64>> =
        (0..5).map(|_| vec![1.0, 2.0 * stream.normal(), 2.0 * stream.normal()]).collect();
    let neuron = Neuron { targets: vec![0.0; 5], inputs };
    let mut target = Tempered { product: neuron, inverse_temperature: 1.0 };
    let mut weights = vec![0.0; 3];
    stream.fill_normal(&mut weights);
    let mut point = Point::new(&mut target, weights).expect("a usable start");
    let mut functions = vec![Vec::new(); 9];
    for _ in 0..TRANSITIONS {
        redraw_targets(&mut target.product, &point.position, &mut stream);
        point.evaluate(&mut target).expect("a usable density");
        kernel.step(&mut target, &mut point, &mut stream);
        let w = &point.position;
        let products = [w[0] * w[1], w[0] * w[2], w[1] * w[2]];
        let squares = [w[0] * w[0], w[1] * w[1], w[2] * w[2]];
        for (function, value) in functions.iter_mut().zip(w.iter().chain(&products).chain(&squares))
        {
            function.push(*value);
        }
    }
    let truths = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    for (i, (function, truth)) in functions.iter().zip(truths).enumerate() {
        let z = z_score(function, truth);
        assert!(z.abs() < LARGEST_Z, "{name}: function {i} is {z} standard errors off");
    }
}

fn options() -> HmcOptions {
    HmcOptions { step_size: 0.5, leapfrog_steps: 4, ..HmcOptions::default() }
}

#[test]
fn hybrid_monte_carlo() {
    check("HMC", Box::new(Hmc::new(3, options())));
    check("Langevin", Box::new(Hmc::langevin(3, HmcOptions { step_size: 0.9, ..options() })));
}

#[test]
fn windows() {
    let options = HmcOptions { step_size: 0.7, window: 3, leapfrog_steps: 5, ..options() };
    check("windows", Box::new(Hmc::new(3, options.clone())));
    // Overlapping windows are as valid.
    check("wide windows", Box::new(Hmc::new(3, HmcOptions { window: 5, ..options })));
}

#[test]
fn persistence() {
    let persistence = Persistence { decay: 0.8, reset_every: 0 };
    let options = HmcOptions { step_size: 0.8, leapfrog_steps: 2, persistence, ..options() };
    check("persistence", Box::new(Hmc::new(3, options.clone())));
    let windowed = HmcOptions { window: 2, leapfrog_steps: 3, ..options };
    check("persistence with windows", Box::new(Hmc::new(3, windowed)));
}

#[test]
fn no_u_turn_sampler() {
    let options = NutsOptions {
        step_size: 0.6,
        metric: MetricKind::Given(vec![0.7, 1.0, 1.3]),
        ..NutsOptions::default()
    };
    check("NUTS", Box::new(Nuts::new(3, options.clone())));
    let shallow = NutsOptions { max_tree_depth: 2, step_size: 1.1, ..options };
    check("shallow NUTS", Box::new(Nuts::new(3, shallow)));
}

#[test]
fn walks_along_directions() {
    let directions =
        vec![vec![(0, 1.0)], vec![(1, 1.0)], vec![(2, 1.0)], vec![(0, 1.0), (1, -1.0), (2, 0.5)]];
    check("direction walk", Box::new(DirectionWalk::new(directions, 1.0)));
}

#[test]
fn groups_proposed_from_their_prior() {
    let groups = vec![vec![0], vec![1, 2], vec![0, 1, 2]];
    check("refresh", Box::new(Refresh::new(groups.clone(), &[0.0, 0.6]).attempts(2)));
    // Signs change against the rows: most of these are refused.
    let mirrored = Refresh::new(groups, &[0.5]).mirrors(vec![vec![0, 2], vec![1]]);
    check("mirrored refresh", Box::new(mirrored.attempts(2)));
}

#[test]
fn a_sequence() {
    let kernels: Vec<Box<dyn Kernel>> = vec![
        Box::new(Refresh::new(vec![vec![0, 2]], &[0.0])),
        Box::new(Hmc::new(3, options())),
        Box::new(DirectionWalk::along_axes(0..3, 1.0)),
    ];
    check("sequence", Box::new(Sequence::new(kernels)));
}
