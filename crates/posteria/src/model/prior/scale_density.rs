//! The prior of a scale: inverse gamma in its square, or log-normal.

use std::f64::consts::LN_2;

use super::common::common_log_scale_given_log_scales;
use super::scale::{REAL_LINE, Squares, variance_given_normal};
use crate::density::special::{digamma, trigamma};
use crate::density::{InverseGamma, LogInverseGamma, LogNormal, Normal, ParameterError};
use crate::random::Stream;
use crate::sample::draw_log_concave;

/// The prior of a scale a, a standard deviation.
///
/// An inverse gamma a² is conjugate and has a long upper tail and hardly a lower one; a log-normal
/// a has the same light tails on both sides of its median, so that it says within which factor a
/// scale is expected. Both are log-concave in log a, as is the density of normal values with that
/// scale, so that full conditionals are drawn exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleDensity {
    /// a² ~ Inv-gamma(s₀², ν).
    InverseGamma(InverseGamma),
    /// log a ~ N(log s₀, τ²).
    LogNormal(LogNormal),
}

/// The distribution of log a, with its constants at hand.
#[derive(Clone, Copy, Debug)]
pub enum LogScaleDensity {
    /// Of an inverse gamma square.
    InverseGamma(LogInverseGamma),
    /// Normal.
    Normal(Normal),
}

impl LogScaleDensity {
    /// log p(log a) and its derivative.
    pub fn log_density(&self, log_scale: f64) -> (f64, f64) {
        match self {
            LogScaleDensity::InverseGamma(density) => density.log_density(log_scale),
            LogScaleDensity::Normal(normal) => {
                (normal.log_density(log_scale), normal.derivative(log_scale))
            }
        }
    }
}

impl From<InverseGamma> for ScaleDensity {
    fn from(variance: InverseGamma) -> Self {
        ScaleDensity::InverseGamma(variance)
    }
}

impl ScaleDensity {
    /// a² ~ Inv-gamma(s₀², ν).
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive, and s₀² a positive number.
    pub fn inverse_gamma(scale: f64, dof: f64) -> Result<Self, ParameterError> {
        InverseGamma::new(scale, dof).map(ScaleDensity::InverseGamma)
    }

    /// log a ~ N(log `median`, `log_sd`²).
    ///
    /// # Errors
    /// [`ParameterError`] unless both are positive and finite.
    pub fn log_normal(median: f64, log_sd: f64) -> Result<Self, ParameterError> {
        LogNormal::new(median.ln(), log_sd).map(ScaleDensity::LogNormal)
    }

    /// The distribution of log a.
    pub fn of_log_scale(&self) -> LogScaleDensity {
        match self {
            ScaleDensity::InverseGamma(variance) => {
                LogScaleDensity::InverseGamma(variance.of_log_scale())
            }
            ScaleDensity::LogNormal(prior) => LogScaleDensity::Normal(prior.logarithm()),
        }
    }

    /// log p(log a).
    pub fn log_density_of_log_scale(&self, log_scale: f64) -> f64 {
        self.of_log_scale().log_density(log_scale).0
    }

    /// P(log A ≤ log a).
    #[cfg(test)]
    pub fn cdf_of_log_scale(&self, log_scale: f64) -> f64 {
        match self {
            ScaleDensity::InverseGamma(variance) => variance.cdf((2.0 * log_scale).exp()),
            ScaleDensity::LogNormal(prior) => prior.logarithm().cdf(log_scale),
        }
    }

    /// A draw of log a.
    pub fn draw_log_scale(&self, stream: &mut Stream) -> f64 {
        match self {
            ScaleDensity::InverseGamma(variance) => variance.draw_log_scale(stream),
            ScaleDensity::LogNormal(prior) => prior.logarithm().draw(stream),
        }
    }

    /// Draws log a, exactly, given x_i ~ N(0, a²) whose density is raised to β; `None` if the
    /// squares are not finite.
    ///
    /// An inverse gamma is conjugate. Of a log-normal, with t = log a the log density is
    /// -(t - m)²/2τ² - βn t - ½βS e^(-2t), S = Σ x²: strictly concave. It is drawn about the t
    /// where the values alone would put it, ½ log(S/n), held to the prior's side where they are
    /// few.
    pub fn draw_given_normal(
        &self,
        squares: Squares,
        inverse_temperature: f64,
        stream: &mut Stream,
    ) -> Option<f64> {
        let prior = match self {
            ScaleDensity::InverseGamma(variance) => {
                let conditional = variance_given_normal(squares, variance, inverse_temperature);
                return Some(conditional.ok()?.draw_log_scale(stream));
            }
            ScaleDensity::LogNormal(prior) => prior.logarithm(),
        };
        let count = inverse_temperature * squares.count;
        let sum = inverse_temperature * squares.sum;
        if !(sum.is_finite() && count.is_finite()) {
            return None;
        }
        if count <= 0.0 && sum <= 0.0 {
            return Some(prior.draw(stream));
        }
        let (mean, sd) = (prior.mean(), prior.scale());
        let precision = sd.powi(-2);
        // The values' curvature at their own mode is 2n; between both as precisions say.
        let of_values = if sum > 0.0 { 0.5 * (sum / count.max(1e-3)).ln() } else { mean };
        let start = (precision * mean + 2.0 * count * of_values) / (precision + 2.0 * count);
        let width = (precision + 2.0 * count).sqrt().recip();
        let density = |t: f64| {
            let distance = (t - mean) * precision;
            let falling = sum * (-2.0 * t).exp();
            (-0.5 * distance * (t - mean) - count * t - 0.5 * falling, falling - count - distance)
        };
        draw_log_concave(REAL_LINE, start, width, density, stream).ok().map(|draw| draw.value)
    }

    /// Draws the logarithm of the common scale s of scales a_k = s r_k, exactly, where the r_k are
    /// distributed as `below` and s has this prior; the a_k are given as logarithms. `None` if one
    /// of them is not finite or out of any range.
    pub fn draw_common(
        &self,
        below: &ScaleDensity,
        log_scales: impl Iterator<Item = f64> + Clone,
        stream: &mut Stream,
    ) -> Option<f64> {
        match (self, below) {
            (ScaleDensity::InverseGamma(above), ScaleDensity::InverseGamma(below)) => {
                let shift = below.scale().ln();
                let relative = log_scales.map(|log_scale| log_scale - shift);
                common_log_scale_given_log_scales(relative, below.dof(), above, 1.0, stream)
            }
            (above, below) => {
                let (above, below) = (above.of_log_scale(), below.of_log_scale());
                let (mut count, mut sum) = (0.0, 0.0);
                for log_scale in log_scales.clone() {
                    count += 1.0;
                    sum += log_scale;
                }
                let start = if count > 0.0 { sum / count } else { 0.0 };
                let density = |log_common: f64| {
                    let (mut value, mut slope) = above.log_density(log_common);
                    for log_scale in log_scales.clone() {
                        let (log_density, derivative) = below.log_density(log_scale - log_common);
                        value += log_density;
                        slope -= derivative;
                    }
                    (value, slope)
                };
                draw_log_concave(REAL_LINE, start, 0.5, density, stream).ok().map(|it| it.value)
            }
        }
    }

    /// The inverse gamma itself, or the one whose log a has the same mean and variance: what takes
    /// the place of a log-normal where an approximation needs a conjugate prior.
    ///
    /// With k = ν/2, log a² = log(ν s₀²/2) - log G, G ~ Gamma(k, 1), so that the variance of log a
    /// is ψ'(k)/4 and its mean ½ (log(k s₀²) - ψ(k)).
    pub fn conjugate(&self) -> InverseGamma {
        let normal = match self {
            ScaleDensity::InverseGamma(variance) => return *variance,
            ScaleDensity::LogNormal(prior) => prior.logarithm(),
        };
        let wanted = 4.0 * normal.scale() * normal.scale();
        // ψ' falls from ∞ to 0: halve an interval of log k.
        let (mut low, mut high) = (-12.0_f64 * LN_2, 40.0 * LN_2);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if trigamma(middle.exp()) > wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        let shape = (0.5 * (low + high)).exp();
        let log_scale = normal.mean() - 0.5 * (shape.ln() - digamma(shape));
        InverseGamma::new(log_scale.exp(), 2.0 * shape)
            .unwrap_or_else(|_| unreachable!("the shape is positive and the scale ordinary"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    fn log_normal(median: f64, log_sd: f64) -> ScaleDensity {
        ScaleDensity::log_normal(median, log_sd).unwrap()
    }

    /// Draws against the integral of the density by quadrature; false alarms as
    /// [`assert_draws_follow`] states.
    #[test]
    fn conditionals_match_quadrature() {
        let mut stream = Seed(3).stream(Purpose::Data, [41, 0]);
        for (median, log_sd) in [(0.3, 1.4), (1.0, 0.5)] {
            for (count, sum, beta) in [(5.0, 20.0, 1.0), (300.0, 0.03, 1.0), (40.0, 9.0, 0.1)] {
                let prior = log_normal(median, log_sd);
                let density = |t: f64| {
                    prior.log_density_of_log_scale(t)
                        - beta * (count * t + 0.5 * sum * (-2.0 * t).exp())
                };
                let numeric = NumericCdf::new(-14.0, 6.0, density);
                let squares = Squares { count, sum };
                let mut draws: Vec<f64> = (0..4000)
                    .map(|_| prior.draw_given_normal(squares, beta, &mut stream).unwrap())
                    .collect();
                assert_draws_follow(&mut draws, |t| numeric.at(t));
            }
        }
    }

    #[test]
    fn a_scale_without_values_has_its_prior() {
        let (prior, mut stream) = (log_normal(0.3, 1.4), Seed(3).stream(Purpose::Data, [42, 0]));
        let mut draws: Vec<f64> = (0..4000)
            .map(|_| prior.draw_given_normal(Squares::default(), 1.0, &mut stream).unwrap())
            .collect();
        let normal = Normal::new(0.3_f64.ln(), 1.4).unwrap();
        assert_draws_follow(&mut draws, |t| normal.cdf(t));
        let infinite = Squares { count: 1.0, sum: f64::INFINITY };
        assert_eq!(prior.draw_given_normal(infinite, 1.0, &mut stream), None);
    }

    #[test]
    fn common_scales_match_quadrature() {
        let mut stream = Seed(3).stream(Purpose::Data, [43, 0]);
        let logs = [-1.2, 0.3, 2.0];
        let gamma = |scale, dof| ScaleDensity::inverse_gamma(scale, dof).unwrap();
        for (above, below) in [
            (log_normal(0.5, 0.7), log_normal(1.0, 1.0)),
            (log_normal(0.5, 0.7), gamma(1.0, 2.0)),
            (gamma(0.5, 1.0), log_normal(1.0, 1.0)),
            (gamma(0.5, 1.0), gamma(1.0, 0.5)),
        ] {
            let density = |t: f64| {
                let below = |log: &f64| below.log_density_of_log_scale(log - t);
                above.log_density_of_log_scale(t) + logs.iter().map(below).sum::<f64>()
            };
            let numeric = NumericCdf::new(-12.0, 8.0, density);
            let mut draws: Vec<f64> = (0..4000)
                .map(|_| above.draw_common(&below, logs.iter().copied(), &mut stream).unwrap())
                .collect();
            assert_draws_follow(&mut draws, |t| numeric.at(t));
        }
    }

    /// Means and variances of log a by quadrature.
    #[test]
    fn a_conjugate_prior_has_the_moments_of_the_logarithm() {
        for (median, log_sd) in [(0.3, 1.4), (2.0, 0.5), (1.0, 3.0)] {
            let conjugate = log_normal(median, log_sd).conjugate();
            let step = 1e-3;
            let points = (-60_000..120_000).map(|i| f64::from(i) * step);
            let (mut mass, mut mean, mut square) = (0.0, 0.0, 0.0);
            for point in points {
                let density = step * conjugate.log_density_of_log_scale(point).exp();
                mass += density;
                mean += density * point;
                square += density * point * point;
            }
            assert_relative(mass, 1.0, 1e-6);
            assert!((mean - median.ln()).abs() < 1e-4, "{mean}");
            assert_relative((square - mean * mean).sqrt(), log_sd, 1e-4);
        }
    }
}
