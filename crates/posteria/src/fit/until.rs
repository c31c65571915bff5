//! When chains stop: after enough, as many draws as were asked for, or in time.

use std::num::NonZero;
use std::time::Instant;

use serde::Serialize;

use super::{Attained, Goal, Prepared};
use crate::diagnose::MANY_CHAINS;
use crate::draws::Draws;
use crate::model::spec::{SamplingSpec, TimeBudget};

/// When chains stop.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// What is enough; none: as many draws as the plan says.
    pub goal: Option<Goal>,
    /// The most draws per chain.
    pub draws: usize,
    /// Number of chains.
    pub chains: usize,
    /// When the command began, and the time that it may take.
    pub time: Option<(Instant, TimeBudget)>,
}

impl Until {
    /// As a specification says, of a command that began at `started`.
    pub fn new(sampling: &SamplingSpec, started: Instant) -> Self {
        let time = sampling.time.map(|time| (started, time));
        let (draws, chains) = (sampling.draws, sampling.chains);
        Until { goal: Goal::of(sampling), draws, chains, time }
    }

    /// The number of draws after which chains that have `draws` are looked at next.
    pub fn next(&self, draws: usize) -> usize {
        match self.goal {
            Some(_) => Goal::next_check(draws, self.chains, self.draws).unwrap_or(draws),
            None => self.draws,
        }
    }

    /// What chains with these draws have attained, and whether they stop with them on their way to a
    /// goal: by the draws themselves, so that a run that was interrupted stops where it would have
    /// stopped.
    pub fn judge(
        &self,
        prepared: &Prepared,
        draws: &Draws,
        threads: NonZero<usize>,
    ) -> (Attained, Option<Stopped>) {
        let now = prepared.attained(draws, threads);
        let Some(goal) = self.goal else { return (now, None) };
        let before = || {
            let before = Goal::previous_check(draws.draws, self.chains)?;
            let before = draws.thin(0, 1, Some(before)).ok()?;
            Some(prepared.attained(&before, threads))
        };
        let numbers = (draws.draws, self.draws);
        let steps: f64 = draws.statistics.iter().map(|draw| draw.n_steps).sum();
        let work = steps * prepared.posterior.rows() as f64;
        let stopped = if now.meets(&goal) {
            let waits = prepared.awaits_parameters(draws, &goal, threads);
            (!waits || draws.draws >= self.draws).then_some(Stopped::Enough)
        } else if self.chains >= MANY_CHAINS && now.stops_short(&goal, numbers, work, before) {
            Some(Stopped::Apart)
        } else {
            (draws.draws >= self.draws).then_some(Stopped::MostDraws)
        };
        (now, stopped)
    }

    /// The moment at which this part of the time is over.
    pub(super) fn moment(&self, part: f64) -> Option<Instant> {
        let (started, time) = self.time?;
        started.checked_add(time.duration().mul_f64(part))
    }
}

/// Why chains stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// They have as many draws as were asked for.
    Asked,
    /// They have enough.
    Enough,
    /// They have the most draws that they may have, and that is not enough.
    MostDraws,
    /// Each is in a place of its own, and more draws would not change that.
    Apart,
    /// Time ran out.
    Time,
    /// A signal came, or writing failed.
    Interrupted,
}
