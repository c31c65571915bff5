//! The Laplace (double exponential) distribution.

use std::f64::consts::LN_2;

use super::ParameterError;
use super::error::{finite, positive};
use crate::random::Stream;

/// Laplace(location, scale b): density exp(-|x - location|/b) / (2b). Its standard deviation
/// is √2 b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    location: f64,
    scale: f64,
}

impl Laplace {
    /// The Laplace distribution with the given location and scale (mean absolute deviation).
    ///
    /// # Errors
    /// [`ParameterError`] unless the location is finite and the scale positive and finite.
    pub fn new(location: f64, scale: f64) -> Result<Self, ParameterError> {
        let name = "a Laplace distribution";
        Ok(Laplace {
            location: finite(name, "location", location)?,
            scale: positive(name, "scale", scale)?,
        })
    }

    /// The location: mean, median and mode.
    pub fn location(&self) -> f64 {
        self.location
    }

    /// The scale b.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// log p(x).
    pub fn log_density(&self, x: f64) -> f64 {
        -(x - self.location).abs() / self.scale - LN_2 - self.scale.ln()
    }

    /// d log p(x) / dx; 0 at the location, where there is a kink. The derivative in the
    /// location is its negative.
    pub fn derivative(&self, x: f64) -> f64 {
        if x > self.location {
            -1.0 / self.scale
        } else if x < self.location {
            1.0 / self.scale
        } else {
            0.0
        }
    }

    /// d log p(x) / d log scale.
    pub fn log_scale_derivative(&self, x: f64) -> f64 {
        (x - self.location).abs() / self.scale - 1.0
    }

    /// P(X ≤ x), accurate in the left tail.
    pub fn cdf(&self, x: f64) -> f64 {
        let z = (x - self.location) / self.scale;
        if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() }
    }

    /// The x with P(X ≤ x) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        let z = if probability < 0.5 {
            (2.0 * probability).ln()
        } else {
            -(2.0 * (1.0 - probability)).ln()
        };
        self.location + self.scale * z
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        // The difference of two independent exponentials is Laplace.
        self.location + self.scale * (stream.exponential() - stream.exponential())
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
        let laplace = Laplace::new(0.2, 0.7).unwrap();
        assert_relative(laplace.log_density(1.5), -2.193_615_093_764_07, 1e-14);
        assert_relative(integral(0.2, 0.7, |x| laplace.log_density(x).exp()), 1.0, 1e-13);
        for x in [-3.0, 0.1, 2.0] {
            assert_derivative(laplace.derivative(x), x, |x| laplace.log_density(x));
            assert_derivative(laplace.log_scale_derivative(x), 0.7_f64.ln(), |l| {
                Laplace::new(0.2, l.exp()).unwrap().log_density(x)
            });
            assert_relative(laplace.quantile(laplace.cdf(x)), x, 1e-13);
        }
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        let laplace = Laplace::new(-3.0, 2.5).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [2, 0]);
        let mut draws: Vec<f64> = (0..20_000).map(|_| laplace.draw(&mut stream)).collect();
        assert_draws_follow(&mut draws, |x| laplace.cdf(x));
    }

    #[test]
    fn parameters_are_checked() {
        assert!(Laplace::new(f64::INFINITY, 1.0).is_err());
        assert!(Laplace::new(0.0, 0.0).is_err());
    }
}
