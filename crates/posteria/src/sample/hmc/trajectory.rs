//! Run a trajectory of fixed length and decide where it leads: to its end, or into the
//! acceptance window at its end.

use super::{Metric, Phase};
use crate::density::special::log_add_exp;
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity};

/// Energy error beyond which a trajectory is called divergent.
pub(super) const DIVERGENCE: f64 = 1000.0;

/// What a trajectory did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) accepted: bool,
    pub(super) acceptance: f64,
    pub(super) evaluations: u32,
    pub(super) diverging: bool,
    pub(super) infeasible: Option<Infeasible>,
}

/// A trajectory of `steps` leapfrog steps with windows of `window` states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trajectory {
    pub(super) steps: usize,
    pub(super) step_size: f64,
    pub(super) window: usize,
}

/// Room for trajectories.
pub(super) struct Buffers {
    start: Phase,
    reject: Phase,
    accept: Phase,
}

impl Buffers {
    pub(super) fn new(dim: usize) -> Self {
        Buffers { start: Phase::new(dim), reject: Phase::new(dim), accept: Phase::new(dim) }
    }
}

impl Trajectory {
    /// Moves `phase` by one accepted or rejected trajectory. After a rejection the momentum is
    /// reversed, as persistence requires [MCMCstuff §5.2.3].
    pub(super) fn run(
        &self,
        target: &mut dyn LogDensity,
        metric: &mut Metric,
        phase: &mut Phase,
        buffers: &mut Buffers,
        stream: &mut Stream,
    ) -> Transition {
        buffers.start.copy_from(phase);
        let transition = if self.window > 1 {
            self.window_transition(target, metric, phase, buffers, stream)
        } else {
            self.end_transition(target, metric, phase, buffers, stream)
        };
        if transition.infeasible.is_some() {
            phase.copy_from(&buffers.start);
        }
        if !transition.accepted {
            phase.momentum.iter_mut().for_each(|r| *r = -*r);
        }
        transition
    }

    /// Accepts the end with probability min(1, exp(-ΔH)).
    fn end_transition(
        &self,
        target: &mut dyn LogDensity,
        metric: &mut Metric,
        phase: &mut Phase,
        buffers: &Buffers,
        stream: &mut Stream,
    ) -> Transition {
        let before = phase.energy();
        for step in 0..self.steps {
            if let Err(infeasible) = phase.leapfrog(target, metric, self.step_size) {
                return failed(step + 1, infeasible);
            }
        }
        let error = phase.energy() - before;
        if error.is_nan() {
            return failed(self.steps, Infeasible::NotFinite);
        }
        let acceptance = (-error).exp().min(1.0);
        let accepted = stream.uniform() < acceptance;
        if !accepted {
            phase.copy_from(&buffers.start);
        }
        Transition {
            accepted,
            acceptance,
            evaluations: self.steps as u32,
            diverging: error > DIVERGENCE,
            infeasible: None,
        }
    }

    /// Chooses between a window at the start and one at the end of the trajectory by their
    /// free energies, then a state inside the window [MCMCstuff §5.2.2, eq. 56]. The start is
    /// at a random place of its window, which makes the choice reversible.
    fn window_transition(
        &self,
        target: &mut dyn LogDensity,
        metric: &mut Metric,
        phase: &mut Phase,
        buffers: &mut Buffers,
        stream: &mut Stream,
    ) -> Transition {
        let Buffers { start, reject, accept } = buffers;
        let window = self.window.min(self.steps + 1);
        let offset = stream.index(window);
        let before = phase.energy();
        let mut evaluations = 0;
        let mut largest_error = f64::NEG_INFINITY;
        let mut rejecting = Window { chosen: reject, log_weight: f64::NEG_INFINITY };
        let mut accepting = Window { chosen: accept, log_weight: f64::NEG_INFINITY };
        let mut offer = |index: usize, phase: &Phase, stream: &mut Stream| {
            let error = phase.energy() - before;
            largest_error = largest_error.max(error);
            if index < window {
                rejecting.offer(phase, -error, stream);
            }
            if index + window > self.steps {
                accepting.offer(phase, -error, stream);
            }
            !error.is_nan()
        };
        offer(offset, phase, stream);
        // Backwards from the start to the beginning of the trajectory, then forwards. A state
        // without a density ends the attempt; every other start of this trajectory would meet
        // it too, so staying is reversible.
        let backwards = (0..offset).rev().map(|index| (index, -self.step_size));
        let forwards = (offset + 1..=self.steps).map(|index| (index, self.step_size));
        for (index, step_size) in backwards.chain(forwards) {
            if index == offset + 1 {
                phase.copy_from(start);
            }
            evaluations += 1;
            if let Err(infeasible) = phase.leapfrog(target, metric, step_size) {
                return failed(evaluations, infeasible);
            }
            if !offer(index, phase, stream) {
                return failed(evaluations, Infeasible::NotFinite);
            }
        }
        let acceptance = (accepting.log_weight - rejecting.log_weight).exp().min(1.0);
        let accepted = stream.uniform() < acceptance;
        phase.copy_from(if accepted { accepting.chosen } else { rejecting.chosen });
        Transition {
            accepted,
            acceptance,
            evaluations: evaluations as u32,
            diverging: largest_error > DIVERGENCE,
            infeasible: None,
        }
    }
}

/// A window while its states pass by: one of them, chosen with probability ∝ exp(-H).
struct Window<'b> {
    chosen: &'b mut Phase,
    /// log Σ exp(-H), minus the free energy.
    log_weight: f64,
}

impl Window<'_> {
    fn offer(&mut self, phase: &Phase, log_weight: f64, stream: &mut Stream) {
        self.log_weight = log_add_exp(self.log_weight, log_weight);
        if stream.uniform() < (log_weight - self.log_weight).exp() {
            self.chosen.copy_from(phase);
        }
    }
}

fn failed(evaluations: usize, infeasible: Infeasible) -> Transition {
    Transition {
        accepted: false,
        acceptance: 0.0,
        evaluations: evaluations as u32,
        diverging: true,
        infeasible: Some(infeasible),
    }
}
