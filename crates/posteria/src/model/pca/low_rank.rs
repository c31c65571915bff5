//! The density of a row under one draw: normal with a covariance of low rank plus noise.

use posteria_linalg::{Cholesky, Matrix, dot, transposed_multiply};

use crate::density::special::LOG_SQRT_2PI;

/// N(μ, W Wᵀ + I/τ), by the q × q matrix M = I + τ WᵀW:
///
/// log |C| = log |M| - d log τ, (x-μ)ᵀC⁻¹(x-μ) = τ (‖x-μ‖² - τ tᵀM⁻¹t) with t = Wᵀ(x-μ).
pub(super) struct LowRank {
    pub(super) mean: Vec<f64>,
    /// Columns × components.
    pub(super) loadings: Matrix,
    precision: f64,
    square: Matrix,
    factor: Cholesky,
    constant: f64,
    off: Vec<f64>,
    along: Vec<f64>,
}

impl LowRank {
    pub(super) fn new(dim: usize, components: usize) -> Self {
        LowRank {
            mean: vec![0.0; dim],
            loadings: Matrix::zeros(dim, components),
            precision: 1.0,
            square: Matrix::zeros(components, components),
            factor: Cholesky::identity(components),
            constant: 0.0,
            off: vec![0.0; dim],
            along: vec![0.0; components],
        }
    }

    /// Takes over mean and loadings, which were written, with this precision of the noise;
    /// `false` if there is no such density.
    pub(super) fn set_precision(&mut self, precision: f64) -> bool {
        self.precision = precision;
        transposed_multiply(&self.loadings, &self.loadings, &mut self.square);
        self.square.values_mut().iter_mut().for_each(|entry| *entry *= precision);
        for k in 0..self.square.rows() {
            self.square[(k, k)] += 1.0;
        }
        if self.factor.factorize(&self.square).is_err() {
            return false;
        }
        let dim = self.mean.len() as f64;
        self.constant =
            dim * (0.5 * precision.ln() - LOG_SQRT_2PI) - 0.5 * self.factor.log_determinant();
        self.constant.is_finite()
    }

    /// Log density of the row whose entries `entry` gives.
    pub(super) fn log_density(&mut self, entry: impl Fn(usize) -> f64) -> f64 {
        for (column, (slot, mean)) in self.off.iter_mut().zip(&self.mean).enumerate() {
            *slot = entry(column) - mean;
        }
        for (k, slot) in self.along.iter_mut().enumerate() {
            *slot = dot(self.loadings.column(k), &self.off);
        }
        self.factor.solve_lower(&mut self.along);
        let inside = self.precision * dot(&self.along, &self.along);
        let distance = self.precision * (dot(&self.off, &self.off) - inside).max(0.0);
        self.constant - 0.5 * distance
    }
}
