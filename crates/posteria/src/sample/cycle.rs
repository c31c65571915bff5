//! Apply one of several kernels at every step, in a fixed cycle.

use posteria_linalg::Matrix;

use super::memory::{ForeignMemory, MemoryReader};
use super::sequence::{forget_gradient, know_gradient, read, write};
use super::{Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// Kernels that take turns: `count` steps of the first, `count` steps of the second, …, and
/// again. Every step leaves the density invariant whatever its place in the cycle.
pub struct Cycle {
    kernels: Vec<(usize, Box<dyn Kernel>)>,
    /// Steps made since the cycle last began.
    place: usize,
}

impl Cycle {
    /// The cycle of `kernels`, each with its number of steps.
    ///
    /// # Panics
    /// If there is no kernel, or one has no step.
    pub fn new(kernels: Vec<(usize, Box<dyn Kernel>)>) -> Self {
        assert!(!kernels.is_empty(), "a cycle needs at least one kernel");
        assert!(kernels.iter().all(|(count, _)| *count > 0), "every kernel has a step");
        Cycle { kernels, place: 0 }
    }

    /// Number of steps of one cycle.
    pub fn length(&self) -> usize {
        self.kernels.iter().map(|(count, _)| count).sum()
    }

    /// Whose turn it is.
    fn turn(&self) -> usize {
        let mut end = 0;
        let turn = self.kernels.iter().position(|(count, _)| {
            end += count;
            self.place < end
        });
        turn.expect("the place is within the cycle")
    }
}

impl Kernel for Cycle {
    fn name(&self) -> &'static str {
        "cycle"
    }

    fn needs_gradient(&self) -> bool {
        self.kernels.iter().any(|(_, kernel)| kernel.needs_gradient())
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        let turn = self.turn();
        self.place = (self.place + 1) % self.length();
        // Whoever's turn it is: an interrupted chain evaluates the gradient too.
        if self.needs_gradient()
            && let Err(infeasible) = know_gradient(target, point)
        {
            return Step::stayed(infeasible);
        }
        let kernel = &mut self.kernels[turn].1;
        let step = kernel.step(target, point, stream);
        forget_gradient(kernel.as_ref(), point);
        step
    }

    /// Begins a stage with the first kernel.
    fn enter(&mut self, stage: &Stage) {
        self.place = 0;
        self.kernels.iter_mut().for_each(|(_, kernel)| kernel.enter(stage));
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.kernels.iter_mut().for_each(|(_, kernel)| kernel.shape(mode, covariance));
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.place as f64];
        self.kernels.iter().for_each(|(_, kernel)| write(kernel.as_ref(), &mut memory));
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.place = memory.count()?;
        if self.place >= self.length() {
            return Err(memory.foreign());
        }
        self.kernels.iter_mut().try_for_each(|(_, kernel)| read(kernel.as_mut(), &mut memory))?;
        memory.finish()
    }
}
