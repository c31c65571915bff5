//! Look at rows that are left out, block by block: what predicts them, and their log likelihoods.

use std::borrow::Cow;

use posteria_linalg::Matrix;

use super::{AssessError, Assessor, Found, Refit};
use crate::assess::LogLikelihoodError;
use crate::data::Dataset;
use crate::fit::{PosteriorPredictive, PredictedRows};
use crate::predict::{Predictive, PredictiveTable};

/// A row that is left out.
pub struct LeftOut<'a> {
    /// Its position among the rows that were asked for.
    pub position: usize,
    /// What predicts it given a draw and the other rows: a table, and the index there.
    pub predictive: (&'a PredictiveTable, usize),
    /// Its log likelihood under every draw, chain after chain.
    pub log_likelihoods: &'a [f64],
}

impl<R: Refit> Assessor<'_, R> {
    /// What `job` makes of each of these rows of the fit. Log likelihoods are those that were
    /// kept, or computed again from draws and data; never those of all rows are in memory.
    pub(super) fn for_left_out<T: Send>(
        &self,
        predictive: &PosteriorPredictive<'_>,
        (what, rows): (&str, &[usize]),
        job: impl Fn(&LeftOut<'_>) -> T + Sync,
    ) -> Found<Vec<T>, R> {
        let total = predictive.total();
        let at_once = PredictiveTable::rows_at_once(predictive.family, total);
        let mut results = Vec::with_capacity(rows.len());
        for (number, block) in rows.chunks(at_once).enumerate() {
            let kept = self.refit.log_likelihoods_of(block)?;
            let found = self.for_block(predictive, (what, block), |index, table, at| {
                let values = match &kept {
                    Some(kept) => Cow::Borrowed(&kept[index * total..(index + 1) * total]),
                    None => {
                        Cow::Owned(log_densities((table, at), &self.fit.observed[block[index]]))
                    }
                };
                check_usable(block[index], &values, predictive.draws.draws)?;
                let predictive = (table, at);
                let position = number * at_once + index;
                Ok(job(&LeftOut { position, predictive, log_likelihoods: &values }))
            })?;
            let found = found.into_iter().collect::<Result<Vec<T>, LogLikelihoodError>>();
            results.extend(found.map_err(AssessError::from)?);
        }
        Ok(results)
    }

    /// What `job` makes of the predictive distributions of these rows, each given the others.
    pub(super) fn for_block<T: Send>(
        &self,
        predictive: &PosteriorPredictive<'_>,
        (what, rows): (&str, &[usize]),
        job: impl Fn(usize, &PredictiveTable, usize) -> T + Sync,
    ) -> Result<Vec<T>, AssessError> {
        for_left_out_rows(predictive, &self.fit.prepared.data, (what, rows), job)
    }
}

/// What `job` makes of the predictive distributions of these rows of the data that a fit is of, each
/// given the others.
pub fn for_left_out_rows<T: Send>(
    predictive: &PosteriorPredictive<'_>,
    data: &Dataset,
    (what, rows): (&str, &[usize]),
    job: impl Fn(usize, &PredictiveTable, usize) -> T + Sync,
) -> Result<Vec<T>, AssessError> {
    if predictive.is_open {
        let source = PredictedRows::LeaveOneOut(data.rows(), rows);
        return Ok(predictive.for_rows(what, source, job)?);
    }
    // Given a draw the rows are independent: each is predicted by its inputs alone.
    let all = data.inputs_and_offsets();
    let inputs = Matrix::from_fn(rows.len(), all.columns(), |row, k| all[(rows[row], k)]);
    Ok(predictive.for_rows(what, PredictedRows::New(&inputs), job)?)
}

/// The log density of a target under every draw.
pub fn log_densities((table, index): (&PredictiveTable, usize), observed: &[f64]) -> Vec<f64> {
    let family = table.family();
    let draws = table.parameters(index).chunks_exact(family.width());
    draws.map(|parameters| Predictive::new(family, parameters).log_density(observed)).collect()
}

/// Refuses what is no log density, of a row under chains of so many draws.
///
/// # Errors
/// [`LogLikelihoodError::NotUsable`] for the first value that is NaN or +∞.
pub fn check_usable(row: usize, values: &[f64], draws: usize) -> Result<(), LogLikelihoodError> {
    let unusable = |value: &f64| value.is_nan() || *value == f64::INFINITY;
    match values.iter().position(unusable) {
        None => Ok(()),
        Some(index) => Err(LogLikelihoodError::NotUsable {
            row,
            chain: index / draws,
            draw: index % draws,
            value: values[index],
        }),
    }
}
