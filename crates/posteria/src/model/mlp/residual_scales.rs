//! Residual scales, and degrees of freedom that are sampled, as coordinates beside the weights.

use super::network::Network;
use crate::density::special::digamma;
use crate::model::prior::{DofDensity, Levels};
use crate::model::residual::{Noise, Residual, ResidualDof};
use crate::model::spec::ResidualFamily;

/// Residuals of Student's t or Laplace, whose density is that without κ. The first coordinate is
/// log(ν - ν₀) of degrees of freedom ν that have a density above ν₀; there is none where they are
/// known.
pub(super) struct ResidualScales<'p> {
    residual: &'p Residual,
    levels: &'p Levels,
    slot_of: &'p [u32],
    outputs: Vec<f64>,
    /// Derivatives of the log likelihood with respect to the log scales, and to ν.
    along: Vec<f64>,
    along_dof: f64,
}

impl<'p> ResidualScales<'p> {
    /// `None` of other families, where scales are known or change along inputs, and where degrees of
    /// freedom are on a grid or have groups.
    pub(super) fn new(residual: &'p Residual) -> Option<Self> {
        let Noise::Scales { levels, slot_of, .. } = &residual.noise else { return None };
        let has_tails =
            matches!(residual.family, ResidualFamily::StudentT | ResidualFamily::Laplace);
        let is_grid = matches!(residual.dof, ResidualDof::Grid { .. });
        let several = residual.dof_by.is_some();
        let known = residual.known_scales.is_some();
        if !has_tails || is_grid || several || known || residual.slopes.is_some() {
            return None;
        }
        Some(ResidualScales {
            residual,
            levels,
            slot_of,
            outputs: vec![0.0; residual.targets.len()],
            along: vec![0.0; levels.slots.len()],
            along_dof: 0.0,
        })
    }

    pub(super) fn levels(&self) -> &'p Levels {
        self.levels
    }

    fn dof(&self) -> Option<(usize, &DofDensity)> {
        match &self.residual.dof {
            ResidualDof::Continuous { slot, prior } => Some((*slot, prior)),
            _ => None,
        }
    }

    /// Number of coordinates of degrees of freedom: one or none.
    pub(super) fn len(&self) -> usize {
        usize::from(self.dof().is_some())
    }

    pub(super) fn enter(&self, state: &[f64], position: &mut [f64]) {
        if let Some((slot, prior)) = self.dof() {
            position[0] = (state[slot] - prior.limit()).ln();
        }
    }

    pub(super) fn leave(&self, position: &[f64], state: &mut [f64]) {
        if let Some((slot, prior)) = self.dof() {
            state[slot] = prior.limit() + position[0].exp();
        }
    }

    /// Log prior density of the coordinate, at the state where it was left.
    pub(super) fn log_prior(&self, position: &[f64], state: &[f64]) -> f64 {
        self.dof().map_or(0.0, |(slot, prior)| prior.log_density(state[slot]) + position[0])
    }

    /// Finds the derivatives of the log likelihood at these weights: of a residual r = σz
    ///
    /// ∂/∂log σ = -1 + (ν + 1) z²/(ν + z²), for Laplace's -1 + |z|,
    /// ∂/∂ν = ½ (ψ(½ν + ½) - ψ(½ν) - 1/ν - log(1 + z²/ν) + (ν + 1) z² / (ν (ν + z²))).
    pub(super) fn differentiate(
        &mut self,
        network: &mut Network<'_>,
        weights: &[f64],
        state: &[f64],
    ) {
        network.outputs(weights, &mut self.outputs);
        self.along.fill(0.0);
        let dof = self.residual.dof.value(state);
        let is_student = self.residual.family == ResidualFamily::StudentT;
        let of_constant = digamma(0.5 * dof + 0.5) - digamma(0.5 * dof) - dof.recip();
        let mut sum = 0.0;
        let pairs = self.residual.targets.iter().zip(&self.outputs);
        for ((target, output), slot) in pairs.zip(self.slot_of) {
            let slot = *slot as usize;
            let z = (target - output) * (-state[self.levels.slots.start + slot]).exp();
            if is_student {
                let pull = (dof + 1.0) * z * z / (dof + z * z);
                self.along[slot] += pull - 1.0;
                sum += of_constant - (z * z / dof).ln_1p() + pull / dof;
            } else {
                self.along[slot] += z.abs() - 1.0;
            }
        }
        self.along_dof = 0.5 * sum;
    }

    /// Derivative of the log likelihood with respect to the log of scale number `part`.
    pub(super) fn along(&self, part: usize) -> f64 {
        self.along[part]
    }

    /// Writes the derivative of the target with respect to the coordinate, the likelihood raised to
    /// the power β.
    pub(super) fn finish(&self, state: &[f64], beta: f64, gradient: &mut [f64]) {
        if let Some((slot, prior)) = self.dof() {
            let dof = state[slot];
            let along = beta * self.along_dof + prior.slope(dof);
            gradient[0] = along * (dof - prior.limit()) + 1.0;
        }
    }
}
