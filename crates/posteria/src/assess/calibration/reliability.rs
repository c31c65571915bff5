//! How often events happen that were given a probability.

use serde::{Deserialize, Serialize};

use super::Proportion;

/// Bins of equal width over [0, 1].
const BINS: usize = 10;

/// Predicted probabilities beside observed frequencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// The class; `None` if it is the most probable one, which differs by row.
    pub class: Option<String>,
    /// The bins that have rows, from the lowest probability on.
    pub bins: Vec<ReliabilityBin>,
    /// Expected calibration error Σ_b (n_b / n) |frequency_b - mean probability_b|. Never quite 0 for
    /// finitely many rows, however good predictions are.
    #[serde(deserialize_with = "crate::json::nan")]
    pub expected_calibration_error: f64,
}

/// Rows whose predicted probabilities are alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Probabilities from here,
    #[serde(deserialize_with = "crate::json::nan")]
    pub from: f64,
    /// to here.
    #[serde(deserialize_with = "crate::json::nan")]
    pub to: f64,
    /// Their mean.
    #[serde(deserialize_with = "crate::json::nan")]
    pub predicted: f64,
    /// How often the event happened.
    pub observed: Proportion,
}

impl Reliability {
    /// Of the event that happened in the rows where `happened` is true.
    pub(super) fn new(class: Option<String>, probabilities: &[f64], happened: &[bool]) -> Self {
        let mut sums = [(0.0, 0, 0); BINS];
        for (probability, happened) in probabilities.iter().zip(happened) {
            // A probability of 1 belongs to the last bin.
            let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
            let (sum, count, of) = sums[bin];
            sums[bin] = (sum + probability, count + usize::from(*happened), of + 1);
        }
        let width = 1.0 / BINS as f64;
        let bins: Vec<ReliabilityBin> = sums
            .iter()
            .enumerate()
            .filter(|(_, (_, _, of))| *of > 0)
            .map(|(index, (sum, count, of))| ReliabilityBin {
                from: index as f64 * width,
                to: (index + 1) as f64 * width,
                predicted: sum / *of as f64,
                observed: Proportion::new(*count, *of),
            })
            .collect();
        let rows = probabilities.len() as f64;
        let off = |bin: &ReliabilityBin| {
            bin.observed.of as f64 / rows * (bin.observed.value - bin.predicted).abs()
        };
        let expected_calibration_error = bins.iter().map(off).sum();
        Reliability { class, bins, expected_calibration_error }
    }
}
