//! Where targets fall in their predictive distributions.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::Proportion;
use crate::diagnose::asymptotic_p_value;

/// Masses of the central intervals whose coverage is told.
const MASSES: [f64; 4] = [0.5, 0.8, 0.9, 0.95];
/// Probability that the band holds the whole curve.
const CONFIDENCE: f64 = 0.95;
/// Points at which the curve is told, 0 and 1 apart.
const POINTS: usize = 100;

/// The probability integral transforms u_i = P(target ≤ y_i) of one target [Dawid 1984]. Uniform on
/// (0, 1) if predictions are calibrated: heaped at both ends if they are too narrow, in the middle
/// if too wide, at one end if they are off to a side.
///
/// Of leave-one-out predictions the u_i are nearly, not quite, independent, so that p-values and
/// bands are nearly right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbabilityIntegralTransform {
    /// Name of the target.
    pub target: String,
    /// The transform of every row, in order of rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub values: Vec<f64>,
    /// The distribution function of the u_i minus that of a uniform variable, at equal distances.
    pub ecdf: Vec<EcdfPoint>,
    /// Half the width of the band about 0 that holds the difference at *all* points with
    /// probability 0.95 or more: √(log(2 / 0.05) / (2n)), by the inequality of Dvoretzky, Kiefer
    /// and Wolfowitz [Massart 1990].
    #[serde(deserialize_with = "crate::json::nan")]
    pub band: f64,
    /// Largest distance of the two distribution functions (Kolmogorov–Smirnov).
    #[serde(deserialize_with = "crate::json::nan")]
    pub statistic: f64,
    /// Probability of such a distance if predictions are calibrated and rows independent.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_value: f64,
    /// 12 × variance about ½ of the u_i: above 1 predictions are too narrow, below too wide.
    #[serde(deserialize_with = "crate::json::nan")]
    pub spread: f64,
    /// How many targets lie in their central predictive intervals.
    pub coverage: Vec<Coverage>,
}

/// A point of the empirical distribution function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EcdfPoint {
    /// Where.
    #[serde(deserialize_with = "crate::json::nan")]
    pub at: f64,
    /// Part of the rows at or below, minus `at`.
    #[serde(deserialize_with = "crate::json::nan")]
    pub difference: f64,
}

/// How many targets lie in their central predictive interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The probability that the interval should hold.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mass: f64,
    /// What it holds.
    pub observed: Proportion,
}

impl ProbabilityIntegralTransform {
    /// From the transform of every row. One that is not a number makes the test NaN.
    pub fn new(target: String, values: Vec<f64>) -> Self {
        let rows = values.len();
        let count = rows as f64;
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let steps = sorted.iter().enumerate().map(|(index, value)| {
            let (below, above) = (value - index as f64 / count, (index + 1) as f64 / count - value);
            if value.is_nan() { f64::NAN } else { below.max(above) }
        });
        let statistic =
            steps.fold(
                0.0,
                |most: f64, step| {
                    if most.is_nan() || step.is_nan() { f64::NAN } else { most.max(step) }
                },
            );
        let point = |index: usize| {
            let at = index as f64 / POINTS as f64;
            let below = sorted.partition_point(|value| *value <= at);
            EcdfPoint { at, difference: below as f64 / count - at }
        };
        let coverage = |mass: f64| {
            let outside = 0.5 * (1.0 - mass);
            let inside = |value: &&f64| **value >= outside && **value <= 1.0 - outside;
            let observed = Proportion::new(values.iter().filter(inside).count(), rows);
            Coverage { mass, observed }
        };
        ProbabilityIntegralTransform {
            target,
            ecdf: (1..POINTS).map(point).collect(),
            band: ((2.0 / (1.0 - CONFIDENCE)).ln() / (2.0 * count)).sqrt(),
            statistic,
            // Against a sample without end.
            p_value: asymptotic_p_value(statistic, rows, usize::MAX),
            spread: 12.0 * values.iter().map(|value| (value - 0.5).powi(2) / count).sum::<f64>(),
            coverage: MASSES.map(coverage).to_vec(),
            values,
        }
    }

    /// How many transforms fall into each of `bins` parts of (0, 1) of equal length, over what is
    /// expected of calibrated predictions: 1 is as many as there should be. What is no number is in
    /// none of them.
    pub fn histogram(&self, bins: usize) -> Vec<f64> {
        let mut heights = vec![0.0; bins];
        let expected = self.values.len() as f64 / bins as f64;
        for value in self.values.iter().filter(|value| !value.is_nan()) {
            let bin = ((value * bins as f64) as usize).min(bins.saturating_sub(1));
            heights[bin] += 1.0 / expected;
        }
        heights
    }

    /// Where each height of [`ProbabilityIntegralTransform::histogram`] is with probability 0.95 if
    /// predictions are calibrated and rows independent: quantiles of the binomial distribution over
    /// what is expected.
    pub fn histogram_band(&self, bins: usize) -> [f64; 2] {
        let (rows, share) = (self.values.len() as u64, 1.0 / bins.max(1) as f64);
        let expected = rows as f64 * share;
        let Ok(binomial) = Binomial::new(share, rows) else { return [f64::NAN; 2] };
        let tail = 0.5 * (1.0 - CONFIDENCE);
        [tail, 1.0 - tail].map(|p| binomial.inverse_cdf(p) as f64 / expected)
    }
}
