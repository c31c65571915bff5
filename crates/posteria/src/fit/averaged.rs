//! Predict by several models at once.

use posteria_linalg::Matrix;

use super::{PosteriorPredictive, PredictError};
use crate::predict::{ModelShare, Predictive, PredictiveTable};

/// One of several models whose predictions are averaged.
pub struct AveragedModel<'a> {
    /// Its share of the average, from 0 to 1.
    pub share: f64,
    /// What it predicts.
    pub predictive: PosteriorPredictive<'a>,
    /// The new rows as the model takes them: the same for all models, in the same order.
    pub inputs: Matrix,
}

/// What `each` makes of every new row: of the average of its predictive distributions over models,
/// p(y | x) = Σ_k w_k p(y | x, M_k, D), and of each of these.
///
/// # Errors
/// [`PredictError`] if the work was cancelled.
///
/// # Panics
/// If there is no model, or models have different numbers of rows.
pub fn average_rows<T: Send>(
    models: &[AveragedModel<'_>],
    each: impl Fn(usize, &Predictive<'_>, &[ModelShare<'_>]) -> T + Sync,
) -> Result<Vec<T>, PredictError> {
    let count = models[0].inputs.rows();
    assert!(models.iter().all(|it| it.inputs.rows() == count), "the same rows for all models");
    let wanted = |model: &AveragedModel<'_>| {
        let predictive = &model.predictive;
        PredictiveTable::rows_at_once(predictive.family, predictive.total() * models.len())
    };
    // All tables of a block are there at once.
    let at_once = models.iter().map(wanted).min().unwrap_or(1);
    let mut results = Vec::with_capacity(count);
    for first in (0..count).step_by(at_once) {
        let block = first..count.min(first + at_once);
        let table = |it: &AveragedModel<'_>| it.predictive.table(&it.inputs.rows_in(block.clone()));
        let tables = models.iter().map(table).collect::<Result<Vec<_>, _>>()?;
        let job = |index: usize| {
            let share = |(model, table)| {
                let AveragedModel { share, predictive, .. }: &AveragedModel<'_> = model;
                ModelShare { share: *share, predictive: predictive.of_row(table, index) }
            };
            let shares: Vec<ModelShare<'_>> = models.iter().zip(&tables).map(share).collect();
            each(first + index, &Predictive::average(&shares), &shares)
        };
        results.extend(models[0].predictive.workers.run("quantiles", block.len(), job)?);
    }
    Ok(results)
}
