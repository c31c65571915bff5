//! Bayesian principal components: how many there are is found, not given.
//!
//! On the standardised scale rows are x = μ + W z + noise, z ~ N(0, I), noise N(0, I/τ). Column i
//! of the loadings W is N(0, I/α_i): columns whose precision α_i grows are switched off, so the
//! number of components is found [Bishop 1999a,b]. The posterior is approximated by
//! q(z) q(W) q(μ) q(α) q(τ), normal and gamma distributions found by turns; the lower bound of
//! the log evidence never decreases. Draws are independent draws from q.

mod approximation;
mod ascent;
mod evaluator;
mod findings;
mod low_rank;
mod posterior;
mod predictor;
mod scatter;
mod spec;

pub use approximation::PcaApproximation;
pub use findings::PcaFindings;
pub use posterior::PcaPosterior;
pub use spec::Pca;

#[cfg(test)]
mod tests;
