//! Markov kernels on any [`LogDensity`](crate::target::LogDensity), and sweeps over blocks of
//! a state. Nothing here knows a model.

mod kernel;
mod plan;
mod update;

pub use kernel::{Kernel, Step};
pub use plan::{Adapt, Plan, Stage};
pub use update::{Block, Conditional, Sweep, Update, Whole};
