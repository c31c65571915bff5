//! Linear and logistic regression, sampled exactly where the conditionals are known.
//!
//! On the standardised scale the output of a row is f(x) = b + Σ_k w_k x_k. A real target is
//! normal about f with variance σ²; a binary one is of the second class with probability
//! 1 / (1 + exp(-f)). Priors, all on the standardised scale:
//!
//! - weights: N(0, a²), with a fixed, or a² inverse gamma (a scale common to all weights, or
//!   one per input, which is then its *relevance*), or 1/a² gamma (the same thing in the
//!   parametrisation of [Fabricius 1999, eq. 6.26]);
//! - intercept: N(0, c²), c fixed, or c² inverse gamma;
//! - residual variance σ²: inverse gamma, or 1/σ² gamma;
//! - or the conjugate prior w, b ~ N(0, σ²/ρ), for which everything is known in closed form
//!   ([`ClosedForm`]).
//!
//! Draws are reported on the user's scale, see [`LinearPosterior`].

mod closed_form;
mod coefficients;
mod evaluator;
mod logistic;
mod posterior;
mod predictor;
mod regularised;
mod scale;
mod spec;
mod updates;

pub use closed_form::{ClosedForm, StudentT};
pub use posterior::LinearPosterior;
pub use regularised::LinearWeights;
pub use spec::Linear;

#[cfg(test)]
mod tests;
