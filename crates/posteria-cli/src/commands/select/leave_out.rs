//! Find out what is lost without each input in turn.

use posteria::model::selection::Candidates;
use posteria::select::{InputLoss, UtilitySummary};

use super::assessor::{Assessor, apart};
use crate::failure::Result;
use crate::text;

/// Assesses the model without each candidate; `None` where nothing would be left to predict from.
pub fn leave_out(
    assessor: &mut Assessor<'_>,
    candidates: &Candidates,
) -> Result<Vec<Option<InputLoss>>> {
    let count = candidates.len();
    assessor.announce(&format!("leaving {} out", text::count(count, "input")));
    let all = assessor.sets.sets.all();
    let full = assessor.assess_as(&all, "leaving nothing out")?;
    (0..count)
        .map(|candidate| {
            let mut set = all.clone();
            set[candidate] = false;
            if !assessor.sets.sets.has_columns(&set) {
                return Ok(None);
            }
            let what = format!("leaving out {} of {count}", candidate + 1);
            let without = assessor.assess_as(&set, &what)?;
            let lost = apart(&full, &without, &assessor.plan().bootstrap)?;
            let sign = full.better.sign();
            Ok(Some(InputLoss {
                utility: UtilitySummary::of_difference(&lost).signed(sign),
                p_full_better: lost.probability_better(),
            }))
        })
        .collect()
}
