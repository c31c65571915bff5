//! Draw states of a posterior from the normal distribution at a mode, or from the mode alone.

use posteria_linalg::Cholesky;

use super::evidence::Evidence;
use super::independent::Approximation;
use super::laplace::log_normal;
use crate::random::Stream;

/// Weights N(m, A⁻¹) about a mode, everything else where it was estimated.
#[derive(Clone, Debug)]
pub struct NormalAtMode {
    state: Vec<f64>,
    precision: Cholesky,
}

impl NormalAtMode {
    /// The normal distribution at the mode that `evidence` found.
    pub fn new(evidence: &Evidence) -> Self {
        NormalAtMode { state: evidence.state.clone(), precision: evidence.precision.clone() }
    }
}

impl Approximation for NormalAtMode {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        let (weights, rest) = state.split_at_mut(self.precision.dim());
        let (mode, scales) = self.state.split_at(self.precision.dim());
        rest.copy_from_slice(scales);
        stream.fill_normal(weights);
        self.precision.solve_lower_transposed(weights);
        weights.iter_mut().zip(mode).for_each(|(weight, mode)| *weight += mode);
    }

    /// That of the weights.
    fn log_density(&self, state: &[f64]) -> f64 {
        let dim = self.precision.dim();
        log_normal(&self.state[..dim], &self.precision, &state[..dim])
    }
}

/// The mode itself, the same in every draw.
#[derive(Clone, Debug)]
pub struct PointAtMode {
    state: Vec<f64>,
}

impl PointAtMode {
    /// The mode that `evidence` found.
    pub fn new(evidence: &Evidence) -> Self {
        PointAtMode { state: evidence.state.clone() }
    }
}

impl Approximation for PointAtMode {
    fn draw(&self, state: &mut [f64], _stream: &mut Stream) {
        state.copy_from_slice(&self.state);
    }

    /// 0: the logarithm of the probability of the only point.
    fn log_density(&self, _state: &[f64]) -> f64 {
        0.0
    }
}
