//! Gaussian processes with sampled hyperparameters.
//!
//! A function f of the inputs is a Gaussian process with covariance function
//! cov(f(x), f(x')) = Σ_t η_t² Π_k c_k(x, x') + δ J² (see [`covariance`]); the jitter J keeps
//! the covariance matrix well conditioned. Real targets follow f with normal, Student-t, Laplace
//! or per-case residuals; a binary target is of the second class with probability 1/(1 + exp(-f))
//! (or Φ(f)), one of several classes with the softmax of one function each
//! [Neal 1999; MCMCstuff manual §4]. A mean function is part of the covariance: its coefficients
//! are normal with a large standard deviation and integrated out.
//!
//! See [`GaussianProcess::new`] for the keys and defaults, and [`GpPosterior`] for what a draw
//! holds.
//!
//! # How it is sampled
//! Real targets are normal given one latent number per row, whatever the residual family, so
//! hyperparameters and residual scales move with the functions integrated out. Chains begin about
//! a mode of their logarithms, the one of the greatest mass that climbs from several starts find;
//! the curvature there is the metric of trajectories and the shape of a Student-t distribution
//! from which, unless they are many, guesses are made. The functions are then drawn exactly,
//! unless residuals are normal and nothing depends on them.
//!
//! The functions of classes are part of the state. A normal site per row, found by Laplace's
//! method in warm-up, stands for its likelihood: trajectories of the functions are exact for the
//! sites, and hyperparameters move together with the functions, along what the sites say. The
//! target is the exact one whatever the sites.

mod condition;
mod conditioned;
mod contract;
pub mod covariance;
mod error;
mod evaluator;
mod hyperparameter_density;
mod hyperparameters;
mod input_sets;
mod integrated;
mod latent;
mod layout;
mod logistic_normal;
mod marginal;
mod neighbours;
mod observed;
mod on_device;
mod open;
mod pilot;
mod posterior;
mod predictor;
mod process;
mod regression;
mod response;
mod scale_prior;
mod slopes;
mod softmax_normal;
mod source;
mod spec;
mod start;
mod sweep;
#[cfg(test)]
mod tests;
mod updates;

pub use hyperparameter_density::HyperparameterDensity;
pub use posterior::GpPosterior;
pub use spec::GaussianProcess;
