//! Where chains are kept while they run: in memory, or elsewhere.

use super::{ChainMemory, FitError, InMemory, Recorder};
use crate::draws::Draws;
use crate::sample::Plan;

/// Keeps what chains draw, and where they stand when they pause.
pub trait ChainStore: Recorder {
    /// How it can fail.
    type Error: From<FitError>;

    /// Where each chain stands; `None` for one that has not begun.
    fn memories(&self) -> Vec<Option<ChainMemory>>;

    /// From now on chains go as far as `plan` says, and pause nowhere. Called when all have paused.
    ///
    /// # Errors
    /// If that cannot be kept.
    fn set_plan(&mut self, plan: &Plan) -> Result<(), Self::Error>;

    /// Every chain pauses after so many sweeps, at the latest.
    fn pause_at(&self, sweeps: usize);

    /// All draws of chains that have paused; log likelihoods need not be among them.
    ///
    /// # Errors
    /// If they cannot be read back.
    fn draws(&mut self) -> Result<Draws, Self::Error>;

    /// Whether keeping them failed, so that the chains were stopped.
    fn has_failed(&self) -> bool {
        false
    }
}

impl ChainStore for InMemory {
    type Error = FitError;

    fn memories(&self) -> Vec<Option<ChainMemory>> {
        InMemory::memories(self)
    }

    fn set_plan(&mut self, plan: &Plan) -> Result<(), FitError> {
        self.set_end(plan.iterations());
        Ok(())
    }

    fn pause_at(&self, sweeps: usize) {
        InMemory::pause_at(self, sweeps);
    }

    fn draws(&mut self) -> Result<Draws, FitError> {
        Ok(self.all_draws())
    }
}
