//! Durations whose logarithm has a location and a scale: Weibull and log-normal.

use serde::{Deserialize, Serialize};

use super::special::{
    LOG_SQRT_2PI, inverse_mills, ln_gamma, log_normal_cdf, normal_cdf, normal_quantile,
};
use crate::random::Stream;

/// What ε of log T = η + σ ε follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurationFamily {
    /// The logarithm of an exponential variable: T is Weibull with the shape 1/σ and the scale exp η.
    Weibull,
    /// N(0, 1): T is log-normal with the median exp η.
    LogNormal,
}

/// A duration T > 0 with log T = η + σ ε [Kalbfleisch & Prentice 2002, §2.2]: with z = (log t - η)/σ
/// the density and the probability of a longer duration are
///
/// | | log p(t) | log P(T > t) |
/// |---|---|---|
/// | Weibull | z - exp z - log σt | -exp z |
/// | log-normal | -z²/2 - log √(2π) - log σt | log Φ(-z) |
///
/// ```
/// use posteria::density::{Duration, DurationFamily};
///
/// // Exponential with the mean 2.
/// let duration = Duration::new(DurationFamily::Weibull, 2_f64.ln(), 1.0);
/// assert!((duration.log_density(3.0) - (-1.5 - 2_f64.ln())).abs() < 1e-15);
/// assert!((duration.log_survival(3.0) + 1.5).abs() < 1e-15);
/// assert!((duration.mean() - 2.0).abs() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration {
    family: DurationFamily,
    location: f64,
    scale: f64,
}

/// A log density, or log probability, as a function of the location η of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocationTerms {
    /// The logarithm.
    pub value: f64,
    /// Its derivative by η.
    pub slope: f64,
    /// Minus its second derivative, which is not negative.
    pub curvature: f64,
}

impl Duration {
    /// The duration with this location η and scale σ of its logarithm, which must be positive; what is
    /// none, is none in the results.
    pub fn new(family: DurationFamily, location: f64, scale: f64) -> Self {
        Duration { family, location, scale }
    }

    fn z(&self, log_time: f64) -> f64 {
        (log_time - self.location) / self.scale
    }

    /// The log density of T at exp `log_time`, or if the duration is censored there the log probability
    /// that it is longer, with their derivatives by η.
    pub fn terms(&self, log_time: f64, is_censored: bool) -> LocationTerms {
        let (z, sigma) = (self.z(log_time), self.scale);
        let volume = sigma.ln() + log_time;
        let square = sigma * sigma;
        match (self.family, is_censored) {
            (DurationFamily::Weibull, false) => {
                let hazard = z.exp();
                LocationTerms {
                    value: z - hazard - volume,
                    slope: (hazard - 1.0) / sigma,
                    curvature: hazard / square,
                }
            }
            (DurationFamily::Weibull, true) => {
                let hazard = z.exp();
                LocationTerms { value: -hazard, slope: hazard / sigma, curvature: hazard / square }
            }
            (DurationFamily::LogNormal, false) => LocationTerms {
                value: -0.5 * z * z - LOG_SQRT_2PI - volume,
                slope: z / sigma,
                curvature: square.recip(),
            },
            (DurationFamily::LogNormal, true) => {
                // φ(z)/Φ(-z), and that less z.
                let (ratio, excess) = inverse_mills(-z);
                LocationTerms {
                    value: log_normal_cdf(-z),
                    slope: ratio / sigma,
                    curvature: ratio * excess / square,
                }
            }
        }
    }

    /// log p(t); -∞ unless t is positive.
    pub fn log_density(&self, t: f64) -> f64 {
        match t > 0.0 && t < f64::INFINITY {
            true => self.terms(t.ln(), false).value,
            false if t.is_nan() => f64::NAN,
            false => f64::NEG_INFINITY,
        }
    }

    /// log P(T > t); 0 unless t is positive.
    pub fn log_survival(&self, t: f64) -> f64 {
        match t > 0.0 {
            true => self.terms(t.ln(), true).value,
            false if t.is_nan() => f64::NAN,
            false => 0.0,
        }
    }

    /// P(log T ≤ x), accurate in the left tail.
    pub fn below(&self, x: f64) -> f64 {
        let z = self.z(x);
        match self.family {
            DurationFamily::Weibull => -(-z.exp()).exp_m1(),
            DurationFamily::LogNormal => normal_cdf(z),
        }
    }

    /// P(log T > x), accurate in the right tail.
    pub fn above(&self, x: f64) -> f64 {
        let z = self.z(x);
        match self.family {
            DurationFamily::Weibull => (-z.exp()).exp(),
            DurationFamily::LogNormal => normal_cdf(-z),
        }
    }

    /// The density of log T at x.
    pub fn log_scale_density(&self, x: f64) -> f64 {
        (self.terms(x, false).value + x).exp()
    }

    /// The x with P(log T ≤ x) = `p`, or if not `lower` with P(log T > x) = `p`.
    pub fn log_quantile(&self, p: f64, lower: bool) -> f64 {
        let z = match (self.family, lower) {
            // log of minus log of the probability of a longer duration.
            (DurationFamily::Weibull, true) => (-(-p).ln_1p()).ln(),
            (DurationFamily::Weibull, false) => (-p.ln()).ln(),
            (DurationFamily::LogNormal, true) => normal_quantile(p),
            (DurationFamily::LogNormal, false) => -normal_quantile(p),
        };
        self.location + self.scale * z
    }

    /// E T^k = exp(kη) E exp(kσε): Γ(1 + kσ) of a Weibull duration, exp(k²σ²/2) of a log-normal one.
    pub fn moment(&self, k: f64) -> f64 {
        let stretch = k * self.scale;
        let of_error = match self.family {
            DurationFamily::Weibull => ln_gamma(1.0 + stretch),
            DurationFamily::LogNormal => 0.5 * stretch * stretch,
        };
        (k * self.location + of_error).exp()
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.moment(1.0)
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.log_quantile(0.5, true).exp()
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let error = match self.family {
            DurationFamily::Weibull => stream.exponential().ln(),
            DurationFamily::LogNormal => stream.normal(),
        };
        (self.location + self.scale * error).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{
        assert_derivative, assert_draws_follow, assert_relative, integral, integral_above_zero,
    };
    use crate::random::{Purpose, Seed};

    const FAMILIES: [DurationFamily; 2] = [DurationFamily::Weibull, DurationFamily::LogNormal];

    #[test]
    fn the_density_is_normalised_with_its_moments_and_its_survival() {
        for family in FAMILIES {
            for (location, scale) in [(0.3, 0.4), (-1.0, 1.0), (2.0, 0.15)] {
                let it = Duration::new(family, location, scale);
                // By x = log t, over which the density is exp x times that of t.
                let density = |k: f64, x: f64| (it.log_density(x.exp()) + (k + 1.0) * x).exp();
                let of = |k: f64| integral(location, scale, |x| density(k, x));
                assert_relative(of(0.0), 1.0, 1e-9);
                assert_relative(of(1.0), it.mean(), 1e-8);
                assert_relative(of(2.0), it.moment(2.0), 1e-8);
                for z in [-2.0, -0.3, 0.6, 1.5] {
                    let x = location + scale * z;
                    let survival = integral_above_zero(scale, |more| density(0.0, x + more));
                    assert_relative(it.log_survival(x.exp()).exp(), survival, 1e-8);
                    assert_relative(it.above(x), survival, 1e-8);
                    assert!((it.below(x) + it.above(x) - 1.0).abs() < 1e-14);
                    assert_relative(it.log_quantile(it.below(x), true), x, 1e-12);
                    assert_relative(it.log_quantile(it.above(x), false), x, 1e-12);
                }
                assert_relative(it.below(it.median().ln()), 0.5, 1e-13);
            }
            assert!(Duration::new(family, 0.0, 1.0).log_density(0.0) == f64::NEG_INFINITY);
        }
    }

    #[test]
    fn derivatives_are_those_of_the_logarithms() {
        for family in FAMILIES {
            for is_censored in [false, true] {
                for (x, scale) in [(0.7, 0.5), (-2.0, 1.3), (3.0, 0.9)] {
                    let at = |eta: f64| Duration::new(family, eta, scale).terms(x, is_censored);
                    for eta in [-0.4, 1.1] {
                        assert_derivative(at(eta).slope, eta, |eta| at(eta).value);
                        assert_derivative(at(eta).curvature, eta, |eta| -at(eta).slope);
                        assert!(at(eta).curvature >= 0.0);
                    }
                }
            }
        }
    }

    /// Kolmogorov-Smirnov, false-alarm rate 2e-5 each.
    #[test]
    fn draws_follow_the_distribution() {
        for (index, family) in FAMILIES.into_iter().enumerate() {
            let it = Duration::new(family, 0.4, 0.7);
            let mut stream = Seed(5).stream(Purpose::Data, [index as u64, 0]);
            let mut draws: Vec<f64> = (0..5000).map(|_| it.draw(&mut stream).ln()).collect();
            assert_draws_follow(&mut draws, |x| it.below(x));
        }
    }
}
