//! Shift the output of a network at all rows alike: by its bias.

use super::hierarchy::Hierarchy;
use crate::model::outcome::Level;

/// The prior of the bias beside everything else.
pub(super) struct BiasLevel<'p> {
    pub(super) hierarchy: &'p Hierarchy,
    /// Where the bias is in a state.
    pub(super) bias: usize,
    pub(super) state: Vec<f64>,
}

impl Level for BiasLevel<'_> {
    fn enter(&mut self, state: &[f64]) -> bool {
        self.state.clear();
        self.state.extend(state);
        self.hierarchy.log_prior(state).is_finite()
    }

    fn log_prior(&mut self, shift: f64) -> f64 {
        let bias = self.state[self.bias];
        self.state[self.bias] = bias + shift;
        let value = self.hierarchy.log_prior(&self.state);
        self.state[self.bias] = bias;
        value
    }

    fn shift(&self, shift: f64, state: &mut [f64]) {
        state[self.bias] += shift;
    }
}
