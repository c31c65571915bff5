//! The kernels that need no gradient, and all kernels with the likelihood off.

use posteria::sample::{
    DirectionWalk, FittedStudentT, Kernel, MetropolisHastings, Plan, RandomWalk, Slice,
};
use posteria::target::Tempered;

use super::{check_banana, check_funnel, check_gaussian, check_normal, run_kernel};
use crate::kernels;
use crate::targets::{Gaussian, Neuron};

/// A plan that keeps one of `thin` steps.
fn thinned(warmup: usize, draws: usize, thin: usize) -> Plan {
    Plan { thin, ..Plan::new(4, warmup, draws) }
}

fn walk(dim: usize) -> Box<dyn Kernel> {
    Box::new(MetropolisHastings::new(RandomWalk::new(&vec![0.5; dim])))
}

fn learning_walk(dim: usize) -> Box<dyn Kernel> {
    let walk = RandomWalk::new(&vec![0.1; dim]).learn_covariance();
    Box::new(MetropolisHastings::new(walk))
}

fn slice(dim: usize) -> Box<dyn Kernel> {
    Box::new(Slice::new(&vec![1.0; dim]))
}

fn independence(dim: usize) -> Box<dyn Kernel> {
    Box::new(MetropolisHastings::new(FittedStudentT::new(&vec![0.5; dim])))
}

#[test]
fn random_walk_with_given_widths() {
    // The best widths for a normal target are 2.4 / √dim of its scales.
    let wide = |dim: usize| -> Box<dyn Kernel> {
        let scales = Gaussian::ill_conditioned(dim).scales;
        let widths: Vec<f64> = scales.iter().map(|s| 2.4 * s / (dim as f64).sqrt()).collect();
        Box::new(MetropolisHastings::new(RandomWalk::new(&widths)))
    };
    check_gaussian("random walk", 100, wide, &thinned(4000, 1000, 100));
    check_funnel("random walk", walk, &thinned(2000, 4000, 40));
    check_banana("random walk", walk, &thinned(2000, 4000, 20));
}

#[test]
fn random_walk_with_a_learned_covariance() {
    // Equal widths: the hundredfold ratio of the scales has to be learned.
    check_gaussian("learning walk", 10, learning_walk, &thinned(10_000, 4000, 20));
    check_funnel("learning walk", learning_walk, &thinned(2000, 4000, 40));
    check_banana("learning walk", learning_walk, &thinned(2000, 4000, 20));
}

#[test]
fn slice_sampling() {
    check_gaussian("slice", 100, slice, &Plan::new(4, 50, 500));
    check_funnel("slice", slice, &thinned(500, 4000, 5));
    check_banana("slice", slice, &thinned(500, 4000, 5));
}

#[test]
fn walks_along_directions() {
    let axes = |dim| -> Box<dyn Kernel> { Box::new(DirectionWalk::along_axes(0..dim, 0.3)) };
    check_gaussian("direction walk", 20, axes, &thinned(500, 1000, 10));
    check_funnel("direction walk", axes, &thinned(1000, 4000, 20));
    check_banana("direction walk", axes, &thinned(1000, 4000, 10));
}

#[test]
fn independence_metropolis() {
    check_gaussian("independence", 3, independence, &thinned(4000, 4000, 2));
    check_funnel("independence", independence, &thinned(4000, 4000, 20));
    check_banana("independence", independence, &thinned(2000, 4000, 5));
}

#[test]
fn with_the_likelihood_off_every_kernel_returns_the_prior() {
    let target = Tempered { product: Neuron::small(), inverse_temperature: 0.0 };
    for (name, kernel) in kernels::ALL {
        let chains = run_kernel(&target, kernel, &thinned(1000, 2000, 5));
        for coordinate in &chains {
            check_normal(&format!("{name}: prior"), coordinate, 0.0, 1.0);
        }
    }
}
