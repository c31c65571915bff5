//! Draw states from an ensemble, and say how dense it is at states.

use super::Ensemble;
use super::ascent::place;
use super::outputs::OutputsGiven;
use crate::density::Precision;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::Posterior;
use crate::model::mlp::ScaleAbove;
use crate::random::Stream;

/// Rounds that fit the precisions to hidden weights.
const ROUNDS: usize = 2;

impl Ensemble<'_> {
    /// The distributions of the precisions given the hidden weights and levels of a state: exact of
    /// weights of hidden units, whose squares are known; of output weights and residuals by as many
    /// rounds of the closed forms, with the moments of output weights given the hidden ones. `None`
    /// if these have none.
    fn precisions_at(
        &self,
        outputs: &mut OutputsGiven<'_>,
        state: &[f64],
    ) -> Option<Vec<Precision>> {
        let structure = &self.structure;
        let (network, count) = (&structure.network, structure.hidden());
        let rate = |index: usize| {
            let at = &network.precisions[index];
            let square = match at.above {
                ScaleAbove::Known(scale) => scale * scale,
                ScaleAbove::Sampled(level) => (2.0 * state[network.levels[level].slot]).exp(),
            };
            0.5 * at.dof * square
        };
        let mut found = self.precisions.clone();
        for _ in 0..ROUNDS {
            let spelled = structure.spell(|index| found[index].mean(), 1.0);
            outputs.condition(&state[..count], spelled.held()).ok()?;
            outputs.spread();
            let mut squares = structure.no_squares();
            outputs.add_squares(1.0, &mut squares.weights, &mut squares.residuals);
            let hidden = squares.weights.iter_mut().zip(&state[..count]);
            hidden.for_each(|(square, weight)| *square = weight * weight);
            found = structure.given_squares(&squares, 1.0, rate);
        }
        Some(found)
    }

    /// Lets `outputs` hold what output weights are given the hidden weights and precisions of a state.
    fn condition(&self, outputs: &mut OutputsGiven<'_>, state: &[f64]) -> Option<()> {
        let slot = |index: usize| state[self.structure.network.precisions[index].slot];
        let spelled = self.structure.spell(|index| (-2.0 * slot(index)).exp(), 1.0);
        outputs.condition(&state[..self.structure.hidden()], spelled.held()).ok()?;
        Some(())
    }

    /// Writes an independent state of the network's posterior, drawn from q.
    ///
    /// # Panics
    /// If `state` has another length.
    pub fn draw(&self, stream: &mut Stream, state: &mut [f64]) {
        assert_eq!(state.len(), self.posterior().state_len(), "a state");
        let network = &self.structure.network;
        for (own, at) in self.levels.iter().zip(&network.levels) {
            state[at.slot] = own.draw_log_scale(stream);
        }
        let (count, weights) = (self.structure.hidden(), network.weights.len());
        let mut normal = vec![0.0; count];
        stream.fill_normal(&mut normal);
        place(&normal, (&self.mean, &self.factor), &mut state[..count]);
        let mut outputs = OutputsGiven::new(&self.structure.design);
        let precisions = self.precisions_at(&mut outputs, state);
        let precisions = precisions.as_deref().unwrap_or(&self.precisions);
        for (own, at) in precisions.iter().zip(&network.precisions) {
            state[at.slot] = own.draw_log_scale(stream);
        }
        stream.fill_normal(&mut state[count..weights]);
        if self.condition(&mut outputs, state).is_some() {
            outputs.place(&mut state[..weights]);
        }
    }

    /// log q of a state: with respect to weights and logarithms of scales, as the log prior of
    /// the network is.
    ///
    /// # Panics
    /// If `state` has another length.
    pub fn log_density(&self, state: &[f64]) -> f64 {
        self.log_density_at(state).unwrap_or(f64::NEG_INFINITY)
    }

    fn log_density_at(&self, state: &[f64]) -> Option<f64> {
        assert_eq!(state.len(), self.posterior().state_len(), "a state");
        let network = &self.structure.network;
        let (count, weights) = (self.structure.hidden(), network.weights.len());
        let mut density = -(weights as f64) * LOG_SQRT_2PI;
        if count > 0 {
            let pairs = state.iter().zip(&self.mean);
            let mut off: Vec<f64> = pairs.map(|(weight, mean)| weight - mean).collect();
            self.factor.multiply_lower_transposed(&mut off);
            let square: f64 = off.iter().map(|z| z * z).sum();
            density += 0.5 * (self.factor.log_determinant() - square);
        }
        let mut outputs = OutputsGiven::new(&self.structure.design);
        let precisions = self.precisions_at(&mut outputs, state)?;
        for (own, at) in precisions.iter().zip(&network.precisions) {
            density += own.log_density(state[at.slot]);
        }
        for (own, at) in self.levels.iter().zip(&network.levels) {
            density += own.log_density(state[at.slot]);
        }
        self.condition(&mut outputs, state)?;
        Some(density + outputs.log_density(&mut state[..weights].to_vec()))
    }
}
