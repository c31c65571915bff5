//! Train the members of a committee, in parallel, recorded and resumable.

use std::num::NonZero;
use std::ops::ControlFlow;

use super::recorder::{InMemory, Recorder};
use super::{Chain, ChainMemory, FitError, Outcome, run_jobs};
use crate::approximate::{Committee, member};
use crate::draws::Draws;
use crate::model::mlp::MlpPosterior;
use crate::random::Seed;
use crate::sample::Plan;

/// Trains a committee of `members` early-stopped networks on the data of `posterior`, on at most
/// `threads` threads. To `recorder` they are the draws of one chain without warm-up; with its
/// `memory` it is continued, also to more members than were asked for before.
///
/// The numbers depend neither on `threads` nor on interruptions.
///
/// # Errors
/// [`FitError`] if a member cannot be trained or the memory does not fit.
pub fn run_committee(
    posterior: &MlpPosterior,
    members: usize,
    seed: Seed,
    memory: Option<&ChainMemory>,
    threads: NonZero<usize>,
    recorder: &dyn Recorder,
) -> Result<Outcome, FitError> {
    let plan = Plan::new(1, 0, members);
    let mut memory = memory.cloned();
    loop {
        let first = memory.as_ref().map_or(0, |memory| memory.iteration);
        if first >= members {
            return Ok(Outcome::Complete);
        }
        // One for every thread at a time: what is trained is soon kept, and can be interrupted.
        let count = threads.get().min(members - first);
        let trained = run_jobs(count, threads, |index| {
            let index = first + index;
            member(posterior, seed, index).map_err(|reason| FitError::Member { index, reason })
        });
        let round = Committee::new(posterior, trained.into_iter().collect::<Result<_, _>>()?);
        let mut chain = match &memory {
            Some(memory) => Chain::resume(&round, &plan, 0, memory)?,
            None => Chain::start(&round, &plan, seed, 0)?,
        };
        for _ in 0..count {
            chain.advance();
            if let ControlFlow::Break(()) = recorder.after_sweep(&chain.report(), &chain) {
                return Ok(Outcome::Interrupted);
            }
        }
        memory = Some(chain.memory());
    }
}

/// Trains a committee and keeps it in memory: one draw per member, in one chain.
///
/// # Errors
/// [`FitError`] if a member cannot be trained.
pub fn fit_committee(
    posterior: &MlpPosterior,
    members: usize,
    seed: Seed,
    threads: NonZero<usize>,
) -> Result<Draws, FitError> {
    let recorder = InMemory::new(posterior, &Plan::new(1, 0, members));
    run_committee(posterior, members, seed, None, threads, &recorder)?;
    Ok(recorder.into_draws())
}
