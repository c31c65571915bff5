//! Fit without some rows in memory.

use std::fmt::Debug;

use super::{AssessError, Division, EachFold, FoldStart, Refit};
use crate::assess::{RowUtilities, Valuation};
use crate::draws::Draws;
use crate::fit::{Fit, InMemory, Workers};

/// Fits without some of the rows of a fit that is in memory, one fold after the other.
pub struct InMemoryRefit<'a> {
    /// The fit to all rows, with its log likelihoods if they are to be used.
    pub fit: &'a Fit,
    /// Who works.
    pub workers: &'a Workers,
    /// Groups of its rows, where a division is by groups that the fit itself does not know.
    pub groups: Option<&'a [usize]>,
    /// Its folds that were fitted elsewhere.
    pub fitted: Option<FoldsOfFit<'a>>,
}

/// Folds of one fit that were fitted elsewhere.
pub struct FoldsOfFit<'a> {
    /// The folds.
    pub folds: &'a dyn FittedFolds,
    /// Which of several fits this is to them.
    pub number: usize,
    /// By what the predictions of their rows are valued.
    pub valuation: Valuation,
}

/// Folds of fits that were fitted elsewhere, such as on other machines.
pub trait FittedFolds: Sync + Debug {
    /// The draws of a fold, counted from 0, of the fit of this number.
    ///
    /// # Errors
    /// [`AssessError`] if there are none of this division.
    fn draws(&self, fit: usize, division: &Division, fold: usize) -> Result<Draws, AssessError>;

    /// What the predictions of all rows by that fold are worth, if it is known by what is asked for.
    ///
    /// # Errors
    /// [`AssessError`] if that cannot be read.
    fn valued(
        &self,
        fit: usize,
        of: (&Division, usize),
        asked: &Valuation,
    ) -> Result<Option<Vec<RowUtilities>>, AssessError>;
}

impl Refit for InMemoryRefit<'_> {
    type Error = AssessError;

    fn log_likelihoods_of(&self, rows: &[usize]) -> Result<Option<Vec<f64>>, AssessError> {
        let Draws { rows: all, log_likelihood, .. } = &self.fit.draws;
        if *all == 0 {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(rows.len() * log_likelihood.len() / all);
        for row in rows {
            values.extend(log_likelihood.chunks_exact(*all).map(|draw| draw[*row]));
        }
        Ok(Some(values))
    }

    fn labels(&self, column: &str) -> Result<Vec<usize>, AssessError> {
        let known = self.groups.map(<[usize]>::to_vec);
        known.ok_or_else(|| AssessError::NoColumn { column: column.into() })
    }

    fn valued(
        &self,
        division: &Division,
        fold: usize,
    ) -> Result<Option<Vec<RowUtilities>>, AssessError> {
        match &self.fitted {
            Some(FoldsOfFit { folds, number, valuation }) => {
                folds.valued(*number, (division, fold), valuation)
            }
            None => Ok(None),
        }
    }

    fn refit(
        &self,
        division: &Division,
        indices: &[usize],
        each: &mut EachFold<'_, AssessError>,
    ) -> Result<(), AssessError> {
        let threads = self.workers.threads;
        let counter = self.workers.watch.begin("fits without some rows", indices.len());
        for &index in indices {
            let fold = division.model(self.fit, index)?;
            if let Some(FoldsOfFit { folds, number, .. }) = &self.fitted {
                let draws = folds.draws(*number, division, index)?;
                each(&fold, &draws.laid_out_as(fold.prepared.posterior.layout()))?;
                counter.job_done();
                continue;
            }
            let FoldStart { plan, memories } = division.start(self.fit, &fold);
            let memories = match memories {
                Some(memories) => memories.into_iter().map(Some).collect(),
                None => vec![None; plan.chains],
            };
            let approximation = fold.prepared.approximation(threads)?;
            let kept = InMemory::new(&*fold.prepared.posterior, &plan);
            let recorded = self.workers.watched(&kept);
            let found = approximation.as_ref();
            let outcome = fold.prepared.run(found, &plan, &memories, threads, &*recorded);
            drop(recorded);
            outcome.map_err(|error| {
                let held_out = division.folds.held_out(index).len();
                AssessError::Fit { fold: index + 1, held_out, error: Box::new(error) }
            })?;
            self.workers.go_on()?;
            each(&fold, &kept.into_draws())?;
            counter.job_done();
        }
        Ok(())
    }
}
