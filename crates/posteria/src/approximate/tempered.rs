//! Let prior × likelihood^β take the place of a posterior.

use crate::draws::Layout;
use crate::model::{Evaluator, Posterior};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::Sweep;

/// A posterior whose chains sample prior × likelihood^β [Fabricius 1999, §2.3.2].
///
/// β = 1 is the posterior. Towards 0 the data count less and the prior remains; beyond 1 they
/// count more than they are worth, until at large β only the maximum of the likelihood is left,
/// with the prior between equals. Neither is a posterior distribution: what is learned is too
/// little or too certain.
///
/// Draws and statistics are of the untempered model: `log_density` is log prior plus log
/// likelihood.
pub struct TemperedPosterior {
    posterior: Box<dyn Posterior>,
    inverse_temperature: f64,
}

impl TemperedPosterior {
    /// `posterior` with its likelihood raised to the power `inverse_temperature`.
    pub fn new(posterior: Box<dyn Posterior>, inverse_temperature: f64) -> Self {
        TemperedPosterior { posterior, inverse_temperature }
    }
}

impl Posterior for TemperedPosterior {
    fn layout(&self) -> &Layout {
        self.posterior.layout()
    }

    fn rows(&self) -> usize {
        self.posterior.rows()
    }

    fn state_len(&self) -> usize {
        self.posterior.state_len()
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        self.posterior.start(stream)
    }

    /// At β times the temperature that is asked for.
    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        self.posterior.sweep(self.inverse_temperature * inverse_temperature)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        self.posterior.evaluator()
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        self.posterior.draw_prior(stream)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        self.posterior.predictor()
    }
}
