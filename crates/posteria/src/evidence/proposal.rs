//! Put a multivariate Student's t distribution in the place of a posterior.

use std::ops::Range;

use posteria_linalg::{Cholesky, Matrix};

use super::ladder::{Ladder, LadderError};
use crate::approximate::Approximation;
use crate::density::special::ln_gamma;
use crate::random::Stream;

/// Degrees of freedom: tails heavy enough for weights to be bounded where the posterior's are
/// about normal, a middle that is about normal itself.
const DOF: f64 = 5.0;

/// Student's t with 5 degrees of freedom over some entries of a state; the others are fixed.
#[derive(Clone, Debug)]
pub struct MultivariateT {
    moments: Moments,
    template: Vec<f64>,
    log_constant: f64,
}

/// Where the uncertain entries of states are, and how they spread.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    pub(super) slots: Vec<usize>,
    pub(super) mean: Vec<f64>,
    /// Factor of the covariance matrix.
    pub(super) factor: Cholesky,
}

impl Moments {
    /// Those of the first half of the draws at β = 1 of `ladder`, and the draws that are left of
    /// every chain.
    ///
    /// # Errors
    /// [`LadderError::NoDensity`] where the posterior has discrete or bound parameters, or too few
    /// draws were kept.
    pub(super) fn of_first_half(ladder: &Ladder<'_>) -> Result<(Self, Range<usize>), LadderError> {
        let slots = ladder.posterior.uncertain_slots();
        let slots = slots.ok_or(LadderError::NoDensity)?;
        let draws = ladder.states().iter().map(Vec::len).min().unwrap_or(0);
        let first = ladder.states().iter().flat_map(|chain| &chain[..draws / 2]);
        let (mean, factor) = fitted(first, &slots).ok_or(LadderError::NoDensity)?;
        Ok((Moments { slots, mean, factor }, draws / 2..draws))
    }

    /// Coordinates z of a state, in which it is standard normal if it is normal.
    pub(super) fn standardized(&self, state: &[f64]) -> Vec<f64> {
        let off = self.slots.iter().zip(&self.mean).map(|(slot, mean)| state[*slot] - mean);
        let mut z: Vec<f64> = off.collect();
        self.factor.solve_lower(&mut z);
        z
    }
}

/// Mean and factor of the covariance of some entries of states.
fn fitted<'s>(
    states: impl Iterator<Item = &'s Vec<f64>> + Clone,
    slots: &[usize],
) -> Option<(Vec<f64>, Cholesky)> {
    let dim = slots.len();
    let count = states.clone().count() as f64;
    if count < 2.0 * dim as f64 {
        return None;
    }
    let mut mean = vec![0.0; dim];
    for state in states.clone() {
        mean.iter_mut().zip(slots).for_each(|(sum, slot)| *sum += state[*slot] / count);
    }
    let mut covariance = Matrix::zeros(dim, dim);
    for state in states {
        for i in 0..dim {
            for j in 0..dim {
                covariance[(i, j)] +=
                    (state[slots[i]] - mean[i]) * (state[slots[j]] - mean[j]) / (count - 1.0);
            }
        }
    }
    Cholesky::new(&covariance).ok().map(|factor| (mean, factor))
}

impl MultivariateT {
    /// With the mean and the scale matrix of the entries `slots` of these states. `None` if they
    /// are too few for a covariance matrix.
    pub fn fit(states: &[Vec<Vec<f64>>], slots: &[usize]) -> Option<Self> {
        let (mean, factor) = fitted(states.iter().flatten(), slots)?;
        let template = states.iter().flatten().next()?.clone();
        Some(MultivariateT::new(slots.to_vec(), template, mean, factor))
    }

    /// With this middle and this factor of the scale matrix; `template` has the other entries.
    ///
    /// # Panics
    /// If lengths differ.
    pub fn new(slots: Vec<usize>, template: Vec<f64>, mean: Vec<f64>, factor: Cholesky) -> Self {
        assert_eq!(slots.len(), mean.len(), "one mean per entry");
        let dim = slots.len() as f64;
        let log_constant = ln_gamma(0.5 * (DOF + dim))
            - ln_gamma(0.5 * DOF)
            - 0.5 * dim * (DOF * std::f64::consts::PI).ln()
            - 0.5 * factor.log_determinant();
        MultivariateT { moments: Moments { slots, mean, factor }, template, log_constant }
    }
}

impl Approximation for MultivariateT {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        state.copy_from_slice(&self.template);
        let Moments { slots, mean, factor } = &self.moments;
        let mut z = vec![0.0; mean.len()];
        stream.fill_normal(&mut z);
        factor.multiply_lower(&mut z);
        let chi_square = 2.0 * stream.gamma(0.5 * DOF);
        let stretch = (DOF / chi_square).sqrt();
        for ((slot, mean), z) in slots.iter().zip(mean).zip(&z) {
            state[*slot] = mean + stretch * z;
        }
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        let z = self.moments.standardized(state);
        let square: f64 = z.iter().map(|z| z * z).sum();
        let dim = z.len() as f64;
        self.log_constant - 0.5 * (DOF + dim) * (square / DOF).ln_1p()
    }
}
