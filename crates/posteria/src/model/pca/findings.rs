//! What the approximation of principal components found besides draws.

use posteria_linalg::dot;
use serde::{Deserialize, Serialize};

use super::posterior::PcaPosterior;

/// What the approximation of principal components found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PcaFindings {
    /// Lower bound of the log evidence of the rows, on the user's scale.
    pub bound: f64,
    /// The bound after every round of coordinate ascent; it never decreases.
    pub bounds: Vec<f64>,
    /// Climbs from different starts among which the best was kept.
    pub climbs: usize,
    /// Components that are not switched off: whose loadings are larger than their uncertainty.
    pub effective_dimension: usize,
    /// Share of the variance of the standardised columns that every component explains.
    pub explained_variance: Vec<f64>,
    /// Share that is noise.
    pub noise_share: f64,
}

impl PcaPosterior {
    /// What the approximation found.
    pub fn findings(&self) -> PcaFindings {
        let q = self.approximation();
        let unit = self.rows_count() as f64 * self.log_unit();
        let bounds: Vec<f64> = q.bounds().iter().map(|bound| bound - unit).collect();
        let dim = self.dim() as f64;
        let sizes: Vec<f64> = (0..q.scales().len())
            .map(|k| dot(q.loadings().column(k), q.loadings().column(k)))
            .collect();
        let kept =
            sizes.iter().enumerate().filter(|(k, size)| **size > dim * q.covariance[(*k, *k)]);
        // E 1/τ, where it exists.
        let shape = q.noise().shape();
        let noise = dim * q.noise().rate() / if shape > 1.0 { shape - 1.0 } else { shape };
        let total = sizes.iter().sum::<f64>() + noise;
        PcaFindings {
            bound: bounds.last().copied().unwrap_or(f64::NEG_INFINITY),
            bounds,
            climbs: q.climbs,
            effective_dimension: kept.count(),
            explained_variance: sizes.iter().map(|size| size / total).collect(),
            noise_share: noise / total,
        }
    }

    /// The root mean square of the noise, on the standardised scale.
    pub fn noise_sd(&self) -> f64 {
        // 1/E τ differs from E 1/τ by a row in all rows and columns.
        let noise = self.approximation().noise();
        (noise.rate() / noise.shape()).sqrt()
    }

    /// Lengths of the expected loadings of every component, on the standardised scale.
    pub fn loading_lengths(&self) -> Vec<f64> {
        let loadings = self.approximation().loadings();
        let length = |k: usize| dot(loadings.column(k), loadings.column(k)).sqrt();
        (0..loadings.columns()).map(length).collect()
    }

    /// The expected scores z of a row on the user's scale.
    ///
    /// # Panics
    /// If there is not one number per column.
    pub fn scores(&self, row: &[f64]) -> Vec<f64> {
        let q = self.approximation();
        let row = self.standardized(row);
        let off: Vec<f64> = row.iter().zip(&q.mean).map(|(x, mean)| x - mean).collect();
        let score = |k: usize| (0..off.len()).map(|column| q.gain[(k, column)] * off[column]).sum();
        (0..q.scales().len()).map(score).collect()
    }

    /// The row μ + W z that the expected scores of a row stand for, on the user's scale: the row
    /// without what is taken for noise.
    ///
    /// # Panics
    /// If there is not one number per column.
    pub fn reconstruct(&self, row: &[f64]) -> Vec<f64> {
        let (q, scores) = (self.approximation(), self.scores(row));
        let entry = |column: usize| {
            let part = scores.iter().enumerate().map(|(k, z)| q.loadings()[(column, k)] * z);
            self.scaling[column].invert(q.mean[column] + part.sum::<f64>())
        };
        (0..self.dim()).map(entry).collect()
    }
}
