//! Shift and scale a column to mean 0 and standard deviation 1, and back.

use serde::{Deserialize, Serialize};

/// The affine map of one column: standardised = (value - centre) / scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardization {
    /// What maps to 0.
    pub centre: f64,
    /// What one standardised unit is on the user's scale; positive.
    pub scale: f64,
}

impl Standardization {
    /// The map that changes nothing.
    pub const IDENTITY: Self = Standardization { centre: 0.0, scale: 1.0 };

    /// From the user's scale.
    pub fn apply(&self, value: f64) -> f64 {
        (value - self.centre) / self.scale
    }

    /// Back to the user's scale.
    pub fn invert(&self, standardized: f64) -> f64 {
        self.centre + self.scale * standardized
    }
}
