//! Climb to the mode of a [`LogDensity`](crate::target::LogDensity), or part of the way.
//!
//! Scaled conjugate gradients find modes, for starting values and for point estimates, and so does
//! a quasi-Newton method where gradients are dear and coordinates few; early
//! stopping climbs only as long as rows that were held back profit. Nothing here knows a model.

mod ascent;
mod early_stopping;
mod quasi_newton;
mod scaled_conjugate_gradient;

#[cfg(test)]
mod tests;

pub use ascent::Ascent;
pub(crate) use ascent::Climb;
pub use early_stopping::EarlyStopping;
pub(crate) use early_stopping::early_stopped;
pub use quasi_newton::QuasiNewton;
pub use scaled_conjugate_gradient::{Optimum, ScaledConjugateGradient};
