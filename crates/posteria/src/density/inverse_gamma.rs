//! The scaled inverse chi-square distribution of a variance, called inverse gamma.

use std::f64::consts::LN_2;

use super::ParameterError;
use super::error::positive;
use super::gamma::{standard_log_draw, standard_quantile};
use super::special::{ln_gamma, regularized_gamma_upper};
use crate::random::Stream;

/// Inv-gamma(s0², ν), a distribution of a **variance** v given as the standard deviation scale
/// s0 and the degrees of freedom ν [Lampinen and Vehtari 2001; Neal 1996]:
///
/// p(v) = (ν s0²/2)^(ν/2) / Γ(ν/2) · v^-(ν/2 + 1) exp(-ν s0² / (2v)).
///
/// Equivalently ν s0²/v is chi-square with ν degrees of freedom; s0² is the harmonic mean of v.
/// The textbook inverse gamma has shape ν/2 and scale ν s0²/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGamma {
    scale: f64,
    dof: f64,
}

const NAME: &str = "an inverse gamma distribution";

impl InverseGamma {
    /// The distribution with standard deviation scale s0 and degrees of freedom ν.
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn new(scale: f64, dof: f64) -> Result<Self, ParameterError> {
        Ok(InverseGamma {
            scale: positive(NAME, "scale", scale)?,
            dof: positive(NAME, "degrees of freedom", dof)?,
        })
    }

    /// The same distribution from the textbook form v^-(shape + 1) exp(-rate/v): ν = 2 shape,
    /// s0² = rate/shape. The precision 1/v is Gamma(shape, rate).
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn from_shape_rate(shape: f64, rate: f64) -> Result<Self, ParameterError> {
        let shape = positive(NAME, "shape", shape)?;
        InverseGamma::new((positive(NAME, "rate", rate)? / shape).sqrt(), 2.0 * shape)
    }

    /// The standard deviation scale s0.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The degrees of freedom ν.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// The textbook shape ν/2.
    pub fn shape(&self) -> f64 {
        0.5 * self.dof
    }

    /// The rate ν s0²/2 of the precision 1/v.
    pub fn rate(&self) -> f64 {
        0.5 * self.dof * self.scale * self.scale
    }

    /// log p(v) for a variance v; -∞ unless v is positive and finite.
    pub fn log_density(&self, variance: f64) -> f64 {
        if variance <= 0.0 || variance == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let log_variance = variance.ln();
        self.log_density_of_log_scale(0.5 * log_variance) - LN_2 - log_variance
    }

    /// d log p(v) / dv for positive v.
    pub fn derivative(&self, variance: f64) -> f64 {
        (self.rate() / variance - self.shape() - 1.0) / variance
    }

    /// d log p(v) / d log s0; the same whether v or log √v is the value.
    pub fn log_scale_derivative(&self, variance: f64) -> f64 {
        self.dof * (1.0 - self.scale * self.scale / variance)
    }

    /// The log density of l = log √v, Jacobian 2v included: what a sampler on the log scale
    /// needs.
    pub fn log_density_of_log_scale(&self, log_scale: f64) -> f64 {
        self.of_log_scale().log_density(log_scale).0
    }

    /// The distribution of l = log √v.
    pub fn of_log_scale(&self) -> LogInverseGamma {
        let shape = self.shape();
        LogInverseGamma {
            log_scale: self.scale.ln(),
            dof: self.dof,
            log_constant: LN_2 + shape * shape.ln() - shape - ln_gamma(shape),
        }
    }

    /// P(V ≤ v), accurate in the left tail.
    pub fn cdf(&self, variance: f64) -> f64 {
        if variance <= 0.0 {
            return 0.0;
        }
        regularized_gamma_upper(self.shape(), self.rate() / variance)
    }

    /// The v with P(V ≤ v) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        self.rate() / standard_quantile(self.shape(), 1.0 - probability, probability)
    }

    /// A draw of the variance, positive and finite: a draw outside the range of a double is
    /// moved to its end.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        (2.0 * self.draw_log_scale(stream)).exp().clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    /// A draw of log √v, finite for any degrees of freedom.
    pub fn draw_log_scale(&self, stream: &mut Stream) -> f64 {
        let shape = self.shape();
        self.scale.ln() + 0.5 * (shape.ln() - standard_log_draw(shape, stream))
    }
}

/// The distribution of the log scale l = log √v of an [`InverseGamma`] variance v, with its
/// constants at hand:
///
/// log p(l) = log 2 + (ν/2) log(ν/2) - log Γ(ν/2) - ν (l - log s0) - (ν/2) (s0²/v).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogInverseGamma {
    /// log s0.
    log_scale: f64,
    dof: f64,
    /// log p(log s0).
    log_constant: f64,
}

impl LogInverseGamma {
    /// log p(l) and its derivative ν (s0²/v - 1).
    pub fn log_density(&self, log_scale: f64) -> (f64, f64) {
        let distance = log_scale - self.log_scale;
        // s0²/v - 1.
        let excess = (-2.0 * distance).exp_m1();
        let value = self.log_constant - self.dof * (distance + 0.5 * excess);
        (value, self.dof * excess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{
        assert_derivative, assert_draws_follow, assert_relative, integral, integral_above_zero,
    };
    use crate::random::{Purpose, Seed};

    #[test]
    fn density_and_distribution_function_match_references() {
        // mpmath, 50 digits.
        for (v, scale, dof, log_density, cdf) in [
            (0.04, 0.05, 0.5, 0.875_507_529_330_205_4, 0.611_151_421_907_062_1),
            (1e-4, 0.05, 0.5, 2.130_463_213_215_182, 0.000_121_774_628_406_179_31),
            (2.0, 1.5, 7.0, -1.034_709_768_375_889_5, 0.343_745_328_462_405_2),
            (1e8, 1.0, 4.0, -53.875_747_890_737_21, 0.999_999_999_999_999_8),
        ] {
            let prior = InverseGamma::new(scale, dof).unwrap();
            assert_relative(prior.log_density(v), log_density, 1e-13);
            assert_relative(prior.cdf(v), cdf, 1e-12);
            if cdf < 0.9 {
                assert_relative(prior.quantile(cdf), v, 1e-12);
            }
            let again = InverseGamma::from_shape_rate(prior.shape(), prior.rate()).unwrap();
            assert_relative(again.log_density(v), log_density, 1e-13);
        }
    }

    #[test]
    fn both_densities_are_normalised_and_derivatives_agree() {
        for dof in [0.5, 1.0, 7.0] {
            let prior = InverseGamma::new(0.3, dof).unwrap();
            let on_log = integral(0.3_f64.ln(), 1.0, |l| prior.log_density_of_log_scale(l).exp());
            assert_relative(on_log, 1.0, 1e-11);
            for v in [0.01, 0.2, 5.0] {
                assert_derivative(prior.derivative(v), v, |v| prior.log_density(v));
                let l = 0.5 * v.ln();
                assert_derivative(prior.of_log_scale().log_density(l).1, l, |l| {
                    prior.log_density_of_log_scale(l)
                });
                assert_derivative(prior.log_scale_derivative(v), 0.3_f64.ln(), |s| {
                    InverseGamma::new(s.exp(), dof).unwrap().log_density(v)
                });
            }
        }
        let prior = InverseGamma::new(0.3, 7.0).unwrap();
        let total = integral_above_zero(0.1, |v| prior.log_density(v).exp());
        assert_relative(total, 1.0, 1e-11);
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        for dof in [0.5, 4.0, 50.0] {
            let prior = InverseGamma::new(0.05, dof).unwrap();
            let mut stream = Seed(1).stream(Purpose::Data, [5, dof.to_bits()]);
            let mut draws: Vec<f64> = (0..20_000).map(|_| prior.draw(&mut stream)).collect();
            assert_draws_follow(&mut draws, |v| prior.cdf(v));
        }
    }

    #[test]
    fn draws_stay_inside_the_doubles_for_any_dof() {
        let prior = InverseGamma::new(1.0, 1e-3).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [5, 0]);
        for _ in 0..1000 {
            let v = prior.draw(&mut stream);
            assert!(v > 0.0 && v.is_finite());
        }
    }

    #[test]
    fn parameters_are_checked() {
        assert!(InverseGamma::new(0.0, 1.0).is_err());
        assert!(InverseGamma::new(1.0, -1.0).is_err());
        assert!(InverseGamma::from_shape_rate(1.0, f64::INFINITY).is_err());
    }
}
