//! The prior of the standard deviation of a group of weights.

use crate::density::InverseGamma;

/// The prior of the standard deviation of a group of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalePrior {
    /// Known.
    Fixed(f64),
    /// The variance is sampled; a Gamma prior of the precision is the same thing.
    Sampled(InverseGamma),
}
