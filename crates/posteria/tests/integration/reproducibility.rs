//! The same seed gives the same bits on any number of threads and after any interruption.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;

use posteria::draws::Draws;
use posteria::fit::{Chain, ChainMemory, FitError, InMemory, Outcome, Recorder, Report, fit, run};
use posteria::model::Posterior;
use posteria::random::Seed;
use posteria::sample::Plan;

use crate::kernels;
use crate::networks::networks;
use crate::tables::{classification, linear, regression};
use crate::toy::Toy;

/// Every kernel on the toy, and the linear models.
fn posteriors() -> Vec<(String, Box<dyn Posterior>)> {
    let mut posteriors: Vec<(String, Box<dyn Posterior>)> = Vec::new();
    for (name, kernel) in kernels::ALL {
        posteriors.push((name.into(), Box::new(Toy::new(kernel))));
    }
    posteriors.push(("refresh".into(), Box::new(Toy::new(kernels::REFRESH))));
    let nuts = kernels::ALL[0].1;
    let data = regression(3);
    for spec in ["", "[prior.weights]\nfamily = 'conjugate'\nrho = 0.1"] {
        posteriors.push((format!("regression {spec}"), Box::new(linear(spec, &data, nuts))));
    }
    let data = classification();
    for index in [0, 6, 8] {
        let (name, kernel) = kernels::ALL[index];
        let spec = "[prior.weights]\nsharing = 'per-input'";
        posteriors.push((format!("logistic, {name}"), Box::new(linear(spec, &data, kernel))));
    }
    posteriors
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
    let plan = Plan::new(5, 150, 60);
    for (name, posterior) in posteriors() {
        assert_same_on_all_threads(&name, posterior.as_ref(), &plan, &[2, 3, 8]);
    }
}

#[test]
fn threads_do_not_change_a_bit_of_a_network() {
    let plan = Plan::new(3, 45, 10);
    for (name, posterior) in networks() {
        assert_same_on_all_threads(&name, &posterior, &plan, &[2]);
    }
}

fn assert_same_on_all_threads(
    name: &str,
    posterior: &dyn Posterior,
    plan: &Plan,
    counts: &[usize],
) {
    let one = fit(posterior, plan, Seed(1), threads(1)).expect("a fit");
    assert_eq!((one.chains, one.draws), (plan.chains, plan.draws));
    for &count in counts {
        let many = fit(posterior, plan, Seed(1), threads(count)).expect("a fit");
        assert_eq!(bits(&one), bits(&many), "{name}: {count} threads");
    }
    // Seeds are told apart from the start: a few sweeps of one chain are enough to see it.
    let few = Plan::new(1, 2, 2);
    let [one, other] = [1, 2].map(|seed| fit(posterior, &few, Seed(seed), threads(1)));
    let [one, other] = [one, other].map(|fitted| bits(&fitted.expect("a fit")));
    assert_ne!(one, other, "{name}: another seed");
}

#[test]
fn more_chains_or_draws_change_nothing_before_them() {
    let toy = Toy::new(kernels::ALL[0].1);
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
    for (name, posterior) in posteriors() {
        // In the first stage, at the end of a stage, inside a window, at the end of the
        // warm-up, between two kept draws, and at the end.
        let stops = [1, 22, 40, 60, 150, 151, 177, 209];
        assert_continues(&name, posterior.as_ref(), &plan, &stops);
    }
}

#[test]
fn an_interrupted_network_continues_bit_for_bit() {
    let plan = Plan { thin: 2, ..Plan::new(2, 50, 5) };
    for (name, posterior) in networks() {
        assert_continues(&name, &posterior, &plan, &[1, 20, 33, 50, 55]);
    }
}

#[test]
fn log_likelihoods_that_are_not_kept_change_no_draw() {
    let plan = Plan::new(2, 40, 10);
    let without = Plan { pointwise: false, ..plan.clone() };
    for (name, posterior) in posteriors() {
        let kept = fit(posterior.as_ref(), &plan, Seed(6), threads(2)).expect("a fit");
        let left_out = fit(posterior.as_ref(), &without, Seed(6), threads(2)).expect("a fit");
        assert_eq!(kept.rows, posterior.rows(), "{name}");
        assert!(left_out.rows == 0 && left_out.log_likelihood.is_empty(), "{name}");
        assert_eq!((kept.values, kept.draws), (left_out.values, left_out.draws), "{name}");
        assert_continues(&name, posterior.as_ref(), &without, &[20, 45]);
    }
}

/// One run that is interrupted at every one of `stops`, each time by what the last one remembers.
fn assert_continues(name: &str, posterior: &dyn Posterior, plan: &Plan, stops: &[usize]) {
    let whole = fit(posterior, plan, Seed(6), threads(2)).expect("a fit");
    let recorder = InMemory::new(posterior, plan);
    let mut memories = vec![None, None];
    for &iteration in stops {
        let stop = StopAt {
            inner: &recorder,
            iteration,
            memories: (0..2).map(|_| Mutex::new(None)).collect(),
        };
        let outcome = run(posterior, plan, Seed(6), &memories, threads(2), &stop);
        assert_eq!(outcome, Ok(Outcome::Interrupted), "{name}: at {iteration}");
        memories =
            stop.memories.into_iter().map(|memory| memory.into_inner().expect("set")).collect();
    }
    let outcome = run(posterior, plan, Seed(6), &memories, threads(2), &recorder);
    assert_eq!(outcome, Ok(Outcome::Complete));
    assert_eq!(bits(&whole), bits(&recorder.into_draws()), "{name}: stopped at {stops:?}");
}

#[test]
fn a_block_held_still_reports_alike_after_an_interruption() {
    let mut plan = Plan::new(1, 40, 20);
    plan.sampling.still = vec!["joint".into()];
    let toy = Toy::new(kernels::ALL[0].1);
    let mut chain = Chain::start(&toy, &plan, Seed(2), 0).expect("a usable start");
    (0..50).for_each(|_| assert!(chain.advance()));
    let memory = chain.memory();
    let mut resumed = Chain::resume(&toy, &plan, 0, &memory).expect("its own memory");
    assert!(chain.advance() && resumed.advance());
    let bits = |chain: &Chain<'_>| {
        let kept = chain.report().kept.expect("a kept draw");
        kept.statistics.to_array().map(f64::to_bits)
    };
    assert_eq!(bits(&chain), bits(&resumed));
}

#[test]
fn a_memory_of_another_chain_is_refused() {
    let plan = Plan::new(1, 50, 10);
    let toy = Toy::new(kernels::ALL[0].1);
    let mut chain = Chain::start(&toy, &plan, Seed(1), 0).expect("a usable start");
    chain.advance();
    let own = chain.memory();
    assert!(Chain::resume(&toy, &plan, 0, &own).is_ok());
    let cut = |values: &[f64]| values[..values.len() - 1].to_vec();
    let forged = [
        ChainMemory { state: cut(&own.state), ..own.clone() },
        ChainMemory { state: vec![f64::NAN; own.state.len()], ..own.clone() },
        ChainMemory { iteration: 61, ..own.clone() },
        ChainMemory { updates: Vec::new(), ..own.clone() },
        ChainMemory { updates: own.updates.iter().map(|_| vec![0.5; 9]).collect(), ..own.clone() },
        ChainMemory { updates: vec![Vec::new(), cut(&own.updates[1])], ..own },
    ];
    for memory in &forged {
        let error = Chain::resume(&toy, &plan, 0, memory).err();
        assert_eq!(error, Some(FitError::Memory { chain: 0 }), "{memory:?}");
    }
}
