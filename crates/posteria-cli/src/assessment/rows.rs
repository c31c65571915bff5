//! Take all draws of a run through its model, and look at the predictive distribution of each row.

use posteria::predict::PredictiveTable;
use posteria_linalg::Matrix;

use crate::failure::Result;
use crate::work::Work;

/// Draws that one job takes through the model.
const DRAWS: usize = 64;
/// Rows that one job looks at.
const ROWS: usize = 4;

/// For which rows there are predictive distributions.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Those of these inputs, standardised like the training data.
    New(&'a Matrix),
    /// The rows of the fit, of which there are so many, as if they were new.
    Training(usize),
    /// Each row of the fit, of which there are so many, given the others and a draw.
    LeaveOneOut(usize),
}

/// What `job` says of every row: it is given the number of the row, and the table that holds the
/// row's predictive distribution at an index. Blocks depend on the number of draws alone, so
/// results do not depend on the threads.
pub fn for_rows<T: Send>(
    (work, what): (&Work<'_>, &str),
    source: Source<'_>,
    job: impl Fn(usize, &PredictiveTable, usize) -> T + Sync,
) -> Result<Vec<T>> {
    let count = match source {
        Source::New(inputs) => inputs.rows(),
        Source::Training(rows) | Source::LeaveOneOut(rows) => rows,
    };
    let total = work.total();
    let at_once = PredictiveTable::rows_at_once(work.family, total);
    let mut results = Vec::with_capacity(count);
    for first in (0..count).step_by(at_once) {
        let block = first..count.min(first + at_once);
        let inputs = match source {
            Source::New(inputs) => Some(inputs.rows_in(block.clone())),
            _ => None,
        };
        let parts = work.run("predictions", total.div_ceil(DRAWS), |part| {
            let draws = part * DRAWS..total.min((part + 1) * DRAWS);
            let predictor = &mut *work.predictor();
            match (source, &inputs) {
                (Source::LeaveOneOut(all), _) => {
                    let rows = (all, block.clone());
                    PredictiveTable::leave_one_out(predictor, (work.draws, draws), rows)
                }
                (Source::Training(all), _) => {
                    let rows = (all, block.clone());
                    PredictiveTable::at_training_rows(predictor, (work.draws, draws), rows)
                }
                (Source::New(_), inputs) => {
                    let inputs = inputs.as_ref().expect("the rows of this block");
                    PredictiveTable::new(predictor, work.draws, draws, inputs)
                }
            }
        })?;
        let table = PredictiveTable::join(&parts);
        drop(parts);
        let done = work.run(what, block.len().div_ceil(ROWS), |part| {
            let rows = part * ROWS..block.len().min((part + 1) * ROWS);
            rows.map(|index| job(first + index, &table, index)).collect::<Vec<T>>()
        })?;
        results.extend(done.into_iter().flatten());
    }
    Ok(results)
}
