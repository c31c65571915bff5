//! Apply a kernel now and then.

use posteria_linalg::Matrix;

use super::memory::{ForeignMemory, MemoryReader};
use super::{Adapt, Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// A kernel that moves in one of several steps, and rests in the others; in stages that adapt it
/// moves in all. When it moves depends on nothing but the number of steps, so the density stays
/// invariant.
///
/// For an expensive kernel in a [`Sequence`](super::Sequence) with cheap ones.
pub struct Occasional<K> {
    kernel: K,
    period: usize,
    adapting: bool,
    /// Steps since it last moved.
    rested: usize,
}

impl<K: Kernel> Occasional<K> {
    /// Moves by `kernel` in the first and then in every `period`-th step.
    ///
    /// # Panics
    /// If the period is 0.
    pub fn new(kernel: K, period: usize) -> Self {
        assert!(period > 0, "a period is at least 1");
        Occasional { kernel, period, adapting: false, rested: period - 1 }
    }

    fn due(&self) -> bool {
        self.adapting || self.rested + 1 >= self.period
    }
}

impl<K: Kernel> Kernel for Occasional<K> {
    fn name(&self) -> &'static str {
        self.kernel.name()
    }

    /// Only when it is about to move.
    fn needs_gradient(&self) -> bool {
        self.due() && self.kernel.needs_gradient()
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        if !self.due() {
            self.rested += 1;
            return Step::default();
        }
        self.rested = 0;
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
        let mut memory = vec![self.rested as f64];
        memory.extend(self.kernel.memory());
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut reader = MemoryReader::new(self.kernel.name(), memory);
        self.rested = reader.count()?;
        self.kernel.recall(reader.take(memory.len().saturating_sub(1))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};
    use crate::sample::hmc::{Hmc, HmcOptions};
    use crate::sample::{FittedStudentT, MetropolisHastings, Sequence};
    use crate::target::Infeasible;

    struct Normal;

    impl LogDensity for Normal {
        fn dim(&self) -> usize {
            1
        }
        fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
            Ok(-0.5 * x[0] * x[0])
        }
        fn log_density_gradient(
            &mut self,
            x: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, Infeasible> {
            gradient[0] = -x[0];
            self.log_density(x)
        }
    }

    fn hmc() -> Occasional<Hmc> {
        Occasional::new(Hmc::new(1, HmcOptions { step_size: 0.5, ..HmcOptions::default() }), 3)
    }

    fn point() -> Point {
        Point { position: vec![0.3], gradient: vec![-0.3], log_density: -0.045 }
    }

    #[test]
    fn it_moves_in_every_third_step_and_always_while_adapting() {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let (mut kernel, mut point) = (hmc(), point());
        let moved = |kernel: &mut Occasional<Hmc>, point: &mut Point, stream: &mut Stream| {
            (0..6)
                .map(|_| {
                    let needs = kernel.needs_gradient();
                    let step = kernel.step(&mut Normal, point, stream);
                    assert_eq!(needs, step.evaluations > 0);
                    needs
                })
                .collect::<Vec<bool>>()
        };
        let found = moved(&mut kernel, &mut point, &mut stream);
        assert_eq!(found, [true, false, false, true, false, false]);
        kernel.enter(&Stage { adapt: Adapt::StepSize, ..Stage::default() });
        assert!(moved(&mut kernel, &mut point, &mut stream).into_iter().all(|moved| moved));
    }

    /// A chain that is interrupted after any number of steps goes on with the same bits.
    #[test]
    fn interrupted_chains_find_the_same_bits() {
        let sequence = || {
            let guess = MetropolisHastings::new(FittedStudentT::new(&[1.0])).repeats(2);
            Sequence::new(vec![Box::new(hmc()) as Box<dyn Kernel>, Box::new(guess)])
        };
        for stop in 1..6 {
            let mut stream = Seed(2).stream(Purpose::Data, [0, 0]);
            let (mut kernel, mut at) = (sequence(), point());
            for _ in 0..stop {
                kernel.step(&mut Normal, &mut at, &mut stream);
            }
            let (memory, mut other) = (kernel.memory(), sequence());
            let mut resumed = Seed(2).stream(Purpose::Data, [0, 0]);
            resumed.clone_from(&stream);
            let mut again = at.clone();
            again.gradient.fill(f64::NAN);
            again.log_density = Normal.log_density(&again.position).unwrap();
            other.recall(&memory).unwrap();
            for _ in 0..4 {
                kernel.step(&mut Normal, &mut at, &mut stream);
                other.step(&mut Normal, &mut again, &mut resumed);
                assert_eq!(at.position[0].to_bits(), again.position[0].to_bits(), "{stop}");
            }
        }
    }
}
