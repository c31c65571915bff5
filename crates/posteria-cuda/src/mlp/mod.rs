//! Hybrid Monte Carlo of networks with one hidden layer, many chains at once.
//!
//! One iteration draws the residual model and every scale from its full conditional, then moves all
//! weights along a trajectory that is accepted or rejected [Neal 1996, §3]. Degrees of freedom of
//! Student's t are drawn by way of one latent number per row, which nothing else depends on;
//! trajectories see the density with these integrated out. Everything happens on the device; the
//! host reads draws.
//!
//! Forces are in single precision, with a fast hyperbolic tangent, energies and random numbers in
//! double precision, so that the accept step judges the forces. With [`MlpOptions::double`]
//! everything is in double precision, rows included.

mod network;
mod philox;
mod problem;
mod reference;
mod sampler;
mod spec;

pub(crate) use network::CudaNetwork;
pub use problem::{
    GroupScale, MlpFold, MlpLikelihood, MlpModel, MlpOptions, ResidualScale, ScaleSpread,
    StateLayout,
};
pub use reference::Reference;
pub use sampler::{MlpDraws, MlpSampler};

#[cfg(test)]
mod tests;
