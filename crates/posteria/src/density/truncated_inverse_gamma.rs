//! The inverse gamma distribution cut below.

use super::gamma::standard_quantile;
use super::special::regularized_gamma_lower;
use super::{InverseGamma, ParameterError};
use crate::random::Stream;

/// [`InverseGamma`] given that the value is above a limit a:
///
/// p(v) = Inv-gamma(v | s0², ν) / P(V > a) for v > a, else 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedInverseGamma {
    whole: InverseGamma,
    above: f64,
    /// P(V > a) without the limit.
    mass: f64,
}

const NAME: &str = "a truncated inverse gamma distribution";
/// Less probability above the limit is lost in the rounding of the rest.
const LEAST_MASS: f64 = 1e-12;

impl TruncatedInverseGamma {
    /// `whole` restricted to values above `above`; 0 is no restriction.
    ///
    /// # Errors
    /// [`ParameterError`] unless `above` is not negative and `whole` has at least 1e-12 of its
    /// probability above it.
    pub fn new(whole: InverseGamma, above: f64) -> Result<Self, ParameterError> {
        let mass = match above > 0.0 {
            true => regularized_gamma_lower(whole.shape(), whole.rate() / above),
            false => 1.0,
        };
        if above.is_nan() || above < 0.0 || mass.is_nan() || mass < LEAST_MASS {
            let parameter = "the limit";
            return Err(ParameterError::NotPositive {
                distribution: NAME,
                parameter,
                value: above,
            });
        }
        Ok(TruncatedInverseGamma { whole, above, mass })
    }

    /// The distribution without the limit.
    pub fn untruncated(&self) -> InverseGamma {
        self.whole
    }

    /// The limit.
    pub fn above(&self) -> f64 {
        self.above
    }

    /// log p(v); -∞ outside the support.
    pub fn log_density(&self, value: f64) -> f64 {
        if value < self.above {
            return f64::NEG_INFINITY;
        }
        self.whole.log_density(value) - self.mass.ln()
    }

    /// P(V ≤ v).
    pub fn cdf(&self, value: f64) -> f64 {
        if value <= self.above {
            return 0.0;
        }
        1.0 - regularized_gamma_lower(self.whole.shape(), self.whole.rate() / value) / self.mass
    }

    /// A draw, by inversion; one beyond the doubles is moved to their end.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        // rate/v is gamma, and v > a its left tail.
        let tail = self.mass * stream.uniform();
        let ratio = standard_quantile(self.whole.shape(), tail, 1.0 - tail);
        (self.whole.rate() / ratio).clamp(self.above.max(f64::MIN_POSITIVE), f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_draws_follow, assert_relative, integral_above_zero};
    use crate::random::{Purpose, Seed};

    /// Scale, degrees of freedom, limit: most, some and little of the probability above it.
    const CASES: [(f64, f64, f64); 4] =
        [(6.0, 1.0, 2.0), (1.5, 4.0, 2.0), (0.2, 6.0, 2.0), (3.0, 0.5, 0.0)];

    fn truncated(scale: f64, dof: f64, above: f64) -> TruncatedInverseGamma {
        TruncatedInverseGamma::new(InverseGamma::new(scale.sqrt(), dof).unwrap(), above).unwrap()
    }

    #[test]
    fn the_density_is_normalised_and_that_of_the_distribution_function() {
        for (scale, dof, above) in CASES {
            let prior = truncated(scale, dof, above);
            // The rule ends at e^43, where half a degree of freedom has 2e-5 left.
            let total = integral_above_zero(1.0, |x| prior.log_density(above + x).exp());
            assert_relative(total, 1.0, if dof < 1.0 { 1e-4 } else { 1e-8 });
            for value in [above + 0.1, above + 3.0, above + 40.0] {
                let h = 1e-4 * value;
                let slope = (prior.cdf(value + h) - prior.cdf(value - h)) / (2.0 * h);
                assert_relative(slope, prior.log_density(value).exp(), 1e-5);
            }
            assert!(prior.log_density(0.99 * above).exp() <= 0.0);
            assert!(prior.cdf(0.99 * above) <= 0.0);
        }
    }

    #[test]
    fn draws_are_those_of_the_whole_above_the_limit() {
        for (scale, dof, above) in CASES {
            let prior = truncated(scale, dof, above);
            let mut stream = Seed(1).stream(Purpose::Data, [13, scale.to_bits()]);
            let mut draws: Vec<f64> = (0..20_000).map(|_| prior.draw(&mut stream)).collect();
            assert!(draws.iter().all(|v| *v >= above && v.is_finite()));
            assert_draws_follow(&mut draws, |v| prior.cdf(v));
            if prior.mass > 0.1 {
                let mut kept: Vec<f64> = (0..40_000)
                    .map(|_| prior.whole.draw(&mut stream))
                    .filter(|v| *v > above)
                    .collect();
                assert_draws_follow(&mut kept, |v| prior.cdf(v));
            }
        }
    }

    #[test]
    fn a_limit_above_all_probability_is_refused() {
        let whole = InverseGamma::new(0.1, 50.0).unwrap();
        for above in [2.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(TruncatedInverseGamma::new(whole, above).is_err(), "{above}");
        }
    }
}
