//! Run chains leg by leg: until they have settled, then until they have drawn enough, as many draws
//! as were asked for, or for as long as they may.

use std::num::NonZero;
use std::path::Path;
use std::time::Instant;

use posteria::diagnose::MANY_CHAINS;
use posteria::draws::Draws;
use posteria::fit::{Attained, Goal, Outcome, have_settled};
use posteria::model::spec::{SamplingSpec, TimeBudget};
use posteria::sample::Plan;
use posteria_store::{Extent, RunWriter};
use serde::Serialize;

use super::deadline::Deadline;
use super::open;
use crate::commands::Context;
use crate::failure::{Classify, Result};
use crate::interrupt::Interrupt;
use crate::progress::{Progress, Seen};
use posteria::fit::FittedApproximation;
use posteria::fit::{Conditioned, Prepared};

/// Part of a budget of time that chains may use: the rest is for what follows them.
const FOR_CHAINS: f64 = 0.95;
/// Part of a budget of time that a warm-up may use, and with the sweeps that find the step size after
/// one that was cut: a few draws of chains that are hardly warm say more than none.
const FOR_WARMUP: f64 = 0.5;
const FOR_STEP_SIZE: f64 = 0.7;

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
    /// About how many sweeps of other chains follow.
    followed_by: usize,
}

impl Until {
    /// As a specification says, of a command that began at `started`.
    pub fn new(sampling: &SamplingSpec, started: Instant) -> Self {
        let time = sampling.time.map(|time| (started, time));
        let (draws, chains) = (sampling.draws, sampling.chains);
        Until { goal: Goal::of(sampling), draws, chains, time, followed_by: 0 }
    }

    /// The same of chains that about so many sweeps of others follow.
    #[must_use]
    pub fn followed_by(self, sweeps: usize) -> Self {
        Until { followed_by: sweeps, ..self }
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
        let now = attained(prepared, draws, threads);
        let Some(goal) = self.goal else { return (now, None) };
        let before = || {
            let before = Goal::previous_check(draws.draws, self.chains)?;
            let before = draws.thin(0, 1, Some(before)).ok()?;
            Some(attained(prepared, &before, threads))
        };
        let numbers = (draws.draws, self.draws);
        let steps: f64 = draws.statistics.iter().map(|draw| draw.n_steps).sum();
        let work = steps * prepared.posterior.rows() as f64;
        let stopped = if now.meets(&goal) {
            Some(Stopped::Enough)
        } else if self.chains >= MANY_CHAINS && now.stops_short(&goal, numbers, work, before) {
            Some(Stopped::Apart)
        } else {
            (draws.draws >= self.draws).then_some(Stopped::MostDraws)
        };
        (now, stopped)
    }

    /// The moment at which this part of the time is over.
    fn moment(&self, part: f64) -> Option<Instant> {
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

/// Chains on their way.
pub struct Legs<'a> {
    /// What is sampled.
    pub prepared: &'a Prepared,
    /// What was found before the chains.
    pub found: Option<&'a FittedApproximation<'a>>,
    /// How: with the warm-up that has been decided on.
    pub plan: Plan,
    /// When they stop.
    pub until: Until,
    /// Whether a signal came.
    pub interrupt: &'a Interrupt,
    /// Threads, and what is shown.
    pub context: &'a Context,
    /// What they had attained when they were last judged, after so many draws of each.
    pub attained: Option<(usize, Attained)>,
    /// What progress has seen of them.
    pub seen: Option<Seen>,
    /// The sweeps that the warm-up was to have at most, if there was no time for it.
    pub cut: Option<usize>,
}

/// Why a leg ended.
enum Ended {
    Done,
    Time { iteration: usize },
    Interrupted,
}

impl Legs<'_> {
    /// Runs the chains into the folder at `path` until there is a reason to stop.
    pub fn run(&mut self, path: &Path, writer: &mut RunWriter) -> Result<Stopped> {
        if let Some(stopped) = self.warm_up(writer)? {
            return Ok(stopped);
        }
        loop {
            if sweeps(writer).iter().any(|done| *done < self.plan.iterations()) {
                match self.leg(writer, None, FOR_CHAINS)? {
                    Ended::Done => {}
                    Ended::Interrupted => return Ok(Stopped::Interrupted),
                    Ended::Time { iteration } => return self.stop_at(iteration, writer),
                }
            }
            if self.until.goal.is_none() {
                return Ok(Stopped::Asked);
            }
            writer.checkpoint().running()?;
            let draws = open(path)?.draws_of_variables().running()?;
            let (now, stopped) = self.until.judge(self.prepared, &draws, self.context.threads);
            self.attained = Some((draws.draws, now));
            if let Some(stopped) = stopped {
                return Ok(stopped);
            }
            self.plan.draws = self.until.next(self.plan.draws);
        }
    }

    /// Runs the chains up to the place where they have settled, takes the rest of the warm-up out of
    /// the plan, and ends it. A budget of time takes out what there is no time for.
    fn warm_up(&mut self, writer: &mut RunWriter) -> Result<Option<Stopped>> {
        let planned = self.plan.warmup_iterations();
        let end = self.until.time.map(|_| planned);
        for pause in self.plan.barriers().into_iter().chain(end) {
            if sweeps(writer).iter().any(|done| *done > pause) {
                continue;
            }
            if sweeps(writer).iter().any(|done| *done < pause) {
                match self.leg(writer, Some(pause), FOR_WARMUP)? {
                    Ended::Done => {}
                    Ended::Interrupted => return Ok(Some(Stopped::Interrupted)),
                    Ended::Time { iteration } => {
                        (self.plan, self.cut) = (self.plan.settled_at(iteration), Some(planned));
                        break;
                    }
                }
            }
            if pause < planned && have_settled(&writer.memories()) {
                self.plan = self.plan.settled_at(pause);
                break;
            }
        }
        let end = self.plan.warmup_iterations();
        if self.until.time.is_some() && sweeps(writer).iter().any(|done| *done < end) {
            match self.leg(writer, Some(end), FOR_STEP_SIZE)? {
                Ended::Done => {}
                Ended::Interrupted => return Ok(Some(Stopped::Interrupted)),
                Ended::Time { iteration } => {
                    (self.plan, self.cut) = (self.plan.with_warmup(iteration), Some(planned));
                }
            }
        }
        Ok(None)
    }

    /// Runs the chains to the end of the plan, or to a place where all of them pause; less if a
    /// signal comes or this part of the time is over.
    fn leg(&mut self, writer: &mut RunWriter, pause: Option<usize>, part: f64) -> Result<Ended> {
        writer.set_extent(Extent::from(&self.plan)).running()?;
        let end = pause.unwrap_or(self.plan.iterations());
        writer.pause_at(end);
        let (memories, begun) = (writer.memories(), sweeps(writer));
        let deadline = Deadline::new(writer, self.until.moment(part), &self.plan, &begun);
        let layout = self.prepared.posterior.layout();
        let progress =
            Progress::new(&deadline, self.context.output, &self.expected(), layout, &begun)
                .since(self.seen.take())
                .towards(self.until.goal, self.attained)
                .followed_by(self.until.followed_by);
        let progress = match self.prepared.posterior {
            Conditioned::Committee(_) => progress.of_members(),
            _ => progress,
        };
        let threads = self.context.threads;
        let outcome = self.prepared.run(self.found, &self.plan, &memories, threads, &progress);
        self.seen = Some(progress.finish());
        let paused_at = deadline.paused_at();
        Ok(match (outcome.running()?, paused_at) {
            (Outcome::Complete, _) => Ended::Done,
            _ if self.interrupt.signal().is_some() || writer.has_failed() => Ended::Interrupted,
            (_, Some(iteration)) if iteration < end => Ended::Time { iteration },
            _ => Ended::Done,
        })
    }

    /// The plan, with as many draws as the chains will have at the rate so far.
    fn expected(&self) -> Plan {
        let draws = match (self.until.goal, &self.attained) {
            (Some(goal), Some((draws, attained))) => {
                let ess = attained.ess();
                let wanted = (*draws as f64 * goal.ess / ess).ceil();
                let wanted = if wanted.is_finite() { wanted as usize } else { 0 };
                self.until.next(wanted.saturating_sub(1)).max(self.plan.draws)
            }
            _ => self.plan.draws,
        };
        Plan { draws, ..self.plan.clone() }
    }

    /// Leaves the chains, which have paused because time ran out, with all draws that they have.
    fn stop_at(&mut self, iteration: usize, writer: &mut RunWriter) -> Result<Stopped> {
        // The warm-up is done, and time is looked at after a sweep: there is a draw.
        let warmup = self.plan.warmup_iterations();
        let draws = iteration.saturating_sub(warmup) / self.plan.thin;
        self.plan.draws = draws;
        writer.set_extent(Extent::from(&self.plan)).running()?;
        Ok(Stopped::Time)
    }
}

/// Sweeps that each chain has done.
pub fn sweeps(writer: &RunWriter) -> Vec<usize> {
    let memories = writer.memories().into_iter();
    memories.map(|memory| memory.map_or(0, |memory| memory.iteration)).collect()
}

/// What `draws` of what was prepared are worth to predictions, on so many threads.
pub fn attained(prepared: &Prepared, draws: &Draws, threads: NonZero<usize>) -> Attained {
    Attained::new(&*prepared.posterior, draws, &prepared.data.inputs, threads)
}
