//! ParameterEstimate the coefficients of a linear model by maximum likelihood.

use posteria_linalg::{Cholesky, Matrix, symmetric_rank_k};
use serde::{Deserialize, Serialize};

use super::posterior::{Likelihood, LinearPosterior};
use super::spec::{Linear, WeightPrior};
use crate::draws::Role;
use crate::model::{ModelError, Posterior};

/// Share of a column's square that the columns before it must leave over.
const COLLINEAR: f64 = 1e-12;

/// A number that was estimated, on the user's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterEstimate {
    /// Its name in draws.
    pub name: String,
    /// Its estimate.
    pub estimate: f64,
    /// The standard error: the root of its entry in the diagonal of the inverse Hessian of the
    /// negative log likelihood.
    pub standard_error: f64,
}

impl Linear {
    /// Whether coefficients and residuals have a prior: not for maximum likelihood.
    pub(super) fn has_prior(&self) -> bool {
        !matches!(self.weights, WeightPrior::Flat)
    }
}

impl LinearPosterior {
    /// As [`Linear::has_prior`].
    pub(crate) fn has_prior(&self) -> bool {
        self.model.has_prior()
    }

    /// Whether there is a maximum of the likelihood, as far as the inputs alone tell.
    ///
    /// # Errors
    /// [`ModelError::TooFewRows`] or [`ModelError::Collinear`].
    pub(crate) fn check_likelihood(&self) -> Result<(), ModelError> {
        let (rows, coefficients) = (self.x.rows(), self.x.columns());
        // A residual scale takes a row more.
        let least = coefficients + usize::from(matches!(self.likelihood, Likelihood::Real(_)));
        if rows < least {
            return Err(ModelError::TooFewRows { rows, coefficients });
        }
        let mut gram = Matrix::zeros(coefficients, coefficients);
        symmetric_rank_k(&self.x, &mut gram);
        let pivot = match Cholesky::new(&gram) {
            Err(error) => Some(error.pivot),
            Ok(factor) => (0..coefficients)
                .find(|&k| factor.factor()[(k, k)].powi(2) <= COLLINEAR * gram[(k, k)]),
        };
        match pivot {
            None => Ok(()),
            Some(pivot) => {
                let first = usize::from(self.model.intercept);
                let column = match pivot.checked_sub(first) {
                    Some(column) => self.columns.names[column].clone(),
                    None => "intercept".into(),
                };
                Err(ModelError::Collinear { column })
            }
        }
    }

    /// The coefficients on the user's scale with their standard errors, given those on the
    /// standardised scale and the factor of the Hessian there; of several classes, how far those of
    /// the others are from those of the first.
    pub(crate) fn coefficient_estimates(
        &self,
        weights: &[f64],
        precision: &Cholesky,
    ) -> Vec<ParameterEstimate> {
        // What a draw begins with is affine in the coefficients: T w + c.
        let shown = |weights: &[f64]| {
            let mut draw = vec![0.0; self.layout().len()];
            let count = self.user.write(weights, &mut draw);
            draw.truncate(count);
            draw
        };
        let dim = weights.len();
        let estimates = shown(weights);
        let constant = shown(&vec![0.0; dim]);
        let mut rows = vec![vec![0.0; dim]; estimates.len()];
        let mut unit = vec![0.0; dim];
        for k in 0..dim {
            unit[k] = 1.0;
            for (row, (value, constant)) in rows.iter_mut().zip(shown(&unit).iter().zip(&constant))
            {
                row[k] = value - constant;
            }
            unit[k] = 0.0;
        }
        let names = self.layout().component_names();
        let classes = match self.likelihood {
            Likelihood::Softmax { classes, .. } => classes,
            _ => 1,
        };
        let estimated = |k: usize| {
            let reference = (classes > 1).then_some(k - k % classes);
            if reference == Some(k) {
                return None;
            }
            let (mut estimate, mut row) = (estimates[k], rows[k].clone());
            if let Some(reference) = reference {
                estimate -= estimates[reference];
                row.iter_mut().zip(&rows[reference]).for_each(|(own, other)| *own -= other);
            }
            // Variance t A⁻¹ tᵀ = |L⁻¹ tᵀ|².
            precision.solve_lower(&mut row);
            let standard_error = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            Some(ParameterEstimate { name: names[k].clone(), estimate, standard_error })
        };
        (0..estimates.len()).filter_map(estimated).collect()
    }

    /// The residual scales σ in the units of the targets with their standard errors σ/√2n, given
    /// the precisions of the groups of residuals and how many each has. (The Hessian has no
    /// entries between coefficients and scales at the maximum.)
    pub(crate) fn scale_estimates(&self, precisions: &[(f64, usize)]) -> Vec<ParameterEstimate> {
        let names = self.layout().component_names();
        let places = self.layout().range_of(Role::ResidualScale);
        let units = &self.user.targets;
        let all = names[places].iter().zip(units).enumerate();
        all.filter_map(|(target, (name, unit))| {
            // One scale of each target, or of all.
            let (precision, count) = precisions.get(target).or(precisions.first())?;
            let estimate = precision.sqrt().recip() * unit.scale;
            let standard_error = estimate / (2.0 * *count as f64).sqrt();
            Some(ParameterEstimate { name: name.clone(), estimate, standard_error })
        })
        .collect()
    }
}
