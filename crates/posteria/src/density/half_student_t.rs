//! The half-t distribution of a positive scale.

use std::f64::consts::LN_2;

use super::special::regularized_beta;
use super::{ParameterError, StudentT};
use crate::random::Stream;

/// |T| with T ~ t_ν(0, scale²): a prior of a standard deviation that is flat near zero and has
/// the tail of a t [Gelman 2006]. One degree of freedom is the half-Cauchy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfStudentT {
    whole: StudentT,
}

impl HalfStudentT {
    /// The half-t distribution with the given scale and degrees of freedom.
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn new(scale: f64, dof: f64) -> Result<Self, ParameterError> {
        Ok(HalfStudentT { whole: StudentT::new(0.0, scale, dof)? })
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.whole.scale()
    }

    /// The degrees of freedom.
    pub fn dof(&self) -> f64 {
        self.whole.dof()
    }

    /// log p(x); -∞ for negative x.
    pub fn log_density(&self, x: f64) -> f64 {
        if x < 0.0 { f64::NEG_INFINITY } else { LN_2 + self.whole.log_density(x) }
    }

    /// d log p(x) / dx for positive x.
    pub fn derivative(&self, x: f64) -> f64 {
        self.whole.derivative(x)
    }

    /// d log p(x) / d log scale for positive x.
    pub fn log_scale_derivative(&self, x: f64) -> f64 {
        self.whole.log_scale_derivative(x)
    }

    /// P(X ≤ x), accurate near zero.
    pub fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        let r = x / self.whole.scale();
        // r²/(ν + r²), written so that a huge r gives 1.
        regularized_beta(0.5, 0.5 * self.whole.dof(), 1.0 / (1.0 + self.whole.dof() / (r * r)))
    }

    /// The x with P(X ≤ x) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        -self.whole.quantile(0.5 * (1.0 - probability))
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.whole.draw(stream).abs()
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
        let half = HalfStudentT::new(0.7, 3.0).unwrap();
        assert_relative(half.log_density(1.5), -1.807_989_260_113_652_7, 1e-14);
        assert_relative(half.cdf(1.5), 0.878_475_436_482_395_3, 1e-13);
        assert_relative(half.quantile(half.cdf(1.5)), 1.5, 1e-13);
        assert_relative(integral_above_zero(0.7, |x| half.log_density(x).exp()), 1.0, 1e-12);
        for x in [0.05, 1.0, 20.0] {
            assert_derivative(half.derivative(x), x, |x| half.log_density(x));
            assert_derivative(half.log_scale_derivative(x), 0.7_f64.ln(), |l| {
                HalfStudentT::new(l.exp(), 3.0).unwrap().log_density(x)
            });
        }
        assert!(half.log_density(-0.1) == f64::NEG_INFINITY);
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        let half = HalfStudentT::new(2.0, 1.0).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [7, 0]);
        let mut draws: Vec<f64> = (0..20_000).map(|_| half.draw(&mut stream)).collect();
        assert_draws_follow(&mut draws, |x| half.cdf(x));
    }
}
