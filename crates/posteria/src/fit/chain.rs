//! Run one chain: stages of warm-up, then kept draws.

use serde::{Deserialize, Serialize};

use super::FitError;
use super::recorder::{KeptDraw, Report};
use super::settle::Window;
use crate::draws::Statistics;
use crate::model::{Evaluator, Posterior};
use crate::random::{Purpose, Seed, Stream, StreamPosition};
use crate::sample::{Plan, Stage, Step, Sweep};
use crate::target::{Infeasible, Terms};

/// Starting states tried before a chain gives up.
const START_ATTEMPTS: usize = 100;

/// Everything a chain needs to continue bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainMemory {
    /// Sweeps done, warm-up included; 0 of a chain that begins where another one ended.
    pub iteration: usize,
    /// The state.
    pub state: Vec<f64>,
    /// Where the chain's stream stands.
    pub stream: StreamPosition,
    /// The memory of every update.
    pub updates: Vec<Vec<f64>>,
    /// What was seen of the present window of a warm-up that ends when chains have settled.
    #[serde(default)]
    pub window: Vec<f64>,
}

/// One Markov chain of a posterior.
pub struct Chain<'p> {
    plan: &'p Plan,
    index: usize,
    sweep: Sweep<'p>,
    evaluator: Box<dyn Evaluator + 'p>,
    state: Vec<f64>,
    stream: Stream,
    iteration: usize,
    draw: Vec<f64>,
    log_likelihood: Vec<f64>,
    kept: Option<(usize, Statistics)>,
    window: Window,
}

impl<'p> Chain<'p> {
    /// A new chain with its own streams, at the first starting state with a usable density.
    ///
    /// # Errors
    /// [`FitError::Start`] if none of a hundred starting states is usable.
    ///
    /// # Panics
    /// If a starting state has not the length that the posterior says states have.
    pub fn start(
        posterior: &'p dyn Posterior,
        plan: &'p Plan,
        seed: Seed,
        index: usize,
    ) -> Result<Self, FitError> {
        Chain::start_at(posterior, plan, seed, index, &|stream| posterior.start(stream))
    }

    /// A new chain at the first state that `propose` gives and that has a usable density.
    pub(super) fn start_at(
        posterior: &'p dyn Posterior,
        plan: &'p Plan,
        seed: Seed,
        index: usize,
        propose: &dyn Fn(&mut Stream) -> Vec<f64>,
    ) -> Result<Self, FitError> {
        let number = (plan.first_chain + index) as u64;
        let mut starts = seed.stream(Purpose::Start, [number, plan.fold]);
        let stream = seed.stream(Purpose::Chain, [number, plan.fold]);
        let mut chain = Chain::new(posterior, plan, index, stream);
        let mut reason = Infeasible::NotFinite;
        for _ in 0..START_ATTEMPTS {
            chain.state = propose(&mut starts);
            assert_eq!(chain.state.len(), posterior.state_len(), "states have one length");
            match chain.evaluate(plan.pointwise) {
                Ok(_) => {
                    chain.enter_stage_if_one_begins();
                    return Ok(chain);
                }
                Err(infeasible) => reason = infeasible,
            }
        }
        Err(FitError::Start { chain: index, attempts: START_ATTEMPTS, reason })
    }

    /// The chain that continues from `memory`.
    ///
    /// # Errors
    /// [`FitError::Memory`] if the memory is of another posterior or beyond the plan.
    pub fn resume(
        posterior: &'p dyn Posterior,
        plan: &'p Plan,
        index: usize,
        memory: &ChainMemory,
    ) -> Result<Self, FitError> {
        let mut chain = Chain::new(posterior, plan, index, Stream::at(memory.stream));
        // A checkpoint may be damaged or forged: what it says is checked, never trusted.
        let len = posterior.state_len();
        if memory.state.len() != len || memory.iteration > plan.iterations() {
            return Err(FitError::Memory { chain: index });
        }
        chain.state.clone_from(&memory.state);
        chain.iteration = memory.iteration;
        chain.window = Window::recall(&memory.window).ok_or(FitError::Memory { chain: index })?;
        // The settings of the stage first, then what was learned in it. What another chain has
        // learned was learned in its sampling stage.
        let began = memory.iteration > 0;
        chain.sweep.enter(match memory.iteration {
            0 => &plan.sampling,
            done if plan.settle => chain.stage_of(done - 1).0,
            done => chain.stage_of(done).0,
        });
        if chain.sweep.recall(&memory.updates).is_err() || chain.evaluate(plan.pointwise).is_err() {
            return Err(FitError::Memory { chain: index });
        }
        if !began {
            chain.enter_stage_if_one_begins();
        }
        Ok(chain)
    }

    fn new(posterior: &'p dyn Posterior, plan: &'p Plan, index: usize, stream: Stream) -> Self {
        Chain {
            plan,
            index,
            sweep: posterior.sweep(1.0),
            evaluator: posterior.evaluator(),
            state: Vec::new(),
            stream,
            iteration: 0,
            draw: vec![0.0; posterior.layout().len()],
            log_likelihood: vec![0.0; posterior.rows()],
            kept: None,
            window: Window::default(),
        }
    }

    /// One sweep; `false` when the plan is done and nothing was left to do.
    pub fn advance(&mut self) -> bool {
        if self.iteration >= self.plan.iterations() {
            return false;
        }
        if self.plan.settle && self.iteration > 0 {
            // Only now: where the chains have settled it is decided after the last sweep of a
            // window which stage is next.
            self.enter_stage_if_one_begins();
        }
        self.sweep.pass(&mut self.state, &mut self.stream);
        self.iteration += 1;
        let sampled = self.iteration.saturating_sub(self.plan.warmup_iterations());
        if sampled == 0 && self.plan.settle {
            let log_density = self.evaluate(false).map_or(f64::NAN, |terms| terms.at(1.0));
            self.window.add(self.plan, self.iteration, log_density);
        }
        self.kept = (sampled > 0 && sampled.is_multiple_of(self.plan.thin)).then(|| {
            // Every update leaves the state where its density is usable; a failure here is a
            // fault of the model, and the draw shows it instead of hiding it.
            let terms = self
                .evaluate(self.plan.pointwise)
                .unwrap_or(Terms { log_prior: f64::NAN, log_likelihood: f64::NAN });
            let index = sampled / self.plan.thin - 1;
            self.complete(index);
            (index, statistics(terms, self.sweep.steps()))
        });
        if !self.plan.settle {
            self.enter_stage_if_one_begins();
        }
        true
    }

    /// What the last sweep did.
    pub fn report(&self) -> Report<'_> {
        Report {
            chain: self.index,
            iteration: self.iteration,
            steps: self.sweep.steps(),
            kept: self.kept.map(|(index, statistics)| KeptDraw {
                index,
                draw: &self.draw,
                statistics,
                log_likelihood: if self.plan.pointwise { &self.log_likelihood } else { &[] },
            }),
        }
    }

    /// What a checkpoint must hold.
    pub fn memory(&self) -> ChainMemory {
        ChainMemory {
            iteration: self.iteration,
            state: self.state.clone(),
            stream: self.stream.position(),
            updates: self.sweep.memory(),
            window: self.window.memory(),
        }
    }

    /// The density of the state and its draw; with `pointwise` also the log likelihood of every row.
    fn evaluate(&mut self, pointwise: bool) -> Result<Terms, Infeasible> {
        let (evaluator, rows) = (&mut self.evaluator, &mut self.log_likelihood);
        let terms = match pointwise {
            true => evaluator.evaluate(&self.state, &mut self.draw, rows)?,
            false => evaluator.evaluate_sum(&self.state, &mut self.draw, rows)?,
        };
        if terms.at(1.0).is_finite() { Ok(terms) } else { Err(Infeasible::NotFinite) }
    }

    /// Draws what the state leaves open of kept draw number `index`, from a stream of its own: the
    /// chain goes on as if nothing had been drawn.
    fn complete(&mut self, index: usize) {
        let [seed, _, chain, fold] = self.stream.position().key;
        let indices = [chain, (fold << 32) | index as u64];
        let mut stream = Seed(seed).stream(Purpose::Completion, indices);
        self.evaluator.complete(&mut self.draw, &mut stream);
    }

    /// The stage of the sweep after `done` sweeps, and whether it begins with it.
    fn stage_of(&self, done: usize) -> (&'p Stage, bool) {
        let mut begin = 0;
        for stage in &self.plan.warmup {
            let end = begin + stage.iterations;
            if done < end {
                return (stage, done == begin);
            }
            begin = end;
        }
        (&self.plan.sampling, done == begin)
    }

    fn enter_stage_if_one_begins(&mut self) {
        if let (stage, true) = self.stage_of(self.iteration) {
            self.sweep.enter(stage);
        }
    }
}

fn statistics(terms: Terms, steps: &[Step]) -> Statistics {
    let informative = || Step::informative(steps);
    let (count, acceptance) =
        informative().fold((0.0, 0.0), |(n, sum), step| (n + 1.0, sum + step.acceptance));
    let last = |value: fn(&Step) -> f64| {
        informative().map(value).filter(|value| !value.is_nan()).last().unwrap_or(f64::NAN)
    };
    Statistics {
        log_density: terms.at(1.0),
        log_prior: terms.log_prior,
        log_likelihood: terms.log_likelihood,
        energy: last(|step| step.energy),
        step_size: last(|step| step.step_size),
        acceptance_rate: if count > 0.0 { acceptance / count } else { 1.0 },
        n_steps: steps.iter().map(|step| f64::from(step.evaluations)).sum(),
        tree_depth: steps.iter().map(|step| f64::from(step.tree_depth)).fold(0.0, f64::max),
        diverging: f64::from(u8::from(steps.iter().any(|step| step.diverging))),
        infeasible: steps.iter().filter(|step| is_fault(step)).count() as f64,
    }
}

/// Whether a proposal failed numerically; leaving the support is a rejection like any other.
fn is_fault(step: &Step) -> bool {
    step.infeasible.is_some_and(|reason| reason != Infeasible::OutsideSupport)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms { log_prior: -1.0, log_likelihood: -2.0 };

    fn trajectory(acceptance: f64, energy: f64) -> Step {
        let step_size = acceptance / 10.0;
        Step { acceptance, energy, step_size, evaluations: 5, leapfrog_steps: 5, ..Step::default() }
    }

    fn walk(acceptance: f64, energy: f64) -> Step {
        Step { acceptance, energy, step_size: 7.0, evaluations: 2, ..Step::default() }
    }

    fn assert_told(steps: &[Step], [acceptance, energy, step_size, evaluations]: [f64; 4]) {
        let told = statistics(TERMS, steps);
        let figures = [told.acceptance_rate, told.energy, told.step_size, told.n_steps];
        for (figure, expected) in
            figures.into_iter().zip([acceptance, energy, step_size, evaluations])
        {
            let equal = (figure - expected).abs() < 1e-12 || (figure.is_nan() && expected.is_nan());
            assert!(equal, "{figures:?}");
        }
    }

    #[test]
    fn walks_beside_trajectories_do_not_count_in_the_acceptance() {
        let steps = [trajectory(0.8, 3.0), Step::default(), trajectory(0.6, 4.0), walk(0.1, 1.0)];
        assert_told(&steps, [0.7, 4.0, 0.06, 12.0]);
    }

    #[test]
    fn without_trajectories_all_proposals_count() {
        assert_told(&[walk(0.1, 1.0), Step::default(), walk(0.3, 2.0)], [0.2, 2.0, 7.0, 4.0]);
        assert_told(&[Step::default()], [1.0, f64::NAN, f64::NAN, 0.0]);
    }
}
