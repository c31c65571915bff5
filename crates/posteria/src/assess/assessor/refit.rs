//! Fit a model again without some of its rows, wherever fits are kept.

use super::AssessError;
use crate::assess::RowUtilities;
use crate::data::{Dataset, FoldError, FoldScheme, Folds, Targets, Task};
use crate::draws::Draws;
use crate::fit::{ChainMemory, Fit, PrepareError, Prepared, WarmStart, warm_start};
use crate::sample::Plan;

/// How the rows of a fit are divided.
#[derive(Clone, Debug)]
pub struct Division {
    /// How that is done.
    pub scheme: FoldScheme,
    /// The folds.
    pub folds: Folds,
    /// Draws of every chain of every fold.
    pub draws: usize,
}

/// The model given the training rows of one fold.
pub struct FoldModel {
    /// Which fold, from 0.
    pub index: usize,
    /// The model.
    pub prepared: Prepared,
    /// All rows, on the scales of the training rows.
    pub everything: Dataset,
}

/// How the chains of a fold begin.
pub struct FoldStart {
    /// How long they run.
    pub plan: Plan,
    /// Where they begin: where those of all rows ended. None: anywhere.
    pub memories: Option<Vec<ChainMemory>>,
}

/// Something that an assessment is about to do, and what it takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Note {
    /// Draws are not moment-matched for rows whose importance weights fail.
    NotMatched {
        /// Number of rows.
        rows: usize,
        /// Why not.
        reason: String,
    },
    /// Draws are moment-matched for each of so many rows.
    Matching {
        /// Number of rows.
        rows: usize,
        /// Most passes over the draws for a row; at least 2.
        most_passes: usize,
        /// Draws of a pass.
        draws: usize,
        /// Coordinates of a draw.
        coordinates: usize,
        /// About how long a pass takes, in seconds.
        seconds: f64,
    },
    /// Each of these rows, counted from 0, is left out by a fit of its own.
    Refitting {
        /// The rows.
        rows: Vec<usize>,
        /// Chains of a fit.
        chains: usize,
        /// Draws of a chain.
        draws: usize,
    },
}

/// Takes a fold that was fitted, with its draws.
pub type EachFold<'e, E> = dyn FnMut(&FoldModel, &Draws) -> Result<(), E> + 'e;

/// Where what an assessment needs besides a fit comes from: in memory, in a run folder, elsewhere.
pub trait Refit: Sync {
    /// How it can fail.
    type Error: From<AssessError>;

    /// The log likelihoods of these rows under all draws, row by row; `None` if they were not kept,
    /// and must be computed again.
    ///
    /// # Errors
    /// If they cannot be read.
    fn log_likelihoods_of(&self, rows: &[usize]) -> Result<Option<Vec<f64>>, Self::Error>;

    /// The label of every row in a column that divides rows, as a number.
    ///
    /// # Errors
    /// If there is no such column.
    fn labels(&self, column: &str) -> Result<Vec<usize>, Self::Error>;

    /// Fits the training rows of these folds, as far as that has not been done before, and hands over
    /// each with its draws, in order.
    ///
    /// # Errors
    /// If a fit fails or is stopped, and what `each` fails with.
    fn refit(
        &self,
        division: &Division,
        indices: &[usize],
        each: &mut EachFold<'_, Self::Error>,
    ) -> Result<(), Self::Error>;

    /// What the predictions of all rows by the fit of a fold, counted from 0, are worth, if whoever fitted
    /// it has found that out.
    ///
    /// # Errors
    /// If it cannot be read.
    fn valued(
        &self,
        _division: &Division,
        _fold: usize,
    ) -> Result<Option<Vec<RowUtilities>>, Self::Error> {
        Ok(None)
    }

    /// Told what is about to be done.
    fn note(&self, _note: &Note) {}
}

impl Division {
    /// How the rows of `fit` are divided by each of these schemes, with so many draws of every chain of
    /// a fold, or as many as the fit has. `labels` gives those of a column.
    ///
    /// # Errors
    /// As [`Division::new`], and what `labels` fails with.
    pub fn all<E: From<AssessError>>(
        fit: &Fit,
        (schemes, draws): (&[FoldScheme], Option<usize>),
        labels: impl Fn(&str) -> Result<Vec<usize>, E>,
    ) -> Result<Vec<Self>, E> {
        let (sampling, data) = (&fit.prepared.spec.sampling, &fit.prepared.data);
        // As many as the fit itself has, where it was not said how many.
        let usual = if sampling.ess.is_some() { fit.draws.draws } else { sampling.draws };
        let draws = draws.unwrap_or(usual);
        let divisions = schemes.iter().map(|scheme| {
            let scheme = scheme.resolved(data);
            let column = scheme.column.as_ref();
            let labels = column.map(|column| labels(column)).transpose()?;
            Ok(Division::new(scheme, data, labels.as_deref(), draws)?)
        });
        divisions.collect()
    }

    /// Divides the rows of `data`, those of a column by the labels that it has.
    ///
    /// # Errors
    /// [`FoldError`] if they cannot be divided so; [`AssessError::ClassLeftOut`] if a fold holds all
    /// rows of a class, [`AssessError::EndsLeftOut`] if one holds all durations that are not censored: a
    /// fit without them could not know what is to be predicted.
    pub fn new(
        scheme: FoldScheme,
        data: &Dataset,
        labels: Option<&[usize]>,
        draws: usize,
    ) -> Result<Self, AssessError> {
        let folds = scheme.divide(data, labels)?;
        if let Targets::Durations { censored: Some(censored), .. } = &data.targets {
            let nothing_ends =
                |fold: &usize| folds.training(*fold).iter().all(|row| censored[*row]);
            if let Some(fold) = (0..folds.count()).find(nothing_ends) {
                return Err(AssessError::EndsLeftOut { fold: fold + 1 });
            }
        }
        // Between its cut points an ordered class has a place without rows.
        if let Targets::Classes { labels, codes, .. } = &data.targets
            && data.task != Task::Ordinal
        {
            for fold in 0..folds.count() {
                let mut known = vec![false; labels.len()];
                folds.training(fold).iter().for_each(|row| known[codes[*row]] = true);
                if let Some(class) = known.iter().position(|known| !known) {
                    let (label, fold) = (labels[class].clone(), fold + 1);
                    return Err(AssessError::ClassLeftOut { label, fold });
                }
            }
        }
        Ok(Division { scheme, folds, draws })
    }

    /// Every row by itself.
    ///
    /// # Errors
    /// [`FoldError`] if there are fewer than two.
    pub(super) fn of_rows(data: &Dataset, seed: u64, draws: usize) -> Result<Self, FoldError> {
        let by = Some(crate::data::FoldBy::Row);
        let scheme = FoldScheme { by, ..FoldScheme::new(data.rows(), seed) };
        let folds = scheme.divide(data, None)?;
        Ok(Division { scheme, folds, draws })
    }

    /// The model of `fit` given the training rows of a fold.
    ///
    /// # Errors
    /// [`PrepareError`] if the model is not for fewer rows.
    pub fn model(&self, fit: &Fit, index: usize) -> Result<FoldModel, PrepareError> {
        let Prepared { spec, data, encoder, .. } = &fit.prepared;
        let fold = (&self.scheme, &self.folds, index);
        let (prepared, everything) = Prepared::of_fold((spec, data, encoder), fold, self.draws)?;
        Ok(FoldModel { index, prepared, everything })
    }

    /// How the chains of a fold begin: where those of `fit` ended, or where that cannot be with as
    /// long a warm-up as those took.
    pub fn start(&self, fit: &Fit, fold: &FoldModel) -> FoldStart {
        let prepared = &fold.prepared;
        let warm = warm_start(
            (&*fit.prepared.posterior, &fit.memories),
            (&*prepared.posterior, &self.folds.training(fold.index)),
            &prepared.plan,
            prepared.spec.sampling.seed(),
        );
        if let Some(WarmStart { memories, plan }) = warm {
            return FoldStart { plan, memories: Some(memories) };
        }
        // Most of the rows take about as long to warm up for as all of them did, unless these had
        // no time.
        let own = &fit.prepared.spec.sampling;
        let plan = match own.settle == Some(true) && own.time.is_none() {
            true => prepared.plan.with_warmup(fit.warmup),
            false => prepared.plan.clone(),
        };
        FoldStart { plan, memories: None }
    }
}
