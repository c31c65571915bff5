//! Columns of numbers that should be standard normal, compared by batch means.

use crate::density::special::normal_quantile;

/// Means are compared by their batch means.
const BATCHES: usize = 64;
/// |z| of a mean over 64 batches passes this by chance with probability 1e-6 (t with 63
/// degrees of freedom). Seeds are fixed.
const FAR: f64 = 5.4;

/// The normal number of a probability, kept from the infinite ones.
pub(super) fn z_of_level(level: f64) -> f64 {
    normal_quantile(level.clamp(1e-15, 1.0 - 1e-15))
}

/// Columns that grow row by row.
#[derive(Default)]
pub(super) struct Scores {
    columns: Vec<Vec<f64>>,
    row: Vec<f64>,
}

impl Scores {
    /// A number that should be standard normal: its first two moments, and its product with the
    /// number before it, are looked at.
    pub(super) fn push(&mut self, z: f64) {
        let before = self.row.len().checked_sub(3).map_or(1.0, |at| self.row[at]);
        self.row.extend([z, z * z - 1.0, z * before]);
        if self.row.len() == 3 {
            self.row[2] = 0.0;
        }
    }

    /// A value that should be each of `values` equally often.
    pub(super) fn push_grid(&mut self, value: f64, values: &[f64]) {
        let index = values.iter().position(|v| v.to_bits() == value.to_bits()).unwrap() as f64;
        let last = values.len() as f64 - 1.0;
        let centred = (index - 0.5 * last) / last;
        self.row.extend([centred, centred * centred - (last + 2.0) / (12.0 * last), 0.0]);
    }

    pub(super) fn end_row(&mut self) {
        self.columns.resize(self.row.len(), Vec::new());
        for (column, value) in self.columns.iter_mut().zip(self.row.drain(..)) {
            column.push(value);
        }
    }

    #[track_caller]
    pub(super) fn assert_standard_normal(&self, what: &str) {
        for (index, column) in self.columns.iter().enumerate() {
            if column.iter().all(|value| value.abs() < 1e-300) {
                continue;
            }
            let size = column.len() / BATCHES;
            let means: Vec<f64> =
                column.chunks_exact(size).map(|b| b.iter().sum::<f64>() / size as f64).collect();
            let mean = means.iter().sum::<f64>() / BATCHES as f64;
            let count = BATCHES as f64;
            let variance =
                means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0) / count;
            let z = mean / variance.sqrt();
            assert!(
                z.abs() < FAR,
                "{what}: moment {} of number {} is {z} errors off",
                index % 3,
                index / 3
            );
        }
    }
}
