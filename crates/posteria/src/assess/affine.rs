//! Move draws so that their moments become those that weights give them.

use posteria_linalg::{Cholesky, Matrix};

/// The map θ ↦ target + M (θ - centre), which can be undone.
#[derive(Clone, Debug)]
pub(super) struct Affine {
    centre: Vec<f64>,
    target: Vec<f64>,
    linear: Linear,
}

/// M.
#[derive(Clone, Debug)]
enum Linear {
    Identity,
    Diagonal(Vec<f64>),
    /// L_to L_from⁻¹.
    Factors {
        from: Cholesky,
        to: Cholesky,
    },
}

impl Affine {
    /// The map that gives draws the weighted mean.
    pub(super) fn shift(states: &[f64], dim: usize, weights: &[f64]) -> Self {
        let even = vec![1.0 / weights.len() as f64; weights.len()];
        Affine {
            centre: mean(states, dim, &even),
            target: mean(states, dim, weights),
            linear: Linear::Identity,
        }
    }

    /// The map that gives draws the weighted mean and the weighted variance of every coordinate;
    /// `None` if a coordinate does not vary.
    pub(super) fn scale(states: &[f64], dim: usize, weights: &[f64]) -> Option<Self> {
        let mut map = Affine::shift(states, dim, weights);
        let even = vec![1.0 / weights.len() as f64; weights.len()];
        let from = variances(states, &even, &map.centre);
        let to = variances(states, weights, &map.target);
        let ratios: Vec<f64> = from.iter().zip(&to).map(|(from, to)| (to / from).sqrt()).collect();
        let usable = ratios.iter().all(|ratio| ratio.is_finite() && *ratio > 0.0);
        map.linear = Linear::Diagonal(ratios);
        usable.then_some(map)
    }

    /// The map that gives draws the weighted mean and covariance; `None` if either covariance is
    /// singular.
    pub(super) fn covariance(states: &[f64], dim: usize, weights: &[f64]) -> Option<Self> {
        let mut map = Affine::shift(states, dim, weights);
        let even = vec![1.0 / weights.len() as f64; weights.len()];
        let from = Cholesky::new(&covariance(states, &even, &map.centre)).ok()?;
        let to = Cholesky::new(&covariance(states, weights, &map.target)).ok()?;
        let usable = (from.log_determinant() + to.log_determinant()).is_finite();
        map.linear = Linear::Factors { from, to };
        usable.then_some(map)
    }

    pub(super) fn apply(&self, state: &mut [f64]) {
        subtract(state, &self.centre);
        match &self.linear {
            Linear::Identity => {}
            Linear::Diagonal(scales) => state.iter_mut().zip(scales).for_each(|(x, s)| *x *= s),
            Linear::Factors { from, to } => {
                from.solve_lower(state);
                to.multiply_lower(state);
            }
        }
        add(state, &self.target);
    }

    pub(super) fn undo(&self, state: &mut [f64]) {
        subtract(state, &self.target);
        match &self.linear {
            Linear::Identity => {}
            Linear::Diagonal(scales) => state.iter_mut().zip(scales).for_each(|(x, s)| *x /= s),
            Linear::Factors { from, to } => {
                to.solve_lower(state);
                from.multiply_lower(state);
            }
        }
        add(state, &self.centre);
    }

    /// log det M, which is positive.
    pub(super) fn log_determinant(&self) -> f64 {
        match &self.linear {
            Linear::Identity => 0.0,
            Linear::Diagonal(scales) => scales.iter().map(|scale| scale.ln()).sum(),
            Linear::Factors { from, to } => 0.5 * (to.log_determinant() - from.log_determinant()),
        }
    }
}

fn subtract(state: &mut [f64], offset: &[f64]) {
    state.iter_mut().zip(offset).for_each(|(x, offset)| *x -= offset);
}

fn add(state: &mut [f64], offset: &[f64]) {
    state.iter_mut().zip(offset).for_each(|(x, offset)| *x += offset);
}

fn mean(states: &[f64], dim: usize, weights: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; dim];
    for (state, weight) in states.chunks_exact(dim).zip(weights) {
        mean.iter_mut().zip(state).for_each(|(mean, x)| *mean += weight * x);
    }
    mean
}

fn variances(states: &[f64], weights: &[f64], mean: &[f64]) -> Vec<f64> {
    let mut variances = vec![0.0; mean.len()];
    for (state, weight) in states.chunks_exact(mean.len()).zip(weights) {
        for ((variance, x), mean) in variances.iter_mut().zip(state).zip(mean) {
            *variance += weight * (x - mean).powi(2);
        }
    }
    variances
}

fn covariance(states: &[f64], weights: &[f64], mean: &[f64]) -> Matrix {
    let dim = mean.len();
    let mut covariance = Matrix::zeros(dim, dim);
    let mut centred = vec![0.0; dim];
    for (state, weight) in states.chunks_exact(dim).zip(weights) {
        centred.iter_mut().zip(state).zip(mean).for_each(|((c, x), mean)| *c = x - mean);
        for column in 0..dim {
            let factor = weight * centred[column];
            let entries = &mut covariance.column_mut(column)[column..];
            entries.iter_mut().zip(&centred[column..]).for_each(|(entry, c)| *entry += factor * c);
        }
    }
    covariance.mirror_lower();
    covariance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn moved_draws_have_the_weighted_moments_and_come_back() {
        let mut stream = Seed(2).stream(Purpose::Data, [0, 0]);
        let (dim, size) = (3, 50);
        let mut states: Vec<f64> = (0..dim * size).map(|_| 5.0 + stream.normal()).collect();
        states.chunks_exact_mut(dim).for_each(|state| state[2] += 0.8 * state[0]);
        let mut weights: Vec<f64> = (0..size).map(|_| stream.exponential()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let even = vec![1.0 / size as f64; size];
        let wanted = mean(&states, dim, &weights);
        let spread = covariance(&states, &weights, &wanted);
        let maps = [
            Affine::shift(&states, dim, &weights),
            Affine::scale(&states, dim, &weights).expect("varies"),
            Affine::covariance(&states, dim, &weights).expect("varies"),
        ];
        for (kind, map) in maps.iter().enumerate() {
            let mut moved = states.clone();
            moved.chunks_exact_mut(dim).for_each(|state| map.apply(state));
            let found = mean(&moved, dim, &even);
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12));
            let after = covariance(&moved, &even, &found);
            let before = covariance(&states, &even, &map.centre);
            for i in 0..dim {
                assert!(kind < 1 || (after[(i, i)] - spread[(i, i)]).abs() < 1e-12);
                for j in 0..dim {
                    assert!(kind < 2 || (after[(i, j)] - spread[(i, j)]).abs() < 1e-12);
                }
            }
            // det(M Σ Mᵀ) = det(M)² det Σ.
            let log_determinant = |m: &Matrix| Cholesky::new(m).expect("spread").log_determinant();
            let gain = 0.5 * (log_determinant(&after) - log_determinant(&before));
            assert!((map.log_determinant() - gain).abs() < 1e-10, "{kind}");
            moved.chunks_exact_mut(dim).for_each(|state| map.undo(state));
            assert!(moved.iter().zip(&states).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }

    #[test]
    fn coordinates_that_stand_still_cannot_be_scaled() {
        let states = [1.0, 7.0, 2.0, 7.0, 4.0, 7.0];
        let weights = [0.5, 0.25, 0.25];
        assert!(Affine::scale(&states, 2, &weights).is_none());
        assert!(Affine::covariance(&states, 2, &weights).is_none());
    }
}
