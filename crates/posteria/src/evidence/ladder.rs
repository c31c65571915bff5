//! Sample all temperatures between prior and posterior at once, in independent ladders.

use std::num::NonZero;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::energies::Energies;
use super::memory::LadderMemory;
use super::placed::{place, warm_up};
use super::replica::{Energy, Keep, Replica, Rung, acceptance, advance};
use super::schedule::{Schedule, ScheduleError};
use crate::approximate::LaplaceError;
use crate::model::Posterior;
use crate::random::{Seed, Stream};
use crate::sample::Stage;

/// Starting states tried before a rung gives up.
const START_ATTEMPTS: usize = 100;
/// Parts of the draws after which there is a checkpoint.
const CHECKPOINTS: usize = 10;

/// Why a ladder could not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// The schedule cannot be used.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Too little is asked for.
    #[error("{what} must be at least {least}, got {found}")]
    TooFew {
        /// What.
        what: &'static str,
        /// The least.
        least: usize,
        /// What was given.
        found: usize,
    },
    /// No usable starting state was found.
    #[error(
        "no starting point with a usable density in {START_ATTEMPTS} attempts; are the data standardised?"
    )]
    Start,
    /// The model cannot draw states from its prior.
    #[error(
        "this model cannot draw from its prior, where annealed paths begin; use path or bridge"
    )]
    NoPriorDraws,
    /// The posterior has no density on ℝⁿ that a proposal could be compared with.
    #[error(
        "the posterior has discrete parameters or a covariance matrix, so no normal distribution can \
         be put in its place; use path, stepping-stone or bridge"
    )]
    NoDensity,
    /// Too many parameters for second derivatives by differences.
    #[error(
        "{found} parameters are too many for a normal approximation by differences (at most {most}); \
         use path or bridge"
    )]
    TooMany {
        /// The most.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// No mode was found.
    #[error(transparent)]
    Laplace(#[from] LaplaceError),
    /// A checkpoint is of another model or damaged.
    #[error("the checkpoint belongs to another model or is damaged; remove it and begin anew")]
    Memory,
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Temperatures are placed.
    Pilot,
    /// All temperatures settle.
    WarmUp,
    /// All temperatures are sampled together.
    Exchange,
    /// Single chains go from the prior to the posterior and back.
    Directions,
    /// Particles are annealed.
    Annealing,
}

impl Phase {
    /// What is done in it, in words.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Pilot => "placing temperatures",
            Phase::WarmUp => "warming up",
            Phase::Exchange => "sampling all temperatures",
            Phase::Directions => "both directions",
            Phase::Annealing => "annealing",
        }
    }
}

/// Whoever watches, and may stop the work.
pub trait Observer: Sync {
    /// A phase of so many sweeps of single states begins.
    fn begin(&self, phase: Phase, sweeps: u64) {
        let _ = (phase, sweeps);
    }

    /// What an interrupted run of ladders can go on from: after warm-up, and every so often.
    fn checkpoint(&self, memory: &LadderMemory) {
        let _ = memory;
    }

    /// So many more sweeps are done; a break stops the work.
    fn advanced(&self, sweeps: u64) -> ControlFlow<()>;
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {
    fn advanced(&self, _sweeps: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How to sample all temperatures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderOptions {
    /// Independent ladders: errors are told from their agreement.
    pub ladders: usize,
    /// Sweeps of every rung that are discarded; the pilot run has as many.
    pub warmup: usize,
    /// Sweeps of every rung that are kept.
    pub draws: usize,
    /// Where the temperatures are.
    pub schedule: Schedule,
    /// Whether states at β = 1 are kept, for proposals that are fitted to them.
    pub keep_states: bool,
}

impl Default for LadderOptions {
    fn default() -> Self {
        LadderOptions {
            ladders: 8,
            warmup: 300,
            draws: 1000,
            schedule: Schedule::default(),
            keep_states: false,
        }
    }
}

/// Several independent ladders of inverse temperatures 0 = β_0 < … < β_K = 1 that have run: all
/// rungs of prior × likelihood^β at once, with exchanges between neighbours.
///
/// The rung at β = 0 has independent draws of the prior, where the model has them. The numbers
/// depend on seed and options, not on threads.
pub struct Ladder<'p> {
    pub(super) posterior: &'p dyn Posterior,
    pub(super) options: LadderOptions,
    pub(super) seed: Seed,
    pub(super) threads: NonZero<usize>,
    /// The number of the first of them, from 0: streams have the numbers of ladders in their names.
    pub(super) first: usize,
    energies: Energies,
    /// What the kernels of every rung learned, by ladder.
    memories: Vec<Vec<Option<Vec<Vec<f64>>>>>,
    states: Vec<Vec<Vec<f64>>>,
}

impl<'p> Ladder<'p> {
    /// Runs the ladders.
    ///
    /// # Errors
    /// [`LadderError`].
    pub fn run(
        posterior: &'p dyn Posterior,
        options: &LadderOptions,
        seed: Seed,
        threads: NonZero<usize>,
        observer: &dyn Observer,
    ) -> Result<Self, LadderError> {
        let replicas = place(posterior, options, 0..options.ladders, (seed, threads), observer)?;
        let replicas = warm_up(replicas, options, threads, observer)?;
        let replicas = draw(replicas, options, 0, (threads, observer))?;
        Ok(Ladder::of((posterior, seed, threads), options, (replicas, 0)))
    }

    /// Goes on from a checkpoint of a run with the same model, data, options and seed: the numbers
    /// are those of an uninterrupted run.
    ///
    /// # Errors
    /// [`LadderError`].
    pub fn resume(
        posterior: &'p dyn Posterior,
        options: &LadderOptions,
        seed: Seed,
        threads: NonZero<usize>,
        observer: &dyn Observer,
        memory: &LadderMemory,
    ) -> Result<Self, LadderError> {
        let replicas = memory.replicas(posterior, options)?;
        let replicas = draw(replicas, options, memory.done, (threads, observer))?;
        Ok(Ladder::of((posterior, seed, threads), options, (replicas, 0)))
    }

    /// What ladders that have drawn all have found; the first of them has this number.
    pub(super) fn of(
        (posterior, seed, threads): (&'p dyn Posterior, Seed, NonZero<usize>),
        options: &LadderOptions,
        (mut replicas, first): (Vec<Replica<'p>>, usize),
    ) -> Self {
        let betas: Vec<f64> = replicas[0].rungs.iter().map(|rung| rung.beta).collect();
        let acceptance = acceptance(&replicas);
        let round_trips = replicas.iter().map(|replica| replica.round_trips).collect();
        let memory = |replica: &Replica<'_>| replica.rungs.iter().map(Rung::memory).collect();
        let memories = replicas.iter().map(memory).collect();
        let states =
            replicas.iter_mut().map(|replica| replica.states.take().unwrap_or_default()).collect();
        let values = (0..betas.len())
            .map(|rung| {
                replicas
                    .iter_mut()
                    .map(|replica| std::mem::take(&mut replica.energies[rung]))
                    .collect()
            })
            .collect();
        Ladder {
            posterior,
            options: options.clone(),
            seed,
            threads,
            first,
            energies: Energies { inverse_temperatures: betas, values, acceptance, round_trips },
            memories,
            states,
        }
    }

    /// Log likelihoods at all temperatures.
    pub fn energies(&self) -> &Energies {
        &self.energies
    }

    /// States at β = 1 by ladder and draw; empty unless they were asked for.
    pub fn states(&self) -> &[Vec<Vec<f64>>] {
        &self.states
    }

    /// A chain at `beta` from `state`, with the kernels that the ladder of this number tuned at the next
    /// rung.
    pub(super) fn tuned(&self, ladder: usize, beta: f64, state: Vec<f64>) -> Rung<'p> {
        let betas = &self.energies.inverse_temperatures;
        let rung = betas.partition_point(|b| *b < beta).min(betas.len() - 1);
        let mut chain = Rung::new(self.posterior, beta, state);
        chain.enter(&Stage::default());
        if let Some(memory) = &self.memories[ladder - self.first][rung]
            && !chain.recall(memory)
        {
            // Kernels of another kind at that rung: begin with untuned ones.
            let state = std::mem::take(&mut chain.state);
            chain = Rung::new(self.posterior, beta, state);
            chain.enter(&Stage::default());
        }
        chain
    }
}

/// Draws what is left to draw of ladders that have `done` so many.
pub(super) fn draw<'p>(
    mut replicas: Vec<Replica<'p>>,
    options: &LadderOptions,
    mut done: usize,
    (threads, observer): (NonZero<usize>, &dyn Observer),
) -> Result<Vec<Replica<'p>>, LadderError> {
    let cost = replicas[0].rungs.len() * replicas.len() * (options.draws - done);
    observer.begin(Phase::Exchange, cost as u64);
    let part = options.draws.div_ceil(CHECKPOINTS);
    while done < options.draws {
        let iterations = part.min(options.draws - done);
        let sampling = [Stage { iterations, ..Stage::default() }];
        replicas = advance(replicas, &sampling, Keep::Draws, threads, observer)?;
        done += iterations;
        observer.checkpoint(&LadderMemory::new(&replicas, done));
    }
    Ok(replicas)
}

/// A starting state with a usable density.
pub(super) fn start(
    posterior: &dyn Posterior,
    stream: &mut Stream,
) -> Result<Vec<f64>, LadderError> {
    let mut energy = Energy::new(posterior);
    for _ in 0..START_ATTEMPTS {
        let state = posterior.start(stream);
        if energy.of(&state).is_finite() {
            return Ok(state);
        }
    }
    Err(LadderError::Start)
}
