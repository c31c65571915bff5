//! Decide exchanges of temperatures with the output weights integrated out.

use super::collapsed::Collapsed;
use crate::random::Stream;
use crate::sample::{Coordinates, Marginalized};
use crate::target::{Infeasible, LogDensity};

/// The density of hidden weights and scales at every rung of a ladder. For normal residuals
/// with scales: latent κ belong to one temperature, and a covariance has a normaliser that the
/// collapsed density leaves out.
pub(super) struct Rungs<'p> {
    rungs: Vec<Collapsed<'p>>,
    position: Vec<f64>,
}

impl<'p> Rungs<'p> {
    /// The coldest rung first.
    pub(super) fn new(rungs: Vec<Collapsed<'p>>) -> Self {
        let dim = rungs.first().map_or(0, LogDensity::dim);
        Rungs { rungs, position: vec![0.0; dim] }
    }
}

impl Marginalized for Rungs<'_> {
    fn log_density(&mut self, rung: usize, state: &[f64]) -> Result<f64, Infeasible> {
        let collapsed = &mut self.rungs[rung];
        collapsed.enter(state, &mut self.position);
        collapsed.log_density(&self.position)
    }

    fn draw(&mut self, rung: usize, state: &mut [f64], stream: &mut Stream) {
        let collapsed = &mut self.rungs[rung];
        collapsed.enter(state, &mut self.position);
        collapsed.leave(&self.position, state, stream);
    }
}
