//! Climb to the mode of a [`LogDensity`](crate::target::LogDensity), or part of the way.
//!
//! Scaled conjugate gradients find modes, for starting values and for point estimates; early
//! stopping climbs only as long as rows that were held back profit. Nothing here knows a model.

mod ascent;
mod early_stopping;
mod scaled_conjugate_gradient;

#[cfg(test)]
mod tests;

pub use ascent::{Ascent, Climb};
pub use early_stopping::{EarlyStopped, EarlyStopping, early_stopped};
pub use scaled_conjugate_gradient::{Optimum, ScaledConjugateGradient};
