//! Propose from a Student-t distribution fitted to the target in warm-up.

use posteria_linalg::Matrix;

use super::memory::ForeignMemory;
use super::{Adapt, MetropolisHastings, Proposal, RandomWalk, Stage, Step};
use crate::random::Stream;

/// Independence Metropolis: [`MetropolisHastings`] with a [`FittedStudentT`].
pub type Independence = MetropolisHastings<FittedStudentT>;

/// Share of random-walk steps in stages that adapt: enough that a bad early fit, which an
/// independence proposal alone might never leave, is corrected by the next.
const ADAPTING_WALK_SHARE: f64 = 0.5;
/// Guesses that are accepted more rarely than this are poor.
const POOR_ACCEPTANCE: f64 = 0.3;
/// Guesses that are accepted more rarely than this are not worth their values.
const HOPELESS_ACCEPTANCE: f64 = 0.02;
/// Fewest guesses by which to judge.
const FEWEST_GUESSES: f64 = 20.0;

/// Draws independent of the present position, from a multivariate Student-t with the mean and
/// the covariance factor L of the positions visited in the latest stage with
/// [`Adapt::Metric`]:
/// to = mean + inflation · L z / √(χ²_dof / dof).
///
/// The tails are heavier than those of a normal target, so the ratio π/q stays bounded there.
/// A share of the steps, chosen at random, is a random walk of the same covariance, which
/// explores where the fit is poor; before the first fit every step is one. Best in few
/// dimensions: while the acceptance stays above about 0.3.
#[derive(Clone, Debug)]
pub struct FittedStudentT {
    walk: RandomWalk,
    dof: f64,
    inflation: f64,
    walk_share: f64,
    /// Share of the walk where guesses are poor, if it is another.
    poor_walk_share: Option<f64>,
    /// Whether nothing is proposed where guesses are hopeless.
    may_rest: bool,
    /// Acceptance of the guesses in the last stage that adapted, if there were enough to tell.
    acceptance: Option<f64>,
    /// Guesses of this stage, and the sum of their acceptances.
    guesses: f64,
    acceptances: f64,
    adapting: bool,
    /// Whether the latest proposal was a step of the walk.
    walked: bool,
    deviation: Vec<f64>,
}

impl FittedStudentT {
    /// Starts as a random walk of these widths. Degrees of freedom 5, inflation 1.1, a tenth
    /// of the steps are a random walk.
    ///
    /// # Panics
    /// If there is no width, or one is not positive and finite.
    pub fn new(widths: &[f64]) -> Self {
        FittedStudentT {
            walk: RandomWalk::new(widths).learn_covariance(),
            dof: 5.0,
            inflation: 1.1,
            walk_share: 0.1,
            poor_walk_share: None,
            may_rest: false,
            acceptance: None,
            guesses: 0.0,
            acceptances: 0.0,
            adapting: false,
            walked: true,
            deviation: vec![0.0; widths.len()],
        }
    }

    /// Degrees of freedom of the proposal.
    ///
    /// # Panics
    /// If they are not positive and finite.
    #[must_use]
    pub fn dof(mut self, dof: f64) -> Self {
        assert!(dof > 0.0 && dof.is_finite(), "degrees of freedom must be positive, got {dof}");
        self.dof = dof;
        self
    }

    /// Factor by which the proposal is wider than the positions it was fitted to.
    ///
    /// # Panics
    /// If it is not positive and finite.
    #[must_use]
    pub fn inflation(mut self, inflation: f64) -> Self {
        assert!(
            inflation > 0.0 && inflation.is_finite(),
            "the inflation must be positive, got {inflation}"
        );
        self.inflation = inflation;
        self
    }

    /// Share of random-walk steps outside adapting stages.
    ///
    /// # Panics
    /// If it is not in [0, 1].
    #[must_use]
    pub fn walk_share(mut self, share: f64) -> Self {
        assert!((0.0..=1.0).contains(&share), "a share is in [0, 1], got {share}");
        self.walk_share = share;
        self
    }

    /// Share of random-walk steps in place of [`FittedStudentT::walk_share`] where fewer than
    /// 30 % of the guesses were accepted in the last stage that adapted.
    ///
    /// # Panics
    /// If it is not in [0, 1].
    #[must_use]
    pub fn walk_share_if_poor(mut self, share: f64) -> Self {
        assert!((0.0..=1.0).contains(&share), "a share is in [0, 1], got {share}");
        self.poor_walk_share = Some(share);
        self
    }

    /// Proposes nothing outside adapting stages where fewer than 2 % of the guesses were accepted in
    /// the last stage that adapted. For a proposal beside other kernels.
    #[must_use]
    pub fn rest_if_hopeless(mut self) -> Self {
        self.may_rest = true;
        self
    }

    fn is_below(&self, acceptance: f64) -> bool {
        self.acceptance.is_some_and(|own| own < acceptance)
    }

    /// Whether a fit is in use.
    pub fn is_fitted(&self) -> bool {
        self.walk.fit().is_some()
    }

    /// log q up to a constant: -(dof + dim)/2 log(1 + |L⁻¹(x - mean)|² / (inflation² dof)).
    fn log_density(&mut self, position: &[f64]) -> f64 {
        let Some((mean, factor)) = self.walk.fit() else { return 0.0 };
        for ((deviation, x), mean) in self.deviation.iter_mut().zip(position).zip(mean) {
            *deviation = (x - mean) / self.inflation;
        }
        factor.solve_lower(&mut self.deviation);
        let square: f64 = self.deviation.iter().map(|d| d * d).sum();
        -0.5 * (self.dof + position.len() as f64) * (square / self.dof).ln_1p()
    }
}

impl Proposal for FittedStudentT {
    fn name(&self) -> &'static str {
        "independence Metropolis"
    }

    fn propose(&mut self, from: &[f64], to: &mut [f64], stream: &mut Stream) {
        let share = match self.poor_walk_share {
            _ if self.adapting => ADAPTING_WALK_SHARE,
            Some(share) if self.is_below(POOR_ACCEPTANCE) => share,
            _ => self.walk_share,
        };
        self.walked = !self.is_fitted() || stream.uniform() < share;
        let Some((mean, factor)) = self.walk.fit().filter(|_| !self.walked) else {
            return self.walk.propose(from, to, stream);
        };
        stream.fill_normal(to);
        factor.multiply_lower(to);
        let chi_square = 2.0 * stream.gamma(0.5 * self.dof);
        let scale = self.inflation * (self.dof / chi_square).sqrt();
        for (to, mean) in to.iter_mut().zip(mean) {
            *to = mean + scale * *to;
        }
    }

    fn log_ratio(&mut self, from: &[f64], to: &[f64]) -> f64 {
        if self.walked { 0.0 } else { self.log_density(from) - self.log_density(to) }
    }

    fn rests(&self) -> bool {
        self.may_rest && self.is_below(HOPELESS_ACCEPTANCE) && !self.adapting
    }

    fn width(&self) -> f64 {
        if self.walked { self.walk.width() } else { f64::NAN }
    }

    fn learn(&mut self, position: &[f64], step: &Step) {
        if self.walked {
            self.walk.learn(position, step);
        } else {
            if self.adapting {
                self.guesses += 1.0;
                self.acceptances += step.acceptance;
            }
            self.walk.collect(position, step.accepted);
        }
    }

    fn enter(&mut self, stage: &Stage) {
        self.walk.enter(stage);
        if self.guesses >= FEWEST_GUESSES {
            self.acceptance = Some(self.acceptances / self.guesses);
        }
        (self.guesses, self.acceptances) = (0.0, 0.0);
        self.adapting = stage.adapt != Adapt::Nothing;
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        self.walk.shape(mode, covariance);
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.acceptance.unwrap_or(-1.0), self.guesses, self.acceptances];
        memory.extend(self.walk.memory());
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let foreign = ForeignMemory { owner: "independence Metropolis" };
        let (own, of_walk) = memory.split_at_checked(3).ok_or(foreign)?;
        self.acceptance = (own[0] >= 0.0).then_some(own[0]);
        (self.guesses, self.acceptances) = (own[1], own[2]);
        self.walk.recall(of_walk)
    }
}
