//! A proportion with its interval.

use serde::{Deserialize, Serialize};

use crate::density::special::normal_quantile;

/// How many of how many, with a central 90 % interval [Wilson 1927], which stays within [0, 1] and is
/// sound for few rows too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proportion {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// The proportion.
    #[serde(deserialize_with = "crate::json::nan")]
    pub value: f64,
    /// Lower end of the interval.
    #[serde(deserialize_with = "crate::json::nan")]
    pub low: f64,
    /// Upper end of the interval.
    #[serde(deserialize_with = "crate::json::nan")]
    pub high: f64,
}

impl Proportion {
    /// `of` is positive; else everything is NaN.
    pub fn new(count: usize, of: usize) -> Self {
        let size = of as f64;
        let value = count as f64 / size;
        let z = normal_quantile(0.95);
        let scale = 1.0 / (1.0 + z * z / size);
        let centre = scale * (value + 0.5 * z * z / size);
        let half = scale * z * (value * (1.0 - value) / size + 0.25 * z * z / (size * size)).sqrt();
        // Exact at the ends, where rounding would leave 1e-17.
        let low = if count == 0 { 0.0 } else { centre - half };
        let high = if count == of { 1.0 } else { centre + half };
        Proportion { count, of, value, low, high }
    }
}
