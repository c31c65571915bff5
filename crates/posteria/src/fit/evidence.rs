//! Search modes from several starts, in parallel.

use std::num::NonZero;

use super::run_jobs;
use crate::approximate::{Estimation, Evidence, EvidenceError};
use crate::model::Regularised;
use crate::random::Seed;

/// The best mode of `model` from `starts` starting points, on at most `threads` threads; see
/// [`Evidence::best`]. The numbers do not depend on `threads`.
///
/// # Errors
/// [`EvidenceError`] if no start leads to a mode.
pub fn fit_evidence(
    model: &dyn Regularised,
    estimation: Estimation,
    starts: usize,
    seed: Seed,
    threads: NonZero<usize>,
) -> Result<Evidence, EvidenceError> {
    let found = run_jobs(starts.max(1), threads, |start| {
        Evidence::from_start(model, estimation, start, seed)
    });
    Evidence::better(found, estimation)
}
