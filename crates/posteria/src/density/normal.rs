//! The normal distribution.

use super::ParameterError;
use super::error::{finite, positive};
use super::special::{LOG_SQRT_2PI, normal_cdf, normal_quantile};
use crate::random::Stream;

/// N(mean, scale²): density exp(-½ ((x - mean)/scale)²) / (scale √(2π)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    mean: f64,
    scale: f64,
}

impl Normal {
    /// The normal distribution with the given mean and standard deviation.
    ///
    /// # Errors
    /// [`ParameterError`] unless the mean is finite and the scale positive and finite.
    pub fn new(mean: f64, scale: f64) -> Result<Self, ParameterError> {
        let name = "a normal distribution";
        Ok(Normal { mean: finite(name, "mean", mean)?, scale: positive(name, "scale", scale)? })
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// log p(x).
    pub fn log_density(&self, x: f64) -> f64 {
        let z = (x - self.mean) / self.scale;
        -0.5 * z * z - self.scale.ln() - LOG_SQRT_2PI
    }

    /// d log p(x) / dx. The derivative in the mean is its negative.
    pub fn derivative(&self, x: f64) -> f64 {
        (self.mean - x) / self.scale / self.scale
    }

    /// d log p(x) / d log scale.
    pub fn log_scale_derivative(&self, x: f64) -> f64 {
        let z = (x - self.mean) / self.scale;
        z * z - 1.0
    }

    /// P(X ≤ x), accurate in the left tail.
    pub fn cdf(&self, x: f64) -> f64 {
        normal_cdf((x - self.mean) / self.scale)
    }

    /// The x with P(X ≤ x) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        self.mean + self.scale * normal_quantile(probability)
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.mean + self.scale * stream.normal()
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
        let normal = Normal::new(0.2, 0.7).unwrap();
        assert_relative(normal.log_density(1.5), -2.286_753_385_184_308, 1e-14);
        assert_relative(
            Normal::new(0.0, 1.0).unwrap().log_density(-80.0),
            -3_200.918_938_533_204_7,
            1e-15,
        );
        assert_relative(integral(0.2, 0.7, |x| normal.log_density(x).exp()), 1.0, 1e-13);
        for x in [-3.0, 0.1, 2.0] {
            assert_derivative(normal.derivative(x), x, |x| normal.log_density(x));
            assert_derivative(normal.log_scale_derivative(x), normal.scale.ln(), |l| {
                Normal::new(0.2, l.exp()).unwrap().log_density(x)
            });
            assert_relative(normal.quantile(normal.cdf(x)), x, 1e-13);
        }
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        let normal = Normal::new(-3.0, 2.5).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [1, 0]);
        let mut draws: Vec<f64> = (0..20_000).map(|_| normal.draw(&mut stream)).collect();
        assert_draws_follow(&mut draws, |x| normal.cdf(x));
    }

    #[test]
    fn parameters_are_checked() {
        assert!(Normal::new(f64::NAN, 1.0).is_err());
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Normal::new(0.0, scale).is_err());
        }
    }
}
