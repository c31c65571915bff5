//! The multilayer perceptron with one hidden layer of tanh units.

pub mod marginal;
pub mod network;

pub use marginal::{Marginal, MarginalGradient};
pub use network::{Likelihood, Network, Rows, Shape};
