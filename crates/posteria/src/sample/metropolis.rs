//! Metropolis–Hastings with any proposal: propose, compare densities, accept or stay.

use std::mem;

use posteria_linalg::Matrix;

use super::kernel::value_at;
use super::memory::{ForeignMemory, expect_none};
use super::{Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// How [`MetropolisHastings`] proposes: a distribution q(to | from) that can be drawn from and
/// whose density ratio is known.
pub trait Proposal: Send {
    /// The kernel's name in reports.
    fn name(&self) -> &'static str;

    /// Draws `to` from q(· | `from`).
    fn propose(&mut self, from: &[f64], to: &mut [f64], stream: &mut Stream);

    /// log q(from | to) - log q(to | from), of the latest proposal; zero for a symmetric one.
    fn log_ratio(&mut self, from: &[f64], to: &[f64]) -> f64 {
        let _ = (from, to);
        0.0
    }

    /// Whether no proposals are to be made: settled outside stages that adapt.
    fn rests(&self) -> bool {
        false
    }

    /// Width of the proposal, for reports; NaN where there is none.
    fn width(&self) -> f64 {
        f64::NAN
    }

    /// Hears of every step and where it ended. A proposal that learns does so only in stages
    /// that ask for it.
    fn learn(&mut self, position: &[f64], step: &Step) {
        let _ = (position, step);
    }

    /// As [`Kernel::enter`].
    fn enter(&mut self, stage: &Stage) {
        let _ = stage;
    }

    /// As [`Kernel::shape`].
    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        let _ = (mode, covariance);
    }

    /// As [`Kernel::memory`].
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// As [`Kernel::recall`].
    ///
    /// # Errors
    /// [`ForeignMemory`].
    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        expect_none(self.name(), memory)
    }
}

/// The kernel that accepts a proposal with probability
/// min(1, π(to) q(from | to) / (π(from) q(to | from))) and else stays [Hastings 1970].
/// One evaluation of the value per step, no gradient.
#[derive(Clone, Debug)]
pub struct MetropolisHastings<P> {
    proposal: P,
    candidate: Vec<f64>,
    repeats: usize,
}

impl<P: Proposal> MetropolisHastings<P> {
    /// A kernel with this proposal.
    pub fn new(proposal: P) -> Self {
        MetropolisHastings { proposal, candidate: Vec::new(), repeats: 1 }
    }

    /// Makes this many proposals in every step; the step reports their mean acceptance.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn repeats(mut self, repeats: usize) -> Self {
        assert!(repeats > 0, "a step makes at least one proposal");
        self.repeats = repeats;
        self
    }

    /// The proposal as it stands.
    pub fn proposal(&self) -> &P {
        &self.proposal
    }

    /// The same, to be changed.
    pub fn proposal_mut(&mut self) -> &mut P {
        &mut self.proposal
    }
}

impl<P: Proposal> Kernel for MetropolisHastings<P> {
    fn name(&self) -> &'static str {
        self.proposal.name()
    }

    /// Only where it does nothing, so that whoever comes after it finds the gradient unharmed.
    fn needs_gradient(&self) -> bool {
        self.proposal.rests()
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        if self.proposal.rests() {
            return Step::default();
        }
        let mut all = self.once(target, point, stream);
        for _ in 1..self.repeats {
            let step = self.once(target, point, stream);
            all = Step {
                accepted: all.accepted || step.accepted,
                acceptance: all.acceptance + step.acceptance,
                evaluations: all.evaluations + step.evaluations,
                infeasible: all.infeasible.or(step.infeasible),
                ..step
            };
        }
        all.acceptance /= self.repeats as f64;
        all
    }

    fn enter(&mut self, stage: &Stage) {
        self.proposal.enter(stage);
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.proposal.shape(mode, covariance);
    }

    fn memory(&self) -> Vec<f64> {
        self.proposal.memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.proposal.recall(memory)
    }
}

impl<P: Proposal> MetropolisHastings<P> {
    /// One proposal.
    fn once(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        self.candidate.resize(point.position.len(), 0.0);
        self.proposal.propose(&point.position, &mut self.candidate, stream);
        let mut step = Step {
            accepted: false,
            acceptance: 0.0,
            step_size: self.proposal.width(),
            evaluations: 1,
            ..Step::default()
        };
        match value_at(target, &self.candidate) {
            Ok(value) => {
                let log_ratio = value - point.log_density
                    + self.proposal.log_ratio(&point.position, &self.candidate);
                if log_ratio.is_nan() {
                    step.infeasible = Some(Infeasible::NotFinite);
                } else {
                    step.acceptance = log_ratio.min(0.0).exp();
                    step.accepted = stream.uniform() < step.acceptance;
                }
                if step.accepted {
                    mem::swap(&mut point.position, &mut self.candidate);
                    point.log_density = value;
                    point.gradient.fill(f64::NAN);
                }
            }
            Err(infeasible) => step.infeasible = Some(infeasible),
        }
        step.energy = -point.log_density;
        self.proposal.learn(&point.position, &step);
        step
    }
}
