//! Estimate weights by maximum likelihood, penalised or not, and judge the estimate.

use posteria_linalg::{EigenError, Matrix, Singular, dot, matrix_vector, transposed_matrix_vector};
use serde::Serialize;

use crate::density::special::LOG_SQRT_2PI;

/// Fewer rows than this share beyond the effective parameters leave nothing to tell the residual
/// variance by.
const LEAST_FREEDOM: f64 = 1e-9;

/// Least squares, perhaps with a penalty: the weights that minimise ‖y - b - Xw‖² + α‖w‖². With
/// α = 0 this is maximum likelihood under normal residuals; α = τ_w/τ gives the posterior mode
/// under w ~ N(0, 1/τ_w) and noise of precision τ [Fabricius 1999, §6.2.1]. The intercept b is
/// not penalised.
///
/// By singular values, so that close to collinear columns lose no more digits than they must.
/// Without a penalty, collinear columns or more columns than rows leave many minima: this is the
/// one of least norm.
#[derive(Clone, Debug)]
pub struct LeastSquares {
    intercept: Option<f64>,
    weights: Vec<f64>,
    rows: usize,
    rank: usize,
    effective_parameters: f64,
    squares: f64,
}

/// Criteria that guess the error on new rows from that on the rows of the fit; n rows, residual
/// sum of squares R, p estimated coefficients and γ effective ones. Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Criteria {
    /// -2 log L + 2(γ + 1); the residual variance counts as a parameter. With a penalty it is
    /// Moody's form [Akaike 1973; Moody 1992; Vehtari 2001, eq. 3.37 and 3.41, there times -½].
    pub aic: f64,
    /// -2 log L + (γ + 1) log n [Schwarz 1978].
    pub bic: f64,
    /// Final prediction error, a mean square: R/n · (1 + p/n)/(1 - p/n) [Akaike 1970;
    /// Vehtari 2001, eq. 3.36]. None without more rows than coefficients.
    pub fpe: Option<f64>,
    /// Generalised prediction error, a mean square: R/n + 2 σ² γ/n with σ² = R/(n - γ)
    /// [Moody 1992]. Without a penalty γ = p, and it is the final prediction error.
    pub gpe: f64,
}

/// Why there is no least squares estimate.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LeastSquaresError {
    /// There are no rows.
    #[error("least squares need at least one row")]
    NoRows,
    /// The penalty is negative or not a number.
    #[error("the penalty {penalty} must be a number of at least 0")]
    Penalty {
        /// Its value.
        penalty: f64,
    },
    /// A target is NaN or infinite.
    #[error("the target of row {row} (counted from 0) is not finite")]
    Target {
        /// Index of the row.
        row: usize,
    },
    /// The columns have no singular values.
    #[error("the columns have no singular values: {0}")]
    Columns(#[from] EigenError),
}

impl LeastSquares {
    /// Fits `targets` by the columns of `x` (without one for the intercept) and a `penalty` α.
    ///
    /// # Errors
    /// [`LeastSquaresError`].
    ///
    /// # Panics
    /// If there is not one target per row.
    pub fn new(
        x: &Matrix,
        targets: &[f64],
        intercept: bool,
        penalty: f64,
    ) -> Result<Self, LeastSquaresError> {
        let (rows, columns) = (x.rows(), x.columns());
        assert_eq!(rows, targets.len(), "one target per row");
        if rows == 0 {
            return Err(LeastSquaresError::NoRows);
        }
        if !(penalty >= 0.0 && penalty.is_finite()) {
            return Err(LeastSquaresError::Penalty { penalty });
        }
        if let Some(row) = targets.iter().position(|target| !target.is_finite()) {
            return Err(LeastSquaresError::Target { row });
        }
        // About their means columns and targets need no intercept.
        let mean = |values: &[f64]| match intercept {
            true => values.iter().sum::<f64>() / rows as f64,
            false => 0.0,
        };
        let centres: Vec<f64> = (0..columns).map(|k| mean(x.column(k))).collect();
        let centred = Matrix::from_fn(rows, columns, |row, k| x[(row, k)] - centres[k]);
        let centre = mean(targets);
        let mut residuals: Vec<f64> = targets.iter().map(|target| target - centre).collect();
        let singular = Singular::new(&centred)?;
        let rank = singular.rank();
        let mut rotated = vec![0.0; singular.values().len()];
        transposed_matrix_vector(singular.left(), &residuals, &mut rotated);
        let mut effective_parameters = f64::from(u8::from(intercept));
        for (index, (slot, s)) in rotated.iter_mut().zip(singular.values()).enumerate() {
            if index < rank {
                // λ/(λ + α) with λ = s².
                let share = s / (s + penalty / s);
                effective_parameters += share;
                *slot *= share / s;
            } else {
                *slot = 0.0;
            }
        }
        let mut weights = vec![0.0; columns];
        matrix_vector(singular.right(), &rotated, &mut weights);
        let mut fitted = vec![0.0; rows];
        matrix_vector(&centred, &weights, &mut fitted);
        residuals.iter_mut().zip(&fitted).for_each(|(residual, fitted)| *residual -= fitted);
        Ok(LeastSquares {
            intercept: intercept.then(|| centre - dot(&weights, &centres)),
            weights,
            rows,
            rank: rank + usize::from(intercept),
            effective_parameters,
            squares: dot(&residuals, &residuals),
        })
    }

    /// The intercept, if there is one.
    pub fn intercept(&self) -> Option<f64> {
        self.intercept
    }

    /// The weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The output at a row of columns.
    ///
    /// # Panics
    /// If there is not one entry per weight.
    pub fn predict(&self, columns: &[f64]) -> f64 {
        self.intercept.unwrap_or(0.0) + dot(columns, &self.weights)
    }

    /// Number p of coefficients that the rows can tell, the intercept included.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Effective number of parameters γ = Σ λ_i/(λ_i + α) over the eigenvalues λ_i of XᵀX, and 1
    /// for the intercept [Fabricius 1999, eq. 6.14].
    pub fn effective_parameters(&self) -> f64 {
        self.effective_parameters
    }

    /// Residual sum of squares R.
    pub fn residual_squares(&self) -> f64 {
        self.squares
    }

    /// The residual variance of greatest likelihood, R/n: too small [Fabricius 1999, eq. 6.12].
    pub fn fitted_variance(&self) -> f64 {
        self.squares / self.rows as f64
    }

    /// The residual variance R/(n - γ), without bias where there is no penalty
    /// [Fabricius 1999, eq. 6.17]; none where as many parameters as rows leave nothing over.
    pub fn residual_variance(&self) -> Option<f64> {
        let rows = self.rows as f64;
        let freedom = rows - self.effective_parameters;
        (freedom > LEAST_FREEDOM * rows).then(|| self.squares / freedom)
    }

    /// Log likelihood at the estimate with variance R/n: -½n (log(2πR/n) + 1).
    pub fn log_likelihood(&self) -> f64 {
        let rows = self.rows as f64;
        -rows * (LOG_SQRT_2PI + 0.5 * self.fitted_variance().ln() + 0.5)
    }

    /// The criteria; none where as many parameters as rows leave nothing to judge by, or where
    /// the fit is perfect.
    pub fn criteria(&self) -> Option<Criteria> {
        let variance = self.residual_variance().filter(|variance| *variance > 0.0)?;
        let (rows, gamma) = (self.rows as f64, self.effective_parameters);
        let deviance = -2.0 * self.log_likelihood();
        let share = self.rank as f64 / rows;
        let fitted = self.fitted_variance();
        Some(Criteria {
            aic: deviance + 2.0 * (gamma + 1.0),
            bic: deviance + (gamma + 1.0) * rows.ln(),
            fpe: (share < 1.0).then(|| fitted * (1.0 + share) / (1.0 - share)),
            gpe: fitted + 2.0 * variance * gamma / rows,
        })
    }
}
