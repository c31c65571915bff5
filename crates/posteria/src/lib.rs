//! Bayesian neural networks, Gaussian processes and linear models for tables of data.
//!
//! The modules follow the data flow; each may import only from the rows above its own
//! (`tests/integration/layers.rs` enforces the table):
//!
//! | layer | modules | what they know |
//! |---|---|---|
//! | 0 | [`random`], [`density`], [`caution`] | numbers only |
//! | 1 | [`target`], [`data`], [`draws`] | what is sampled, tables, what chains leave behind |
//! | 2 | [`sample`], [`diagnose`] | Markov kernels and their diagnostics; no model |
//! | 3 | [`model`] | specification and data become a [`model::Posterior`] |
//! | 5 | [`fit`] | chains of a posterior, in parallel; the only spawner of threads |
//!
//! Two narrow waists carry the weight: every sampler works on a [`target::LogDensity`], and
//! every model is fitted through [`model::Posterior`].
#![forbid(unsafe_code)]

pub mod caution;
pub mod data;
pub mod density;
pub mod diagnose;
pub mod draws;
pub mod fit;
pub mod model;
pub mod random;
pub mod sample;
pub mod target;
