//! The gamma distribution of a precision in a variational approximation.

use super::Gamma;
use super::special::{digamma, ln_gamma};
use crate::random::Stream;

/// A gamma distribution of a precision α = 1/a² that takes the place of a posterior, by shape and
/// rate, which are found and not given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    pub(crate) shape: f64,
    pub(crate) rate: f64,
}

impl Precision {
    pub(crate) fn mean(self) -> f64 {
        self.shape / self.rate
    }

    pub(crate) fn log_mean(self) -> f64 {
        digamma(self.shape) - self.rate.ln()
    }

    /// E log p(α) - E log q(α) where the prior is Gamma(`shape`, rate) with a rate known by its
    /// mean and mean logarithm.
    pub(crate) fn gain(self, shape: f64, (rate, log_rate): (f64, f64)) -> f64 {
        let own = self.shape * self.rate.ln() - ln_gamma(self.shape) - self.shape;
        shape * log_rate - ln_gamma(shape) + (shape - self.shape) * self.log_mean()
            - rate * self.mean()
            - own
    }

    /// [`Precision::gain`] where the prior is known.
    pub(crate) fn gain_over(self, prior: Gamma) -> f64 {
        self.gain(prior.shape(), (prior.rate(), prior.rate().ln()))
    }

    /// log a = -½ log α of a draw.
    pub(crate) fn draw_log_scale(self, stream: &mut Stream) -> f64 {
        // Shape and rate are positive and finite since they were found.
        let gamma = Gamma::from_shape_rate(self.shape, self.rate);
        gamma.map_or(f64::NAN, |gamma| -0.5 * gamma.log_draw(stream))
    }

    /// Log density of log a: a factor dα/d log a = 2α.
    pub(crate) fn log_density(self, log_scale: f64) -> f64 {
        let log = -2.0 * log_scale;
        self.shape * (self.rate.ln() + log) - ln_gamma(self.shape) - self.rate * log.exp()
            + std::f64::consts::LN_2
    }
}
