//! The gamma distribution of a precision in a variational approximation.

use super::Gamma;
use super::special::{digamma, ln_gamma};

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
}
