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
    /// The exact posterior of one target on the standardised scale, under the conjugate prior; with
    /// all inputs, also where they may leave.
    pub fn closed_form(&self) -> Option<&ClosedForm> {
        match self.closed_forms() {
            Some([one]) => Some(one),
            _ => None,
        }
    }

    /// The same of every target: they are independent.
    pub fn closed_forms(&self) -> Option<&[ClosedForm]> {
        match &self.likelihood {
            Likelihood::Real(regression) => {
                regression.conjugate.as_ref().map(|conjugate| &conjugate.closed_forms[..])
            }
            _ => None,
        }
    }

    /// The exact posterior on the standardised scale by quadrature over the scales: for normal
    /// residuals of one scale, and weights and intercept with known scales or one common scale of
    /// the weights. None for anything else, for several targets, and where columns have no singular
    /// values.
    pub fn by_quadrature(&self) -> Option<ByQuadrature> {
        let Likelihood::Real(regression) = &self.likelihood else { return None };
        if !regression.is_homogeneous() || self.coefficients.outputs > 1 {
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
        let standardized = match self.closed_forms() {
            Some(exact) => exact.iter().map(ClosedForm::log_evidence).sum(),
            None => self.by_quadrature()?.log_evidence(),
        };
        // One factor dy'/dy = 1/scale per row and target.
        Some(standardized - self.x.rows() as f64 * self.user.log_units())
    }

    /// Least squares of one of the real targets, `output`, with `penalty` on the standardised
    /// weights: weights are those of standardised columns, and targets, variances and criteria in
    /// the user's unit. None for classes.
    ///
    /// # Errors
    /// [`LeastSquaresError`].
    ///
    /// # Panics
    /// If there is no such target.
    pub fn least_squares(
        &self,
        output: usize,
        penalty: f64,
    ) -> Option<Result<LeastSquares, LeastSquaresError>> {
        let Likelihood::Real(regression) = &self.likelihood else { return None };
        let first = usize::from(self.model.intercept);
        let x = Matrix::from_fn(self.x.rows(), self.x.columns() - first, |row, k| {
            self.x[(row, first + k)]
        });
        let target = self.user.targets[output];
        let rows = self.x.rows();
        let targets = &regression.residual.targets[output * rows..(output + 1) * rows];
        let targets: Vec<f64> = match self.model.intercept {
            true => targets.iter().map(|value| target.invert(*value)).collect(),
            // Without an intercept the output is 0 where the standardised target is.
            false => targets.iter().map(|value| target.scale * value).collect(),
        };
        Some(LeastSquares::new(&x, &targets, self.model.intercept, penalty))
    }

    /// Exact predictive distribution, in the user's unit, of the one target of a new row
    /// whose `inputs` are on the user's scale; under the conjugate prior.
    ///
    /// # Panics
    /// If there is not one value per input.
    pub fn predictive(&self, inputs: &[f64]) -> Option<StudentT> {
        let exact = self.closed_form()?;
        let target = self.user.targets[0];
        let row = self.user.design_row(&self.columns.of_row(inputs));
        let standardized = exact.predictive(&row);
        Some(StudentT {
            dof: standardized.dof,
            location: target.invert(standardized.location),
            scale: target.scale * standardized.scale,
        })
    }
}
