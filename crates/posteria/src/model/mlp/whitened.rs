//! Weights and scales together, in coordinates that are independent in the prior.

use super::hierarchy::Hierarchy;
use super::network::{Network, Rows, Shape};
use super::observed::{Conditioned, Observed};
use super::residual_scales::ResidualScales;
use super::scale_block::ScaleBlock;
use super::scaled_weights::ScaledWeights;
use crate::random::Stream;
use crate::sample::Coordinates;
use crate::target::{Infeasible, LogDensity};

/// The density of (coordinates of scales, z) with w_i = s_i z_i and z_i ~ N(0, 1): moving a
/// scale moves its weights with it. The residual model is held fixed, or its coordinates come
/// first and among those of scales.
pub(super) struct Whitened<'p> {
    hierarchy: &'p Hierarchy,
    observed: &'p Observed,
    inverse_temperature: f64,
    network: Network<'p>,
    conditioned: Conditioned,
    scaled: ScaledWeights<'p>,
    residual: Option<ResidualScales<'p>>,
    /// Gradient with respect to the weights.
    slopes: Vec<f64>,
}

impl<'p> Whitened<'p> {
    pub(super) fn new(
        (shape, rows): (Shape, &'p Rows),
        hierarchy: &'p Hierarchy,
        observed: &'p Observed,
        inverse_temperature: f64,
    ) -> Self {
        let count = shape.len();
        Whitened {
            hierarchy,
            observed,
            inverse_temperature,
            network: Network::new(shape, rows),
            conditioned: Conditioned::new(observed),
            scaled: ScaledWeights::new(hierarchy, None, (count, count)),
            residual: None,
            slopes: vec![0.0; count],
        }
    }

    /// With the weights from `first` on, where a group begins, as they are: z_i = w_i ~ N(0, s_i²).
    ///
    /// What the data say about an output weight does not grow with its scale, as it does for w/s:
    /// trajectories keep their step where the scale is large.
    pub(super) fn up_to(mut self, first: usize) -> Self {
        self.scaled.free_from(first);
        self
    }

    /// With the scales of residuals and their degrees of freedom.
    pub(super) fn beside(self, residual: ResidualScales<'p>) -> Self {
        let count = self.slopes.len();
        let scaled = ScaledWeights::new(self.hierarchy, Some(residual.levels()), (count, count));
        Whitened { scaled, residual: Some(residual), ..self }
    }

    /// Number of coordinates before those of scales.
    fn first(&self) -> usize {
        self.residual.as_ref().map_or(0, ResidualScales::len)
    }

    /// Sets everything to `position`.
    fn set(&mut self, position: &[f64]) {
        let (dof, own) = position.split_at(self.first());
        self.scaled.set(own);
        if let Some(residual) = &self.residual {
            residual.leave(dof, &mut self.scaled.state);
            self.conditioned.condition(self.observed, &self.scaled.state);
        }
    }

    /// Log prior of the coordinates before those of scales.
    fn log_prior_of_dof(&self, position: &[f64]) -> f64 {
        let residual = self.residual.as_ref();
        residual.map_or(0.0, |it| it.log_prior(position, &self.scaled.state))
    }

    /// The coordinates of the scales.
    pub(super) fn block(&self) -> &ScaleBlock<'p> {
        &self.scaled.block
    }

    /// From the gradient with respect to the weights in `slopes`: that of the whole density.
    /// Returns the log prior of the scales.
    fn finish(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Infeasible> {
        self.slopes.iter_mut().for_each(|slope| *slope *= self.inverse_temperature);
        let beta = self.inverse_temperature;
        let first = self.first();
        let (of_dof, gradient) = gradient.split_at_mut(first);
        if let Some(residual) = &mut self.residual {
            residual.differentiate(&mut self.network, &self.scaled.weights, &self.scaled.state);
            residual.finish(&self.scaled.state, beta, of_dof);
        }
        let (groups, slopes) = (&self.hierarchy.groups, &self.slopes);
        let (scaled, residual) = (&self.scaled, &self.residual);
        scaled.gradient(&position[first..], slopes, gradient, |group, part| match group {
            Some(group) => scaled.along_log_scale(groups[group].part_range(part), slopes),
            None => residual.as_ref().map_or(0.0, |it| beta * it.along(part)),
        })
    }
}

impl LogDensity for Whitened<'_> {
    fn dim(&self) -> usize {
        self.first() + self.scaled.dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.set(position);
        let prior =
            self.scaled.log_prior(&position[self.first()..])? + self.log_prior_of_dof(position);
        let beta = self.inverse_temperature;
        if beta > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            let value = self.network.log_likelihood(&self.scaled.weights, &likelihood);
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
        let mut value = self.log_prior_of_dof(position);
        if beta > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            let terms = self.network.log_likelihood_gradient(
                &self.scaled.weights,
                &likelihood,
                &mut self.slopes,
            );
            value += beta * (terms + self.conditioned.log_constant());
        } else {
            self.slopes.fill(0.0);
        }
        let scales = self.finish(position, gradient)?;
        Ok(value + scales + self.scaled.log_prior_of_weights(&position[self.first()..]))
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.set(position);
        if self.inverse_temperature > 0.0 {
            let likelihood = self.conditioned.likelihood(self.observed);
            self.network.force(&self.scaled.weights, &likelihood, &mut self.slopes);
        } else {
            self.slopes.fill(0.0);
        }
        self.finish(position, gradient).map(|_| ())
    }
}

impl Coordinates for Whitened<'_> {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.conditioned.condition(self.observed, state);
        self.network.include(self.hierarchy.selection.as_ref(), state);
        let (dof, own) = position.split_at_mut(self.first());
        self.scaled.enter(state, own);
        if let Some(residual) = &self.residual {
            residual.enter(state, dof);
        }
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], _stream: &mut Stream) {
        self.set(position);
        let (dof, own) = position.split_at(self.first());
        self.scaled.leave(own, state);
        if let Some(residual) = &self.residual {
            residual.leave(dof, state);
        }
    }
}
