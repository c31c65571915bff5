//! Compose a sweep from updates of blocks of one flat state.

use posteria_linalg::Matrix;

use super::kernel::evaluate;
use super::memory::{ForeignMemory, expect_none};
use super::{Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// A transition of one block of the state given all others: an exact draw from a full
/// conditional, or a [`Kernel`] wrapped in a [`Block`].
pub trait Update: Send {
    /// The block's name, unique in its sweep; stages name the blocks they hold still by it.
    fn name(&self) -> &str;

    /// Moves the block once, in place. Reads whatever it needs of the rest of the state, so
    /// nothing it uses can be stale.
    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step;

    /// As [`Kernel::enter`].
    fn enter(&mut self, stage: &Stage) {
        let _ = stage;
    }

    /// As [`Kernel::memory`].
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// As [`Kernel::recall`].
    ///
    /// # Errors
    /// [`ForeignMemory`].
    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        expect_none("an update without memory", memory)
    }
}

/// One pass over all blocks of a state, in order. Each update leaves the joint density
/// invariant, hence so does the sweep.
#[derive(Default)]
pub struct Sweep<'p> {
    updates: Vec<Box<dyn Update + 'p>>,
    steps: Vec<Step>,
    moving: Vec<bool>,
}

impl<'p> Sweep<'p> {
    /// A sweep over `updates`.
    ///
    /// # Panics
    /// If two updates have the same name.
    pub fn new(updates: Vec<Box<dyn Update + 'p>>) -> Self {
        for (i, update) in updates.iter().enumerate() {
            assert!(
                updates[..i].iter().all(|other| other.name() != update.name()),
                "two updates are called {}",
                update.name()
            );
        }
        let count = updates.len();
        Sweep { updates, steps: vec![Step::default(); count], moving: vec![true; count] }
    }

    /// The sweep with one more update at its end.
    ///
    /// # Panics
    /// If another update has the same name.
    #[must_use]
    pub fn with(mut self, update: Box<dyn Update + 'p>) -> Self {
        self.updates.push(update);
        Sweep::new(self.updates)
    }

    /// Names of the updates, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.updates.iter().map(|update| update.name())
    }

    /// Moves every block that the present stage does not hold still; returns
    /// [`Sweep::steps`].
    pub fn pass(&mut self, state: &mut [f64], stream: &mut Stream) -> &[Step] {
        for ((update, step), moving) in
            self.updates.iter_mut().zip(&mut self.steps).zip(&self.moving)
        {
            // A block held still must not report again what it did in an earlier stage.
            *step = if *moving { update.update(state, stream) } else { Step::default() };
        }
        &self.steps
    }

    /// What each update did in the last pass; of a block held still, nothing.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Begins a stage.
    pub fn enter(&mut self, stage: &Stage) {
        for (update, moving) in self.updates.iter_mut().zip(&mut self.moving) {
            *moving = !stage.still.iter().any(|name| name == update.name());
            update.enter(stage);
        }
    }

    /// One memory per update.
    pub fn memory(&self) -> Vec<Vec<f64>> {
        self.updates.iter().map(|update| update.memory()).collect()
    }

    /// Restores what [`Sweep::memory`] returned, after [`Sweep::enter`] of the same stage.
    ///
    /// # Errors
    /// [`ForeignMemory`] if the memory belongs to another sweep, which is then not to be used.
    pub fn recall(&mut self, memory: &[Vec<f64>]) -> Result<(), ForeignMemory> {
        if memory.len() != self.updates.len() {
            return Err(ForeignMemory { owner: "a sweep of other updates" });
        }
        self.updates.iter_mut().zip(memory).try_for_each(|(update, memory)| update.recall(memory))
    }
}

/// The density of one block given the rest of the state.
pub trait Conditional: LogDensity + Send {
    /// Takes what the density depends on from the whole `state`. Returns whether the density
    /// may differ from the one of the previous call.
    fn condition(&mut self, state: &[f64]) -> bool;
}

/// A density of the whole state: depends on nothing else.
#[derive(Clone, Debug)]
pub struct Unconditional<T>(pub T);

impl<T: LogDensity> LogDensity for Unconditional<T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.0.log_density(position)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        self.0.log_density_gradient(position, gradient)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.0.force(position, gradient)
    }

    fn curvature(&mut self, position: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
        self.0.curvature(position, curvature)
    }

    fn step_scale(&self) -> Option<&[f64]> {
        self.0.step_scale()
    }

    fn feature_count(&self) -> usize {
        self.0.feature_count()
    }

    fn features(&mut self, position: &[f64], features: &mut [f64]) -> Result<(), Infeasible> {
        self.0.features(position, features)
    }
}

impl<T: LogDensity + Send> Conditional for Unconditional<T> {
    fn condition(&mut self, _state: &[f64]) -> bool {
        false
    }
}

/// A [`Kernel`] that moves some entries of the state.
pub struct Block<C, K> {
    name: String,
    slots: Vec<usize>,
    conditional: C,
    kernel: K,
    point: Point,
    current: bool,
}

impl<C: Conditional, K: Kernel> Block<C, K> {
    /// Moves `state[start..start + conditional.dim()]` by `kernel`.
    pub fn new(name: impl Into<String>, start: usize, conditional: C, kernel: K) -> Self {
        let dim = conditional.dim();
        Self::at(name, (start..start + dim).collect(), conditional, kernel)
    }

    /// Moves the entries `slots` of the state by `kernel`.
    ///
    /// # Panics
    /// If there is not one entry per dimension.
    pub fn at(name: impl Into<String>, slots: Vec<usize>, conditional: C, kernel: K) -> Self {
        let dim = conditional.dim();
        assert_eq!(slots.len(), dim, "one entry of the state per dimension");
        let point = Point { position: vec![0.0; dim], gradient: vec![0.0; dim], log_density: 0.0 };
        Block { name: name.into(), slots, conditional, kernel, point, current: false }
    }
}

impl<C: Conditional, K: Kernel> Update for Block<C, K> {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let changed = self.conditional.condition(state);
        // Another update may have moved this block or what it depends on; the cached density
        // is used only where nothing did, bit for bit.
        let mut moved = false;
        for (value, slot) in self.point.position.iter_mut().zip(&self.slots) {
            moved |= value.to_bits() != state[*slot].to_bits();
            *value = state[*slot];
        }
        if changed || moved || !self.current {
            let with_gradient = self.kernel.needs_gradient();
            if let Err(infeasible) = evaluate(&mut self.conditional, &mut self.point, with_gradient)
            {
                // Without a density there is nothing to move from: stay, and say so.
                self.current = false;
                return Step { evaluations: 1, ..Step::stayed(infeasible) };
            }
            self.current = true;
        }
        let step = self.kernel.step(&mut self.conditional, &mut self.point, stream);
        for (value, slot) in self.point.position.iter().zip(&self.slots) {
            state[*slot] = *value;
        }
        step
    }

    fn enter(&mut self, stage: &Stage) {
        self.kernel.enter(stage);
    }

    fn memory(&self) -> Vec<f64> {
        self.kernel.memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.current = false;
        self.kernel.recall(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// -x²/2 with all that a target may know of itself.
    struct Known;

    impl LogDensity for Known {
        fn dim(&self) -> usize {
            1
        }

        fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
            Ok(-0.5 * position[0] * position[0])
        }

        fn log_density_gradient(
            &mut self,
            position: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, Infeasible> {
            gradient[0] = -position[0];
            self.log_density(position)
        }

        fn curvature(&mut self, _: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
            curvature[(0, 0)] = 1.0;
            Ok(true)
        }

        fn step_scale(&self) -> Option<&[f64]> {
            Some(&[2.0])
        }
    }

    #[test]
    fn a_density_of_the_whole_state_tells_what_the_density_knows() {
        let mut whole = Unconditional(Known);
        let mut curvature = Matrix::zeros(1, 1);
        assert_eq!(whole.curvature(&[3.0], &mut curvature), Ok(true));
        assert!((curvature[(0, 0)] - 1.0).abs() < f64::EPSILON);
        assert_eq!(whole.step_scale(), Some(&[2.0][..]));
    }
}
