//! The prior of the standard deviation of a group of weights.

use crate::model::prior::ScaleDensity;

/// The prior of the standard deviation of a group of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalePrior {
    /// Known.
    Fixed(f64),
    /// Sampled; a gamma prior of the precision is one of its variance.
    Sampled(ScaleDensity),
}
