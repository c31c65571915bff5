//! Sample the latent values of classes, and hyperparameters given them.
//!
//! With one normal site exp(hᵀf - ½ fᵀWf) per row in place of its likelihood, the functions have
//! the distribution N(m, Σ), Σ = (K⁻¹ + W)⁻¹, m = Σh, and the sites an evidence Z(θ). The target
//!
//! p(θ) N(f; 0, K) Π p(y_i|f_i)^β = p(θ) Z(θ) N(f; m, Σ) Π p(y_i|f_i)^β / site_i(f_i)
//!
//! whatever the sites, which only decide how quickly chains mix: latents move about (m, Σ), and
//! hyperparameters with the noise that m and Σ turn into latents held still or moving with them.
//! Sites come from Laplace's method at first, then from the latents that are visited in warm-up,
//! and are frozen afterwards. Of two classes with the logistic link random sites make the target
//! normal, so that many hyperparameters move with the functions integrated out.

mod augmented;
mod elliptical;
mod gaussian;
mod input_sets;
mod joint;
mod kernel;
mod laplace;
mod level;
mod likelihood;
mod magnitude;
mod marginal;
mod noise;
mod prior;
mod shared;
mod sites;
mod split;
#[cfg(test)]
mod tests;
mod walk;

pub(super) use kernel::{start, updates};
pub(super) use marginal::LatentMarginal;
