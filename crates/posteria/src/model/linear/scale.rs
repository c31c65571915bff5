//! The gamma prior of a precision, and exact draws of a scale from its conditional.

use crate::density::special::ln_gamma;
use crate::density::standard_log_draw;
use crate::random::Stream;

/// Gamma prior of a precision τ = 1/s²: density b^a / Γ(a) τ^(a-1) exp(-bτ).
///
/// The inverse gamma prior of the variance with standard deviation scale s₀ and ν degrees of
/// freedom is the same with a = ν/2 and b = ν s₀²/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionPrior {
    shape: f64,
    rate: f64,
}

impl PrecisionPrior {
    /// Shape a and rate b; `None` unless both are positive and finite.
    pub fn new(shape: f64, rate: f64) -> Option<Self> {
        let valid = |x: f64| x > 0.0 && x.is_finite();
        (valid(shape) && valid(rate)).then_some(PrecisionPrior { shape, rate })
    }

    /// The prior of the precision when the variance is inverse gamma with standard deviation
    /// scale s₀ and ν degrees of freedom; `None` unless both are positive and finite.
    pub fn inverse_gamma(scale: f64, dof: f64) -> Option<Self> {
        PrecisionPrior::new(0.5 * dof, 0.5 * dof * scale * scale).filter(|_| scale > 0.0)
    }

    /// Shape a.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// Rate b.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Log density of u = log s, Jacobian |dτ/du| = 2τ included.
    pub(crate) fn log_density(&self, log_scale: f64) -> f64 {
        let log_precision = -2.0 * log_scale;
        self.shape * (self.rate.ln() + log_precision)
            - ln_gamma(self.shape)
            - self.rate * log_precision.exp()
            + std::f64::consts::LN_2
    }

    /// A draw of log s given `count` normal deviates (a tempered one counts as its inverse
    /// temperature) of scale s with this sum of squares: τ ~ Gamma(a + count/2, b + sum/2).
    /// Without deviates, a draw from the prior.
    pub(crate) fn draw(&self, count: f64, sum_of_squares: f64, stream: &mut Stream) -> f64 {
        let log_precision = standard_log_draw(self.shape + 0.5 * count, stream)
            - (self.rate + 0.5 * sum_of_squares).ln();
        -0.5 * log_precision
    }

    /// A scale in the middle of the prior: s₀ of the inverse gamma form.
    pub(crate) fn middle(&self) -> f64 {
        (self.rate / self.shape).sqrt()
    }
}

/// The prior of the standard deviation of a group of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalePrior {
    /// Known.
    Fixed(f64),
    /// Sampled.
    Sampled(PrecisionPrior),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn the_density_of_the_log_scale_integrates_to_one() {
        for (scale, dof) in [(0.05, 0.5), (1.0, 4.0), (3.0, 50.0)] {
            let prior = PrecisionPrior::inverse_gamma(scale, dof).unwrap();
            let step = 0.01;
            let sum: f64 =
                (-1000..10_000).map(|i| prior.log_density(f64::from(i) * step).exp()).sum();
            assert!((sum * step - 1.0).abs() < 1e-8, "{scale} {dof}: {}", sum * step);
        }
    }

    #[test]
    fn draws_have_the_density() {
        // Kolmogorov-Smirnov at 4000 draws against the cumulated density; 2.2 / √n is passed
        // by chance with probability 1e-4 (seed fixed).
        for (shape, rate) in [(0.05, 0.2), (0.6, 1.0), (3.0, 10.0)] {
            let prior = PrecisionPrior::new(shape, rate).unwrap();
            let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
            let mut draws: Vec<f64> =
                (0..4000).map(|_| prior.draw(0.0, 0.0, &mut stream)).collect();
            draws.sort_by(f64::total_cmp);
            let (mut at, mut cumulated, step) = (-10.0, 0.0, 0.002);
            let mut largest: f64 = 0.0;
            for (index, draw) in draws.iter().enumerate() {
                while at < *draw {
                    cumulated += step * prior.log_density(at + 0.5 * step).exp();
                    at += step;
                }
                largest = largest.max((cumulated - index as f64 / 4000.0).abs());
            }
            assert!(largest < 2.2 / 4000_f64.sqrt(), "{shape}: {largest}");
        }
    }

    #[test]
    fn a_tiny_shape_gives_no_infinite_scale() {
        let prior = PrecisionPrior::new(1e-3, 1.0).unwrap();
        let mut stream = Seed(6).stream(Purpose::Data, [0, 0]);
        assert!((0..1000).all(|_| prior.draw(0.0, 0.0, &mut stream).is_finite()));
    }
}
