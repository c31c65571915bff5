//! Run the chains of a posterior, or train a committee, in parallel, recorded and resumable.

mod agreement;
mod approximation;
mod approximation_result;
mod averaged;
mod chain;
mod committee;
mod conditioned;
mod deadline;
mod drawn;
mod effects;
mod enough;
mod evidence;
mod fitted;
mod from_table;
mod hyperparameters;
mod inclusion;
mod jobs;
mod judged;
mod likelihood;
mod parameters;
mod predictive;
mod prepared;
mod recorder;
mod remedy;
mod replicates;
mod resumed;
mod sampling;
mod separation;
mod settle;
mod store;
mod until;
mod warm;
mod workers;

pub use crate::model::linear::ParameterEstimate;
pub(crate) use agreement::draws_needed;
pub use agreement::{Agreement, Cause};
pub use approximation::{ApproximationError, FittedApproximation};
pub use approximation_result::{ApproximationFindings, ApproximationResult, ModeFindings};
pub(crate) use averaged::{AveragedModel, average_rows};
pub use chain::{Chain, ChainMemory};
pub use committee::{fit_committee, run_committee};
pub use conditioned::{Conditioned, usual_kernel};
pub use effects::NamedEffect;
pub use enough::{Attained, Goal};
pub(crate) use evidence::fit_evidence;
pub use fitted::Fit;
pub use from_table::{FitOptions, fit_table, prepare_table};
pub use hyperparameters::{FunctionFindings, HyperparameterFindings, WeightFindings};
pub use inclusion::Inclusion;
pub(crate) use jobs::run_in_turns;
pub use jobs::run_jobs;
pub use judged::judged_summary;
pub use likelihood::{LikelihoodFindings, ReferenceClass};
pub use predictive::{PosteriorPredictive, PredictError, PredictedRows};
pub use prepared::{PrepareError, Prepared, encode_test};
pub use recorder::{InMemory, KeptDraw, Recorder, Report};
pub use remedy::{ChainVerdict, Remedy};
pub use replicates::{PriorDraws, Replicates};
pub use resumed::ResumeOptions;
pub use sampling::{Leg, LegWatch, Sampled};
pub use separation::share_that_separates;
pub(crate) use settle::have_settled;
pub use store::ChainStore;
pub use until::{Stopped, Until};
pub(crate) use warm::begin_with;
pub use warm::{WarmStart, warm_start};
pub use workers::{Cancelled, JobCounter, Watch, Workers};

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::draws::Draws;
use crate::model::Posterior;
use crate::model::accelerator::AcceleratorError;
use crate::model::spec::DeviceChoice;
use crate::random::Seed;
use crate::sample::Plan;
use crate::target::Infeasible;

/// Sweeps of a chain before the next chain has its turn, where there are more chains than
/// threads: few enough that all chains advance together, enough to keep its data in the cache.
const SWEEPS_PER_TURN: usize = 20;

/// Why chains could not run.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum FitError {
    /// No usable starting state was found.
    #[error("chain {chain} found no starting point in {attempts} attempts: {reason}")]
    Start {
        /// The chain.
        chain: usize,
        /// How many states were tried.
        attempts: usize,
        /// Why the last one failed.
        reason: Infeasible,
    },
    /// A checkpoint does not fit the posterior or the plan.
    #[error("chain {chain} cannot continue: its checkpoint belongs to another model or plan")]
    Memory {
        /// The chain.
        chain: usize,
    },
    /// Table and model do not go together.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// An approximation cannot be found.
    #[error(transparent)]
    Approximation(#[from] ApproximationError),
    /// The work was stopped by whoever watches it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The device that was asked for by name is not to be had.
    #[error(
        "device = \"{asked}\" in [sampling], but {why}; leave it to the processor with device = \"cpu\" \
         (--device cpu), or let device = \"auto\" choose"
    )]
    NoDevice {
        /// What was asked for.
        asked: DeviceChoice,
        /// Why not.
        why: AcceleratorError,
    },
    /// The device failed while it was used.
    #[error("the GPU failed: {failure}")]
    DeviceFailed {
        /// What it says.
        failure: AcceleratorError,
    },
    /// There are no more draws of what was fitted.
    #[error(
        "the fit holds one point; there are no more draws of it (inference laplace has as \
         many as are asked for)"
    )]
    OnePoint,
    /// A fit that does not say where its chains ended.
    #[error("the fit does not say where its chains ended; fit it anew")]
    NoMemories,
    /// A member of a committee could not be trained.
    #[error(
        "member {index} of the committee cannot be trained: {reason}; are the data standardised?"
    )]
    Member {
        /// The member.
        index: usize,
        /// Why.
        reason: Infeasible,
    },
}

/// How a run of chains ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every chain has all its draws.
    Complete,
    /// The recorder asked to stop.
    Interrupted,
}

/// Runs the chains of `plan`, each from its own streams, on at most `threads` threads. Chains
/// with a memory continue from it; one without sweeps is where another chain ended
/// or an approximation begins. `recorder` sees every sweep. All
/// chains advance together, also where they are more than the threads.
///
/// The numbers do not depend on `threads`, and a chain that continues from its memory gives
/// the draws it would have given without the interruption.
///
/// # Errors
/// [`FitError`] if a chain cannot start or its memory does not fit.
pub fn run(
    posterior: &dyn Posterior,
    plan: &Plan,
    seed: Seed,
    memories: &[Option<ChainMemory>],
    threads: NonZero<usize>,
    recorder: &dyn Recorder,
) -> Result<Outcome, FitError> {
    assert_eq!(memories.len(), plan.chains, "one memory, or none, for every chain");
    let waiting: Vec<(usize, Option<Chain<'_>>)> =
        (0..plan.chains).map(|index| (index, None)).collect();
    let failed = AtomicBool::new(false);
    let outcomes = run_in_turns(waiting, threads, |(index, chain)| {
        if failed.load(Ordering::Relaxed) {
            return ControlFlow::Break(Ok(Outcome::Interrupted));
        }
        let chain = match chain {
            Some(chain) => chain,
            None => {
                let done = memories[*index].as_ref().map_or(0, |memory| memory.iteration);
                if done < plan.iterations() && !recorder.goes_on(done) {
                    return ControlFlow::Break(Ok(Outcome::Interrupted));
                }
                let started = match &memories[*index] {
                    Some(memory) => Chain::resume(posterior, plan, *index, memory),
                    None => Chain::start(posterior, plan, seed, *index),
                };
                match started.and_then(|started| device_lives(posterior).map(|()| started)) {
                    Ok(started) => chain.insert(started),
                    Err(error) => {
                        // The others need not go on: the run has no result without this chain.
                        failed.store(true, Ordering::Relaxed);
                        // A chain that cannot start because the device is lost says so.
                        return ControlFlow::Break(Err(device_lives(posterior)
                            .err()
                            .unwrap_or(error)));
                    }
                }
            }
        };
        for _ in 0..SWEEPS_PER_TURN {
            if !chain.advance() {
                return ControlFlow::Break(Ok(Outcome::Complete));
            }
            // Nothing is recorded of a sweep in which the device failed.
            if let Err(error) = device_lives(posterior) {
                failed.store(true, Ordering::Relaxed);
                return ControlFlow::Break(Err(error));
            }
            if let ControlFlow::Break(()) = recorder.after_sweep(&chain.report(), chain) {
                return ControlFlow::Break(Ok(Outcome::Interrupted));
            }
        }
        ControlFlow::Continue(())
    });
    let mut all = Outcome::Complete;
    for outcome in outcomes {
        if outcome? == Outcome::Interrupted {
            all = Outcome::Interrupted;
        }
    }
    Ok(all)
}

/// Whether all that the posterior evaluated can be used.
fn device_lives(posterior: &dyn Posterior) -> Result<(), FitError> {
    match posterior.device_failure() {
        Some(failure) => Err(FitError::DeviceFailed { failure: failure.clone() }),
        None => Ok(()),
    }
}

/// Runs all chains of `plan` and keeps the draws in memory.
///
/// # Errors
/// [`FitError`] if a chain cannot start.
pub fn fit(
    posterior: &dyn Posterior,
    plan: &Plan,
    seed: Seed,
    threads: NonZero<usize>,
) -> Result<Draws, FitError> {
    let recorder = InMemory::new(posterior, plan);
    run(posterior, plan, seed, &vec![None; plan.chains], threads, &recorder)?;
    Ok(recorder.into_draws())
}
