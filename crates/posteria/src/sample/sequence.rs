//! Apply several kernels one after the other, as one kernel.

use posteria_linalg::Matrix;

use super::kernel::evaluate;
use super::memory::{ForeignMemory, MemoryReader};
use super::{Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// Kernels that are applied one after the other to the same point: each leaves the density
/// invariant, hence so does the sequence.
///
/// Kernels without gradient are charged for values only; the gradient is evaluated again
/// before the next kernel that needs it. A sequence is cheapest with the kernels that need a
/// gradient at its beginning.
///
/// Its [`Step`] adds up the evaluations of all kernels; acceptance, energy and step size are
/// those of the first kernel with a trajectory. Without any, the acceptance is the mean over
/// the kernels that made proposals and the energy the last one known.
pub struct Sequence {
    kernels: Vec<Box<dyn Kernel>>,
}

impl Sequence {
    /// The sequence of `kernels`.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(kernels: Vec<Box<dyn Kernel>>) -> Self {
        assert!(!kernels.is_empty(), "a sequence needs at least one kernel");
        Sequence { kernels }
    }

    /// Names of the kernels, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.kernels.iter().map(|kernel| kernel.name())
    }
}

impl Kernel for Sequence {
    fn name(&self) -> &'static str {
        "sequence"
    }

    fn needs_gradient(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.needs_gradient())
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        if self.needs_gradient()
            && let Err(infeasible) = know_gradient(target, point)
        {
            return Step::stayed(infeasible);
        }
        let mut report = Report::default();
        for kernel in &mut self.kernels {
            if kernel.needs_gradient() && gradient_is_unknown(point) {
                report.evaluations += 1;
                if let Err(infeasible) = know_gradient(target, point) {
                    report.add(&Step::stayed(infeasible));
                    continue;
                }
            }
            report.add(&kernel.step(target, point, stream));
            forget_gradient(kernel.as_ref(), point);
        }
        report.step()
    }

    fn enter(&mut self, stage: &Stage) {
        self.kernels.iter_mut().for_each(|kernel| kernel.enter(stage));
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.kernels.iter_mut().for_each(|kernel| kernel.shape(mode, covariance));
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        self.kernels.iter().for_each(|kernel| write(kernel.as_ref(), &mut memory));
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.kernels.iter_mut().try_for_each(|kernel| read(kernel.as_mut(), &mut memory))?;
        memory.finish()
    }
}

/// Whether the gradient of `point` was lost when a kernel without one moved it.
fn gradient_is_unknown(point: &Point) -> bool {
    point.gradient.first().is_some_and(|component| component.is_nan())
}

/// Evaluates the gradient where it is unknown. A point that cannot be evaluated keeps its log
/// density.
pub(super) fn know_gradient(
    target: &mut dyn LogDensity,
    point: &mut Point,
) -> Result<(), Infeasible> {
    if !gradient_is_unknown(point) {
        return Ok(());
    }
    let log_density = point.log_density;
    evaluate(target, point, true).inspect_err(|_| {
        point.log_density = log_density;
        point.gradient.fill(f64::NAN);
    })
}

/// After a kernel without gradient nothing is known of it, whether the kernel moved or not: so
/// an interrupted chain, which evaluates anew, finds the same bits as an uninterrupted one.
pub(super) fn forget_gradient(kernel: &dyn Kernel, point: &mut Point) {
    if !kernel.needs_gradient() {
        point.gradient.fill(f64::NAN);
    }
}

/// Writes the memory of one of several kernels.
pub(super) fn write(kernel: &dyn Kernel, memory: &mut Vec<f64>) {
    let own = kernel.memory();
    memory.push(own.len() as f64);
    memory.extend(own);
}

/// Reads what [`write()`] wrote.
pub(super) fn read(
    kernel: &mut dyn Kernel,
    memory: &mut MemoryReader<'_>,
) -> Result<(), ForeignMemory> {
    let length = memory.count()?;
    kernel.recall(memory.take(length)?)
}

/// The steps of several kernels on their way to one.
#[derive(Default)]
pub(super) struct Report {
    first_trajectory: Option<Step>,
    last_known: Step,
    proposals: f64,
    acceptance: f64,
    accepted: bool,
    evaluations: u32,
    leapfrog_steps: u32,
    tree_depth: u32,
    diverging: bool,
    infeasible: Option<Infeasible>,
}

impl Report {
    pub(super) fn add(&mut self, step: &Step) {
        if step.leapfrog_steps > 0 && self.first_trajectory.is_none() {
            self.first_trajectory = Some(*step);
        }
        if !step.energy.is_nan() {
            self.last_known = *step;
        }
        if step.evaluations > 0 {
            self.proposals += 1.0;
            self.acceptance += step.acceptance;
        }
        self.accepted |= step.accepted;
        self.evaluations += step.evaluations;
        self.leapfrog_steps += step.leapfrog_steps;
        self.tree_depth = self.tree_depth.max(step.tree_depth);
        self.diverging |= step.diverging;
        self.infeasible = self.infeasible.or(step.infeasible);
    }

    pub(super) fn step(&self) -> Step {
        let told = self.first_trajectory.unwrap_or(self.last_known);
        let acceptance = match (self.first_trajectory, self.proposals > 0.0) {
            (Some(step), _) => step.acceptance,
            (None, true) => self.acceptance / self.proposals,
            (None, false) => f64::from(u8::from(self.infeasible.is_none())),
        };
        Step {
            accepted: self.accepted,
            acceptance,
            energy: told.energy,
            step_size: told.step_size,
            evaluations: self.evaluations,
            leapfrog_steps: self.leapfrog_steps,
            tree_depth: self.tree_depth,
            diverging: self.diverging,
            infeasible: self.infeasible,
        }
    }
}
