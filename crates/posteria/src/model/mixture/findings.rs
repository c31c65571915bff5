//! What the approximation of a mixture found besides draws.

use serde::{Deserialize, Serialize};

use super::posterior::MixturePosterior;
use crate::density::special::log_sum_exp;

/// Rows that a component must be worth to count.
const OCCUPIED: f64 = 0.5;

/// What the approximation of a mixture found, on the user's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureFindings {
    /// Lower bound of the log evidence of the rows.
    pub bound: f64,
    /// The bound after every round of coordinate ascent; it never decreases.
    pub bounds: Vec<f64>,
    /// Climbs from different starts among which the best was kept.
    pub climbs: usize,
    /// Components that hold at least half a row.
    pub effective_components: usize,
    /// Expected mixing weight of every component.
    pub mixing: Vec<f64>,
    /// Rows that every component is worth.
    pub rows: Vec<f64>,
}

impl MixturePosterior {
    /// What the approximation found.
    pub fn findings(&self) -> MixtureFindings {
        let q = self.approximation();
        let unit = self.rows_count() as f64 * self.log_unit();
        let bounds: Vec<f64> = q.bounds().iter().map(|bound| bound - unit).collect();
        let concentrations = q.mixing().concentrations();
        let rows: Vec<f64> = concentrations.iter().map(|c| c - self.concentration()).collect();
        MixtureFindings {
            bound: bounds.last().copied().unwrap_or(f64::NEG_INFINITY),
            bounds,
            climbs: q.climbs(),
            effective_components: rows.iter().filter(|rows| **rows >= OCCUPIED).count(),
            mixing: q.expected_mixing(),
            rows,
        }
    }

    /// The expected mean of a component, on the user's scale.
    ///
    /// # Panics
    /// If there is no such component.
    pub fn mean(&self, component: usize) -> Vec<f64> {
        let mean = self.approximation().components()[component].mean();
        mean.iter().zip(&self.scaling).map(|(x, scaling)| scaling.invert(*x)).collect()
    }

    /// Log density of a new row, all on the user's scale: a mixture of Student-t densities.
    ///
    /// # Panics
    /// If there is not one number per column.
    pub fn predictive_log_density(&self, row: &[f64]) -> f64 {
        self.approximation().predictive_log_density(&self.standardized(row)) - self.log_unit()
    }

    /// The probability that a new row, on the user's scale, belongs to each component.
    ///
    /// # Panics
    /// If there is not one number per column.
    pub fn responsibilities(&self, row: &[f64]) -> Vec<f64> {
        let mut log_joint = vec![0.0; self.approximation().components().len()];
        let row = self.standardized(row);
        self.approximation().log_joint(&row, &mut log_joint, &mut vec![0.0; row.len()]);
        let total = log_sum_exp(&log_joint);
        log_joint.iter().map(|log| (log - total).exp()).collect()
    }
}
