//! What is known about a regression without sampling.

use posteria_linalg::Matrix;

use super::by_quadrature::ByQuadrature;
use super::closed_form::{ClosedForm, StudentT};
use super::least_squares::{LeastSquares, LeastSquaresError};
use super::posterior::{Likelihood, LinearPosterior};
use super::scale::ScalePrior;
use super::spec::WeightPrior;
use crate::model::spec::Sharing;

impl LinearPosterior {
    /// The exact posterior on the standardised scale, under the conjugate prior; with all inputs,
    /// also where they may leave.
    pub fn closed_form(&self) -> Option<&ClosedForm> {
        match &self.likelihood {
            Likelihood::Real(regression) => {
                regression.conjugate.as_ref().map(|conjugate| &conjugate.closed_form)
            }
            _ => None,
        }
    }

    /// The exact posterior on the standardised scale by quadrature over the scales: for normal
    /// residuals of one scale, and weights and intercept with known scales or one common scale of
    /// the weights. None for anything else, and where columns have no singular values.
    pub fn by_quadrature(&self) -> Option<ByQuadrature> {
        let Likelihood::Real(regression) = &self.likelihood else { return None };
        if !regression.is_homogeneous() {
            return None;
        }
        let WeightPrior::Normal { sharing, scale } = self.model.weights else { return None };
        let separate = sharing == Sharing::PerInput && self.columns.spans.len() > 1;
        if separate && matches!(scale, ScalePrior::Sampled(_)) {
            return None;
        }
        let intercept = match (self.model.intercept, self.model.intercept_prior) {
            (false, _) => None,
            (true, ScalePrior::Fixed(sd)) => Some(sd),
            (true, ScalePrior::Sampled(_)) => return None,
        };
        let first = usize::from(self.model.intercept);
        let x = Matrix::from_fn(self.x.rows(), self.x.columns() - first, |row, k| {
            self.x[(row, first + k)]
        });
        let (targets, residual) = (&regression.residual.targets, self.model.residual.scale);
        ByQuadrature::new(&x, targets, intercept, scale, residual).ok()
    }

    /// Log evidence of the targets in the user's unit: exact under the conjugate prior, by
    /// quadrature to about ten digits where [`LinearPosterior::by_quadrature`] can; else none. Of
    /// all inputs, also where they may leave.
    pub fn log_evidence(&self) -> Option<f64> {
        let standardized = match self.closed_form() {
            Some(exact) => exact.log_evidence(),
            None => self.by_quadrature()?.log_evidence(),
        };
        // One factor dy'/dy = 1/scale per row.
        Some(standardized - self.x.rows() as f64 * self.user.target.scale.ln())
    }

    /// Least squares with `penalty` on the standardised weights, for real targets: weights are
    /// those of standardised columns, and targets, variances and criteria in the user's unit.
    /// None for classes.
    ///
    /// # Errors
    /// [`LeastSquaresError`].
    pub fn least_squares(&self, penalty: f64) -> Option<Result<LeastSquares, LeastSquaresError>> {
        let Likelihood::Real(regression) = &self.likelihood else { return None };
        let first = usize::from(self.model.intercept);
        let x = Matrix::from_fn(self.x.rows(), self.x.columns() - first, |row, k| {
            self.x[(row, first + k)]
        });
        let target = self.user.target;
        let targets = &regression.residual.targets;
        let targets: Vec<f64> = match self.model.intercept {
            true => targets.iter().map(|value| target.invert(*value)).collect(),
            // Without an intercept the output is 0 where the standardised target is.
            false => targets.iter().map(|value| target.scale * value).collect(),
        };
        Some(LeastSquares::new(&x, &targets, self.model.intercept, penalty))
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
