//! The same seed gives the same bits on any number of threads and after any interruption.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;

use posteria::draws::Draws;
use posteria::fit::{Chain, ChainMemory, InMemory, Outcome, Recorder, Report, fit, run};
use posteria::random::Seed;
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind, Nuts, NutsOptions, Persistence};
use posteria::sample::{Kernel, Plan};

use crate::toy::Toy;

type Factory = fn(usize) -> Box<dyn Kernel>;

fn kernels() -> [Factory; 3] {
    [
        |dim| Box::new(Nuts::new(dim, NutsOptions::default())),
        |dim| {
            let options = NutsOptions { metric: MetricKind::Dense, ..NutsOptions::default() };
            Box::new(Nuts::new(dim, options))
        },
        |dim| {
            let persistence = Persistence { decay: 0.9, reset_every: 7 };
            let options = HmcOptions { window: 3, persistence, ..HmcOptions::default() };
            Box::new(Hmc::new(dim, options))
        },
    ]
}

fn threads(count: usize) -> NonZero<usize> {
    NonZero::new(count).expect("not zero")
}

fn bits(draws: &Draws) -> Vec<u64> {
    let statistics = draws.statistics.iter().flat_map(|statistics| statistics.to_array());
    draws
        .values
        .iter()
        .copied()
        .chain(statistics)
        .chain(draws.log_likelihood.iter().copied())
        .map(f64::to_bits)
        .collect()
}

#[test]
fn threads_do_not_change_a_bit() {
    for kernel in kernels() {
        let toy = Toy::new(kernel);
        let plan = Plan::new(5, 150, 60);
        let one = fit(&toy, &plan, Seed(1), threads(1)).expect("a fit");
        assert_eq!((one.chains, one.draws), (5, 60));
        for count in [2, 3, 8] {
            let many = fit(&toy, &plan, Seed(1), threads(count)).expect("a fit");
            assert_eq!(bits(&one), bits(&many), "{count} threads");
        }
        let other = fit(&toy, &plan, Seed(2), threads(1)).expect("a fit");
        assert_ne!(bits(&one), bits(&other), "another seed");
    }
}

#[test]
fn more_chains_or_draws_change_nothing_before_them() {
    let toy = Toy::new(kernels()[0]);
    let short = fit(&toy, &Plan::new(2, 100, 30), Seed(4), threads(2)).expect("a fit");
    let long = fit(&toy, &Plan::new(4, 100, 50), Seed(4), threads(2)).expect("a fit");
    for chain in 0..2 {
        for draw in 0..30 {
            assert_eq!(
                short.draw(chain, draw).iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                long.draw(chain, draw).iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            );
        }
    }
}

/// Keeps draws, stops every chain after some sweeps and keeps its memory.
struct StopAt<'r> {
    inner: &'r InMemory,
    iteration: usize,
    memories: Vec<Mutex<Option<ChainMemory>>>,
}

impl Recorder for StopAt<'_> {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        let flow = self.inner.after_sweep(report, chain);
        if report.iteration == self.iteration {
            *self.memories[report.chain].lock().expect("no panic") = Some(chain.memory());
            return ControlFlow::Break(());
        }
        flow
    }
}

#[test]
fn an_interrupted_chain_continues_bit_for_bit() {
    let plan = Plan { thin: 2, ..Plan::new(2, 150, 30) };
    for kernel in kernels() {
        let toy = Toy::new(kernel);
        let whole = fit(&toy, &plan, Seed(6), threads(2)).expect("a fit");
        // In the first stage, at the end of a stage, inside a window, at the end of the
        // warm-up, between two kept draws, and at the end.
        for iteration in [1, 22, 40, 60, 150, 151, 177, 209] {
            let recorder = InMemory::new(&toy, &plan);
            let stop = StopAt {
                inner: &recorder,
                iteration,
                memories: (0..2).map(|_| Mutex::new(None)).collect(),
            };
            let outcome = run(&toy, &plan, Seed(6), &[None, None], threads(2), &stop);
            assert_eq!(outcome, Ok(Outcome::Interrupted));
            let memories: Vec<_> =
                stop.memories.into_iter().map(|memory| memory.into_inner().expect("set")).collect();
            let outcome = run(&toy, &plan, Seed(6), &memories, threads(2), &recorder);
            assert_eq!(outcome, Ok(Outcome::Complete));
            assert_eq!(bits(&whole), bits(&recorder.into_draws()), "stopped at {iteration}");
        }
    }
}
