//! Tune step size and metric over the stages of a warm-up; shared by all Hamiltonian kernels.

use posteria_linalg::Matrix;

use super::trajectory::Drive;
use super::{Metric, MetricKind, Phase};
use crate::random::Stream;
use crate::sample::memory::{ForeignMemory, MemoryReader};
use crate::sample::step_size::DualAveraging;
use crate::sample::{Adapt, Stage};
use crate::target::{LogDensity, Point};

/// Doublings or halvings tried when a first step size is looked for.
const SEARCH_LIMIT: usize = 60;

/// Step size to begin with where the shape of the density is known: of a normal one, 1 would still
/// be accepted.
const FIRST_STEP: f64 = 0.5;

pub(super) struct Tuning {
    pub(super) metric: Metric,
    averaging: DualAveraging,
    adapt: Adapt,
    /// Whether the next step begins with a search for the order of magnitude of the step size.
    search: bool,
    drive: Drive,
    scratch: Phase,
}

impl Tuning {
    /// For trajectories by gradients.
    pub(super) fn new(dim: usize, kind: MetricKind, step_size: f64, target: f64) -> Self {
        assert!(step_size > 0.0 && step_size.is_finite(), "a positive step size");
        assert!(target > 0.0 && target < 1.0, "a target acceptance in (0, 1)");
        Tuning {
            metric: Metric::new(kind, dim),
            averaging: DualAveraging::new(step_size, target),
            adapt: Adapt::Nothing,
            search: false,
            drive: Drive::Gradient,
            scratch: Phase::new(dim),
        }
    }

    /// For trajectories that are driven so.
    pub(super) fn driven_by(mut self, drive: Drive) -> Self {
        self.drive = drive;
        self
    }

    /// Whether the present stage learns the metric.
    pub(super) fn shapes(&self) -> bool {
        self.adapt == Adapt::Metric
    }

    pub(super) fn step_size(&self) -> f64 {
        self.averaging.step_size()
    }

    pub(super) fn enter(&mut self, stage: &Stage) {
        let reshaped = self.adapt == Adapt::Metric && self.metric.conclude();
        if self.adapt != Adapt::Nothing {
            self.averaging.freeze();
        }
        self.metric.forget();
        if stage.adapt != Adapt::Nothing {
            // The step size found so far is the start, unless it belongs to another metric or
            // nothing was learned yet. Metrics that are close to each other have the same.
            let unknown = (reshaped && !self.metric.is_referred()) || self.adapt == Adapt::Nothing;
            self.search = stage.step_size.is_none() && unknown;
            let step_size = self.averaging.step_size();
            match self.metric.is_referred() && !unknown {
                true => self.averaging.restart_about(step_size),
                false => self.averaging.restart(step_size),
            }
        }
        if let Some(step_size) = stage.step_size {
            self.averaging.restart(step_size);
        }
        self.adapt = stage.adapt;
    }

    /// Takes a covariance of the position into use.
    pub(super) fn shape(&mut self, covariance: &Matrix) {
        if self.metric.refer_to(covariance) {
            self.averaging.restart_about(FIRST_STEP);
            self.search = false;
        }
    }

    /// To be called before a step: looks for the order of magnitude of the step size, if due.
    pub(super) fn before(
        &mut self,
        target: &mut dyn LogDensity,
        point: &Point,
        stream: &mut Stream,
    ) {
        self.metric.follow(target.step_scale());
        if std::mem::take(&mut self.search) {
            let found = self.reasonable_step_size(target, point, stream);
            self.averaging.restart(found);
        }
    }

    /// To be called after a step, with its acceptance, whether it moved and where it ended.
    pub(super) fn after(&mut self, acceptance: f64, moved: bool, point: &Point) {
        if self.adapt != Adapt::Nothing {
            self.averaging.learn(acceptance);
        }
        if self.adapt == Adapt::Metric {
            self.metric.observe(&point.position, &point.gradient, moved);
        }
    }

    /// Doubles or halves the step size until the acceptance of one leapfrog step crosses 0.8
    /// [after Hoffman & Gelman 2014, algorithm 4].
    fn reasonable_step_size(
        &mut self,
        target: &mut dyn LogDensity,
        point: &Point,
        stream: &mut Stream,
    ) -> f64 {
        let log_crossing = 0.8_f64.ln();
        let mut step_size = self.averaging.step_size();
        let mut grow = None;
        for _ in 0..SEARCH_LIMIT {
            self.scratch.point.copy_from(point);
            stream.fill_normal(&mut self.scratch.momentum);
            let before = self.scratch.energy();
            let Tuning { drive, scratch, metric, .. } = self;
            let moved = drive
                .leapfrog(scratch, target, metric, step_size)
                .and_then(|()| drive.know_energy(scratch, target));
            let log_acceptance = match moved {
                Ok(_) => before - scratch.energy(),
                Err(_) => f64::NEG_INFINITY,
            };
            // NaN is a failure, so it must not count as above.
            let above = log_acceptance > log_crossing;
            if *grow.get_or_insert(above) != above {
                break;
            }
            step_size *= if above { 2.0 } else { 0.5 };
        }
        step_size
    }

    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        let adapt = match self.adapt {
            Adapt::Nothing => 0.0,
            Adapt::StepSize => 1.0,
            Adapt::Metric => 2.0,
        };
        memory.extend([adapt, f64::from(u8::from(self.search))]);
        self.averaging.write(memory);
        self.metric.write(memory);
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        self.adapt = match memory.count()? {
            0 => Adapt::Nothing,
            1 => Adapt::StepSize,
            _ => Adapt::Metric,
        };
        self.search = memory.flag()?;
        self.averaging.read(memory)?;
        self.metric.read(memory)
    }
}
