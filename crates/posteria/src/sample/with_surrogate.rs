//! Move on an emulated density where that does well, and by another kernel now and then.

use std::sync::Arc;

use posteria_linalg::Matrix;

use super::emulator::Emulator;
use super::memory::{ForeignMemory, MemoryReader};
use super::sequence::{Report, forget_gradient, know_gradient, read, write};
use super::{Adapt, Kernel, Stage, Step, Surrogate, SurrogateTransition};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// An emulator that does well has at least this share of its transitions accepted.
const GOOD_ACCEPTANCE: f64 = 0.4;
/// Transitions per step: long, short, long, and the next time the other way round.
const TRANSITIONS: usize = 3;
/// In stages that adapt the kernel moves so many times as often, to learn its step size.
const OFTENER: usize = 3;

/// Surrogate transitions ([`SurrogateTransition`]) after another, dearer kernel, which moves in every
/// step unless the emulator does well: then in one of several steps, so that places where the
/// emulator is wrong are left again.
///
/// The emulator is fixed from the beginning of the warm-up, and when the kernel moves depends on
/// nothing but that and the number of steps: the density stays invariant.
pub struct WithSurrogate<K> {
    kernel: K,
    surrogate: Surrogate,
    period: usize,
    adapting: bool,
    /// Steps since the kernel last moved.
    rested: usize,
}

impl<K: Kernel> WithSurrogate<K> {
    /// `kernel` and then transitions on an emulator, once there is one, long ones of so many steps
    /// per coordinate; where it does well the kernel moves in the first and then in every
    /// `period`-th step.
    ///
    /// # Panics
    /// If the period is 0.
    pub fn new(kernel: K, period: usize, steps: usize) -> Self {
        assert!(period > 0, "a period is at least 1");
        let surrogate = Surrogate::new(SurrogateTransition::new(steps)).repeats(TRANSITIONS);
        WithSurrogate { kernel, surrogate, period, adapting: false, rested: period - 1 }
    }

    fn due(&self) -> bool {
        let emulator = self.surrogate.proposal().emulator();
        let does_well = emulator.is_some_and(|it| it.acceptance() >= GOOD_ACCEPTANCE);
        let period = if self.adapting { self.period.div_ceil(OFTENER) } else { self.period };
        !does_well || self.rested + 1 >= period
    }
}

impl<K: Kernel> Kernel for WithSurrogate<K> {
    fn name(&self) -> &'static str {
        "surrogate transitions"
    }

    /// Only when the kernel is about to move.
    fn needs_gradient(&self) -> bool {
        self.due() && self.kernel.needs_gradient()
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        let mut report = Report::default();
        if !self.due() {
            self.rested += 1;
        } else {
            if self.kernel.needs_gradient()
                && let Err(infeasible) = know_gradient(target, point)
            {
                return Step::stayed(infeasible);
            }
            self.rested = 0;
            report.add(&self.kernel.step(target, point, stream));
            forget_gradient(&self.kernel, point);
        }
        report.add(&self.surrogate.step(target, point, stream));
        forget_gradient(&self.surrogate, point);
        report.step()
    }

    fn enter(&mut self, stage: &Stage) {
        self.adapting = stage.adapt != Adapt::Nothing;
        self.kernel.enter(stage);
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.kernel.shape(mode, covariance);
    }

    fn emulate(&mut self, train: &mut dyn FnMut() -> Option<Arc<Emulator>>) {
        if let Some(emulator) = train() {
            self.surrogate.proposal_mut().emulate(emulator);
        }
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.rested as f64];
        write(&self.kernel, &mut memory);
        write(&self.surrogate, &mut memory);
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.rested = memory.count()?;
        read(&mut self.kernel, &mut memory)?;
        read(&mut self.surrogate, &mut memory)?;
        memory.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};
    use crate::sample::hmc::{Hmc, HmcOptions};
    use crate::sample::{FromMode, Modes};
    use crate::target::Infeasible;

    struct Normal;

    impl LogDensity for Normal {
        fn dim(&self) -> usize {
            1
        }
        fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
            Ok(-0.5 * x[0] * x[0])
        }
        fn log_density_gradient(&mut self, x: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
            g[0] = -x[0];
            self.log_density(x)
        }
    }

    fn kernel() -> WithSurrogate<Hmc> {
        let hmc = Hmc::new(1, HmcOptions { step_size: 0.5, ..HmcOptions::default() });
        WithSurrogate::new(hmc, 6, 36)
    }

    /// Whether the other kernel moved in each of twelve steps after a short warm-up.
    fn moved(mut kernel: impl Kernel) -> Vec<bool> {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let mut point = Point { position: vec![0.3], gradient: vec![-0.3], log_density: -0.045 };
        kernel.enter(&Stage { adapt: Adapt::StepSize, ..Stage::default() });
        for _ in 0..7 {
            kernel.step(&mut Normal, &mut point, &mut stream);
        }
        kernel.enter(&Stage::default());
        let mut step = || {
            let needs = kernel.needs_gradient();
            kernel.step(&mut Normal, &mut point, &mut stream);
            needs
        };
        (0..12).map(|_| step()).collect()
    }

    #[test]
    fn the_kernel_rests_only_beside_an_emulator() {
        assert_eq!(moved(kernel()), [true; 12]);
        let modes = Modes::new(vec![vec![1.0]]);
        let found = moved(FromMode::among(kernel(), &modes));
        assert_eq!(found.iter().filter(|moved| **moved).count(), 2, "{found:?}");
    }
}
