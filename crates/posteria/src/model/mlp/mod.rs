//! The multilayer perceptron with one hidden layer of tanh units.
//!
//! On the standardised scale the outputs of a row are
//! f_o(x) = b2_o + Σ_h w2_ho tanh(b1_h + Σ_k w1_kh x_k) [+ Σ_k wd_ko x_k]. Real targets follow
//! f with normal, Student-t, Laplace or per-case residuals; a binary target is of the second
//! class with probability 1/(1 + exp(-f)), one of several classes with the softmax of the
//! outputs. Without hidden units it is a generalised linear model.
//!
//! Every group of weights has a hierarchical prior [Neal 1996; Vehtari 2001, §2.2]:
//! w ~ N(0, a_k²) (or Laplace, or Student's t), a_k² ~ Inv-gamma(a_ave², ν),
//! a_ave² ~ Inv-gamma(a_0², ν_ave), with one a for the group or one per input (automatic
//! relevance determination). See [`Mlp::new`] for the keys and defaults, and [`MlpPosterior`]
//! for what a draw holds.
//!
//! # How it is sampled
//! Real targets are normal given one latent number per row, whatever the residual family, so
//! the output weights are integrated out: trajectories move hidden weights and all scales
//! together, and the output weights are drawn exactly. For classes trajectories move all weights
//! and scales together, in turn with the output weights in units of their scales and in their
//! own. Scales are also drawn from their full conditionals, so they move in both
//! parametrisations.
//!
//! Chains start at small random weights, at a draw from the prior, or where
//! [early stopping](MlpPosterior::early_stopped) on a random half of the rows ends.

mod canonical;
mod collapsed;
mod condition;
mod contract;
mod defaults;
mod early_stopped;
mod evaluator;
mod gaussian;
mod hierarchy;
pub mod input_sets;
mod layout;
mod level;
mod linear_outputs;
mod marginal;
mod mask;
pub mod network;
mod observed;
mod on_device;
mod partly_centred;
mod posterior;
mod predictor;
mod regularised;
mod residual_scales;
mod rungs;
mod scale_block;
mod scaled_weights;
mod spec;
mod start;
mod sweep;
#[cfg(test)]
mod tests;
mod updates;
mod weights;
mod whitened;
mod width;

pub use super::residual::RESIDUAL_DOFS;
pub use defaults::GROUP_DOFS;
pub use early_stopped::EarlyStoppedNetwork;
pub use marginal::{Marginal, MarginalGradient};
pub use network::{Likelihood, Network, Rows, Shape};
pub use posterior::MlpPosterior;
pub use regularised::MlpWeights;
pub use spec::Mlp;
pub use sweep::{JOINT_STEPS, JOINT_STEPS_OF_REPLICAS, WEIGHT_STEPS};
pub use width::{WidthPower, WidthScaling};
