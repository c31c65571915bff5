//! Propose coordinates with a standard normal prior anew, from that prior.

use super::kernel::value_at;
use super::{Kernel, Step};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// Metropolis–Hastings proposals for groups of coordinates to which the target gives a standard
/// normal prior, independent of all else.
///
/// Every attempt picks a group at random and one of the given ρ, and proposes
/// x' = ρ x + √(1 - ρ²) n with n ~ N(0, I) for the group: ρ = 0 draws it fresh from the prior,
/// ρ near 1 moves a little (preconditioned Crank–Nicolson) [Neal 1999; Cotter et al. 2013]. The
/// proposal leaves the prior invariant, so the acceptance is
/// min(1, π(x') N(x) / (π(x) N(x'))): the ratio of what the target is besides that prior. With
/// [`Refresh::mirrors`] some attempts instead change the signs of a subset of coordinates, which
/// is its own reverse.
///
/// For what a gradient cannot do: a part of the model that has lost all influence, or sits on
/// the wrong side, finds another place. One evaluation of the value per attempt.
#[derive(Clone, Debug)]
pub struct Refresh {
    groups: Vec<Vec<usize>>,
    correlations: Vec<f64>,
    mirrors: Vec<Vec<usize>>,
    attempts: usize,
    candidate: Vec<f64>,
}

impl Refresh {
    /// Proposes each of `groups` with the given correlations ρ between old and new, one attempt
    /// per step.
    ///
    /// # Panics
    /// If there is no group, one is empty or names a coordinate twice, or there is no ρ, or one
    /// is outside [0, 1).
    pub fn new(groups: Vec<Vec<usize>>, correlations: &[f64]) -> Self {
        assert!(!groups.is_empty(), "at least one group");
        groups.iter().for_each(|group| check_subset(group));
        assert!(!correlations.is_empty(), "at least one correlation");
        assert!(
            correlations.iter().all(|rho| (0.0..1.0).contains(rho)),
            "correlations in [0, 1), got {correlations:?}"
        );
        Refresh {
            groups,
            correlations: correlations.to_vec(),
            mirrors: Vec::new(),
            attempts: 1,
            candidate: Vec::new(),
        }
    }

    /// Lets as many attempts as there are for one ρ change the signs of one of these subsets of
    /// coordinates.
    ///
    /// # Panics
    /// If a subset is empty or names a coordinate twice.
    #[must_use]
    pub fn mirrors(mut self, mirrors: Vec<Vec<usize>>) -> Self {
        mirrors.iter().for_each(|subset| check_subset(subset));
        self.mirrors = mirrors;
        self
    }

    /// Makes this many attempts per step.
    ///
    /// # Panics
    /// If `attempts` is zero.
    #[must_use]
    pub fn attempts(mut self, attempts: usize) -> Self {
        assert!(attempts > 0, "at least one attempt per step");
        self.attempts = attempts;
        self
    }

    /// Writes a proposal into the candidate; returns log N(x) - log N(x').
    fn propose(&mut self, position: &[f64], stream: &mut Stream) -> f64 {
        self.candidate.copy_from_slice(position);
        let kinds = self.correlations.len() + usize::from(!self.mirrors.is_empty());
        let Some(rho) = self.correlations.get(stream.index(kinds)) else {
            for coordinate in &self.mirrors[stream.index(self.mirrors.len())] {
                self.candidate[*coordinate] = -self.candidate[*coordinate];
            }
            return 0.0;
        };
        let noise = (1.0 - rho * rho).sqrt();
        let group = &self.groups[stream.index(self.groups.len())];
        let mut log_ratio = 0.0;
        for coordinate in group {
            let from = position[*coordinate];
            let to = rho * from + noise * stream.normal();
            self.candidate[*coordinate] = to;
            log_ratio += 0.5 * (to * to - from * from);
        }
        log_ratio
    }
}

fn check_subset(coordinates: &[usize]) {
    let mut sorted = coordinates.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(!sorted.is_empty(), "no coordinate to propose");
    assert_eq!(sorted.len(), coordinates.len(), "a coordinate is named twice");
}

impl Kernel for Refresh {
    fn name(&self) -> &'static str {
        "refresh"
    }

    fn needs_gradient(&self) -> bool {
        false
    }

    /// `acceptance` is the mean over the attempts.
    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        self.candidate.resize(point.position.len(), 0.0);
        let mut step = Step { accepted: false, ..Step::default() };
        let mut sum = 0.0;
        for _ in 0..self.attempts {
            let log_prior_ratio = self.propose(&point.position, stream);
            step.evaluations += 1;
            match value_at(target, &self.candidate) {
                Ok(value) => {
                    let log_ratio = value - point.log_density + log_prior_ratio;
                    if log_ratio.is_nan() {
                        step.infeasible = Some(Infeasible::NotFinite);
                        continue;
                    }
                    let acceptance = log_ratio.min(0.0).exp();
                    sum += acceptance;
                    if stream.uniform() < acceptance {
                        std::mem::swap(&mut point.position, &mut self.candidate);
                        point.log_density = value;
                        step.accepted = true;
                    }
                }
                Err(infeasible) => step.infeasible = Some(infeasible),
            }
        }
        if step.accepted {
            point.gradient.fill(f64::NAN);
        }
        step.acceptance = sum / f64::from(step.evaluations);
        step.energy = -point.log_density;
        step
    }
}
