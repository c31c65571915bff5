//! Run chains leg by leg: until they have settled, then until they have drawn enough, as many draws
//! as were asked for, or for as long as they may.

use super::deadline::Deadline;
use super::{
    Attained, ChainStore, FitError, FittedApproximation, Goal, Outcome, Prepared, Recorder,
    Stopped, Until, Workers, have_settled,
};
use crate::draws::Layout;
use crate::sample::Plan;

/// Part of a budget of time that chains may use: the rest is for what follows them.
const FOR_CHAINS: f64 = 0.95;
/// Part of a budget of time that a warm-up may use, and with the sweeps that find the step size after
/// one that was cut: a few draws of chains that are hardly warm say more than none.
const FOR_WARMUP: f64 = 0.5;
const FOR_STEP_SIZE: f64 = 0.7;

/// How chains ended.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Why.
    pub stopped: Stopped,
    /// The plan that they have followed in the end.
    pub plan: Plan,
    /// What they had attained when they were last judged, after so many draws of each.
    pub attained: Option<(usize, Attained)>,
    /// The sweeps that the warm-up was to have at most, if there was no time for it.
    pub cut: Option<usize>,
}

/// Chains that run up to a place where all of them pause.
pub struct Leg<'a> {
    /// The plan, with as many draws as the chains will have at the rate so far.
    pub expected: Plan,
    /// What a draw holds.
    pub layout: &'a Layout,
    /// Sweeps that each chain has done before.
    pub begun: &'a [usize],
    /// What is enough.
    pub goal: Option<Goal>,
    /// What there was of that after so many draws of each chain.
    pub attained: Option<(usize, Attained)>,
    /// Whether members of a committee take the place of draws.
    pub of_members: bool,
}

impl Leg<'_> {
    /// About how many sweeps of all chains are left.
    pub fn sweeps_left(&self) -> usize {
        let end = self.expected.iterations();
        self.begun.iter().map(|done| end.saturating_sub(*done)).sum()
    }
}

/// Sees chains run, leg by leg.
pub trait LegWatch {
    /// Calls `run` once, with `recorder` or with one that hands every sweep to it. Where the store
    /// does not end chains itself when the work shall stop, this does.
    fn watch(&mut self, leg: &Leg<'_>, recorder: &dyn Recorder, run: &mut dyn FnMut(&dyn Recorder));
}

impl LegWatch for Workers {
    /// Tells the watch of every sweep, and ends chains when the work shall stop.
    fn watch(
        &mut self,
        leg: &Leg<'_>,
        recorder: &dyn Recorder,
        run: &mut dyn FnMut(&dyn Recorder),
    ) {
        run(&*self.watched_leg(leg, recorder));
    }
}

impl Prepared {
    /// Runs the chains of `plan` into `store` until there is a reason to stop, or draws from the
    /// `approximation` in their place.
    ///
    /// # Errors
    /// [`FitError`] if a chain cannot start, and what the store fails with.
    pub fn sample<S: ChainStore>(
        &self,
        approximation: Option<&FittedApproximation<'_>>,
        (plan, until): (&Plan, Until),
        store: &mut S,
        (workers, watch): (&Workers, &mut dyn LegWatch),
    ) -> Result<Sampled, S::Error> {
        let plan = plan.clone();
        let state = Sampled { stopped: Stopped::Interrupted, plan, attained: None, cut: None };
        let mut legs = Legs { prepared: self, approximation, until, workers, watch, state };
        legs.state.stopped = legs.run(store)?;
        Ok(legs.state)
    }
}

/// Chains on their way.
struct Legs<'a> {
    prepared: &'a Prepared,
    approximation: Option<&'a FittedApproximation<'a>>,
    until: Until,
    workers: &'a Workers,
    watch: &'a mut dyn LegWatch,
    state: Sampled,
}

/// Why a leg ended.
enum Ended {
    Done,
    Time { iteration: usize },
    Interrupted,
}

impl Legs<'_> {
    fn run<S: ChainStore>(&mut self, store: &mut S) -> Result<Stopped, S::Error> {
        if let Some(stopped) = self.warm_up(store)? {
            return Ok(stopped);
        }
        loop {
            if sweeps(store).iter().any(|done| *done < self.state.plan.iterations()) {
                match self.leg(store, None, FOR_CHAINS)? {
                    Ended::Done => {}
                    Ended::Interrupted => return Ok(Stopped::Interrupted),
                    Ended::Time { iteration } => return self.stop_at(iteration, store),
                }
            }
            if self.until.goal.is_none() {
                return Ok(Stopped::Asked);
            }
            let draws = store.draws()?;
            let (now, stopped) = self.until.judge(self.prepared, &draws, self.workers.threads);
            self.state.attained = Some((draws.draws, now));
            if let Some(stopped) = stopped {
                return Ok(stopped);
            }
            self.state.plan.draws = self.until.next(self.state.plan.draws);
        }
    }

    /// Runs the chains up to the place where they have settled, takes the rest of the warm-up out of
    /// the plan, and ends it. A budget of time takes out what there is no time for.
    fn warm_up<S: ChainStore>(&mut self, store: &mut S) -> Result<Option<Stopped>, S::Error> {
        let planned = self.state.plan.warmup_iterations();
        let end = self.until.time.map(|_| planned);
        for pause in self.state.plan.barriers().into_iter().chain(end) {
            if sweeps(store).iter().any(|done| *done > pause) {
                continue;
            }
            if sweeps(store).iter().any(|done| *done < pause) {
                match self.leg(store, Some(pause), FOR_WARMUP)? {
                    Ended::Done => {}
                    Ended::Interrupted => return Ok(Some(Stopped::Interrupted)),
                    Ended::Time { iteration } => {
                        self.state.plan = self.state.plan.settled_at(iteration);
                        self.state.cut = Some(planned);
                        break;
                    }
                }
            }
            if pause < planned && have_settled(&store.memories()) {
                self.state.plan = self.state.plan.settled_at(pause);
                break;
            }
        }
        let end = self.state.plan.warmup_iterations();
        if self.until.time.is_some() && sweeps(store).iter().any(|done| *done < end) {
            match self.leg(store, Some(end), FOR_STEP_SIZE)? {
                Ended::Done => {}
                Ended::Interrupted => return Ok(Some(Stopped::Interrupted)),
                Ended::Time { iteration } => {
                    self.state.plan = self.state.plan.with_warmup(iteration);
                    self.state.cut = Some(planned);
                }
            }
        }
        Ok(None)
    }

    /// Runs the chains to the end of the plan, or to a place where all of them pause; less if the
    /// work shall stop or this part of the time is over.
    fn leg<S: ChainStore>(
        &mut self,
        store: &mut S,
        pause: Option<usize>,
        part: f64,
    ) -> Result<Ended, S::Error> {
        let plan = &self.state.plan;
        store.set_plan(plan)?;
        let end = pause.unwrap_or(plan.iterations());
        store.pause_at(end);
        let (memories, begun) = (store.memories(), sweeps(store));
        let deadline = Deadline::new(store, self.until.moment(part), plan, &begun);
        let leg = Leg {
            expected: self.expected(),
            layout: self.prepared.posterior.layout(),
            begun: &begun,
            goal: self.until.goal,
            attained: self.state.attained,
            of_members: self.prepared.spec.sampling.is_committee(),
        };
        let (prepared, approximation) = (self.prepared, self.approximation);
        let threads = self.workers.threads;
        let mut outcome: Option<Result<Outcome, FitError>> = None;
        self.watch.watch(&leg, &deadline, &mut |recorder| {
            outcome = Some(prepared.run(approximation, plan, &memories, threads, recorder));
        });
        let outcome = outcome.unwrap_or(Ok(Outcome::Interrupted));
        let paused_at = deadline.paused_at();
        let is_stopped = self.workers.go_on().is_err();
        Ok(match (outcome?, paused_at) {
            (Outcome::Complete, _) => Ended::Done,
            _ if is_stopped || store.has_failed() => Ended::Interrupted,
            (_, Some(iteration)) if iteration < end => Ended::Time { iteration },
            _ => Ended::Done,
        })
    }

    /// The plan, with as many draws as the chains will have at the rate so far.
    fn expected(&self) -> Plan {
        let draws = match (self.until.goal, &self.state.attained) {
            (Some(goal), Some((draws, attained))) => {
                let ess = attained.ess();
                let wanted = (*draws as f64 * goal.ess / ess).ceil();
                let wanted = if wanted.is_finite() { wanted as usize } else { 0 };
                self.until.next(wanted.saturating_sub(1)).max(self.state.plan.draws)
            }
            _ => self.state.plan.draws,
        };
        Plan { draws, ..self.state.plan.clone() }
    }

    /// Leaves the chains, which have paused because time ran out, with all draws that they have.
    fn stop_at<S: ChainStore>(
        &mut self,
        iteration: usize,
        store: &mut S,
    ) -> Result<Stopped, S::Error> {
        // The warm-up is done, and time is looked at after a sweep: there is a draw.
        let warmup = self.state.plan.warmup_iterations();
        self.state.plan.draws = iteration.saturating_sub(warmup) / self.state.plan.thin;
        store.set_plan(&self.state.plan)?;
        Ok(Stopped::Time)
    }
}

/// Sweeps that each chain has done.
fn sweeps(store: &impl ChainStore) -> Vec<usize> {
    let memories = store.memories().into_iter();
    memories.map(|memory| memory.map_or(0, |memory| memory.iteration)).collect()
}
