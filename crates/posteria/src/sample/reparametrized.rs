//! Move a state in coordinates of its own, with parts of it integrated out.

use super::kernel::evaluate;
use super::memory::ForeignMemory;
use super::{Kernel, Stage, Step, Update};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// A density in coordinates of its own, made from a chain's state and turned back into it.
///
/// The state is divided in thought into a part A that the coordinates describe (one to one,
/// given the rest), a part B that the density has integrated out, and the rest C. The density
/// is that of the coordinates of A given C: π(A, B | C) integrated over B, times the Jacobian
/// of the change of coordinates.
pub trait Coordinates: LogDensity + Send {
    /// Takes what the density depends on from `state` and writes the position the state has in
    /// these coordinates.
    fn enter(&mut self, state: &[f64], position: &mut [f64]);

    /// Writes `position` back into `state`; parts of the state that the density has integrated
    /// out are drawn here from their conditional given all others.
    fn leave(&mut self, position: &[f64], state: &mut [f64], stream: &mut Stream);
}

/// A [`Kernel`] that moves the state in other [`Coordinates`] than its own.
///
/// The kernel leaves π(A | C) invariant and what was integrated out is then drawn from
/// π(B | A, C), whether the kernel moved or not: together a draw that leaves π(A, B | C)
/// invariant, a collapsed Gibbs step [Liu 1994; van Dyk & Park 2008]. The density is evaluated
/// anew at every step, because the rest of the state may have changed.
pub struct Reparametrized<C, K> {
    name: String,
    coordinates: C,
    kernel: K,
    point: Point,
}

impl<C: Coordinates, K: Kernel> Reparametrized<C, K> {
    /// Moves a state by `kernel` in these coordinates.
    pub fn new(name: impl Into<String>, coordinates: C, kernel: K) -> Self {
        let dim = coordinates.dim();
        let point = Point { position: vec![0.0; dim], gradient: vec![0.0; dim], log_density: 0.0 };
        Reparametrized { name: name.into(), coordinates, kernel, point }
    }

    /// The kernel as it stands.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<C: Coordinates, K: Kernel> Update for Reparametrized<C, K> {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let Reparametrized { coordinates, kernel, point, .. } = self;
        coordinates.enter(state, &mut point.position);
        if let Err(infeasible) = evaluate(coordinates, point, kernel.needs_gradient()) {
            // Without a density there is nothing to move from: stay, and say so.
            return Step { evaluations: 1, ..Step::stayed(infeasible) };
        }
        let step = kernel.step(coordinates, point, stream);
        coordinates.leave(&point.position, state, stream);
        step
    }

    fn enter(&mut self, stage: &Stage) {
        self.kernel.enter(stage);
    }

    fn memory(&self) -> Vec<f64> {
        self.kernel.memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.kernel.recall(memory)
    }
}
