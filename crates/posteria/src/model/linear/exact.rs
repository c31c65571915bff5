//! What is known about a regression without sampling.

use super::closed_form::{ClosedForm, StudentT};
use super::posterior::{Likelihood, LinearPosterior};

impl LinearPosterior {
    /// The exact posterior on the standardised scale, under the conjugate prior.
    pub fn closed_form(&self) -> Option<&ClosedForm> {
        match &self.likelihood {
            Likelihood::Real(regression) => {
                regression.conjugate.as_ref().map(|conjugate| &conjugate.closed_form)
            }
            _ => None,
        }
    }

    /// Log evidence of the targets in the user's unit, under the conjugate prior.
    pub fn log_evidence(&self) -> Option<f64> {
        let rows = self.x.rows() as f64;
        // One factor dy'/dy = 1/scale per row.
        self.closed_form().map(|exact| exact.log_evidence() - rows * self.user.target.scale.ln())
    }

    /// Exact predictive distribution, in the user's unit, of the target of a new row whose
    /// `inputs` are on the user's scale; under the conjugate prior.
    ///
    /// # Panics
    /// If there is not one value per input.
    pub fn predictive(&self, inputs: &[f64]) -> Option<StudentT> {
        let exact = self.closed_form()?;
        let row = self.user.design_row(&self.columns.of_row(inputs));
        let standardized = exact.predictive(&row);
        Some(StudentT {
            dof: standardized.dof,
            location: self.user.target.invert(standardized.location),
            scale: self.user.target.scale * standardized.scale,
        })
    }
}
