//! Hierarchical priors: full conditionals of scales, degrees of freedom and covariances.
//!
//! The names follow the levels of a hierarchy: weights or residuals at the bottom, their scales
//! above, the common scale of those above again [Lampinen and Vehtari 2001, eq. 12-14 of the
//! MCMCstuff manual]:
//!
//! w_kj ~ N(0, a_k²), a_k² ~ Inv-gamma(a_ave², ν), a_ave² ~ Inv-gamma(a_0², ν_ave).
//!
//! A chain's state holds every scale as the logarithm of the standard deviation, log a: it is
//! unconstrained, so that the same block may be moved by a Gibbs draw or by HMC, and neither
//! the square nor the inverse square of a tiny scale is ever stored. All draws from full
//! conditionals are exact and independent of the present value. Names in parentheses such as
//! `cond_norm_invgam` are those of section 5.3 of the MCMCstuff manual [Vehtari 2004].
//!
//! The means of groups are 0 and not sampled (`cond_gnorm_norm` is not here): inputs are
//! standardised and hidden units may change sign together with their output weights, so that no
//! group has a direction of its own that a mean could learn, and a shift of f is the bias.

mod choices;
mod common;
mod covariance;
mod dof;
mod dof_density;
#[cfg(test)]
mod joint_test;
mod levels;
mod scale;
mod scale_density;
#[cfg(test)]
mod student_t_scale;

pub(in crate::model) use choices::{DofChoice, SpreadChoice, TopChoice, dof_choice, written};
pub(crate) use covariance::CovarianceConditional;
pub(crate) use dof::{DofGrid, DofSource};
pub(crate) use dof_density::DofDensity;
pub(crate) use levels::{Above, LOG_SCALE_LIMIT, LevelDensities, Levels, Spread, limited};
pub(crate) use scale::{Squares, variance_given_normal};
pub(crate) use scale_density::ScaleDensity;
