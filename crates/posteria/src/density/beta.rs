//! The beta distribution.

use super::ParameterError;
use super::error::positive;
use super::gamma::standard_log_draw;
use super::special::{ln_beta, logistic, regularized_beta};
use crate::random::Stream;

/// Beta(a, b): density x^(a-1) (1-x)^(b-1) / B(a, b) on (0, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
}

impl Beta {
    /// The beta distribution with the given shapes; mean a/(a+b).
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn new(a: f64, b: f64) -> Result<Self, ParameterError> {
        let name = "a beta distribution";
        Ok(Beta { a: positive(name, "first shape", a)?, b: positive(name, "second shape", b)? })
    }

    /// The two shapes.
    pub fn shapes(&self) -> (f64, f64) {
        (self.a, self.b)
    }

    /// log p(x); -∞ outside (0, 1).
    pub fn log_density(&self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return f64::NEG_INFINITY;
        }
        (self.a - 1.0) * x.ln() + (self.b - 1.0) * (-x).ln_1p() - ln_beta(self.a, self.b)
    }

    /// d log p(x) / dx inside (0, 1).
    pub fn derivative(&self, x: f64) -> f64 {
        (self.a - 1.0) / x - (self.b - 1.0) / (1.0 - x)
    }

    /// P(X ≤ x), accurate in the left tail.
    pub fn cdf(&self, x: f64) -> f64 {
        regularized_beta(self.a, self.b, x)
    }

    /// A draw; 0 or 1 where it comes closer to them than a double can tell.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        // X/(X + Y) of two gammas, by their logarithms: small shapes do not give 0/0.
        logistic(standard_log_draw(self.a, stream) - standard_log_draw(self.b, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{
        assert_derivative, assert_draws_follow, assert_relative, integral,
    };
    use crate::random::{Purpose, Seed};

    #[test]
    fn density_is_normalised_and_matches_references() {
        // mpmath, 50 digits.
        let beta = Beta::new(0.5, 2.0).unwrap();
        assert_relative(beta.log_density(0.3), -0.042_370_614_227_545_275, 1e-13);
        let peaked = Beta::new(40.0, 3.0).unwrap();
        assert_relative(peaked.log_density(0.999), -3.407_556_112_432_363, 1e-13);
        for beta in [beta, peaked] {
            // In y = log(x/(1-x)) the Jacobian is x(1-x).
            let total = integral(0.0, 1.0, |y| {
                let x = logistic(y);
                beta.log_density(x).exp() * x * (1.0 - x)
            });
            assert_relative(total, 1.0, 1e-8);
            for x in [0.2, 0.9] {
                assert_derivative(beta.derivative(x), x, |x| beta.log_density(x));
            }
        }
        assert!(beta.log_density(1.0) == f64::NEG_INFINITY);
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        for (a, b) in [(0.05, 0.1), (2.0, 5.0)] {
            let beta = Beta::new(a, b).unwrap();
            let mut stream = Seed(1).stream(Purpose::Data, [8, a.to_bits()]);
            let mut draws: Vec<f64> = (0..20_000).map(|_| beta.draw(&mut stream)).collect();
            // Small shapes give draws that round to 1, an atom: compare below it.
            draws.retain(|x| *x < 0.999);
            let kept = beta.cdf(0.999);
            assert_draws_follow(&mut draws, |x| beta.cdf(x) / kept);
        }
    }
}
