//! Stop chains in time, all at the same place.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Chain, ChainStore, Recorder, Report};
use crate::sample::Plan;

/// Lets all chains pause at the same place when it is time.
pub(super) struct Deadline<'a, S> {
    store: &'a S,
    at: Option<Instant>,
    began: Instant,
    warmup: usize,
    thin: usize,
    end: usize,
    state: Mutex<Lap>,
}

/// Where the chains are.
struct Lap {
    /// Sweeps done of each.
    done: Vec<usize>,
    /// Sweeps done in this leg.
    sweeps: usize,
    /// Where all of them pause.
    pause: Option<usize>,
}

impl<'a, S: ChainStore> Deadline<'a, S> {
    /// At this moment, if at any, of chains of `plan` that have done `begun` sweeps each.
    pub(super) fn new(store: &'a S, at: Option<Instant>, plan: &Plan, begun: &[usize]) -> Self {
        let lap = Lap { done: begun.to_vec(), sweeps: 0, pause: None };
        Deadline {
            store,
            at,
            began: Instant::now(),
            warmup: plan.warmup_iterations(),
            thin: plan.thin,
            end: plan.iterations(),
            state: Mutex::new(lap),
        }
    }

    /// Where the chains pause, if it was time.
    pub(super) fn paused_at(&self) -> Option<usize> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).pause
    }

    /// Takes note of a sweep, and decides whether it is time.
    fn look(&self, at: Instant, report: &Report<'_>) {
        let mut lap = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        lap.done[report.chain] = report.iteration;
        lap.sweeps += 1;
        if lap.pause.is_some() {
            return;
        }
        // Chains that are behind must catch up, and every chain may be in a sweep right now.
        let first = lap.done.iter().copied().max().unwrap_or(0);
        let behind: usize = lap.done.iter().map(|done| first + 1 - done).sum();
        let now = Instant::now();
        let per_sweep = (now - self.began).as_secs_f64() / lap.sweeps as f64;
        let left = at.checked_duration_since(now).unwrap_or(Duration::ZERO).as_secs_f64();
        if per_sweep * behind as f64 >= left {
            let drawn = (first + 1).saturating_sub(self.warmup);
            // The end of a draw, if there are any.
            let next = first + 1 + (drawn.next_multiple_of(self.thin) - drawn);
            let pause = next.min(self.end);
            lap.pause = Some(pause);
            self.store.pause_at(pause);
        }
    }
}

impl<S: ChainStore> Recorder for Deadline<'_, S> {
    fn goes_on(&self, sweeps: usize) -> bool {
        self.store.goes_on(sweeps)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        if let Some(at) = self.at {
            self.look(at, report);
        }
        self.store.after_sweep(report, chain)
    }

    fn leave(&self, chain: (usize, &Chain<'_>)) {
        self.store.leave(chain);
    }
}
