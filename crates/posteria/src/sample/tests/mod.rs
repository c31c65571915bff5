//! Test every kernel against answers that are known exactly.

/// What kernels learn in warm-up, and that they stop learning.
mod adaptation;
/// Adaptive rejection sampling.
mod adaptive_rejection;
/// Chains that stop and resume.
mod chain;
/// Moments and quantiles of known targets.
mod exactness;
/// Replicas at several temperatures.
mod exchange;
/// Kernels that begin at a mode.
mod from_mode;
/// Rejection sampling.
mod independent_draws;
/// Joint-distribution tests.
mod joint;
/// Batch means and the tests built on them.
mod monte_carlo;
/// Resuming bit for bit.
mod resume;
/// Targets with known moments.
mod targets;
