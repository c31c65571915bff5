//! The distribution that takes the place of the posterior of principal components.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::ascent::Ascent;
use crate::density::special::LOG_SQRT_2PI;
use crate::density::{Gamma, ParameterError, Precision};
use crate::random::Stream;

/// q(μ) q(W) q(α) q(τ) on the standardised scale, components in the order of decreasing size.
///
/// A state holds μ, W (row by row), log α and log τ, and densities are with respect to these.
#[derive(Clone, Debug)]
pub struct PcaApproximation {
    pub(super) mean: Vec<f64>,
    pub(super) mean_sd: f64,
    /// Columns × components.
    pub(super) loadings: Matrix,
    /// Factor of the precision that all rows of W have.
    pub(super) precision: Cholesky,
    pub(super) covariance: Matrix,
    pub(super) scales: Vec<Gamma>,
    pub(super) noise: Gamma,
    /// Means of the scores of a row are this times (x - mean).
    pub(super) gain: Matrix,
    pub(super) bounds: Vec<f64>,
    pub(super) climbs: usize,
}

impl PcaApproximation {
    pub(super) fn new(ascent: Ascent<'_>, climbs: usize) -> Result<Self, ParameterError> {
        let q = ascent.loadings.columns();
        let mut order: Vec<usize> = (0..q).collect();
        let size = |k: &usize| dot(ascent.loadings.column(*k), ascent.loadings.column(*k));
        order.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let lower = ascent.loadings_precision.factor();
        let entry = |row: usize, column: usize| {
            (0..=row.min(column)).map(|k| lower[(row, k)] * lower[(column, k)]).sum::<f64>()
        };
        let precision = Matrix::from_fn(q, q, |row, column| entry(order[row], order[column]));
        let precision =
            Cholesky::new(&precision).map_err(|error| ParameterError::NotPositiveDefinite {
                distribution: "the distribution of the loadings",
                parameter: "the precision matrix",
                pivot: error.pivot,
            })?;
        let mut covariance = Matrix::zeros(q, q);
        precision.inverse(&mut covariance);
        let gamma = |p: Precision| Gamma::from_shape_rate(p.shape, p.rate);
        let scales: Result<Vec<Gamma>, _> =
            order.iter().map(|k| gamma(ascent.scales[*k])).collect();
        let dim = ascent.mean.len();
        Ok(PcaApproximation {
            mean_sd: ascent.mean_variance.sqrt(),
            loadings: Matrix::from_fn(dim, q, |row, k| ascent.loadings[(row, order[k])]),
            precision,
            covariance,
            scales: scales?,
            noise: gamma(ascent.noise)?,
            gain: Matrix::from_fn(q, dim, |k, column| ascent.gain[(order[k], column)]),
            mean: ascent.mean,
            bounds: ascent.bounds,
            climbs,
        })
    }

    /// The lower bound of the log evidence, on the standardised scale, after every round of the
    /// climb that was kept; it never decreases.
    pub fn bounds(&self) -> &[f64] {
        &self.bounds
    }

    /// E W: columns × components.
    pub fn loadings(&self) -> &Matrix {
        &self.loadings
    }

    /// q(τ) of the precision of the noise.
    pub fn noise(&self) -> &Gamma {
        &self.noise
    }

    /// q(α) of the precision of the loadings of every component.
    pub fn scales(&self) -> &[Gamma] {
        &self.scales
    }

    /// Number of entries of a state.
    pub(super) fn state_len(&self) -> usize {
        let (dim, q) = (self.mean.len(), self.scales.len());
        dim + dim * q + q + 1
    }

    /// Writes an independent state into `state`.
    pub(super) fn draw(&self, stream: &mut Stream, state: &mut [f64]) {
        let (dim, q) = (self.mean.len(), self.scales.len());
        let (means, rest) = state.split_at_mut(dim);
        let (loadings, logs) = rest.split_at_mut(dim * q);
        for (slot, mean) in means.iter_mut().zip(&self.mean) {
            *slot = mean + self.mean_sd * stream.normal();
        }
        for (row, own) in loadings.chunks_exact_mut(q).enumerate() {
            stream.fill_normal(own);
            self.precision.solve_lower_transposed(own);
            own.iter_mut().enumerate().for_each(|(k, slot)| *slot += self.loadings[(row, k)]);
        }
        for (slot, gamma) in logs.iter_mut().zip(self.scales.iter().chain([&self.noise])) {
            *slot = gamma.log_draw(stream);
        }
    }

    /// log q of a state.
    ///
    /// # Panics
    /// If the state has another length.
    pub fn log_density(&self, state: &[f64]) -> f64 {
        assert_eq!(state.len(), self.state_len(), "a state");
        let (dim, q) = (self.mean.len(), self.scales.len());
        let (means, rest) = state.split_at(dim);
        let (loadings, logs) = rest.split_at(dim * q);
        let normal = |z: f64| -0.5 * z * z - self.mean_sd.ln() - LOG_SQRT_2PI;
        let mut value: f64 =
            means.iter().zip(&self.mean).map(|(x, mean)| normal((x - mean) / self.mean_sd)).sum();
        let mut off = vec![0.0; q];
        for (row, own) in loadings.chunks_exact(q).enumerate() {
            for (k, (slot, w)) in off.iter_mut().zip(own).enumerate() {
                *slot = w - self.loadings[(row, k)];
            }
            self.precision.multiply_lower_transposed(&mut off);
            value += 0.5 * (self.precision.log_determinant() - dot(&off, &off))
                - q as f64 * LOG_SQRT_2PI;
        }
        value + log_precisions(logs, self.scales.iter().chain([&self.noise]))
    }
}

/// Log density of logarithms of gamma variables.
pub(super) fn log_precisions<'a>(logs: &[f64], gammas: impl Iterator<Item = &'a Gamma>) -> f64 {
    // A factor dx/d log x = x.
    logs.iter().zip(gammas).map(|(log, gamma)| gamma.log_density(log.exp()) + log).sum()
}
