//! Move the states of one ladder: sweep every rung, then exchange neighbours.

use std::num::NonZero;
use std::ops::ControlFlow;

use super::ladder::{LadderError, Observer};
use crate::fit::run_in_turns;
use crate::model::{Evaluator, Posterior};
use crate::random::Stream;
use crate::sample::{Stage, Sweep, Update};

/// Passes of a ladder before the next one has its turn.
const PASSES_PER_TURN: usize = 10;

/// A state at one inverse temperature with what moves it.
pub(super) struct Rung<'p> {
    pub(super) beta: f64,
    mover: Mover<'p>,
    pub(super) state: Vec<f64>,
    /// Log likelihood of the state; -∞ where it is not usable.
    pub(super) energy: f64,
}

enum Mover<'p> {
    /// Independent draws from the prior.
    Prior,
    Chain {
        refresh: Option<Box<dyn Update + 'p>>,
        sweep: Sweep<'p>,
    },
}

/// Evaluates log likelihoods of states, with the buffers of one thread.
pub(super) struct Energy<'p> {
    evaluator: Box<dyn Evaluator + 'p>,
    draw: Vec<f64>,
    rows: Vec<f64>,
}

impl<'p> Energy<'p> {
    pub(super) fn new(posterior: &'p dyn Posterior) -> Self {
        Energy {
            evaluator: posterior.evaluator(),
            draw: vec![0.0; posterior.layout().len()],
            rows: vec![0.0; posterior.rows()],
        }
    }

    /// The log likelihood; -∞ where there is none that can be used.
    pub(super) fn of(&mut self, state: &[f64]) -> f64 {
        match self.evaluator.evaluate(state, &mut self.draw, &mut self.rows) {
            Ok(terms) if !terms.log_likelihood.is_nan() => terms.log_likelihood,
            _ => f64::NEG_INFINITY,
        }
    }

    /// log prior + log likelihood; -∞ where there is none that can be used.
    pub(super) fn log_joint(&mut self, state: &[f64]) -> f64 {
        match self.evaluator.evaluate(state, &mut self.draw, &mut self.rows) {
            Ok(terms) if !terms.at(1.0).is_nan() => terms.at(1.0),
            _ => f64::NEG_INFINITY,
        }
    }
}

impl<'p> Rung<'p> {
    /// A chain at `beta`; at 0 independent draws, where the model has them.
    pub(super) fn new(posterior: &'p dyn Posterior, beta: f64, state: Vec<f64>) -> Self {
        let mut probe = crate::random::Seed(0).stream(crate::random::Purpose::Evidence, [0, 0]);
        let independent = beta <= 0.0 && posterior.prior_state(&mut probe).is_some();
        let mover = if independent {
            Mover::Prior
        } else {
            match posterior.tempering() {
                Some(model) => {
                    Mover::Chain { refresh: model.refresh(beta), sweep: model.short_sweep(beta) }
                }
                None => Mover::Chain { refresh: None, sweep: posterior.sweep(beta) },
            }
        };
        Rung { beta, mover, state, energy: f64::NEG_INFINITY }
    }

    pub(super) fn enter(&mut self, stage: &Stage) {
        if let Mover::Chain { sweep, .. } = &mut self.mover {
            sweep.enter(stage);
        }
    }

    /// What the kernels learned; nothing for independent draws.
    pub(super) fn memory(&self) -> Option<Vec<Vec<f64>>> {
        match &self.mover {
            Mover::Prior => None,
            Mover::Chain { sweep, .. } => Some(sweep.memory()),
        }
    }

    /// Takes over what the kernels of another rung learned; whether they are of the same kind.
    pub(super) fn recall(&mut self, memory: &[Vec<f64>]) -> bool {
        match &mut self.mover {
            Mover::Prior => true,
            Mover::Chain { sweep, .. } => sweep.recall(memory).is_ok(),
        }
    }

    /// Moves the state once.
    pub(super) fn pass(
        &mut self,
        posterior: &dyn Posterior,
        energy: &mut Energy<'_>,
        stream: &mut Stream,
    ) {
        self.energy = match &mut self.mover {
            Mover::Prior => match posterior.prior_state(stream) {
                Some(state) => {
                    self.state = state;
                    energy.of(&self.state)
                }
                // A draw of the prior without a usable likelihood; its state is never passed on.
                None => f64::NEG_INFINITY,
            },
            Mover::Chain { refresh, sweep } => {
                if let Some(refresh) = refresh {
                    refresh.update(&mut self.state, stream);
                }
                sweep.pass(&mut self.state, stream);
                energy.of(&self.state)
            }
        };
    }
}

/// Which end of the ladder a state was at last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Unknown,
    Cold,
    Hot,
}

/// One ladder at work.
pub(super) struct Replica<'p> {
    posterior: &'p dyn Posterior,
    pub(super) rungs: Vec<Rung<'p>>,
    energy: Energy<'p>,
    pub(super) stream: Stream,
    pub(super) odd: bool,
    pub(super) origins: Vec<Origin>,
    pub(super) round_trips: u64,
    /// Sum of the probabilities of exchanges with the next rung, and how many were proposed.
    pub(super) exchanges: Vec<(f64, f64)>,
    /// Recorded log likelihoods by rung and draw.
    pub(super) energies: Vec<Vec<f64>>,
    /// Recorded states at β = 1, where they are wanted.
    pub(super) states: Option<Vec<Vec<f64>>>,
}

impl<'p> Replica<'p> {
    /// A ladder of these inverse temperatures and starting states.
    pub(super) fn new(
        posterior: &'p dyn Posterior,
        betas: &[f64],
        states: Vec<Vec<f64>>,
        stream: Stream,
    ) -> Self {
        let rungs = betas.iter().zip(states);
        let rungs: Vec<Rung<'p>> =
            rungs.map(|(beta, state)| Rung::new(posterior, *beta, state)).collect();
        let count = rungs.len();
        Replica {
            posterior,
            rungs,
            energy: Energy::new(posterior),
            stream,
            odd: false,
            origins: vec![Origin::Unknown; count],
            round_trips: 0,
            exchanges: vec![(0.0, 0.0); count - 1],
            energies: vec![Vec::new(); count],
            states: None,
        }
    }

    /// The ladder at other inverse temperatures, every rung from the nearest state.
    pub(super) fn at(self, betas: &[f64]) -> Self {
        let nearest = |beta: &f64| {
            let distance = |rung: &&Rung<'_>| (rung.beta.powf(0.1) - beta.powf(0.1)).abs();
            let usable = self.rungs.iter().filter(|rung| rung.energy.is_finite());
            let best = usable.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            best.unwrap_or(&self.rungs[self.rungs.len() - 1]).state.clone()
        };
        let states = betas.iter().map(nearest).collect();
        Replica::new(self.posterior, betas, states, self.stream)
    }

    /// Begins to count exchanges anew.
    pub(super) fn forget_exchanges(&mut self) {
        self.exchanges.fill((0.0, 0.0));
        self.origins.fill(Origin::Unknown);
        self.round_trips = 0;
    }

    fn pass(&mut self, record: bool) {
        for rung in &mut self.rungs {
            rung.pass(self.posterior, &mut self.energy, &mut self.stream);
        }
        if record {
            // Before exchanges: the energy of a rung is then that of its own kernel's draw.
            for (list, rung) in self.energies.iter_mut().zip(&self.rungs) {
                list.push(rung.energy);
            }
            if let Some(states) = &mut self.states {
                states.push(self.rungs[self.rungs.len() - 1].state.clone());
            }
        }
        let pairs = self.rungs.len() - 1;
        for pair in (usize::from(self.odd && pairs > 1)..pairs).step_by(2) {
            self.exchange(pair);
        }
        self.odd = !self.odd;
    }

    /// Exchanges rungs `pair` and `pair` + 1 with probability min(1, exp((β_i - β_j)(U_j - U_i))).
    fn exchange(&mut self, pair: usize) {
        let (hot, cold) = (&self.rungs[pair], &self.rungs[pair + 1]);
        // A hot state without a likelihood has no density at the colder rung.
        let probability = if hot.energy.is_finite() {
            ((cold.beta - hot.beta) * (hot.energy - cold.energy)).min(0.0).exp()
        } else {
            0.0
        };
        let counts = &mut self.exchanges[pair];
        *counts = (counts.0 + probability, counts.1 + 1.0);
        if self.stream.uniform() >= probability {
            return;
        }
        let (front, back) = self.rungs.split_at_mut(pair + 1);
        std::mem::swap(&mut front[pair].state, &mut back[0].state);
        std::mem::swap(&mut front[pair].energy, &mut back[0].energy);
        self.origins.swap(pair, pair + 1);
        let last = self.origins.len() - 1;
        if pair + 1 == last {
            self.round_trips += u64::from(self.origins[last] == Origin::Hot);
            self.origins[last] = Origin::Cold;
        }
        if pair == 0 && self.origins[0] == Origin::Cold {
            self.origins[0] = Origin::Hot;
        }
    }
}

/// What passes over all ladders leave of their draws.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    Draws,
}

/// Runs all ladders through `stages`, on at most `threads` threads.
pub(super) fn advance<'p>(
    replicas: Vec<Replica<'p>>,
    stages: &[Stage],
    keep: Keep,
    threads: NonZero<usize>,
    observer: &dyn Observer,
) -> Result<Vec<Replica<'p>>, LadderError> {
    struct Work<'p> {
        replica: Option<Replica<'p>>,
        stage: usize,
        done: usize,
    }
    let work = |replica| Work { replica: Some(replica), stage: 0, done: 0 };
    let jobs = replicas.into_iter().map(work).collect();
    let ended = run_in_turns(jobs, threads, |work: &mut Work<'p>| {
        for _ in 0..PASSES_PER_TURN {
            while work.stage < stages.len() && work.done == stages[work.stage].iterations {
                (work.stage, work.done) = (work.stage + 1, 0);
            }
            let Some(replica) = &mut work.replica else { return ControlFlow::Break(None) };
            let Some(stage) = stages.get(work.stage) else {
                return ControlFlow::Break(work.replica.take());
            };
            if work.done == 0 {
                replica.rungs.iter_mut().for_each(|rung| rung.enter(stage));
            }
            replica.pass(keep == Keep::Draws);
            work.done += 1;
            if observer.advanced(replica.rungs.len() as u64).is_break() {
                return ControlFlow::Break(None);
            }
        }
        ControlFlow::Continue(())
    });
    ended.into_iter().map(|replica| replica.ok_or(LadderError::Interrupted)).collect()
}

/// Mean probability of exchanges between neighbours, over all ladders.
pub(super) fn acceptance(replicas: &[Replica<'_>]) -> Vec<f64> {
    let pair = |pair: usize| {
        let (sum, count) = replicas.iter().fold((0.0, 0.0), |(sum, count), replica| {
            let (more, times) = replica.exchanges[pair];
            (sum + more, count + times)
        });
        sum / count
    };
    (0..replicas[0].exchanges.len()).map(pair).collect()
}
