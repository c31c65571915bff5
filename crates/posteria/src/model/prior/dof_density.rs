//! Densities of degrees of freedom that may be any positive number.

use crate::density::{Gamma, TruncatedInverseGamma};
use crate::random::Stream;

/// Shape and scale of the usual gamma density: mean 20 [Juárez & Steel 2010].
const USUAL: (f64, f64) = (2.0, 10.0);

/// The prior density of degrees of freedom ν.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DofDensity {
    /// Gamma.
    Gamma(Gamma),
    /// Inverse gamma above a limit, where a variance exists [MCMCstuff manual 2.1, §4.1.3].
    Above(TruncatedInverseGamma),
}

impl DofDensity {
    /// Gamma with shape 2 and mean 20.
    pub fn usual() -> Self {
        let (shape, scale) = USUAL;
        DofDensity::Gamma(Gamma::new(shape, scale).expect("both are positive"))
    }

    /// The limit that ν is above.
    pub fn limit(&self) -> f64 {
        match self {
            DofDensity::Gamma(_) => 0.0,
            DofDensity::Above(prior) => prior.above(),
        }
    }

    /// log p(ν).
    pub fn log_density(&self, dof: f64) -> f64 {
        match self {
            DofDensity::Gamma(prior) => prior.log_density(dof),
            DofDensity::Above(prior) => prior.log_density(dof),
        }
    }

    /// d log p(ν) / dν.
    pub(crate) fn slope(&self, dof: f64) -> f64 {
        match self {
            DofDensity::Gamma(prior) => prior.derivative(dof),
            DofDensity::Above(prior) => prior.untruncated().derivative(dof),
        }
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            DofDensity::Gamma(prior) => prior.draw(stream),
            DofDensity::Above(prior) => prior.draw(stream),
        }
    }

    /// The probability up to ν.
    #[cfg(test)]
    pub(crate) fn cdf(&self, dof: f64) -> f64 {
        match self {
            DofDensity::Gamma(prior) => prior.cdf(dof),
            DofDensity::Above(prior) => prior.cdf(dof),
        }
    }
}
