//! Weights in units of their scales, beside the coordinates of the scales.

use std::ops::Range;

use posteria_linalg::dot;

use super::hierarchy::Hierarchy;
use super::scale_block::ScaleBlock;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::prior::Levels;
use crate::target::Infeasible;

/// Positions (coordinates of scales, z) with weights w_i = s_i z_i and z_i ~ N(0, 1): moving a
/// scale moves its weights with it. The last weights may be free of their scales: w_i = z_i with
/// z_i ~ N(0, s_i²).
pub(super) struct ScaledWeights<'p> {
    hierarchy: &'p Hierarchy,
    /// The coordinates of the scales.
    pub(super) block: ScaleBlock<'p>,
    /// The state that was entered, with the scales of the latest position.
    pub(super) state: Vec<f64>,
    /// s_i of every weight of the network.
    pub(super) scales: Vec<f64>,
    /// w_i of the latest position: the first weights of the network, or all of them.
    pub(super) weights: Vec<f64>,
    /// First weight that is free of its scale.
    free: usize,
    /// Room for a gradient that nobody asks for.
    ignored: Vec<f64>,
}

impl<'p> ScaledWeights<'p> {
    /// The first `moved` of `all` weights, with every scale of weights and those of `residual`.
    pub(super) fn new(
        hierarchy: &'p Hierarchy,
        residual: Option<&'p Levels>,
        (moved, all): (usize, usize),
    ) -> Self {
        let block = ScaleBlock::new(hierarchy, residual);
        ScaledWeights {
            hierarchy,
            state: Vec::new(),
            scales: vec![0.0; all],
            weights: vec![0.0; moved],
            free: moved,
            ignored: vec![0.0; block.len()],
            block,
        }
    }

    /// Makes the weights from `first` on free of their scales.
    pub(super) fn free_from(&mut self, first: usize) {
        self.free = first;
    }

    /// Length of a position.
    pub(super) fn dim(&self) -> usize {
        self.block.len() + self.weights.len()
    }

    /// Takes `state` and writes its position.
    pub(super) fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        let (coordinates, z) = position.split_at_mut(self.block.len());
        self.block.enter(state, coordinates);
        self.hierarchy.scales(state, &mut self.scales);
        z.copy_from_slice(&state[..z.len()]);
        z[..self.free].iter_mut().zip(&self.scales).for_each(|(z, scale)| *z /= scale);
    }

    /// Takes `state`, its scales and its weights.
    pub(super) fn take(&mut self, state: &[f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.hierarchy.scales(state, &mut self.scales);
        let moved = self.weights.len();
        self.weights.copy_from_slice(&state[..moved]);
    }

    /// Sets scales and weights to those of `position`.
    pub(super) fn set(&mut self, position: &[f64]) {
        let (coordinates, z) = position.split_at(self.block.len());
        self.block.leave(coordinates, &mut self.state);
        self.hierarchy.scales(&self.state, &mut self.scales);
        self.weights.copy_from_slice(z);
        let scaled = self.weights[..self.free].iter_mut().zip(&self.scales);
        scaled.for_each(|(weight, scale)| *weight *= scale);
    }

    /// Writes scales and weights of `position`, the latest that was set, into `state`.
    pub(super) fn leave(&self, position: &[f64], state: &mut [f64]) {
        self.block.leave(&position[..self.block.len()], state);
        state[..self.weights.len()].copy_from_slice(&self.weights);
    }

    /// Log prior density of a position.
    pub(super) fn log_prior(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let coordinates = &position[..self.block.len()];
        let scales = self.block.log_density_gradient(coordinates, &mut self.ignored, |_, _| 0.0);
        let weights = self.log_prior_of_weights(position);
        scales.map(|scales| scales + weights).ok_or(Infeasible::NotFinite)
    }

    /// Gradient of the target at the position that is set, from `slopes`, the derivatives of all
    /// but the prior with respect to the weights. `derivative(group, part)` is that of all but the
    /// prior of scales with respect to a log scale. Returns the log prior of the scales.
    pub(super) fn gradient(
        &self,
        position: &[f64],
        slopes: &[f64],
        gradient: &mut [f64],
        derivative: impl FnMut(Option<usize>, usize) -> f64,
    ) -> Result<f64, Infeasible> {
        let (coordinates, z) = position.split_at(self.block.len());
        let (of_scales, of_z) = gradient.split_at_mut(self.block.len());
        let (of_z, of_free) = of_z.split_at_mut(self.free);
        for (((slot, z), scale), slope) in of_z.iter_mut().zip(z).zip(&self.scales).zip(slopes) {
            *slot = slope * scale - z;
        }
        for (slot, index) in of_free.iter_mut().zip(self.free..) {
            *slot = slopes[index] - self.weights[index] / self.scales[index].powi(2);
        }
        let scales = self.block.log_density_gradient(coordinates, of_scales, derivative);
        scales.ok_or(Infeasible::NotFinite)
    }

    /// Derivative of the target with respect to the log scale of the weights in `range`, given
    /// the `slopes` of the rest of it with respect to the weights.
    pub(super) fn along_log_scale(&self, range: Range<usize>, slopes: &[f64]) -> f64 {
        let weights = &self.weights[range.clone()];
        if range.start >= self.free {
            weights.iter().zip(&self.scales[range]).map(|(w, s)| (w / s).powi(2) - 1.0).sum()
        } else {
            dot(weights, &slopes[range])
        }
    }

    /// Log density of the weights at the position that is set, given their scales.
    pub(super) fn log_prior_of_weights(&self, position: &[f64]) -> f64 {
        let z = &position[self.block.len()..][..self.free];
        let of_free = |index: usize| {
            let scale = self.scales[index];
            let z = self.weights[index] / scale;
            -0.5 * z * z - scale.ln() - LOG_SQRT_2PI
        };
        let free: f64 = (self.free..self.weights.len()).map(of_free).sum();
        -0.5 * dot(z, z) - self.free as f64 * LOG_SQRT_2PI + free
    }
}
