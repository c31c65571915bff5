//! Share the work of a prediction among threads, until it is done or a signal comes.

use std::num::NonZero;

use posteria::draws::Draws;
use posteria::fit::run_jobs;
use posteria::model::Posterior;
use posteria::predict::{Family, Predictor};

use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;

/// A posterior, its draws, and who works on them.
pub struct Work<'a> {
    posterior: &'a dyn Posterior,
    /// The draws.
    pub draws: &'a Draws,
    /// What the target follows given a draw.
    pub family: Family,
    threads: NonZero<usize>,
    interrupt: &'a Interrupt,
}

impl<'a> Work<'a> {
    /// `None` if the posterior predicts nothing.
    pub fn new(
        posterior: &'a dyn Posterior,
        draws: &'a Draws,
        threads: NonZero<usize>,
        interrupt: &'a Interrupt,
    ) -> Option<Self> {
        let family = posterior.predictor()?.family();
        Some(Work { posterior, draws, family, threads, interrupt })
    }

    /// Number of draws of all chains together.
    pub fn total(&self) -> usize {
        self.draws.chains * self.draws.draws
    }

    /// A predictor for one job.
    pub fn predictor(&self) -> Box<dyn Predictor + 'a> {
        self.posterior.predictor().expect("seen when the work began")
    }

    /// Runs jobs 0, …, `count` - 1; results in their order.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if a signal came.
    pub fn run<T: Send>(&self, count: usize, job: impl Fn(usize) -> T + Sync) -> Result<Vec<T>> {
        let stopped = || self.interrupt.signal();
        let results = run_jobs(count, self.threads, |index| match stopped() {
            None => Some(job(index)),
            Some(_) => None,
        });
        match (stopped(), results.into_iter().collect()) {
            (None, Some(results)) => Ok(results),
            (signal, _) => Err(Failure::Interrupted {
                signal: signal.unwrap_or_default(),
                advice: "nothing was written; repeat the command".into(),
            }),
        }
    }
}
