//! Judge the functions of one draw by their targets.

use posteria_linalg::Matrix;

use super::observed::Observed;
use super::posterior::GpPosterior;
use crate::model::judged_rows::{TestRows, largest, root_mean_square_error, wrong_share};

impl GpPosterior {
    /// Root mean square error in the user's unit over rows and targets, or the share of rows
    /// whose most probable class is wrong; `functions` are f·n + i, of durations those of `state`.
    pub(super) fn error(
        &self,
        functions: &[f64],
        (targets, state): (&[f64], &[f64]),
        test: Option<&TestRows<Matrix>>,
    ) -> f64 {
        let count = self.observed.functions();
        let rows = functions.len() / count;
        match &self.observed {
            Observed::Real(_) => root_mean_square_error(functions, targets, &self.target_scaling),
            Observed::Outcomes(outcomes) => {
                let others = test.map(|test| test.offsets.as_deref());
                outcomes.error(functions, (targets, &outcomes.given(state)), others)
            }
            Observed::Binary { .. } => {
                wrong_share(targets, |row| usize::from(functions[row] > 0.0))
            }
            Observed::Multiclass { contrasts, .. } => wrong_share(targets, |row| {
                largest(count + 1, |class| {
                    let terms = (0..count).map(|j| functions[j * rows + row]).enumerate();
                    terms.map(|(j, value)| contrasts.weight(class, j) * value).sum()
                })
            }),
        }
    }
}
