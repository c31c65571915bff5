//! Know everything about a regression with the conjugate prior.

use posteria_linalg::{
    Cholesky, Matrix, NotPositiveDefinite, dot, matrix_vector, symmetric_rank_k,
    transposed_matrix_vector,
};

use crate::density::InverseGamma;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma};
use crate::random::Stream;

/// The exact posterior of y = Xw + e, e ~ N(0, 1/τ), under the conjugate prior
/// w given τ ~ N(0, 1/(ρτ)), τ ~ Gamma(a, rate b), with the likelihood raised to the inverse
/// temperature β:
///
/// - τ ~ Gamma(a + βn/2, rate b + ½(β‖y - Xm‖² + ρ‖m‖²)),
/// - w given τ ~ N(m, Σ/τ) with Σ⁻¹ = βXᵀX + ρI and m = βΣXᵀy,
/// - log ∫ prior × likelihood^β = ½p log ρ + ½ log|Σ| + a log b - a' log b' + log Γ(a')/Γ(a)
///   - ½βn log 2π, with a', b' the shape and rate above.
///
/// The yardstick for everything that samples or estimates. [Fabricius 1999, §6.2.2 and
/// appendix A]; its eq. 6.24 lacks the power ½ of the determinant, and the posterior shape is
/// a + n/2 (eq. 6.19 subtracts half the number of weights).
#[derive(Clone, Debug)]
pub struct ClosedForm {
    precision: Cholesky,
    mean: Vec<f64>,
    posterior: InverseGamma,
    log_evidence: f64,
}

/// A Student-t distribution by degrees of freedom, location and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    /// Degrees of freedom.
    pub dof: f64,
    /// Centre.
    pub location: f64,
    /// Scale; the standard deviation is scale · √(dof / (dof - 2)).
    pub scale: f64,
}

impl StudentT {
    /// Log density at `y`.
    pub fn log_density(&self, y: f64) -> f64 {
        let z = (y - self.location) / self.scale;
        let half = 0.5 * (self.dof + 1.0);
        ln_gamma(half)
            - ln_gamma(0.5 * self.dof)
            - 0.5 * (self.dof * std::f64::consts::PI).ln()
            - self.scale.ln()
            - half * (z * z / self.dof).ln_1p()
    }
}

impl ClosedForm {
    /// The posterior for the rows of `x` (a column of ones for an intercept) and `targets`,
    /// with the residual precision's prior and `rho` > 0.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] if columns are collinear to within rounding and ρ is too small
    /// to settle it.
    ///
    /// # Panics
    /// If there is not one target per row.
    pub fn new(
        x: &Matrix,
        targets: &[f64],
        rho: f64,
        residual: InverseGamma,
        inverse_temperature: f64,
    ) -> Result<Self, NotPositiveDefinite> {
        assert_eq!(x.rows(), targets.len(), "one target per row");
        let dim = x.columns();
        let rows = inverse_temperature * targets.len() as f64;
        let mut matrix = Matrix::zeros(dim, dim);
        symmetric_rank_k(x, &mut matrix);
        for value in matrix.values_mut() {
            *value *= inverse_temperature;
        }
        for i in 0..dim {
            matrix[(i, i)] += rho;
        }
        let precision = Cholesky::new(&matrix)?;
        let mut mean = vec![0.0; dim];
        transposed_matrix_vector(x, targets, &mut mean);
        for value in &mut mean {
            *value *= inverse_temperature;
        }
        precision.solve(&mut mean);
        // Sums of squares at the mean: yᵀy - mᵀΣ⁻¹m is the same, but cancels.
        let mut residuals = vec![0.0; targets.len()];
        matrix_vector(x, &mean, &mut residuals);
        let misfit: f64 = targets.iter().zip(&residuals).map(|(y, f)| (y - f).powi(2)).sum();
        let squares = inverse_temperature * misfit + rho * dot(&mean, &mean);
        let (shape, rate) = (residual.shape() + 0.5 * rows, residual.rate() + 0.5 * squares);
        let log_evidence = 0.5 * (dim as f64 * rho.ln() - precision.log_determinant())
            + residual.shape() * residual.rate().ln()
            - shape * rate.ln()
            + ln_gamma(shape)
            - ln_gamma(residual.shape())
            - rows * LOG_SQRT_2PI;
        let posterior = InverseGamma::from_shape_rate(shape, rate)
            .map_err(|_| NotPositiveDefinite { pivot: 0 })?;
        Ok(ClosedForm { precision, mean, posterior, log_evidence })
    }

    /// Posterior mean m of the weights.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Posterior of the residual precision τ.
    pub fn residual_precision(&self) -> InverseGamma {
        self.posterior
    }

    /// Marginal posterior of Σ c_k w_k, without noise.
    ///
    /// # Panics
    /// If there is not one entry of `c` per weight.
    pub fn combination(&self, c: &[f64]) -> StudentT {
        let spread = self.spread(c);
        self.student_t(c, spread)
    }

    /// Posterior predictive distribution of the target of a new row `x`: Student's t with
    /// 2a + n degrees of freedom.
    ///
    /// # Panics
    /// If there is not one entry of `x` per weight.
    pub fn predictive(&self, x: &[f64]) -> StudentT {
        let spread = 1.0 + self.spread(x);
        self.student_t(x, spread)
    }

    /// Log evidence: log of the integral of prior × likelihood^β.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// An independent draw: writes the weights, returns the logarithm of the residual scale.
    ///
    /// # Panics
    /// If `weights` has another length than the mean.
    pub(super) fn draw(&self, weights: &mut [f64], stream: &mut Stream) -> f64 {
        let log_scale = self.posterior.draw_log_scale(stream);
        stream.fill_normal(weights);
        self.precision.solve_lower_transposed(weights);
        let scale = log_scale.exp();
        for (weight, mean) in weights.iter_mut().zip(&self.mean) {
            *weight = mean + scale * *weight;
        }
        log_scale
    }

    /// cᵀΣc.
    fn spread(&self, c: &[f64]) -> f64 {
        assert_eq!(c.len(), self.mean.len(), "one entry per weight");
        let mut whitened = c.to_vec();
        self.precision.solve_lower(&mut whitened);
        dot(&whitened, &whitened)
    }

    fn student_t(&self, c: &[f64], spread: f64) -> StudentT {
        let (shape, rate) = (self.posterior.shape(), self.posterior.rate());
        StudentT {
            dof: 2.0 * shape,
            location: dot(c, &self.mean),
            scale: (rate / shape * spread).sqrt(),
        }
    }
}
