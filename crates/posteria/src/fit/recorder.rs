//! Hand every sweep to whoever keeps it: memory, a run folder, a progress bar.

use std::ops::ControlFlow;
use std::sync::Mutex;

use super::Chain;
use crate::draws::{Draws, Statistics};
use crate::model::Posterior;
use crate::sample::{Plan, Step};

/// What a chain reports after a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The chain.
    pub chain: usize,
    /// Sweeps done by this chain, warm-up included.
    pub iteration: usize,
    /// What each update of the sweep did.
    pub steps: &'a [Step],
    /// The draw that was kept, if this sweep ended one.
    pub kept: Option<Kept<'a>>,
}

/// A kept draw.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// Its index in the chain.
    pub index: usize,
    /// Its components.
    pub draw: &'a [f64],
    /// Its statistics.
    pub statistics: Statistics,
    /// The log likelihood of every row; empty if the plan does not keep them.
    pub log_likelihood: &'a [f64],
}

/// Sees every sweep of every chain, from the chain's own thread.
///
/// It decides when to ask the chain for its memory (a checkpoint) and when to stop: the
/// library has no clock and no signals.
pub trait Recorder: Sync {
    /// Whether a chain that continues from a memory after so many sweeps makes another one now.
    /// One that stands where all chains pause does not, while others are still on their way there.
    fn goes_on(&self, _sweeps: usize) -> bool {
        true
    }

    /// Called after every sweep. `Break` ends the chain; what was kept so far stays.
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()>;
}

/// Keeps all draws in memory.
pub struct InMemory {
    empty: Draws,
    chains: Vec<Mutex<Draws>>,
}

impl InMemory {
    /// Room for the draws of `plan`.
    pub fn new(posterior: &dyn Posterior, plan: &Plan) -> Self {
        let rows = if plan.pointwise { posterior.rows() } else { 0 };
        let empty = Draws::empty(posterior.layout().clone(), plan.chains, rows);
        let one = Draws::empty(posterior.layout().clone(), 1, rows);
        InMemory { empty, chains: (0..plan.chains).map(|_| Mutex::new(one.clone())).collect() }
    }

    /// The draws; chains that were interrupted are cut to the shortest.
    pub fn into_draws(self) -> Draws {
        let mut all = self.empty;
        let chains: Vec<Draws> = self
            .chains
            .into_iter()
            .map(|chain| chain.into_inner().expect("no chain panicked"))
            .collect();
        all.draws = chains.iter().map(|chain| chain.draws).min().unwrap_or(0);
        for chain in &chains {
            all.values.extend(&chain.values[..all.draws * all.layout.len()]);
            all.statistics.extend(&chain.statistics[..all.draws]);
            all.log_likelihood.extend(&chain.log_likelihood[..all.draws * all.rows]);
        }
        all
    }
}

impl Recorder for InMemory {
    fn after_sweep(&self, report: &Report<'_>, _chain: &Chain<'_>) -> ControlFlow<()> {
        if let Some(kept) = report.kept {
            let mut draws = self.chains[report.chain].lock().expect("no chain panicked");
            draws.draws += 1;
            draws.values.extend(kept.draw);
            draws.statistics.push(kept.statistics);
            draws.log_likelihood.extend(kept.log_likelihood);
        }
        ControlFlow::Continue(())
    }
}
