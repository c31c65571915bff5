//! The gamma distribution.

use super::ParameterError;
use super::error::positive;
use super::root::increasing_root;
use super::special::{ln_gamma, normal_quantile, regularized_gamma_lower, regularized_gamma_upper};
use crate::random::Stream;

/// Gamma(shape α, scale θ): density x^(α-1) exp(-x/θ) / (Γ(α) θ^α) for positive x; mean αθ.
///
/// The *rate* form has rate 1/θ: see [`Gamma::from_shape_rate`]. A scaled chi-square with ν
/// degrees of freedom and mean ω is Gamma(ν/2, 2ω/ν).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    shape: f64,
    scale: f64,
}

impl Gamma {
    /// The gamma distribution with the given shape and scale.
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn new(shape: f64, scale: f64) -> Result<Self, ParameterError> {
        let name = "a gamma distribution";
        Ok(Gamma { shape: positive(name, "shape", shape)?, scale: positive(name, "scale", scale)? })
    }

    /// The gamma distribution with the given shape and rate = 1/scale.
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn from_shape_rate(shape: f64, rate: f64) -> Result<Self, ParameterError> {
        let name = "a gamma distribution";
        Gamma::new(shape, 1.0 / positive(name, "rate", rate)?)
    }

    /// The shape α.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// The scale θ.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The rate 1/θ.
    pub fn rate(&self) -> f64 {
        1.0 / self.scale
    }

    /// log p(x); -∞ unless x is positive.
    pub fn log_density(&self, x: f64) -> f64 {
        if x <= 0.0 || x == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let ratio = x / self.scale;
        self.shape * ratio.ln() - ratio - x.ln() - ln_gamma(self.shape)
    }

    /// d log p(x) / dx for positive x.
    pub fn derivative(&self, x: f64) -> f64 {
        (self.shape - 1.0) / x - 1.0 / self.scale
    }

    /// d log p(x) / d log scale for positive x.
    pub fn log_scale_derivative(&self, x: f64) -> f64 {
        x / self.scale - self.shape
    }

    /// P(X ≤ x), accurate in the left tail.
    pub fn cdf(&self, x: f64) -> f64 {
        regularized_gamma_lower(self.shape, x / self.scale)
    }

    /// The x with P(X ≤ x) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        self.scale * standard_quantile(self.shape, probability, 1.0 - probability)
    }

    /// A draw. Zero where a draw of small shape underflows; [`Gamma::log_draw`] does not.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.scale * stream.gamma(self.shape)
    }

    /// The logarithm of a draw, finite for any shape.
    pub fn log_draw(&self, stream: &mut Stream) -> f64 {
        self.scale.ln() + standard_log_draw(self.shape, stream)
    }
}

/// The logarithm of a draw from Gamma(shape, scale 1).
pub(crate) fn standard_log_draw(shape: f64, stream: &mut Stream) -> f64 {
    if shape >= 1.0 {
        stream.gamma(shape).ln()
    } else {
        // G(α) = G(α+1) U^(1/α) in distribution; in logarithms nothing underflows.
        stream.gamma(shape + 1.0).ln() + stream.uniform().ln() / shape
    }
}

/// The x with P(shape, x) = `lower` and Q(shape, x) = `upper`; the smaller of the two counts,
/// so that both tails are accurate.
pub(super) fn standard_quantile(shape: f64, lower: f64, upper: f64) -> f64 {
    // NaN must come out as NaN.
    if !(lower >= 0.0 && upper >= 0.0) {
        return f64::NAN;
    }
    if lower <= 0.0 {
        return 0.0;
    }
    if upper <= 0.0 {
        return f64::INFINITY;
    }
    let target = lower.min(upper).ln();
    // P(α, x) = x^α/Γ(α+1) (1 - α x/(α+1) + …): exact to the last bit for log x below -40.
    let leading = (lower.ln() + ln_gamma(shape + 1.0)) / shape;
    if leading < -40.0 {
        return leading.exp();
    }
    // Wilson and Hilferty's cube where it applies, else the leading term.
    let deviate = if lower < upper { normal_quantile(lower) } else { -normal_quantile(upper) };
    let spread = 1.0 / (9.0 * shape);
    let cube = shape * (1.0 - spread + deviate * spread.sqrt()).powi(3);
    let start = if cube > 0.01 * shape { cube.ln() } else { leading };
    // Beyond 2α + 3000 even the smallest positive upper probability is passed.
    let log_x = increasing_root(-50.0, (2.0 * shape + 3000.0).ln(), start, |log_x| {
        let x = log_x.exp();
        let log_slope = shape * log_x - x - ln_gamma(shape);
        if lower < upper {
            let log_cdf = regularized_gamma_lower(shape, x).ln();
            (log_cdf - target, (log_slope - log_cdf).exp())
        } else {
            let log_survival = regularized_gamma_upper(shape, x).ln();
            (target - log_survival, (log_slope - log_survival).exp())
        }
    });
    log_x.exp()
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
        for (x, shape, scale, expected) in [
            (1e-10, 0.25, 3.0, 15.706_712_600_556_905),
            (7.0, 2.5, 0.5, -9.632_949_695_490_085),
            (300.0, 250.0, 1.25, -4.067_822_512_149_089),
        ] {
            let gamma = Gamma::new(shape, scale).unwrap();
            assert_relative(gamma.log_density(x), expected, 1e-13);
            let total = integral_above_zero(shape * scale, |x| gamma.log_density(x).exp());
            // The double exponential rule reaches e^-43, where x^0.25 still counts 2e-5.
            assert_relative(total, 1.0, if shape < 1.0 { 3e-5 } else { 1e-11 });
            assert_derivative(gamma.log_scale_derivative(x), scale.ln(), |l| {
                Gamma::new(shape, l.exp()).unwrap().log_density(x)
            });
        }
        let gamma = Gamma::from_shape_rate(2.5, 4.0).unwrap();
        for x in [0.01, 0.6, 3.0] {
            assert_derivative(gamma.derivative(x), x, |x| gamma.log_density(x));
        }
        assert_relative(gamma.rate(), 4.0, 1e-15);
        assert!(gamma.log_density(0.0) == f64::NEG_INFINITY);
    }

    #[test]
    fn quantile_inverts_the_distribution_function_in_both_tails() {
        for shape in [0.005, 0.25, 1.0, 3.5, 40.0, 1000.0] {
            for probability in [1e-250, 1e-9, 0.02, 0.3, 0.5, 0.7, 0.999] {
                let x = standard_quantile(shape, probability, 1.0 - probability);
                if x > 0.0 {
                    assert_relative(regularized_gamma_lower(shape, x), probability, 1e-11);
                }
            }
            for upper in [1e-250, 1e-9, 0.02] {
                let x = standard_quantile(shape, 1.0 - upper, upper);
                assert_relative(regularized_gamma_upper(shape, x), upper, 1e-11);
            }
        }
    }

    #[test]
    fn draws_and_their_logarithms_follow_the_distribution_function() {
        for shape in [0.25, 0.8, 3.0] {
            let gamma = Gamma::new(shape, 2.5).unwrap();
            let mut stream = Seed(1).stream(Purpose::Data, [4, shape.to_bits()]);
            let mut draws: Vec<f64> = (0..20_000).map(|_| gamma.draw(&mut stream)).collect();
            assert_draws_follow(&mut draws, |x| gamma.cdf(x));
            let mut draws: Vec<f64> = (0..20_000).map(|_| gamma.log_draw(&mut stream)).collect();
            assert_draws_follow(&mut draws, |x| gamma.cdf(x.exp()));
        }
    }

    #[test]
    fn a_log_draw_of_tiny_shape_is_finite() {
        let gamma = Gamma::new(1e-3, 1.0).unwrap();
        let mut stream = Seed(2).stream(Purpose::Data, [4, 0]);
        let logs: Vec<f64> = (0..1000).map(|_| gamma.log_draw(&mut stream)).collect();
        assert!(logs.iter().all(|log| log.is_finite()));
        // P(X < e^-700) = e^-0.7 = ½: the plain draw would be zero half the time.
        let below = logs.iter().filter(|log| **log < -700.0).count();
        // Binomial(1000, 0.497) within 5 standard deviations: false-alarm rate 6e-7.
        assert!((417..577).contains(&below), "{below}");
    }

    #[test]
    fn parameters_are_checked() {
        assert!(Gamma::new(0.0, 1.0).is_err() && Gamma::new(1.0, f64::NAN).is_err());
        assert!(Gamma::from_shape_rate(1.0, 0.0).is_err());
    }
}
