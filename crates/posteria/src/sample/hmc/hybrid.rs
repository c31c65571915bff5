//! Assemble hybrid Monte Carlo with trajectories of a chosen length.

use posteria_linalg::Matrix;

use super::length::{Length, LengthSearch};
use super::trajectory::{Buffers, Drive, Trajectory};
use super::tuning::Tuning;
use super::{MetricKind, Persistence, Phase};
use crate::random::Stream;
use crate::sample::memory::{ForeignMemory, MemoryReader};
use crate::sample::{Kernel, Stage, Step};
use crate::target::{Infeasible, LogDensity, Point};

/// Settings of [`Hmc`].
#[derive(Clone, Debug, PartialEq)]
pub struct HmcOptions {
    /// Step size ε, where the metric has unit scale.
    pub step_size: f64,
    /// Every trajectory uses ε × U(1 - jitter, 1 + jitter); in [0, 1).
    pub step_jitter: f64,
    /// Number of leapfrog steps L.
    pub leapfrog_steps: usize,
    /// Length of trajectories in time, where the metric is known from the density
    /// ([`Kernel::shape`]): L is then what comes nearest to it, from 2 to 2 `leapfrog_steps`. Half a
    /// period of a normal density is π; a quarter makes its ends independent.
    pub duration: Option<f64>,
    /// Every trajectory uses L × U(1 - jitter, 1 + jitter) steps, at least one; in [0, 1].
    pub leapfrog_jitter: f64,
    /// Whether time runs backwards in half of the trajectories. Needless with a fresh
    /// momentum (its sign is random already); not allowed with persistence, which it defeats.
    pub random_direction: bool,
    /// Size of the acceptance window; 1 is plain hybrid Monte Carlo.
    pub window: usize,
    /// Partial refreshment of the momentum.
    pub persistence: Persistence,
    /// The shape of the momentum.
    pub metric: MetricKind,
    /// The acceptance that adapting stages aim at.
    pub target_acceptance: f64,
    /// Whether trajectories follow the target's [`LogDensity::force`], with exact energies at
    /// their ends (and in their windows) only. For targets whose force is cheaper than their
    /// gradient; the density that is sampled is the exact one all the same.
    pub fast_force: bool,
    /// Where stages that learn the metric look for the best number of leapfrog steps, beginning
    /// from `leapfrog_steps`; `None` keeps that. Only for a momentum that is drawn anew every
    /// time.
    pub tune_length: Option<LengthSearch>,
    /// What is tried where a trajectory is rejected. Only without windows, and for a momentum
    /// that is drawn anew every time.
    pub retry: Option<Retry>,
}

impl Default for HmcOptions {
    fn default() -> Self {
        HmcOptions {
            step_size: 0.1,
            step_jitter: 0.2,
            leapfrog_steps: 20,
            duration: None,
            leapfrog_jitter: 0.5,
            random_direction: false,
            window: 1,
            persistence: Persistence::NONE,
            metric: MetricKind::Diagonal,
            target_acceptance: 0.8,
            fast_force: false,
            tune_length: None,
            retry: None,
        }
    }
}

/// A more careful trajectory where the first one is rejected [Modi, Barnett and Carpenter 2024].
///
/// For targets that are stiff in few places: the first steps can be long, and chains do not stay
/// where these are never accepted. It costs a second trajectory, and the first one once more from
/// its end; so it is tried where the first one was hopeless only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// Tried where the first trajectory would be accepted with a smaller probability; in (0, 1].
    pub below: f64,
    /// Its step size in units of the first; in (0, 1).
    pub step_ratio: f64,
    /// Its number of leapfrog steps in units of the first.
    pub steps_ratio: f64,
}

impl Retry {
    /// Its number of leapfrog steps where the first trajectory has `steps`.
    pub(super) fn steps(&self, steps: usize) -> usize {
        (self.steps_ratio * steps as f64).round().max(1.0) as usize
    }
}

/// Hybrid (Hamiltonian) Monte Carlo [Duane et al. 1987; Neal 1996]: leapfrog trajectories of
/// chosen length with jittered step size and step count, optional acceptance windows and
/// persistent momentum. With one leapfrog step it is the Langevin method.
pub struct Hmc {
    options: HmcOptions,
    tuning: Tuning,
    length: Option<Length>,
    phase: Phase,
    /// Whether the phase holds the point that the latest step left behind, with its force.
    current: bool,
    buffers: Buffers,
    trajectories: usize,
}

impl Hmc {
    /// A kernel for targets of dimension `dim`.
    ///
    /// # Panics
    /// If an option is outside its range.
    pub fn new(dim: usize, mut options: HmcOptions) -> Self {
        assert!((0.0..1.0).contains(&options.step_jitter), "step jitter in [0, 1)");
        assert!((0.0..=1.0).contains(&options.leapfrog_jitter), "leapfrog jitter in [0, 1]");
        assert!(options.leapfrog_steps > 0 && options.window > 0, "at least one step");
        assert!((0.0..1.0).contains(&options.persistence.decay), "decay in [0, 1)");
        assert!(
            !(options.random_direction && options.persistence.decay > 0.0),
            "a random direction defeats persistence"
        );
        if let Some(retry) = &options.retry {
            let smaller = retry.step_ratio > 0.0 && retry.step_ratio < 1.0;
            assert!(smaller, "a second step size is smaller than the first, and not zero");
            assert!(
                options.window == 1 && options.persistence.decay.abs() < f64::MIN_POSITIVE,
                "a second trajectory goes without windows and persistence"
            );
        }
        let length = options.tune_length.clone().map(|search| {
            assert!(
                options.persistence.decay.abs() < f64::MIN_POSITIVE,
                "a length is tuned for a momentum that is drawn anew"
            );
            Length::new(dim, search)
        });
        if let Some(length) = &length {
            options.leapfrog_steps = length.within(options.leapfrog_steps);
        }
        let buffers = Buffers::new(dim, length.as_ref().map_or(0, Length::places));
        let drive = if options.fast_force { Drive::Force } else { Drive::Gradient };
        let tuning =
            Tuning::new(dim, options.metric.clone(), options.step_size, options.target_acceptance)
                .driven_by(drive);
        Hmc {
            options,
            tuning,
            length,
            phase: Phase::new(dim),
            current: false,
            buffers,
            trajectories: 0,
        }
    }

    /// The present number of leapfrog steps, before jitter.
    pub fn leapfrog_steps(&self) -> usize {
        self.options.leapfrog_steps
    }

    /// The Langevin method: one leapfrog step with fresh momentum [MacKay 2003, §41.4].
    pub fn langevin(dim: usize, options: HmcOptions) -> Self {
        let options = HmcOptions {
            leapfrog_steps: 1,
            leapfrog_jitter: 0.0,
            window: 1,
            persistence: Persistence::NONE,
            tune_length: None,
            retry: None,
            ..options
        };
        Hmc::new(dim, options)
    }

    /// Takes `point` with what drives trajectories from there: the gradient or the force.
    fn take(&mut self, target: &mut dyn LogDensity, point: &Point) -> Result<(), Infeasible> {
        // The force is kept between steps. Whoever evaluates the point anew changes it (the
        // gradient becomes NaN), so a force of another density is never used.
        let known = !self.options.fast_force || (self.current && same(point, &self.phase.point));
        self.phase.point.copy_from(point);
        if !known {
            target.force(&point.position, &mut self.phase.point.gradient)?;
        }
        Ok(())
    }

    /// The number of leapfrog steps before jitter; once the step size is settled, always the same.
    fn present_steps(&self) -> usize {
        let usual = self.options.leapfrog_steps;
        match self.options.duration {
            Some(duration) if self.tuning.metric.is_referred() => {
                let steps = (duration / self.tuning.step_size()).round();
                (steps as usize).clamp(2, 2 * usual)
            }
            _ => usual,
        }
    }

    /// Whether this trajectory may be used to learn its best length: while the metric is being
    /// learned. Stages that only settle the step size settle it for the length that was found.
    fn tunes_length(&self) -> bool {
        self.tuning.shapes() && self.options.persistence.decay.abs() < f64::MIN_POSITIVE
    }

    fn trajectory(&self, leapfrog_steps: usize, stream: &mut Stream) -> Trajectory {
        let HmcOptions { step_jitter, leapfrog_jitter, .. } = self.options;
        let mut jittered = |value: f64, jitter: f64| {
            if jitter > 0.0 {
                value * (1.0 + jitter * (2.0 * stream.uniform() - 1.0))
            } else {
                value
            }
        };
        let mut step_size = jittered(self.tuning.step_size(), step_jitter);
        let steps = jittered(leapfrog_steps as f64, leapfrog_jitter).round().max(1.0) as usize;
        if self.options.random_direction && stream.uniform() < 0.5 {
            step_size = -step_size;
        }
        let drive = if self.options.fast_force { Drive::Force } else { Drive::Gradient };
        let HmcOptions { window, retry, .. } = self.options;
        Trajectory { steps, step_size, window, drive, retry }
    }
}

impl Kernel for Hmc {
    fn name(&self) -> &'static str {
        "hybrid Monte Carlo"
    }

    fn needs_gradient(&self) -> bool {
        !self.options.fast_force
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        if let Err(infeasible) = self.take(target, point) {
            self.current = false;
            return Step::stayed(infeasible);
        }
        self.tuning.before(target, &self.phase.point, stream);
        self.options.persistence.refresh(&mut self.phase.momentum, self.trajectories, stream);
        self.trajectories += 1;
        let present = self.present_steps();
        let tried = match &self.length {
            Some(length) if self.tunes_length() => length.next(present),
            _ => present,
        };
        let trajectory = self.trajectory(tried, stream);
        let transition = trajectory.run(
            target,
            &mut self.tuning.metric,
            &mut self.phase,
            &mut self.buffers,
            stream,
        );
        if self.tunes_length()
            && let Some(length) = &mut self.length
        {
            let metric = &mut self.tuning.metric;
            self.options.leapfrog_steps =
                length.learn(present, tried, &self.buffers, (target, metric), &transition);
        }
        self.current = true;
        point.copy_from(&self.phase.point);
        let step_size = self.tuning.step_size();
        self.tuning.after(transition.acceptance, transition.accepted, point);
        Step {
            accepted: transition.accepted,
            acceptance: transition.acceptance,
            energy: self.phase.energy(),
            step_size,
            evaluations: transition.evaluations,
            leapfrog_steps: transition.leapfrog_steps,
            tree_depth: 0,
            diverging: transition.diverging,
            infeasible: transition.infeasible,
        }
    }

    fn enter(&mut self, stage: &Stage) {
        self.tuning.enter(stage);
        if let Some(steps) = stage.leapfrog_steps {
            self.options.leapfrog_steps = steps.max(1);
        }
        if let Some(window) = stage.window {
            self.options.window = window.max(1);
        }
        if let Some(decay) = stage.persistence {
            self.options.persistence.decay = decay;
        }
        // A stage begins with a fresh momentum: excess energy of the start does not persist.
        self.phase.momentum.fill(0.0);
        self.trajectories = 0;
        if let Some(length) = &mut self.length {
            length.restart();
        }
    }

    fn shape(&mut self, _: &[f64], covariance: &Matrix) {
        self.tuning.shape(covariance);
    }

    fn memory(&self) -> Vec<f64> {
        let options = &self.options;
        let mut memory = vec![
            self.trajectories as f64,
            options.leapfrog_steps as f64,
            options.window as f64,
            options.persistence.decay,
        ];
        memory.extend(&self.phase.momentum);
        self.tuning.write(&mut memory);
        if let Some(length) = &self.length {
            length.write(&mut memory);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.trajectories = memory.count()?;
        self.options.leapfrog_steps = memory.count()?;
        self.options.window = memory.count()?;
        self.options.persistence.decay = memory.number()?;
        memory.fill(&mut self.phase.momentum)?;
        self.tuning.read(&mut memory)?;
        if let Some(length) = &mut self.length {
            length.read(&mut memory)?;
        }
        self.current = false;
        memory.finish()
    }
}

/// Whether two points are the same, bit for bit.
fn same(a: &Point, b: &Point) -> bool {
    let bits = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    a.log_density.to_bits() == b.log_density.to_bits()
        && bits(&a.position, &b.position)
        && bits(&a.gradient, &b.gradient)
}
