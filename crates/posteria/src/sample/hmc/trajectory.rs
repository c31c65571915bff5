//! Run a trajectory of fixed length and decide where it leads: to its end, or into the
//! acceptance window at its end.

use super::{Metric, Phase, Retry};
use crate::density::special::log_add_exp;
use crate::random::Stream;
use crate::sample::kernel::value_at;
use crate::target::{Infeasible, LogDensity};

/// Energy error beyond which a trajectory is called divergent.
pub(super) const DIVERGENCE: f64 = 1000.0;

/// What a trajectory did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) accepted: bool,
    pub(super) acceptance: f64,
    pub(super) leapfrog_steps: u32,
    /// Gradients, or forces and energies.
    pub(super) evaluations: u32,
    pub(super) diverging: bool,
    pub(super) infeasible: Option<Infeasible>,
}

/// What a trajectory has cost so far.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    leapfrog_steps: u32,
    energies: u32,
}

impl Cost {
    fn decided(self, accepted: bool, acceptance: f64, diverging: bool) -> Transition {
        Transition {
            accepted,
            acceptance,
            leapfrog_steps: self.leapfrog_steps,
            evaluations: self.leapfrog_steps + self.energies,
            diverging,
            infeasible: None,
        }
    }

    fn failed(self, infeasible: Infeasible) -> Transition {
        Transition { infeasible: Some(infeasible), ..self.decided(false, 0.0, true) }
    }
}

/// By what a trajectory is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drive {
    /// The gradient, which comes with the energy of every state.
    Gradient,
    /// The target's force; energies are evaluated only where they are asked for.
    Force,
}

impl Drive {
    /// One leapfrog step; with [`Drive::Force`] the energy is unknown afterwards.
    pub(super) fn leapfrog(
        self,
        phase: &mut Phase,
        target: &mut dyn LogDensity,
        metric: &mut Metric,
        step: f64,
    ) -> Result<(), Infeasible> {
        match self {
            Drive::Gradient => phase.leapfrog(target, metric, step),
            Drive::Force => phase.leapfrog_by_force(target, metric, step),
        }
    }

    /// Evaluates the energy of `phase` where the steps have not done so; returns the number of
    /// evaluations.
    pub(super) fn know_energy(
        self,
        phase: &mut Phase,
        target: &mut dyn LogDensity,
    ) -> Result<u32, Infeasible> {
        if self == Drive::Gradient {
            return Ok(0);
        }
        phase.point.log_density = value_at(target, &phase.point.position)?;
        Ok(1)
    }
}

/// A trajectory of `steps` leapfrog steps with windows of `window` states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trajectory {
    pub(super) steps: usize,
    pub(super) step_size: f64,
    pub(super) window: usize,
    pub(super) drive: Drive,
    /// What is tried where the end is rejected; without windows only.
    pub(super) retry: Option<Retry>,
}

/// Room for trajectories, and the places that the latest one passed.
pub(super) struct Buffers {
    pub(super) start: Phase,
    pub(super) way: Way,
    reject: Phase,
    accept: Phase,
}

impl Buffers {
    /// Room for trajectories that note so many places on their way.
    pub(super) fn new(dim: usize, places: usize) -> Self {
        let phase = || Phase::new(dim);
        let place = || Place { steps: 0, position: vec![0.0; dim] };
        let way = Way { places: (0..places).map(|_| place()).collect() };
        Buffers { start: phase(), way, reject: phase(), accept: phase() }
    }
}

/// The places after n, n/2, n/4, … steps of a trajectory of n steps.
pub(super) struct Way {
    pub(super) places: Vec<Place>,
}

/// A place on a trajectory.
pub(super) struct Place {
    /// Leapfrog steps from the start; 0 where the trajectory was too short to have this place.
    pub(super) steps: usize,
    pub(super) position: Vec<f64>,
}

impl Way {
    /// Prepares for a trajectory that goes `steps` steps forwards from its start.
    fn begin(&mut self, steps: usize) {
        for (halvings, place) in self.places.iter_mut().enumerate() {
            place.steps = steps >> halvings;
        }
    }

    fn pass(&mut self, steps: usize, phase: &Phase) {
        for place in self.places.iter_mut().filter(|place| place.steps == steps) {
            place.position.copy_from_slice(&phase.point.position);
        }
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
            let first = self.end_transition(target, metric, phase, buffers, stream);
            match &self.retry {
                Some(retry) if !first.accepted && first.acceptance < retry.below => {
                    self.second_transition(retry, first, (target, metric), (phase, buffers), stream)
                }
                _ => first,
            }
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
        buffers: &mut Buffers,
        stream: &mut Stream,
    ) -> Transition {
        buffers.way.begin(self.steps);
        let before = phase.energy();
        let mut cost = Cost::default();
        let pass = |step: usize, phase: &Phase| buffers.way.pass(step, phase);
        let error =
            match self.follow(self.steps, self.step_size, (target, metric), phase, &mut cost, pass)
            {
                Ok(energy) => energy - before,
                Err(infeasible) => return cost.failed(infeasible),
            };
        let acceptance = (-error).exp().min(1.0);
        let accepted = stream.uniform() < acceptance;
        if !accepted {
            phase.copy_from(&buffers.start);
        }
        cost.decided(accepted, acceptance, error > DIVERGENCE)
    }

    /// Delayed rejection [Modi, Barnett and Carpenter 2024]: where `first` was rejected with
    /// a(x) < b, a more careful trajectory from the same phase x to y, which is accepted with
    /// probability
    ///
    /// min(1, exp(H(x) - H(y)) (1 - a(y)) / (1 - a(x))) if a(y) < b, and never otherwise,
    ///
    /// a being the probability that the first trajectory is accepted; from y it goes backwards.
    /// Where steps are too long for the place, they are from y as well.
    fn second_transition(
        &self,
        retry: &Retry,
        first: Transition,
        (target, metric): (&mut dyn LogDensity, &mut Metric),
        (phase, buffers): (&mut Phase, &mut Buffers),
        stream: &mut Stream,
    ) -> Transition {
        phase.copy_from(&buffers.start);
        let before = phase.energy();
        let mut cost = Cost {
            leapfrog_steps: first.leapfrog_steps,
            energies: first.evaluations - first.leapfrog_steps,
        };
        let steps = retry.steps(self.steps);
        let careful = retry.step_ratio * self.step_size;
        let end = self.follow(steps, careful, (target, metric), phase, &mut cost, |_, _| ());
        let acceptance = end.map_or(0.0, |energy| {
            buffers.accept.copy_from(phase);
            let (forth, back) = (self.steps, -self.step_size);
            // A state without a density is never accepted.
            let ghost = self.follow(forth, back, (target, metric), phase, &mut cost, |_, _| ());
            let from_end = ghost.map_or(0.0, |ghost| (energy - ghost).exp().min(1.0));
            if from_end < retry.below {
                (before - energy).exp() * (1.0 - from_end) / (1.0 - first.acceptance)
            } else {
                0.0
            }
        });
        let accepted = stream.uniform() < acceptance;
        phase.copy_from(if accepted { &buffers.accept } else { &buffers.start });
        Transition {
            accepted,
            leapfrog_steps: cost.leapfrog_steps,
            evaluations: cost.leapfrog_steps + cost.energies,
            // A place that steps are too long for has been left.
            diverging: first.diverging && !accepted,
            infeasible: if accepted { None } else { first.infeasible },
            ..first
        }
    }

    /// Goes `steps` steps, showing every state to `pass`, and returns the energy of the last.
    fn follow(
        &self,
        steps: usize,
        step_size: f64,
        (target, metric): (&mut dyn LogDensity, &mut Metric),
        phase: &mut Phase,
        cost: &mut Cost,
        mut pass: impl FnMut(usize, &Phase),
    ) -> Result<f64, Infeasible> {
        for step in 1..=steps {
            cost.leapfrog_steps += 1;
            self.drive.leapfrog(phase, target, metric, step_size)?;
            pass(step, phase);
        }
        cost.energies += self.drive.know_energy(phase, target)?;
        let energy = phase.energy();
        if energy.is_nan() { Err(Infeasible::NotFinite) } else { Ok(energy) }
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
        let window = self.window.min(self.steps + 1);
        let offset = stream.index(window);
        let Buffers { start, way, reject, accept } = buffers;
        way.begin(self.steps - offset);
        let before = phase.energy();
        let mut cost = Cost::default();
        let mut largest_error = f64::NEG_INFINITY;
        let mut rejecting = Window { chosen: reject, log_weight: f64::NEG_INFINITY };
        let mut accepting = Window { chosen: accept, log_weight: f64::NEG_INFINITY };
        let in_window = |index: usize| (index < window, index + window > self.steps);
        let mut offer = |index: usize, phase: &Phase, stream: &mut Stream| {
            let error = phase.energy() - before;
            largest_error = largest_error.max(error);
            let (first, last) = in_window(index);
            if first {
                rejecting.offer(phase, -error, stream);
            }
            if last {
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
            cost.leapfrog_steps += 1;
            if let Err(infeasible) = self.drive.leapfrog(phase, target, metric, step_size) {
                return cost.failed(infeasible);
            }
            if index > offset {
                way.pass(index - offset, phase);
            }
            if self.drive == Drive::Force {
                // Only members of the windows need an energy.
                if in_window(index) == (false, false) {
                    continue;
                }
                match self.drive.know_energy(phase, target) {
                    Ok(energies) => cost.energies += energies,
                    Err(infeasible) => return cost.failed(infeasible),
                }
            }
            if !offer(index, phase, stream) {
                return cost.failed(Infeasible::NotFinite);
            }
        }
        let acceptance = (accepting.log_weight - rejecting.log_weight).exp().min(1.0);
        let accepted = stream.uniform() < acceptance;
        phase.copy_from(if accepted { accepting.chosen } else { rejecting.chosen });
        cost.decided(accepted, acceptance, largest_error > DIVERGENCE)
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
