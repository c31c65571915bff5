//! Define a Markov transition on a log density, and what it reports.

use std::sync::Arc;

use posteria_linalg::Matrix;

use super::memory::{ForeignMemory, expect_none};
use super::{Emulator, Stage};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// A Markov transition that leaves a [`LogDensity`] invariant.
///
/// A kernel owns its buffers: after the first step it does not allocate. It adapts only inside
/// a [`Stage`] that asks for it, so that the sampling stage is a fixed transition.
pub trait Kernel: Send {
    /// The kernel's name in reports.
    fn name(&self) -> &'static str;

    /// Whether the kernel works with the gradient. One that does not is never charged for it:
    /// its caller evaluates the value alone, and so does the kernel.
    fn needs_gradient(&self) -> bool {
        true
    }

    /// Moves `point` once. `point` holds the density at its position, and the gradient if the
    /// kernel needs it, when the step begins and when it ends; a kernel that does not need the
    /// gradient fills it with NaN when it moves (or with what only this kernel understands), so
    /// that nobody takes an old one for current, and so does a caller that evaluates the value
    /// alone.
    fn step(&mut self, target: &mut dyn LogDensity, point: &mut Point, stream: &mut Stream)
    -> Step;

    /// Begins a stage: concludes what the previous stage was learning, then takes the
    /// settings of the new one.
    fn enter(&mut self, stage: &Stage) {
        let _ = stage;
    }

    /// Takes a normal approximation of the target into use, as a metric or a proposal to begin
    /// with; a kernel without either does nothing. Part of its memory from then on.
    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        let _ = (mode, covariance);
    }

    /// Takes the emulator of the target into use that `train` finds, if any; a kernel that has no
    /// use for one does not ask. Part of its memory from then on.
    fn emulate(&mut self, train: &mut dyn FnMut() -> Option<Arc<Emulator>>) {
        let _ = train;
    }

    /// Everything a resumed chain needs and cannot recompute: momentum, tuned step size,
    /// metric, adaptation in progress. Counts are stored as exact floats.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Restores what [`Kernel::memory`] returned.
    ///
    /// # Errors
    /// [`ForeignMemory`] if `memory` was not written by the same kind of kernel on the same
    /// dimension; the kernel is then not to be used.
    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        expect_none(self.name(), memory)
    }
}

impl<K: Kernel + ?Sized> Kernel for Box<K> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn needs_gradient(&self) -> bool {
        (**self).needs_gradient()
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        (**self).step(target, point, stream)
    }

    fn enter(&mut self, stage: &Stage) {
        (**self).enter(stage);
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        (**self).shape(mode, covariance);
    }

    fn emulate(&mut self, train: &mut dyn FnMut() -> Option<Arc<Emulator>>) {
        (**self).emulate(train);
    }

    fn memory(&self) -> Vec<f64> {
        (**self).memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        (**self).recall(memory)
    }
}

/// Evaluates `point` anew, with or without the gradient.
///
/// By the same entry point as the kernel's own evaluations: value and gradient together may
/// round differently, and a resumed chain must find the same bits.
pub(super) fn evaluate(
    target: &mut dyn LogDensity,
    point: &mut Point,
    with_gradient: bool,
) -> Result<(), Infeasible> {
    if with_gradient {
        return point.evaluate(target);
    }
    point.gradient.fill(f64::NAN);
    point.log_density = value_at(target, &point.position)?;
    Ok(())
}

/// The log density at `position`, or why it is not usable; never NaN or infinite.
pub(super) fn value_at(
    target: &mut (impl LogDensity + ?Sized),
    position: &[f64],
) -> Result<f64, Infeasible> {
    let value = target.log_density(position)?;
    if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
}

/// What one update did. Facts for reports; nothing in it is carried to the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Whether the state moved to the proposal.
    pub accepted: bool,
    /// Acceptance probability, averaged over the trajectory where the kernel has one.
    pub acceptance: f64,
    /// Energy (minus log density, plus kinetic energy where there is a momentum) of the new
    /// state; NaN for updates that have none.
    pub energy: f64,
    /// Step size of the integrator or width of the proposal; NaN where there is none.
    pub step_size: f64,
    /// Evaluations of the density, with or without gradient.
    pub evaluations: u32,
    /// Leapfrog steps of a trajectory with a momentum; 0 for updates without one.
    pub leapfrog_steps: u32,
    /// Depth of the tree of a NUTS trajectory, else 0.
    pub tree_depth: u32,
    /// Whether the energy error went beyond the threshold.
    pub diverging: bool,
    /// Why a proposal had no usable density, if so.
    pub infeasible: Option<Infeasible>,
}

impl Step {
    /// Those of `steps` that tell how a sweep fared: its trajectories, or where there is none
    /// every proposal. Exact draws tell nothing, and Metropolis steps beside trajectories aim at
    /// another acceptance.
    pub fn informative(steps: &[Step]) -> impl Iterator<Item = &Step> {
        let trajectories = steps.iter().any(|step| step.leapfrog_steps > 0);
        let informs = move |step: &&Step| match trajectories {
            true => step.leapfrog_steps > 0,
            false => step.evaluations > 0,
        };
        steps.iter().filter(informs)
    }

    /// An update that could not be made: the state stays.
    pub fn stayed(infeasible: Infeasible) -> Self {
        Step { accepted: false, acceptance: 0.0, infeasible: Some(infeasible), ..Step::default() }
    }
}

impl Default for Step {
    /// An exact draw from a full conditional: always accepted, nothing evaluated.
    fn default() -> Self {
        Step {
            accepted: true,
            acceptance: 1.0,
            energy: f64::NAN,
            step_size: f64::NAN,
            evaluations: 0,
            leapfrog_steps: 0,
            tree_depth: 0,
            diverging: false,
            infeasible: None,
        }
    }
}
