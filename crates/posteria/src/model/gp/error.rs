//! Judge the functions of one draw by their targets.

use super::observed::Observed;
use super::posterior::{GpPosterior, TestRows};

impl GpPosterior {
    /// Root mean square error in the user's unit over rows and targets, or the share of rows
    /// whose most probable class is wrong; `functions` are f·n + i, of durations those of `state`.
    pub(super) fn error(
        &self,
        functions: &[f64],
        (answers, state): (&[f64], &[f64]),
        test: Option<&TestRows>,
    ) -> f64 {
        let count = self.observed.functions();
        let rows = functions.len() / count;
        match &self.observed {
            Observed::Real(_) => {
                let scaling = &self.target_scaling;
                let errors = || {
                    let pairs = functions.iter().zip(answers).enumerate();
                    pairs.map(|(index, (f, y))| (y - f) * scaling[index / rows].scale)
                };
                // In units of the largest error, whose square need not be a number.
                let largest = errors().fold(f64::MIN_POSITIVE, |most, error| most.max(error.abs()));
                let sum: f64 = errors().map(|error| (error / largest).powi(2)).sum();
                (sum / functions.len() as f64).sqrt() * largest
            }
            Observed::Outcomes(outcomes) => {
                let others = test.map(|test| test.offsets.as_deref());
                outcomes.error(functions, (answers, &outcomes.given(state)), others)
            }
            Observed::Binary { .. } => {
                let wrong =
                    functions.iter().zip(answers).filter(|(f, y)| (**f > 0.0) != (**y > 0.5));
                wrong.count() as f64 / rows as f64
            }
            Observed::Multiclass { contrasts, .. } => {
                let of = |class: usize, row: usize| -> f64 {
                    let terms = (0..count).map(|j| functions[j * rows + row]).enumerate();
                    terms.map(|(j, value)| contrasts.weight(class, j) * value).sum()
                };
                let best =
                    |row: usize| (0..=count).max_by(|a, b| of(*a, row).total_cmp(&of(*b, row)));
                let wrong = (0..rows).filter(|row| best(*row) != Some(answers[*row] as usize));
                wrong.count() as f64 / rows as f64
            }
        }
    }
}
