//! The integration tests, one binary.
#![allow(missing_docs, reason = "tests")]

/// Densities with known answers.
mod targets;

/// A small hierarchical posterior.
mod toy;

/// Who may import whom, and how long a file may be.
mod layers;

/// Reversibility and volume of Hamiltonian dynamics.
mod dynamics;

/// Every kernel on densities with known answers.
mod exact_targets;

/// Exact draws stay exact.
mod invariance;

/// Joint-distribution tests of Hamiltonian kernels.
mod joint_distribution;

/// Nothing is allocated once a chain runs.
mod no_allocation;

/// Same numbers on any number of threads, after any interruption.
mod reproducibility;
