//! Move a block with a normal prior along ellipses through it and prior draws.

use std::f64::consts::TAU;
use std::ops::Range;

use posteria_linalg::Cholesky;

use super::memory::{ForeignMemory, expect_none};
use super::{Step, Update};
use crate::random::Stream;
use crate::target::Infeasible;

/// Brackets of the angle shorter than this cannot be told from the present point.
const SHORTEST_BRACKET: f64 = 1e-14;

/// The density of one block given the rest of the state, as a normal prior times a likelihood.
pub trait GaussianTimesLikelihood: Send {
    /// Length of the block.
    fn dim(&self) -> usize;

    /// Takes what prior and likelihood depend on from the whole `state`. Returns whether the
    /// likelihood may differ from the one of the previous call.
    fn condition(&mut self, state: &[f64]) -> bool {
        let _ = state;
        false
    }

    /// Mean m of the prior.
    fn prior_mean(&self) -> &[f64];

    /// Draws L z, z standard normal, from the prior about its mean: N(0, L Lᵀ).
    fn draw_deviation(&mut self, deviation: &mut [f64], stream: &mut Stream);

    /// Log likelihood of the block (everything of the density but the prior).
    ///
    /// # Errors
    /// [`Infeasible`] where the density vanishes or cannot be computed.
    fn log_likelihood(&mut self, block: &[f64]) -> Result<f64, Infeasible>;
}

/// A fixed prior N(mean, L Lᵀ) with a log likelihood given by a function.
#[derive(Clone, Debug)]
pub struct NormalPrior<F> {
    mean: Vec<f64>,
    factor: Cholesky,
    log_likelihood: F,
}

impl<F: FnMut(&[f64]) -> Result<f64, Infeasible> + Send> NormalPrior<F> {
    /// The prior N(`mean`, L Lᵀ), L the factor held by `factor`, times exp(`log_likelihood`).
    ///
    /// # Panics
    /// If mean and factor differ in dimension.
    pub fn new(mean: Vec<f64>, factor: Cholesky, log_likelihood: F) -> Self {
        assert_eq!(mean.len(), factor.dim(), "mean and covariance have one dimension");
        NormalPrior { mean, factor, log_likelihood }
    }
}

impl<F: FnMut(&[f64]) -> Result<f64, Infeasible> + Send> GaussianTimesLikelihood
    for NormalPrior<F>
{
    fn dim(&self) -> usize {
        self.mean.len()
    }

    fn prior_mean(&self) -> &[f64] {
        &self.mean
    }

    fn draw_deviation(&mut self, deviation: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(deviation);
        self.factor.multiply_lower(deviation);
    }

    fn log_likelihood(&mut self, block: &[f64]) -> Result<f64, Infeasible> {
        (self.log_likelihood)(block)
    }
}

/// Elliptical slice sampling [Murray, Adams & MacKay 2010]: leaves
/// N(m, L Lᵀ) × likelihood^β invariant, without anything to tune.
///
/// With ν a draw from N(0, L Lᵀ), the new block is m + (x - m) cos θ + ν sin θ, where θ is
/// found on the circle by shrinking a bracket about θ = 0 until the likelihood is above a
/// random level. At β = 0 the update is an exact draw from the prior, and the likelihood is
/// not evaluated.
pub struct EllipticalSlice<G> {
    name: String,
    range: Range<usize>,
    density: G,
    inverse_temperature: f64,
    block: Vec<f64>,
    deviation: Vec<f64>,
    log_likelihood: f64,
    current: bool,
}

impl<G: GaussianTimesLikelihood> EllipticalSlice<G> {
    /// Moves `state[start..start + density.dim()]`, the likelihood raised to the power
    /// `inverse_temperature`.
    ///
    /// # Panics
    /// If the inverse temperature is negative or not finite.
    pub fn new(
        name: impl Into<String>,
        start: usize,
        density: G,
        inverse_temperature: f64,
    ) -> Self {
        assert!(
            inverse_temperature >= 0.0 && inverse_temperature.is_finite(),
            "an inverse temperature is at least 0, got {inverse_temperature}"
        );
        let dim = density.dim();
        EllipticalSlice {
            name: name.into(),
            range: start..start + dim,
            density,
            inverse_temperature,
            block: vec![0.0; dim],
            deviation: vec![0.0; dim],
            log_likelihood: 0.0,
            current: false,
        }
    }

    /// β times the log likelihood of `block`; never NaN or infinite.
    fn tempered(&mut self, block: &[f64]) -> Result<f64, Infeasible> {
        let value = self.inverse_temperature * self.density.log_likelihood(block)?;
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn draw_from_prior(&mut self, block: &mut [f64], stream: &mut Stream) -> Step {
        self.density.draw_deviation(block, stream);
        for (x, mean) in block.iter_mut().zip(self.density.prior_mean()) {
            *x += mean;
        }
        Step::default()
    }

    /// Shrinks the bracket of angles until the point on the ellipse is above `level`.
    fn search(&mut self, block: &mut [f64], level: f64, step: &mut Step, stream: &mut Stream) {
        let mut angle = TAU * stream.uniform();
        let (mut lower, mut upper) = (angle - TAU, angle);
        while upper - lower > SHORTEST_BRACKET {
            let (sine, cosine) = angle.sin_cos();
            let mean = self.density.prior_mean();
            for (i, x) in block.iter_mut().enumerate() {
                *x = mean[i] + (self.block[i] - mean[i]) * cosine + self.deviation[i] * sine;
            }
            step.evaluations += 1;
            match self.tempered(block) {
                Ok(value) if value >= level => {
                    self.block.copy_from_slice(block);
                    self.log_likelihood = value;
                    return;
                }
                Ok(_) => {}
                Err(reason) => step.infeasible = Some(reason),
            }
            if angle < 0.0 {
                lower = angle;
            } else {
                upper = angle;
            }
            angle = lower + stream.uniform() * (upper - lower);
        }
        block.copy_from_slice(&self.block);
        step.accepted = false;
    }
}

impl<G: GaussianTimesLikelihood> Update for EllipticalSlice<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let changed = self.density.condition(state);
        let block = &mut state[self.range.clone()];
        if self.inverse_temperature <= 0.0 {
            return self.draw_from_prior(block, stream);
        }
        let mut step = Step::default();
        let moved = self.block.iter().zip(&*block).any(|(a, b)| a.to_bits() != b.to_bits());
        if changed || moved || !self.current {
            self.block.copy_from_slice(block);
            step.evaluations = 1;
            match self.tempered(block) {
                Ok(value) => self.log_likelihood = value,
                Err(infeasible) => {
                    // Without a density there is nothing to move from: stay, and say so.
                    self.current = false;
                    step.infeasible = Some(infeasible);
                    return Step { accepted: false, acceptance: 0.0, ..step };
                }
            }
            self.current = true;
        }
        self.density.draw_deviation(&mut self.deviation, stream);
        let level = self.log_likelihood - stream.exponential();
        self.search(block, level, &mut step, stream);
        step
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.current = false;
        expect_none("elliptical slice sampling", memory)
    }
}
