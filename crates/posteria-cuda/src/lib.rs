//! Networks and Gaussian processes on a GPU.
//!
//! The driver and the compiler of kernels are looked for when the program runs, so one binary
//! serves machines with and without a GPU: [`devices`] says what is there, [`Device::open`] takes
//! one. Kernels are CUDA source text; what was compiled is kept in a folder ([`Cache`]).
//!
//! [`CudaAccelerators`] is what a program brings to the library, so that specifications may ask for a device.
//!
//! | module | what it computes |
//! |---|---|
//! | [`gp`] | the density of real targets with a Gaussian process integrated out, and its gradient |
//! | [`mlp`] | hybrid Monte Carlo of small networks and their hierarchical priors, many chains at once |
//!
//! Sums have a fixed order and random numbers are named by chain, iteration and parameter, so
//! that the same seed gives the same numbers on the same kind of chip, however many chains and
//! blocks a launch has. What the device computes is defined by plain Rust beside it:
//! [`mlp::Reference`] and the covariance functions of [`posteria`]; [`self_test()`] compares them.

mod accelerator;
mod blas;
mod cache;
mod compiler;
mod device;
mod error;
pub mod gp;
mod library;
pub mod mlp;
mod report;
mod self_test;
mod solver;

pub use accelerator::{CudaAccelerator, CudaAccelerators};
pub use cache::Cache;
pub use device::{Device, DeviceInfo, devices};
pub use error::CudaError;
pub use report::{DeviceReport, TestedDevice};
pub use self_test::{Check, self_test};
