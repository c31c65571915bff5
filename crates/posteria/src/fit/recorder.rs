//! Hand every sweep to whoever keeps it: memory, a run folder, a progress bar.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Chain, ChainMemory};
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
    pub kept: Option<KeptDraw<'a>>,
}

/// A kept draw.
#[derive(Clone, Copy, Debug)]
pub struct KeptDraw<'a> {
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

    /// Called in place of the next sweep of a chain that somebody else has ended, so that it can go
    /// on from there another time.
    fn leave(&self, _chain: (usize, &Chain<'_>)) {}
}

/// Keeps all draws in memory, and where chains pause or end.
pub struct InMemory {
    empty: Draws,
    chains: Vec<Mutex<(Draws, Option<ChainMemory>)>>,
    /// Sweeps after which every chain pauses, and after which the plan ends.
    pause: AtomicUsize,
    end: usize,
}

impl InMemory {
    /// Room for the draws of `plan`.
    pub fn new(posterior: &dyn Posterior, plan: &Plan) -> Self {
        let rows = if plan.pointwise { posterior.rows() } else { 0 };
        let empty = Draws::empty(posterior.layout().clone(), plan.chains, rows);
        let one = Draws::empty(posterior.layout().clone(), 1, rows);
        let chains = (0..plan.chains).map(|_| Mutex::new((one.clone(), None))).collect();
        let end = plan.iterations();
        InMemory { empty, chains, pause: AtomicUsize::new(end), end }
    }

    /// What a fit holds already, so that its chains can go on: its draws, what each chain has drawn
    /// beyond those, and where each stands.
    pub(super) fn of_fit(draws: &Draws, ahead: &[Draws], memories: &[ChainMemory]) -> Self {
        let empty = Draws::empty(draws.layout.clone(), draws.chains, draws.rows);
        let part = |chain: usize| {
            let range =
                |width: usize| chain * draws.draws * width..(chain + 1) * draws.draws * width;
            let mut own = Draws::empty(draws.layout.clone(), 1, draws.rows);
            own.draws = draws.draws;
            own.values.extend(&draws.values[range(draws.layout.len())]);
            own.statistics.extend(&draws.statistics[range(1)]);
            own.log_likelihood.extend(&draws.log_likelihood[range(draws.rows)]);
            if let Some(more) = ahead.get(chain) {
                own.draws += more.draws;
                own.values.extend(&more.values);
                own.statistics.extend(&more.statistics);
                own.log_likelihood.extend(&more.log_likelihood);
            }
            Mutex::new((own, memories.get(chain).cloned()))
        };
        let chains = (0..draws.chains).map(part).collect();
        InMemory { empty, chains, pause: AtomicUsize::new(0), end: 0 }
    }

    /// Where each chain stands that has paused or ended.
    pub fn memories(&self) -> Vec<Option<ChainMemory>> {
        self.chains.iter().map(|chain| lock(chain).1.clone()).collect()
    }

    pub(super) fn pause_at(&self, sweeps: usize) {
        self.pause.fetch_min(sweeps, Ordering::Relaxed);
    }

    /// Chains end after so many sweeps, and pause nowhere before.
    pub(super) fn set_end(&mut self, sweeps: usize) {
        (self.pause, self.end) = (AtomicUsize::new(sweeps), sweeps);
    }

    /// The draws so far, without log likelihoods; chains are cut to the shortest.
    pub(super) fn all_draws(&self) -> Draws {
        let mut all = Draws { rows: 0, ..self.empty.clone() };
        all.draws = self.chains.iter().map(|chain| lock(chain).0.draws).min().unwrap_or(0);
        for chain in &self.chains {
            let (chain, _) = &*lock(chain);
            all.values.extend(&chain.values[..all.draws * all.layout.len()]);
            all.statistics.extend(&chain.statistics[..all.draws]);
        }
        all
    }

    /// The draws; chains that were interrupted are cut to the shortest.
    pub fn into_draws(self) -> Draws {
        self.into_parts().0
    }

    /// The draws that all chains have, and those of each that is further.
    pub(super) fn into_parts(self) -> (Draws, Vec<Draws>) {
        let mut all = Draws { rows: self.empty.rows, ..self.all_draws() };
        let mut ahead = Vec::new();
        for chain in self.chains {
            let (mut chain, _) = chain.into_inner().unwrap_or_else(PoisonError::into_inner);
            let more = chain.log_likelihood.split_off(all.draws * all.rows);
            all.log_likelihood.append(&mut chain.log_likelihood);
            chain.log_likelihood = more;
            chain.values.drain(..all.draws * all.layout.len());
            chain.statistics.drain(..all.draws);
            chain.draws -= all.draws;
            ahead.push(chain);
        }
        if ahead.iter().all(|chain| chain.draws == 0) {
            ahead.clear();
        }
        (all, ahead)
    }
}

/// What a chain has left; a chain that panicked has left it whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder for InMemory {
    fn goes_on(&self, sweeps: usize) -> bool {
        sweeps < self.pause.load(Ordering::Relaxed)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        let (draws, memory) = &mut *lock(&self.chains[report.chain]);
        if let Some(kept) = report.kept {
            draws.draws += 1;
            draws.values.extend(kept.draw);
            draws.statistics.push(kept.statistics);
            draws.log_likelihood.extend(kept.log_likelihood);
        }
        if report.iteration < self.pause.load(Ordering::Relaxed) {
            return ControlFlow::Continue(());
        }
        *memory = Some(chain.memory());
        // At its end a chain stops by itself.
        if report.iteration < self.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn leave(&self, (index, chain): (usize, &Chain<'_>)) {
        lock(&self.chains[index]).1 = Some(chain.memory());
    }
}
