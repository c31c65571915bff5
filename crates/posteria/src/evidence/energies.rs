//! Keep the log likelihoods of all rungs of a ladder.

use serde::{Deserialize, Serialize};

use crate::diagnose::{mean_effective_size, r_hat};

/// Log likelihoods U of states of prior × likelihood^β at inverse temperatures from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energies {
    /// β of every rung, increasing.
    pub inverse_temperatures: Vec<f64>,
    /// U by rung, ladder and draw; -∞ where the likelihood is not usable, as at β = 0 it may be.
    pub values: Vec<Vec<Vec<f64>>>,
    /// Mean probability of exchanges between rungs k and k + 1; NaN without exchanges.
    pub acceptance: Vec<f64>,
    /// Journeys of states from the posterior to the prior and back, by ladder.
    pub round_trips: Vec<u64>,
}

/// What one rung says: a point of the energy-against-temperature curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RungSummary {
    /// β.
    #[serde(deserialize_with = "crate::json::nan")]
    pub inverse_temperature: f64,
    /// Mean log likelihood; -∞ if any is.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Its standard deviation.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// Effective number of draws; NaN where log likelihoods are not finite.
    #[serde(deserialize_with = "crate::json::nan")]
    pub effective_size: f64,
    /// R-hat between ladders.
    #[serde(deserialize_with = "crate::json::nan")]
    pub r_hat: f64,
    /// Mean probability of an exchange with the next rung; NaN for the last.
    #[serde(deserialize_with = "crate::json::nan")]
    pub acceptance: f64,
}

impl Energies {
    /// Number of rungs.
    pub fn rungs(&self) -> usize {
        self.inverse_temperatures.len()
    }

    /// Number of ladders.
    pub fn ladders(&self) -> usize {
        self.values[0].len()
    }

    /// Draws per ladder.
    pub fn draws(&self) -> usize {
        self.values[0][0].len()
    }

    /// Mean and variance of U at a rung, over all ladders.
    pub(super) fn moments(&self, rung: usize) -> (f64, f64) {
        let values = || self.values[rung].iter().flatten();
        let count = (self.ladders() * self.draws()) as f64;
        let mean = values().sum::<f64>() / count;
        if !mean.is_finite() {
            return (mean, f64::NAN);
        }
        let square: f64 = values().map(|u| (u - mean).powi(2)).sum();
        (mean, square / (count - 1.0))
    }

    /// The curve of U against the inverse temperature.
    pub fn curve(&self) -> Vec<RungSummary> {
        let rung = |(k, &inverse_temperature): (usize, &f64)| {
            let (mean, variance) = self.moments(k);
            RungSummary {
                inverse_temperature,
                mean,
                sd: variance.sqrt(),
                effective_size: mean_effective_size(&self.values[k]),
                r_hat: r_hat(&self.values[k]),
                acceptance: self.acceptance.get(k).copied().unwrap_or(f64::NAN),
            }
        };
        self.inverse_temperatures.iter().enumerate().map(rung).collect()
    }

    /// A function of the draws at one time of one ladder, for all of them: `add` is called for
    /// every rung it depends on.
    pub(super) fn influence(&self) -> Vec<Vec<f64>> {
        vec![vec![0.0; self.draws()]; self.ladders()]
    }
}
