//! Mixtures of normal distributions, found by variational coordinate ascent.
//!
//! On the standardised scale rows are x ~ Σ_k π_k N(μ_k, Λ_k⁻¹) with a Dirichlet prior of π and
//! a normal-Wishart prior of every (μ_k, Λ_k). The posterior of these and of the components z of
//! the rows is approximated by q(z) q(π) Π_k q(μ_k, Λ_k): the best such q has a Dirichlet and
//! normal-Wishart distributions, found by turns, responsibilities given parameters and
//! parameters given responsibilities [Attias 1999; Bishop 2006, §10.2]. The lower bound of the
//! log evidence never decreases, and components that the data do not need stay empty
//! [Corduneanu & Bishop 2001]. Draws are independent draws from q.

mod approximation;
mod ascent;
mod evaluator;
mod findings;
mod posterior;
mod predictor;
mod spec;
mod start;

pub use approximation::MixtureApproximation;
pub use findings::MixtureFindings;
pub use posterior::MixturePosterior;
pub use spec::Mixture;

#[cfg(test)]
mod tests;
