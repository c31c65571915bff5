//! Walk the new half of a trajectory leaf by leaf, watching every dyadic stretch of it.

use super::trajectory::DIVERGENCE;
use super::turning::turned;
use posteria_linalg::add_scaled;

use super::{Metric, Phase};
use crate::density::special::log_add_exp;
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// A state that may become the next one.
pub(super) struct Candidate {
    pub(super) point: Point,
    pub(super) energy: f64,
}

/// One doubling while it is walked.
pub(super) struct Doubling {
    /// Sum of the momenta of the leaves so far.
    pub(super) sum: Vec<f64>,
    /// log Σ exp(-(H - H₀)) of the leaves so far.
    pub(super) log_weight: f64,
    pub(super) candidate: Candidate,
    /// The open stretches, by level.
    open: Vec<Opening>,
    /// Momentum of the last leaf with an odd number.
    previous: Vec<f64>,
    zeros: Vec<f64>,
}

/// The beginning of an open dyadic stretch.
struct Opening {
    momentum: Vec<f64>,
    /// Sum of the momenta before it.
    before: Vec<f64>,
    /// Momentum of the leaf before it.
    previous: Vec<f64>,
}

/// What moves the edge of a trajectory by one leapfrog step.
pub(super) struct Mover<'t> {
    pub(super) target: &'t mut dyn LogDensity,
    pub(super) metric: &'t mut Metric,
    /// Negative: backwards in time.
    pub(super) step_size: f64,
}

/// What a trajectory met on its way.
pub(super) struct Course {
    pub(super) start_energy: f64,
    /// Sum over the leaves of min(1, exp(-(H - H₀))).
    pub(super) acceptance: f64,
    /// Sum over the leaves of 2 min(1, w) / (1 + w) with w = exp(-(H - H₀)).
    pub(super) symmetric_acceptance: f64,
    pub(super) evaluations: u32,
    pub(super) diverging: bool,
    pub(super) infeasible: Option<Infeasible>,
}

impl Candidate {
    pub(super) fn new(dim: usize) -> Self {
        Candidate { point: Phase::new(dim).point, energy: 0.0 }
    }
}

impl Doubling {
    /// Room for doublings up to 2^(`levels` - 1) leaves.
    pub(super) fn new(dim: usize, levels: usize) -> Self {
        let opening = || Opening {
            momentum: vec![0.0; dim],
            before: vec![0.0; dim],
            previous: vec![0.0; dim],
        };
        Doubling {
            sum: vec![0.0; dim],
            log_weight: f64::NEG_INFINITY,
            candidate: Candidate::new(dim),
            open: (0..levels).map(|_| opening()).collect(),
            previous: vec![0.0; dim],
            zeros: vec![0.0; dim],
        }
    }

    /// Momentum of the first leaf.
    pub(super) fn first_momentum(&self) -> &[f64] {
        &self.open[0].momentum
    }

    /// Walks `leaves` leapfrog steps from `edge`; returns whether the new half may be joined to
    /// the trajectory.
    pub(super) fn walk(
        &mut self,
        leaves: usize,
        edge: &mut Phase,
        mover: Mover<'_>,
        course: &mut Course,
        stream: &mut Stream,
    ) -> bool {
        let Mover { target, metric, step_size } = mover;
        self.sum.fill(0.0);
        self.log_weight = f64::NEG_INFINITY;
        for leaf in 0..leaves {
            course.evaluations += 1;
            if let Err(infeasible) = edge.leapfrog(target, metric, step_size) {
                course.infeasible = Some(infeasible);
                course.diverging = true;
                return false;
            }
            let energy = edge.energy();
            let error = energy - course.start_energy;
            if error.is_nan() || error > DIVERGENCE {
                course.diverging = true;
                return false;
            }
            let ratio = (-error).exp();
            course.acceptance += ratio.min(1.0);
            // An infinite ratio is as far from a conserved energy as a vanishing one.
            course.symmetric_acceptance += 2.0 * ratio.min(1.0) / (1.0 + ratio);
            self.offer(&edge.point, energy, -error, stream);
            if leaf % 2 == 0 {
                let opening = &mut self.open[level(leaf)];
                opening.momentum.copy_from_slice(&edge.momentum);
                opening.before.copy_from_slice(&self.sum);
                opening.previous.copy_from_slice(&self.previous);
            }
            add_scaled(&mut self.sum, 1.0, &edge.momentum);
            if leaf % 2 == 1 {
                if self.any_stretch_turned(leaf, &edge.momentum) {
                    return false;
                }
                self.previous.copy_from_slice(&edge.momentum);
            }
        }
        true
    }

    /// Keeps one of the leaves, chosen with probability ∝ exp(-H).
    fn offer(&mut self, point: &Point, energy: f64, log_weight: f64, stream: &mut Stream) {
        self.log_weight = log_add_exp(self.log_weight, log_weight);
        if stream.uniform() < (log_weight - self.log_weight).exp() {
            self.candidate.point.copy_from(point);
            self.candidate.energy = energy;
        }
    }

    /// Whether one of the dyadic stretches that end at `leaf`, or a stretch across the seam of
    /// its two halves, has turned.
    fn any_stretch_turned(&self, leaf: usize, momentum: &[f64]) -> bool {
        let Doubling { sum, open, zeros, .. } = self;
        // A leaf whose number ends in t one-bits closes the stretches of 2, 4, …, 2^t leaves.
        (1..=leaf.trailing_ones()).any(|log_length| {
            let level = level(leaf + 1 - (1 << log_length));
            let first = &open[level];
            if turned(&first.momentum, momentum, [sum, zeros], &first.before) {
                return true;
            }
            if log_length == 1 {
                return false;
            }
            // The second half of a stretch opens one level further.
            let second = &open[level + 1];
            turned(
                &first.momentum,
                &second.momentum,
                [&second.before, &second.momentum],
                &first.before,
            ) || turned(&second.previous, momentum, [sum, &second.previous], &second.before)
        })
    }
}

/// Where the opening of the stretches that begin at the even `leaf` is kept. Stretches that
/// are open at the same time begin at leaves with different numbers of one-bits.
fn level(leaf: usize) -> usize {
    (leaf >> 1).count_ones() as usize
}
