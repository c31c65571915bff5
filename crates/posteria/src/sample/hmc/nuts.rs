//! Choose the length of trajectories automatically: multinomial No-U-Turn sampling.

use posteria_linalg::Matrix;

use super::doubling::{Candidate, Course, Doubling, Mover};
use super::tuning::Tuning;
use super::turning::turned;
use super::{MetricKind, Phase};
use crate::density::special::log_add_exp;
use crate::random::Stream;
use crate::sample::memory::{ForeignMemory, MemoryReader};
use crate::sample::{Kernel, Stage, Step};
use crate::target::{LogDensity, Point};

/// Settings of [`Nuts`].
#[derive(Clone, Debug, PartialEq)]
pub struct NutsOptions {
    /// Step size at the start, where the metric has unit scale.
    pub step_size: f64,
    /// Most doublings of a trajectory.
    pub max_tree_depth: u32,
    /// The shape of the momentum.
    pub metric: MetricKind,
    /// The acceptance that adapting stages aim at: the mean of 2 min(1, w) / (1 + w) over the
    /// trajectory, w = exp(-(H - H₀)).
    pub target_acceptance: f64,
}

impl Default for NutsOptions {
    fn default() -> Self {
        NutsOptions {
            step_size: 0.1,
            max_tree_depth: 10,
            metric: MetricKind::Diagonal,
            target_acceptance: 0.75,
        }
    }
}

/// The No-U-Turn sampler [Hoffman & Gelman 2014] with multinomial choice of the next state and
/// the generalised criterion [Betancourt 2017]: a trajectory doubles, forwards or backwards at
/// random, until some dyadic stretch of it, or a stretch across the seam of two, turns back.
///
/// A doubling is walked leaf by leaf; momenta at the beginnings of the dyadic stretches that
/// are still open are kept, one per level, so memory grows with the depth only and nothing is
/// allocated after construction.
pub struct Nuts {
    max_tree_depth: u32,
    tuning: Tuning,
    left: Phase,
    right: Phase,
    /// Sum of the momenta of the whole trajectory.
    total: Vec<f64>,
    /// Momentum at the end from which the trajectory is being doubled.
    seam: Vec<f64>,
    zeros: Vec<f64>,
    proposal: Candidate,
    doubling: Doubling,
}

impl Nuts {
    /// A kernel for targets of dimension `dim`.
    ///
    /// # Panics
    /// If an option is outside its range (at most 20 doublings).
    pub fn new(dim: usize, options: NutsOptions) -> Self {
        let NutsOptions { step_size, max_tree_depth, metric, target_acceptance } = options;
        assert!((1..=20).contains(&max_tree_depth), "1 to 20 doublings");
        Nuts {
            max_tree_depth,
            tuning: Tuning::new(dim, metric, step_size, target_acceptance),
            left: Phase::new(dim),
            right: Phase::new(dim),
            total: vec![0.0; dim],
            seam: vec![0.0; dim],
            zeros: vec![0.0; dim],
            proposal: Candidate::new(dim),
            doubling: Doubling::new(dim, max_tree_depth as usize),
        }
    }

    /// Whether the trajectory has turned after a doubling at its `right` or left end: as a
    /// whole, or across the seam between the old and the new half. `self.total` still holds the
    /// sum of the old half.
    fn turned_as_a_whole(&self, doubled_right: bool) -> bool {
        let (near, far) =
            if doubled_right { (&self.right, &self.left) } else { (&self.left, &self.right) };
        let (near, far) = (&near.momentum, &far.momentum);
        let sum = &self.doubling.sum;
        let first = self.doubling.first_momentum();
        turned(far, near, [&self.total, sum], &self.zeros)
            || turned(far, first, [&self.total, first], &self.zeros)
            || turned(&self.seam, near, [&self.seam, sum], &self.zeros)
    }
}

impl Kernel for Nuts {
    fn name(&self) -> &'static str {
        "No-U-Turn sampler"
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        self.tuning.before(target, point, stream);
        self.left.point.copy_from(point);
        stream.fill_normal(&mut self.left.momentum);
        self.right.copy_from(&self.left);
        self.total.copy_from_slice(&self.left.momentum);
        let start_energy = self.left.energy();
        self.proposal.energy = start_energy;
        let step_size = self.tuning.step_size();
        let mut course = Course {
            start_energy,
            acceptance: 0.0,
            symmetric_acceptance: 0.0,
            evaluations: 0,
            diverging: false,
            infeasible: None,
        };
        let mut log_weight: f64 = 0.0;
        let mut depth = 0;
        let mut moved = false;
        while depth < self.max_tree_depth {
            let to_the_right = stream.uniform() < 0.5;
            let edge = if to_the_right { &mut self.right } else { &mut self.left };
            self.seam.copy_from_slice(&edge.momentum);
            let mover = Mover {
                target: &mut *target,
                metric: &mut self.tuning.metric,
                step_size: if to_the_right { step_size } else { -step_size },
            };
            let whole = self.doubling.walk(1 << depth, edge, mover, &mut course, stream);
            depth += 1;
            if !whole {
                break;
            }
            // Preferring the new half moves farther and keeps the distribution invariant
            // [Betancourt 2017, A.3.2].
            if stream.uniform() < (self.doubling.log_weight - log_weight).exp() {
                std::mem::swap(&mut self.proposal, &mut self.doubling.candidate);
                moved = true;
            }
            log_weight = log_add_exp(log_weight, self.doubling.log_weight);
            if self.turned_as_a_whole(to_the_right) {
                break;
            }
            for (total, new) in self.total.iter_mut().zip(&self.doubling.sum) {
                *total += new;
            }
        }
        if moved {
            point.copy_from(&self.proposal.point);
        }
        let leaves = f64::from(course.evaluations.max(1));
        let acceptance = course.acceptance / leaves;
        // The step size is tuned on a statistic that falls with the energy error of either sign;
        // the usual one takes every leaf of lower energy for perfect.
        self.tuning.after(course.symmetric_acceptance / leaves, moved, point);
        Step {
            accepted: moved,
            acceptance,
            energy: self.proposal.energy,
            step_size,
            evaluations: course.evaluations,
            leapfrog_steps: course.evaluations,
            tree_depth: depth,
            diverging: course.diverging,
            infeasible: course.infeasible,
        }
    }

    fn enter(&mut self, stage: &Stage) {
        self.tuning.enter(stage);
    }

    fn shape(&mut self, _: &[f64], covariance: &Matrix) {
        self.tuning.shape(covariance);
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        self.tuning.write(&mut memory);
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        self.tuning.read(&mut memory)?;
        memory.finish()
    }
}
