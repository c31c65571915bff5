//! Run chains leg by leg: until they have settled, then until they have drawn enough, as many draws
//! as were asked for, or for as long as they may.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use posteria::diagnose::MANY_CHAINS;
use posteria::draws::Draws;
use posteria::fit::{Attained, Chain, Goal, Outcome, Recorder, Report, have_settled};
use posteria::model::spec::{InferenceChoice, SamplingSpec, TimeBudget};
use posteria::sample::Plan;
use posteria_store::{Extent, RunWriter};
use serde::Serialize;

use super::{open, run_chains};
use crate::approximation::Found;
use crate::commands::Context;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::prepare::{Conditioned, Prepared};
use crate::progress::{Progress, Seen};

/// Part of a budget of time that chains may use: the rest is for what follows them.
const FOR_CHAINS: f64 = 0.95;
/// Part of a budget of time that a warm-up may use which need not be of a certain length.
const FOR_WARMUP: f64 = 0.5;

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
    pub found: Option<&'a Found<'a>>,
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
                    Ended::Time { iteration } => return self.stop_at(iteration, path, writer),
                }
            }
            let Some(goal) = self.until.goal else { return Ok(Stopped::Asked) };
            writer.checkpoint().running()?;
            let draws = open(path)?.draws_of_variables().running()?;
            let now = attained(self.prepared, &draws, self.context.threads);
            self.attained = Some((draws.draws, now));
            if now.meets(&goal) {
                return Ok(Stopped::Enough);
            }
            if self.stops_short(&goal, &now, &draws) {
                return Ok(Stopped::Apart);
            }
            match Goal::next_check(self.plan.draws, self.until.chains, self.until.draws) {
                Some(draws) => self.plan.draws = draws,
                None => return Ok(Stopped::MostDraws),
            }
        }
    }

    /// Runs the chains up to the place where they have settled, and takes the rest of the warm-up
    /// out of the plan.
    fn warm_up(&mut self, writer: &mut RunWriter) -> Result<Option<Stopped>> {
        for barrier in self.plan.barriers() {
            if sweeps(writer).iter().any(|done| *done > barrier) {
                continue;
            }
            if sweeps(writer).iter().any(|done| *done < barrier) {
                match self.leg(writer, Some(barrier), FOR_WARMUP)? {
                    Ended::Done => {}
                    Ended::Interrupted => return Ok(Some(Stopped::Interrupted)),
                    Ended::Time { iteration } => {
                        self.plan = self.plan.settled_at(iteration);
                        return Ok(None);
                    }
                }
            }
            if have_settled(&writer.memories()) {
                self.plan = self.plan.settled_at(barrier);
                return Ok(None);
            }
        }
        let end = self.plan.warmup_iterations();
        let is_timed = self.until.time.is_some() && self.plan.settle;
        if is_timed && sweeps(writer).iter().any(|done| *done < end) {
            match self.leg(writer, Some(end), FOR_WARMUP)? {
                Ended::Interrupted => return Ok(Some(Stopped::Interrupted)),
                Ended::Time { iteration } => self.plan = self.plan.settled_at(iteration),
                Ended::Done => {}
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
                .towards(self.until.goal, self.attained);
        let progress = match self.prepared.posterior {
            Conditioned::Committee(_) => progress.of_members(),
            _ => progress,
        };
        let both = (self.prepared, self.found);
        let outcome = run_chains(both, &self.plan, &memories, self.context.threads, &progress);
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
                let ess = attained.worst().ess();
                let wanted = (*draws as f64 * goal.ess / ess).ceil();
                let wanted = if wanted.is_finite() { wanted as usize } else { 0 };
                self.until.next(wanted.saturating_sub(1)).max(self.plan.draws)
            }
            _ => self.plan.draws,
        };
        Plan { draws, ..self.plan.clone() }
    }

    /// Whether many chains that have attained `now` on their way to a goal are to stop short of it:
    /// by the draws themselves, so that a run that was interrupted stops where it would have
    /// stopped.
    fn stops_short(&self, goal: &Goal, now: &Attained, draws: &Draws) -> bool {
        let before = || {
            let before = Goal::previous_check(draws.draws, self.until.chains)?;
            let before = draws.thin(0, 1, Some(before)).ok()?;
            Some(attained(self.prepared, &before, self.context.threads))
        };
        let numbers = (draws.draws, self.until.draws);
        let steps: f64 = draws.statistics.iter().map(|draw| draw.n_steps).sum();
        let work = steps * self.prepared.posterior.rows() as f64;
        self.until.chains >= MANY_CHAINS && now.stops_short(goal, numbers, work, before)
    }

    /// Leaves the chains, which have paused because time ran out, with all draws that they have.
    fn stop_at(
        &mut self,
        iteration: usize,
        path: &Path,
        writer: &mut RunWriter,
    ) -> Result<Stopped> {
        let warmup = self.plan.warmup_iterations();
        let draws = iteration.saturating_sub(warmup) / self.plan.thin;
        if draws == 0 {
            return Err(Failure::Running(anyhow!(
                "time ran out after {iteration} of {warmup} sweeps of warm-up, before the first \
                 draw; go on with: posteria resume {} --time T",
                path.display()
            )));
        }
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

/// Whether draws are those of chains whose predictions can be judged.
pub fn is_judged(prepared: &Prepared) -> bool {
    let mcmc = prepared.spec.sampling.inference() == InferenceChoice::Mcmc;
    mcmc && !prepared.spec.model.kind.is_unsupervised()
}

/// Lets all chains pause at the same place when it is time.
struct Deadline<'a> {
    writer: &'a RunWriter,
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

impl<'a> Deadline<'a> {
    fn new(writer: &'a RunWriter, at: Option<Instant>, plan: &Plan, begun: &[usize]) -> Self {
        let lap = Lap { done: begun.to_vec(), sweeps: 0, pause: None };
        Deadline {
            writer,
            at,
            began: Instant::now(),
            warmup: plan.warmup_iterations(),
            thin: plan.thin,
            end: plan.iterations(),
            state: Mutex::new(lap),
        }
    }

    fn paused_at(&self) -> Option<usize> {
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
            self.writer.pause_at(pause);
        }
    }
}

impl Recorder for Deadline<'_> {
    fn goes_on(&self, sweeps: usize) -> bool {
        self.writer.goes_on(sweeps)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        if let Some(at) = self.at {
            self.look(at, report);
        }
        self.writer.after_sweep(report, chain)
    }
}
