//! Begin the warm-up of a kernel at a mode, with the shape of the density there.

use posteria_linalg::Matrix;

use super::memory::{ForeignMemory, MemoryReader};
use super::modes::choose;
use super::sequence::{read, write};
use super::{Adapt, AtMode, Kernel, Modes, Stage, Step};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// How much wider than the approximation the starting points lie, so that chains which agree have
/// come together.
const OVERDISPERSION: f64 = 1.5;
/// Starting points that are tried, each half as far from the mode as the one before.
const ATTEMPTS: usize = 8;

/// A kernel whose first step of a warm-up looks for a mode, hands the normal approximation there to
/// the kernel ([`Kernel::shape`]), and goes on from a draw of it that is half as wide again. Stages
/// that do not adapt never do so, nor does a chain that goes on from another's memory.
pub struct FromMode<'p, K> {
    kernel: K,
    /// Modes that all chains share.
    modes: Option<&'p Modes>,
    adapting: bool,
    /// Whether the mode was looked for.
    began: bool,
}

impl<'p, K: Kernel> FromMode<'p, K> {
    /// `kernel`, from the mode above where its chain starts.
    pub fn own(kernel: K) -> Self {
        FromMode { kernel, modes: None, adapting: false, began: false }
    }

    /// `kernel`, from one of the modes that all chains share, by its mass. They must be those of
    /// its target, which depends on nothing else in the state.
    pub fn among(kernel: K, modes: &'p Modes) -> Self {
        FromMode { modes: Some(modes), ..FromMode::own(kernel) }
    }

    /// Moves `point` to a draw about a mode. It stays where there is none.
    fn begin(&mut self, target: &mut dyn LogDensity, point: &mut Point, stream: &mut Stream) {
        let own;
        let found = match self.modes {
            Some(modes) => {
                self.kernel.emulate(&mut || modes.emulator(target).cloned());
                choose(modes.find(target), stream)
            }
            None => {
                own = AtMode::find(target, point.position.clone()).ok();
                own.as_ref()
            }
        };
        let Some(found) = found else { return };
        self.kernel.shape(&found.mode, &found.covariance);
        let mut spread = OVERDISPERSION;
        let mut trial = point.clone();
        for _ in 0..ATTEMPTS {
            found.draw(spread, &mut trial.position, stream);
            if super::kernel::evaluate(target, &mut trial, self.kernel.needs_gradient()).is_ok() {
                point.copy_from(&trial);
                return;
            }
            spread *= 0.5;
        }
    }
}

impl<K: Kernel> Kernel for FromMode<'_, K> {
    fn name(&self) -> &'static str {
        self.kernel.name()
    }

    fn needs_gradient(&self) -> bool {
        self.kernel.needs_gradient()
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        if self.adapting && !self.began {
            self.began = true;
            self.begin(target, point, stream);
        }
        self.kernel.step(target, point, stream)
    }

    fn enter(&mut self, stage: &Stage) {
        self.adapting = stage.adapt != Adapt::Nothing;
        self.kernel.enter(stage);
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.kernel.shape(mode, covariance);
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![f64::from(u8::from(self.began))];
        write(&self.kernel, &mut memory);
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.began = memory.flag()?;
        read(&mut self.kernel, &mut memory)?;
        memory.finish()
    }
}
