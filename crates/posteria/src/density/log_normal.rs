//! The log-normal distribution.

use super::{Normal, ParameterError};
use crate::random::Stream;

/// exp of a normal: log x ~ N(location, scale²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    logarithm: Normal,
}

impl LogNormal {
    /// The distribution whose logarithm has the given mean and standard deviation.
    ///
    /// # Errors
    /// [`ParameterError`] unless the location is finite and the scale positive and finite.
    pub fn new(location: f64, scale: f64) -> Result<Self, ParameterError> {
        Ok(LogNormal { logarithm: Normal::new(location, scale)? })
    }

    /// The distribution of log x.
    pub fn logarithm(&self) -> Normal {
        self.logarithm
    }

    /// log p(x); -∞ unless x is positive.
    pub fn log_density(&self, x: f64) -> f64 {
        if x <= 0.0 || x == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let log_x = x.ln();
        self.logarithm.log_density(log_x) - log_x
    }

    /// d log p(x) / dx for positive x.
    pub fn derivative(&self, x: f64) -> f64 {
        (self.logarithm.derivative(x.ln()) - 1.0) / x
    }

    /// P(X ≤ x), accurate in the left tail.
    pub fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { self.logarithm.cdf(x.ln()) }
    }

    /// The x with P(X ≤ x) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        self.logarithm.quantile(probability).exp()
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.logarithm.draw(stream).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{
        assert_derivative, assert_draws_follow, assert_relative, integral_above_zero,
    };
    use crate::random::{Purpose, Seed};

    #[test]
    fn density_is_normalised_and_matches_references() {
        // mpmath, 50 digits.
        let log_normal = LogNormal::new(0.2, 0.7).unwrap();
        assert_relative(log_normal.log_density(1.5), -1.010_806_157_220_941, 1e-14);
        let standard = LogNormal::new(0.0, 1.0).unwrap();
        assert_relative(standard.log_density(1e-9), -194.922_546_170_633_38, 1e-14);
        let total = integral_above_zero(1.0, |x| log_normal.log_density(x).exp());
        assert_relative(total, 1.0, 1e-12);
        for x in [0.05, 1.0, 20.0] {
            assert_derivative(log_normal.derivative(x), x, |x| log_normal.log_density(x));
            assert_relative(log_normal.quantile(log_normal.cdf(x)), x, 1e-11);
        }
        assert!(log_normal.log_density(-1.0) == f64::NEG_INFINITY);
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        let log_normal = LogNormal::new(-1.0, 1.5).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [6, 0]);
        let mut draws: Vec<f64> = (0..20_000).map(|_| log_normal.draw(&mut stream)).collect();
        assert_draws_follow(&mut draws, |x| log_normal.cdf(x));
    }
}
