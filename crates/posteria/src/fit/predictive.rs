//! Predict by draws, shared among threads.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::{ApproximationError, Cancelled, Conditioned, Workers};
use crate::approximate::Linearised;
use crate::draws::Draws;
use crate::model::Posterior;
use crate::model::accelerator::AcceleratorError;
use crate::model::spec::{ModelKind, Spec};
use crate::predict::{Family, Predictive, PredictiveTable, Predictor};
use crate::random::Seed;

/// Why there are no predictions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The watch stopped the work.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The device failed while it was used.
    #[error(
        "the GPU failed: {failure}; predict with device = \"cpu\" in [sampling] of the run's spec.toml"
    )]
    DeviceFailed {
        /// What it says.
        failure: AcceleratorError,
    },
    /// A row without which the linearised outputs are not determined.
    #[error(
        "row {row} cannot be left out of the linearised network, which nothing else determines there; \
         divide the rows into folds, or fit by chains (inference = \"mcmc\")"
    )]
    Undetermined {
        /// The row, from 1.
        row: usize,
    },
}

/// Draws that one job takes through the model.
const DRAWS: usize = 64;
/// Rows that one job summarises.
const ROWS: usize = 8;

/// For which rows there are predictive distributions.
#[derive(Clone, Copy)]
pub enum PredictedRows<'a> {
    /// Those of these inputs, standardised like the training data.
    New(&'a Matrix),
    /// The rows of the fit, of which there are so many, as if they were new.
    Training(usize),
    /// Each of these rows of the fit, of which there are so many, given the others and a draw.
    LeaveOneOut(usize, &'a [usize]),
}

/// The predictive distribution of a posterior by its draws,
/// p(y | x, D) ≈ (1/M) Σₘ p(y | x, θₘ), and who works it out: one for whoever asks.
pub struct PosteriorPredictive<'a> {
    posterior: &'a dyn Posterior,
    /// The draws.
    pub draws: &'a Draws,
    /// What the target follows given a draw.
    pub family: Family,
    /// Whether a draw leaves the function open.
    pub is_open: bool,
    /// Names the streams of what is drawn.
    pub seed: Seed,
    /// Who works.
    pub workers: Workers,
    /// The network taken as linear about its approximation, where that predicts in place of draws.
    pub(super) linearised: Option<Linearised<'a>>,
    /// Logarithms of the weights of the draws, where they are not equal.
    log_weights: Option<Vec<f64>>,
}

impl<'a> PosteriorPredictive<'a> {
    /// What predicts for a run, whoever asks: its draws, or for a network that was approximated
    /// its linearisation where there is one. `None` if the posterior predicts nothing.
    ///
    /// # Errors
    /// If the approximation cannot be found again.
    pub fn of_run(
        posterior: &'a Conditioned,
        (spec, draws): (&Spec, &'a Draws),
        seed: Seed,
        workers: &Workers,
    ) -> Result<Option<Self>, ApproximationError> {
        let is_open = spec.model.kind == ModelKind::Gp;
        let Some(own) = Self::new(&**posterior, draws, is_open, seed, workers) else {
            return Ok(None);
        };
        let linearised = posterior.linearised(spec, workers.threads)?;
        Ok(Some(PosteriorPredictive { linearised, ..own }))
    }

    /// Predicts by draws alone. `None` if the posterior predicts nothing.
    pub fn new(
        posterior: &'a dyn Posterior,
        draws: &'a Draws,
        is_open: bool,
        seed: Seed,
        workers: &Workers,
    ) -> Option<Self> {
        let family = posterior.predictor()?.family();
        let (workers, linearised, log_weights) = (workers.clone(), None, None);
        Some(PosteriorPredictive {
            posterior,
            draws,
            family,
            is_open,
            seed,
            workers,
            linearised,
            log_weights,
        })
    }

    /// The same with these logarithms of the weights of all draws, chain after chain.
    #[must_use]
    pub fn weighted(self, log_weights: Option<Vec<f64>>) -> Self {
        PosteriorPredictive { log_weights, ..self }
    }

    /// Whether a linearisation predicts in place of draws.
    pub fn is_linearised(&self) -> bool {
        self.linearised.is_some()
    }

    /// Number of draws of all chains together.
    pub fn total(&self) -> usize {
        self.draws.chains * self.draws.draws
    }

    /// A predictor for one job.
    pub fn predictor(&self) -> Box<dyn Predictor + '_> {
        match &self.linearised {
            Some(linearised) => linearised.predictor(),
            None => self.posterior.predictor().expect("seen when this was made"),
        }
    }

    /// What `each` makes of the predictive distribution of every row of `inputs`. Blocks depend on
    /// the number of draws alone, and rows not on each other: neither do results on the threads.
    ///
    /// # Errors
    /// As [`PosteriorPredictive::for_rows`].
    pub fn map_rows<T: Send>(
        &self,
        inputs: &Matrix,
        each: impl Fn(usize, &Predictive<'_>) -> T + Sync,
    ) -> Result<Vec<T>, PredictError> {
        self.for_rows("quantiles", PredictedRows::New(inputs), |row, table, index| {
            each(row, &self.of_row(table, index))
        })
    }

    /// What `job` says of every row: it is given the number of the row, and the table that holds
    /// the row's predictive distribution at an index. The watch is told how far `what` is. Blocks depend on the number of draws alone, so results do not depend on the threads.
    ///
    /// # Errors
    /// [`PredictError`] if the work was cancelled, or a linearised network cannot do without a row.
    pub fn for_rows<T: Send>(
        &self,
        what: &str,
        source: PredictedRows<'_>,
        job: impl Fn(usize, &PredictiveTable, usize) -> T + Sync,
    ) -> Result<Vec<T>, PredictError> {
        let count = match source {
            PredictedRows::New(inputs) => inputs.rows(),
            PredictedRows::Training(rows) => rows,
            PredictedRows::LeaveOneOut(_, rows) => rows.len(),
        };
        if let Some(linearised) = &self.linearised {
            let parameters = match source {
                PredictedRows::New(inputs) => linearised.parameters(inputs),
                PredictedRows::Training(_) => linearised.at_training_rows(),
                PredictedRows::LeaveOneOut(_, rows) => {
                    let all = linearised
                        .leave_one_out()
                        .map_err(|row| PredictError::Undetermined { row: row + 1 })?;
                    let width = self.family.width();
                    rows.iter().flat_map(|row| &all[row * width..][..width]).copied().collect()
                }
            };
            let table = PredictiveTable::known(self.family, parameters);
            return self.each_row(what, (0, count), &table, &job);
        }
        let at_once = PredictiveTable::rows_at_once(self.family, self.total());
        let mut results = Vec::with_capacity(count);
        for first in (0..count).step_by(at_once) {
            let block = first..count.min(first + at_once);
            let table = self.by_draws(source, block.clone())?;
            results.extend(self.each_row(what, (first, block.len()), &table, &job)?);
        }
        Ok(results)
    }

    /// The distributions of these new rows.
    pub(super) fn table(&self, inputs: &Matrix) -> Result<PredictiveTable, PredictError> {
        match &self.linearised {
            Some(it) => Ok(PredictiveTable::known(self.family, it.parameters(inputs))),
            None => self.by_draws(PredictedRows::New(inputs), 0..inputs.rows()),
        }
    }

    /// The distribution of a row of a table of these draws.
    pub(super) fn of_row<'t>(&'t self, table: &'t PredictiveTable, index: usize) -> Predictive<'t> {
        match &self.log_weights {
            Some(logs) => table.weighted(index, logs),
            None => table.predictive(index),
        }
    }

    /// The distributions of a block of rows by all draws.
    fn by_draws(
        &self,
        source: PredictedRows<'_>,
        block: Range<usize>,
    ) -> Result<PredictiveTable, PredictError> {
        let total = self.total();
        let inputs = match source {
            PredictedRows::New(inputs) => Some(inputs.rows_in(block.clone())),
            _ => None,
        };
        let parts = self.workers.run("predictions", total.div_ceil(DRAWS), |part| {
            let draws = part * DRAWS..total.min((part + 1) * DRAWS);
            let predictor = &mut *self.predictor();
            match (source, &inputs) {
                (PredictedRows::LeaveOneOut(all, rows), _) => {
                    let rows = (all, &rows[block.clone()]);
                    PredictiveTable::leave_one_out_of(predictor, (self.draws, draws), rows)
                }
                (PredictedRows::Training(all), _) => {
                    let rows = (all, block.clone());
                    PredictiveTable::at_training_rows(predictor, (self.draws, draws), rows)
                }
                (PredictedRows::New(_), inputs) => {
                    let inputs = inputs.as_ref().expect("the rows of this block");
                    PredictiveTable::new(predictor, self.draws, draws, inputs)
                }
            }
        })?;
        match self.posterior.device_failure() {
            Some(failure) => Err(PredictError::DeviceFailed { failure: failure.clone() }),
            None => Ok(PredictiveTable::join(&parts)),
        }
    }

    /// What `job` says of each of the `count` rows of a table, the first of which has the number
    /// `first`.
    fn each_row<T: Send>(
        &self,
        what: &str,
        (first, count): (usize, usize),
        table: &PredictiveTable,
        job: &(impl Fn(usize, &PredictiveTable, usize) -> T + Sync),
    ) -> Result<Vec<T>, PredictError> {
        let done = self.workers.run(what, count.div_ceil(ROWS), |part| {
            let rows = part * ROWS..count.min((part + 1) * ROWS);
            rows.map(|index| job(first + index, table, index)).collect::<Vec<T>>()
        })?;
        Ok(done.into_iter().flatten().collect())
    }
}
