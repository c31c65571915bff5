//! Markov kernels on any [`LogDensity`](crate::target::LogDensity), and sweeps over blocks of
//! a state. Nothing here knows a model.

pub mod hmc;
mod kernel;
mod memory;
mod plan;
mod step_size;
mod update;

pub use kernel::{Kernel, Step};
pub use plan::{Adapt, Plan, Stage};
pub use step_size::DualAveraging;
pub use update::{Block, Conditional, Sweep, Update, Whole};
