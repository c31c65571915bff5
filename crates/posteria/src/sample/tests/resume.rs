//! Stop chains anywhere, resume them from their memory, compare the bits.

use posteria_linalg::Cholesky;

use super::chain::{Chain, stage, sweep_of};
use super::exchange::{mixture, tempered_sweep};
use super::targets::{banana, kernels};
use crate::sample::{
    Adapt, EllipticalSlice, ExchangeCounts, ForeignMemory, Ladder, NormalPrior, ReplicaExchange,
    Stage, Sweep,
};

fn stages() -> Vec<Stage> {
    vec![stage(30, Adapt::StepSize), stage(60, Adapt::Metric), stage(80, Adapt::Metric)]
}

/// Runs 300 sweeps at once, and again with a stop at various places.
pub fn assert_resumes<'p>(name: &str, state: &[f64], make: impl Fn() -> Sweep<'p>) {
    let mut whole = Chain::new(make(), state, stages(), 31);
    let expected = whole.draws(300);
    // In the first stage, at its end, within stages that learn, at their end, after warm-up.
    for stop in [0, 10, 30, 60, 90, 131, 170, 250] {
        let mut first = Chain::new(make(), state, stages(), 31);
        first.draws(stop);
        let mut second = first.resumed(make());
        let rest = second.draws(300 - stop);
        for (i, (a, b)) in expected[stop..].iter().zip(&rest).enumerate() {
            for (a, b) in a.iter().zip(b) {
                assert_eq!(a.to_bits(), b.to_bits(), "{name}: stop {stop}, sweep {}", stop + i);
            }
        }
        assert_eq!(whole.sweep.memory(), second.sweep.memory(), "{name}: stop {stop}");
    }
}

#[test]
fn kernels_resume_bit_for_bit() {
    for choice in 0..kernels(2).len() {
        let name = kernels(2)[choice].0;
        assert_resumes(name, &[0.5, 0.5], || sweep_of(banana(), kernels(2).swap_remove(choice).1));
    }
}

#[test]
fn elliptical_slice_resumes_bit_for_bit() {
    assert_resumes("elliptical slice", &[0.1, 0.2], || {
        let likelihood = |x: &[f64]| Ok(-(x[0] - x[1] * x[1]).powi(2));
        let prior = NormalPrior::new(vec![0.5, -0.5], Cholesky::identity(2), likelihood);
        Sweep::new(vec![Box::new(EllipticalSlice::new("block", 0, prior, 0.8))])
    });
}

fn exchanging() -> Sweep<'static> {
    let ladder = Ladder::geometric(0.4, 4).expect("a valid ratio").down_to_prior();
    let sweeps = ladder[1..].iter().map(|beta| tempered_sweep(mixture(), *beta)).collect();
    let states = (1..ladder.len()).map(|rung| vec![rung as f64]).collect();
    let exchange = ReplicaExchange::new("exchange", ladder, sweeps, states, |x: &[f64]| {
        Ok((mixture().log_likelihood)(x[0]))
    });
    tempered_sweep(mixture(), 1.0).with(Box::new(exchange))
}

#[test]
fn replica_exchange_resumes_bit_for_bit() {
    assert_resumes("replica exchange", &[8.0], exchanging);
}

#[test]
fn counts_can_be_read_from_a_memory() {
    let mut chain = Chain::new(exchanging(), &[8.0], stages(), 32);
    chain.draws(170 + 200);
    let counts = ExchangeCounts::from_memory(&chain.sweep.memory()[1]).expect("its own memory");
    let proposed: Vec<u64> = counts.pairs.iter().map(|pair| pair.proposed).collect();
    assert_eq!(proposed, [100; 4], "counted since the warm-up ended, pairs in alternation");
    assert!(counts.pairs.iter().all(|pair| (0.05..1.0).contains(&pair.rate())), "{counts:?}");
}

#[test]
fn a_memory_of_another_kernel_is_refused() {
    let sweeps: Vec<Sweep<'_>> =
        kernels(2).into_iter().map(|(_, kernel)| sweep_of(banana(), kernel)).collect();
    let mut sweeps = sweeps.into_iter();
    let walk = sweeps.nth(1).expect("a walk with covariance");
    let mut slice = sweeps.nth(1).expect("a slice");
    assert_eq!(slice.recall(&walk.memory()), Err(ForeignMemory { owner: "slice" }));
}
