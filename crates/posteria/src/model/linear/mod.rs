//! Linear, logistic and softmax regression, sampled exactly where the conditionals are known.
//!
//! On the standardised scale the output of a row is f(x) = b + Σ_k w_k φ_k(x), where φ_k are the
//! inputs themselves or functions of them (a *basis*). A real target has a residual about f:
//! normal, Student's t, Laplace or normal with a variance per row, all of which are normal given
//! one number κ per row, so that weights are drawn exactly. Of two classes the second has
//! probability 1 / (1 + exp(-f)); of more, class c has a probability proportional to exp(f_c)
//! with weights of its own. Priors, all on the standardised scale:
//!
//! - weights: N(0, a²), with a fixed, or a² inverse gamma (a scale common to all weights, or
//!   one per input, which is then its *relevance*), or 1/a² gamma (the same thing in the
//!   parametrisation of [Fabricius 1999, eq. 6.26]);
//! - intercept: N(0, c²), c fixed, or c² inverse gamma;
//! - residual variance σ²: inverse gamma, or 1/σ² gamma;
//! - or the conjugate prior w, b ~ N(0, σ²/ρ), for which everything is known in closed form
//!   ([`ClosedForm`]).
//!
//! With few scales and normal residuals the other priors have exact answers too, by quadrature
//! ([`ByQuadrature`]); [`LeastSquares`] has the classical estimates beside them.
//!
//! Draws are reported on the user's scale, see [`LinearPosterior`].

mod by_quadrature;
mod capabilities;
mod classified;
mod closed_form;
mod coefficients;
mod columns;
mod condition;
mod contract;
mod evaluator;
mod exact;
mod input_sets;
mod layout;
mod least_squares;
mod likelihood;
mod log_integral;
mod logistic;
mod outcome;
mod posterior;
mod predictor;
mod regularised;
mod scale;
mod scale_moves;
mod softmax;
mod spec;
mod squares;
mod updates;
mod user_scale;
mod weights;

pub use by_quadrature::{ByQuadrature, NormalMixture};
pub use closed_form::{ClosedForm, StudentT};
pub use least_squares::{Criteria, LeastSquares, LeastSquaresError};
pub use likelihood::ParameterEstimate;
pub use posterior::LinearPosterior;
pub use regularised::LinearWeights;
pub use spec::Linear;

#[cfg(test)]
mod tests;
