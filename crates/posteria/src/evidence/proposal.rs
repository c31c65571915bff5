//! Put a multivariate Student's t distribution in the place of a posterior.

use posteria_linalg::{Cholesky, Matrix};

use crate::approximate::Approximation;
use crate::density::special::ln_gamma;
use crate::random::Stream;

/// Degrees of freedom: tails heavy enough for weights to be bounded where the posterior's are
/// about normal, a middle that is about normal itself.
const DOF: f64 = 5.0;

/// Student's t with 5 degrees of freedom over some entries of a state; the others are fixed.
#[derive(Clone, Debug)]
pub struct MultivariateT {
    slots: Vec<usize>,
    template: Vec<f64>,
    mean: Vec<f64>,
    /// Factor of the covariance matrix.
    factor: Cholesky,
    log_constant: f64,
}

/// Mean and factor of the covariance of some entries of states.
pub(super) fn fitted<'s>(
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
        MultivariateT { slots, template, mean, factor, log_constant }
    }
}

impl Approximation for MultivariateT {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        state.copy_from_slice(&self.template);
        let mut z = vec![0.0; self.mean.len()];
        stream.fill_normal(&mut z);
        self.factor.multiply_lower(&mut z);
        let chi_square = 2.0 * stream.gamma(0.5 * DOF);
        let stretch = (DOF / chi_square).sqrt();
        for ((slot, mean), z) in self.slots.iter().zip(&self.mean).zip(&z) {
            state[*slot] = mean + stretch * z;
        }
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        let mut off: Vec<f64> =
            self.slots.iter().zip(&self.mean).map(|(slot, mean)| state[*slot] - mean).collect();
        self.factor.solve_lower(&mut off);
        let square: f64 = off.iter().map(|z| z * z).sum();
        let dim = self.slots.len() as f64;
        self.log_constant - 0.5 * (DOF + dim) * (square / DOF).ln_1p()
    }
}
