//! Let independent draws from an approximation take the place of Markov chains.

use super::Linearised;
use crate::draws::Layout;
use crate::model::accelerator::AcceleratorError;
use crate::model::{Evaluator, Posterior};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Step, Sweep, Update};

/// A distribution q of states that takes the place of a posterior.
pub trait Approximation: Send + Sync {
    /// Writes an independent draw over `state`, every entry of it. Allocates nothing, but for latent
    /// functions, each draw of which takes the cube of their number anyway.
    fn draw(&self, state: &mut [f64], stream: &mut Stream);

    /// log q at `state`, over those entries of it that are uncertain.
    fn log_density(&self, state: &[f64]) -> f64;
}

/// A posterior whose chains are independent draws from an [`Approximation`] of it.
///
/// Draws, fitted values and log likelihoods are what the posterior makes of the states, so that
/// whatever reads draws of Markov chains reads these; where a network predicts as linear in its
/// weights, fitted values and log likelihoods of rows are those of the linear outputs. They depend on the seed and on the number
/// of the chain alone; a chain that is continued goes on with the draws that it would have had.
///
/// The statistic `log_density` of a draw is log p, of prior times likelihood, and `energy` is
/// -log q: their sum is the logarithm of its importance weight, up to a constant.
pub struct Independent<'p> {
    posterior: &'p dyn Posterior,
    approximation: &'p dyn Approximation,
    linearised: Option<&'p Linearised<'p>>,
}

impl<'p> Independent<'p> {
    /// Draws of `approximation`, seen as draws of `posterior`.
    pub fn new(posterior: &'p dyn Posterior, approximation: &'p dyn Approximation) -> Self {
        Independent { posterior, approximation, linearised: None }
    }

    /// The same, where predictions take the network as linear in its weights.
    #[must_use]
    pub fn linearised(self, linearised: Option<&'p Linearised<'p>>) -> Self {
        Independent { linearised, ..self }
    }
}

impl Posterior for Independent<'_> {
    fn layout(&self) -> &Layout {
        self.posterior.layout()
    }

    fn device_failure(&self) -> Option<&AcceleratorError> {
        self.posterior.device_failure()
    }

    fn rows(&self) -> usize {
        self.posterior.rows()
    }

    fn state_len(&self) -> usize {
        self.posterior.state_len()
    }

    /// A draw.
    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut state = vec![0.0; self.posterior.state_len()];
        self.approximation.draw(&mut state, stream);
        state
    }

    /// The next draw; no temperature changes it.
    fn sweep<'s>(&'s self, _inverse_temperature: f64) -> Sweep<'s> {
        Sweep::new(vec![Box::new(NextDraw { approximation: self.approximation })])
    }

    fn evaluator<'s>(&'s self) -> Box<dyn Evaluator + 's> {
        match self.linearised {
            Some(linearised) => linearised.evaluator(),
            None => self.posterior.evaluator(),
        }
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        self.posterior.draw_prior(stream)
    }

    fn predictor<'s>(&'s self) -> Option<Box<dyn Predictor + 's>> {
        match self.linearised {
            Some(linearised) => Some(linearised.predictor()),
            None => self.posterior.predictor(),
        }
    }
}

struct NextDraw<'s> {
    approximation: &'s dyn Approximation,
}

impl Update for NextDraw<'_> {
    fn name(&self) -> &str {
        "independent"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        self.approximation.draw(state, stream);
        let energy = -self.approximation.log_density(state);
        Step { energy, evaluations: 1, ..Step::default() }
    }
}
