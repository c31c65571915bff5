//! Guess where that does well, and move by another kernel now and then.

use posteria_linalg::Matrix;

use super::memory::{ForeignMemory, MemoryReader};
use super::sequence::{Report, forget_gradient, know_gradient, read, write};
use super::{Adapt, Independence, Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// Independence proposals after another, dearer kernel, which moves in every step unless the
/// proposals did well in warm-up ([`FittedStudentT::guesses_well`](super::FittedStudentT)): then in
/// one of several steps, so that tails which proposals rarely reach are left again. In stages that
/// adapt it moves in all.
///
/// What was learned in warm-up is fixed after it, and when the kernel moves depends on nothing but
/// that and the number of steps: the density stays invariant.
pub struct Guessing<K> {
    kernel: K,
    guesses: Independence,
    period: usize,
    adapting: bool,
    /// Steps since the kernel last moved.
    rested: usize,
}

impl<K: Kernel> Guessing<K> {
    /// `kernel` and then `guesses`; where these do well the kernel moves in the first and then in
    /// every `period`-th step.
    ///
    /// # Panics
    /// If the period is 0.
    pub fn new(kernel: K, period: usize, guesses: Independence) -> Self {
        assert!(period > 0, "a period is at least 1");
        Guessing { kernel, guesses, period, adapting: false, rested: period - 1 }
    }

    fn due(&self) -> bool {
        let alone = !self.adapting && self.guesses.proposal().guesses_well();
        !alone || self.rested + 1 >= self.period
    }
}

impl<K: Kernel> Kernel for Guessing<K> {
    fn name(&self) -> &'static str {
        "guessing"
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
        report.add(&self.guesses.step(target, point, stream));
        forget_gradient(&self.guesses, point);
        report.step()
    }

    fn enter(&mut self, stage: &Stage) {
        self.adapting = stage.adapt != Adapt::Nothing;
        self.kernel.enter(stage);
        self.guesses.enter(stage);
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.kernel.shape(mode, covariance);
        self.guesses.shape(mode, covariance);
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.rested as f64];
        write(&self.kernel, &mut memory);
        write(&self.guesses, &mut memory);
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.rested = memory.count()?;
        read(&mut self.kernel, &mut memory)?;
        read(&mut self.guesses, &mut memory)?;
        memory.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};
    use crate::sample::hmc::{Hmc, HmcOptions};
    use crate::sample::{FittedStudentT, MetropolisHastings};
    use crate::target::Infeasible;

    /// A normal, seen through a window that guesses hit or miss.
    struct Normal {
        deviation: f64,
    }

    impl LogDensity for Normal {
        fn dim(&self) -> usize {
            1
        }
        fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
            Ok(-0.5 * (x[0] / self.deviation).powi(2))
        }
        fn log_density_gradient(
            &mut self,
            x: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, Infeasible> {
            gradient[0] = -x[0] / self.deviation.powi(2);
            self.log_density(x)
        }
    }

    fn kernel() -> Guessing<Hmc> {
        let hmc = Hmc::new(1, HmcOptions { step_size: 0.5, ..HmcOptions::default() });
        let guess = FittedStudentT::new(&[1.0]).walk_share(0.0);
        Guessing::new(hmc, 3, MetropolisHastings::new(guess).repeats(4))
    }

    /// A kernel that learned its guesses from draws of a normal of deviation 1, and how often they
    /// were accepted with one of `deviation`.
    fn warmed_up(deviation: f64) -> (Guessing<Hmc>, Point, Stream) {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let mut kernel = kernel();
        let mut point = Point { position: vec![0.0], gradient: vec![0.0], log_density: 0.0 };
        kernel.shape(&[0.0], &Matrix::identity(1));
        kernel.enter(&Stage { adapt: Adapt::StepSize, ..Stage::default() });
        for _ in 0..40 {
            assert!(kernel.needs_gradient());
            kernel.step(&mut Normal { deviation }, &mut point, &mut stream);
        }
        kernel.enter(&Stage::default());
        (kernel, point, stream)
    }

    fn moved(deviation: f64) -> Vec<bool> {
        let (mut kernel, mut point, mut stream) = warmed_up(deviation);
        let step = |_| {
            let needs = kernel.needs_gradient();
            kernel.step(&mut Normal { deviation }, &mut point, &mut stream);
            needs
        };
        (0..6).map(step).collect()
    }

    #[test]
    fn the_kernel_rests_only_where_guesses_do_well() {
        let found = moved(1.0);
        assert_eq!(found.iter().filter(|moved| **moved).count(), 2, "{found:?}");
        // Guesses of a distribution 50 times as wide are hardly ever accepted.
        assert_eq!(moved(0.02), [true; 6]);
    }

    /// A chain that is interrupted after any number of steps goes on with the same bits.
    #[test]
    fn interrupted_chains_find_the_same_bits() {
        let mut target = Normal { deviation: 1.0 };
        for stop in 1..6 {
            let (mut own, mut at, mut stream) = warmed_up(1.0);
            for _ in 0..stop {
                own.step(&mut target, &mut at, &mut stream);
            }
            let (memory, mut other) = (own.memory(), kernel());
            other.enter(&Stage::default());
            other.recall(&memory).unwrap();
            let mut resumed = Seed(2).stream(Purpose::Data, [0, 0]);
            resumed.clone_from(&stream);
            let mut again = at.clone();
            again.gradient.fill(f64::NAN);
            for _ in 0..4 {
                own.step(&mut target, &mut at, &mut stream);
                other.step(&mut target, &mut again, &mut resumed);
                assert_eq!(at.position[0].to_bits(), again.position[0].to_bits(), "{stop}");
            }
        }
    }
}
