//! Draw states of a posterior from the normal distribution at a mode, or from the mode alone.

use posteria_linalg::Cholesky;

use super::evidence::Evidence;
use super::independent::Approximation;
use super::laplace::log_normal;
use super::linearised::Linearised;
use crate::caution::ApproximationDoubt;
use crate::model::Posterior;
use crate::random::{Purpose, Seed, Stream};

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

/// Draws that are looked at to see whether the posterior is normal at the mode.
const LOOKED_AT: usize = 200;

/// A doubt if draws of the normal distribution at a mode fit the data worse than they should:
/// where the density is normal their mean log likelihood is that of the mode less γ/2. The weights
/// of a network that the data do not determine one by one, but in products, go far astray; where its outputs
/// are taken as `linearised`, which is what predicts, those of the linear outputs need not.
pub fn check_normality(
    posterior: &dyn Posterior,
    linearised: Option<&Linearised<'_>>,
    evidence: &Evidence,
    seed: Seed,
) -> Option<ApproximationDoubt> {
    let normal = NormalAtMode::new(evidence);
    let mut evaluator = match linearised {
        Some(linearised) => linearised.evaluator(),
        None => posterior.evaluator(),
    };
    let mut stream = seed.stream(Purpose::Start, [0, 2]);
    let mut state = evidence.state.clone();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    let (mut sum, mut sum_of_weights) = (0.0, 0.0);
    for _ in 0..LOOKED_AT {
        normal.draw(&mut state, &mut stream);
        let terms = evaluator.evaluate(&state, &mut draw, &mut rows);
        // Rows are those of linear outputs, and the density that of the weights.
        let own = |log_likelihood: f64, rows: &[f64]| match linearised {
            Some(_) => (rows.iter().sum(), log_likelihood),
            None => (log_likelihood, log_likelihood),
        };
        let nothing = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let (linear, of_weights) = terms.map_or(nothing, |it| own(it.log_likelihood, &rows));
        sum += linear;
        sum_of_weights += of_weights;
    }
    let [log_likelihood, of_weights] = [sum, sum_of_weights].map(|sum| sum / LOOKED_AT as f64);
    let half = 0.5 * evidence.effective_parameters;
    let expected = evidence.log_likelihood - half;
    // As much again, and two: far more than the spread of a mean over so many draws.
    let worse = |found: f64| expected - found > half + 2.0;
    if worse(log_likelihood) {
        return Some(ApproximationDoubt::NotNormal { log_likelihood, expected });
    }
    worse(of_weights)
        .then_some(ApproximationDoubt::NotLinear { log_likelihood: of_weights, expected })
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
