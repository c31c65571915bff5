//! Weights and scales together, in coordinates that are independent in the prior.

use super::hierarchy::Hierarchy;
use super::network::{Network, Rows, Shape};
use super::observed::{Conditioned, Observed};
use super::scale_block::ScaleBlock;
use crate::density::special::LOG_SQRT_2PI;
use crate::random::Stream;
use crate::sample::Coordinates;
use crate::target::{Infeasible, LogDensity};

/// The density of (coordinates of scales, z) with w_i = s_i z_i and z_i ~ N(0, 1): moving a
/// scale moves its weights with it. The residual model is held fixed.
pub(super) struct Whitened<'p> {
    hierarchy: &'p Hierarchy,
    observed: &'p Observed,
    inverse_temperature: f64,
    network: Network<'p>,
    conditioned: Conditioned,
    block: ScaleBlock<'p>,
    /// The state, with the scales of the latest evaluation.
    state: Vec<f64>,
    scales: Vec<f64>,
    weights: Vec<f64>,
    /// Gradient with respect to the weights.
    slopes: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'p> Whitened<'p> {
    pub(super) fn new(
        (shape, rows): (Shape, &'p Rows),
        hierarchy: &'p Hierarchy,
        observed: &'p Observed,
        inverse_temperature: f64,
    ) -> Self {
        let count = shape.len();
        let block = ScaleBlock::new(hierarchy, None);
        Whitened {
            hierarchy,
            observed,
            inverse_temperature,
            network: Network::new(shape, rows),
            conditioned: Conditioned::new(observed),
            state: Vec::new(),
            scales: vec![0.0; count],
            weights: vec![0.0; count],
            slopes: vec![0.0; count],
            scratch: vec![0.0; block.len()],
            block,
        }
    }

    /// The coordinates of the scales.
    pub(super) fn block(&self) -> &ScaleBlock<'p> {
        &self.block
    }

    /// Sets scales and weights to those of `position`.
    fn set(&mut self, position: &[f64]) {
        let (scales, z) = position.split_at(self.block.len());
        self.block.leave(scales, &mut self.state);
        self.hierarchy.scales(&self.state, &mut self.scales);
        for ((weight, scale), z) in self.weights.iter_mut().zip(&self.scales).zip(z) {
            *weight = scale * z;
        }
    }

    /// From the gradient with respect to the weights in `slopes`: that of the whole density.
    /// Returns the log prior.
    fn finish(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Infeasible> {
        let beta = self.inverse_temperature;
        let (coordinates, z) = position.split_at(self.block.len());
        let (of_scales, of_z) = gradient.split_at_mut(self.block.len());
        let mut squares = 0.0;
        for (((slot, z), scale), slope) in
            of_z.iter_mut().zip(z).zip(&self.scales).zip(&mut self.slopes)
        {
            squares += z * z;
            *slope *= beta;
            *slot = *slope * scale - z;
        }
        let (groups, slopes, weights) = (&self.hierarchy.groups, &self.slopes, &self.weights);
        let prior = self.block.log_density_gradient(coordinates, of_scales, |group, part| {
            let group = &groups[group.expect("residual scales are not moved here")];
            let range = group.part_range(part);
            slopes[range.clone()].iter().zip(&weights[range]).map(|(g, w)| g * w).sum()
        });
        prior
            .map(|prior| prior - 0.5 * squares - z.len() as f64 * LOG_SQRT_2PI)
            .ok_or(Infeasible::NotFinite)
    }
}

impl LogDensity for Whitened<'_> {
    fn dim(&self) -> usize {
        self.block.len() + self.weights.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.set(position);
        let (coordinates, z) = position.split_at(self.block.len());
        let prior = self
            .block
            .log_density_gradient(coordinates, &mut self.scratch, |_, _| 0.0)
            .ok_or(Infeasible::NotFinite)?;
        let squares: f64 = z.iter().map(|z| z * z).sum();
        let prior = prior - 0.5 * squares - z.len() as f64 * LOG_SQRT_2PI;
        let beta = self.inverse_temperature;
        if beta > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            let value = self.network.log_likelihood(&self.weights, &likelihood);
            Ok(prior + beta * (value + self.conditioned.log_constant()))
        } else {
            Ok(prior)
        }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        self.set(position);
        let beta = self.inverse_temperature;
        let mut value = 0.0;
        if beta > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            let terms =
                self.network.log_likelihood_gradient(&self.weights, &likelihood, &mut self.slopes);
            value = beta * (terms + self.conditioned.log_constant());
        } else {
            self.slopes.fill(0.0);
        }
        Ok(value + self.finish(position, gradient)?)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.set(position);
        if self.inverse_temperature > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            self.network.force(&self.weights, &likelihood, &mut self.slopes);
        } else {
            self.slopes.fill(0.0);
        }
        self.finish(position, gradient).map(|_| ())
    }
}

impl Coordinates for Whitened<'_> {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.conditioned.condition(self.observed, state);
        let (coordinates, z) = position.split_at_mut(self.block.len());
        self.block.enter(state, coordinates);
        self.hierarchy.scales(state, &mut self.scales);
        for ((z, weight), scale) in z.iter_mut().zip(state).zip(&self.scales) {
            *z = weight / scale;
        }
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], _stream: &mut Stream) {
        self.set(position);
        self.block.leave(&position[..self.block.len()], state);
        state[..self.weights.len()].copy_from_slice(&self.weights);
    }
}
