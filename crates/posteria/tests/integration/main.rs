//! The integration tests, one binary.
#![allow(missing_docs, reason = "tests")]

/// Densities with known answers.
mod targets;

/// One of every kernel.
mod kernels;

/// Datasets for the linear models.
mod tables;

/// Networks of every kind.
mod networks;

/// A small hierarchical posterior.
mod toy;

/// Means that are integrated out while their scale moves.
mod means;

/// Who may import whom, and how long a file may be.
mod layers;

/// Networks that an accelerator moves.
mod accelerated_networks;

/// Processes that an accelerator computes.
mod accelerator;

/// Chains that begin where others ended.
mod warm;

/// Reversibility and volume of Hamiltonian dynamics.
mod dynamics;

/// Every kernel on densities with known answers.
mod exact_targets;

/// Where No-U-Turn trajectories end.
mod no_u_turn_tree;

/// Exact draws stay exact.
mod invariance;

/// Joint-distribution tests of Hamiltonian kernels.
mod joint_distribution;

/// Kernels made of kernels: what they cost and report.
mod combinations;

/// Lengths of trajectories found in warm-up.
mod trajectory_length;

/// Committees of early-stopped networks.
mod committee;

/// Every kind of model keeps the same contract.
mod conformance;

/// Chains on a power of the likelihood.
mod tempered;

/// Independent draws from an approximation.
mod independent;

/// Why chains have not drawn enough, and what they disagree about.
mod agreement;

/// Rows left out by weights and by folds.
mod cross_validation;

/// Linear models through the whole of a fit.
mod calibration;

/// Nothing is allocated once a chain runs.
mod no_allocation;

/// Same numbers on any number of threads, after any interruption.
mod process_approximations;
mod reproducibility;

/// Results are read back from JSON.
mod results;
