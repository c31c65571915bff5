//! The negative binomial distribution and, as its limit, the Poisson distribution.

use super::special::{
    ln_gamma, logistic, regularized_beta, regularized_gamma_lower, regularized_gamma_upper,
};
use super::{LocationTerms, ParameterError};
use crate::random::Stream;

/// From this shape on the difference of log gamma functions is taken by their series, whose terms
/// of tenth order are below 1e-13 here.
const SERIES_FROM: f64 = 20.0;
/// Shapes beyond this many times the mean (and 1) are those of a Poisson distribution to a double.
const POISSON_BEYOND: f64 = 1e14;
/// Shapes beyond this many times the mean (and 1) are so nearly those that the distribution function
/// is that of a Poisson distribution with a correction.
const NEARLY_POISSON: f64 = 1e5;

/// Negative binomial(mean μ, shape r): P(y) = Γ(y + r) / (Γ(r) y!) (r/(r + μ))^r (μ/(r + μ))^y for
/// y = 0, 1, 2, …; its variance is μ + μ²/r. It is Poisson with a mean that is μ times a
/// Gamma(r, 1/r) variable, and Poisson itself for an infinite shape.
///
/// ```
/// use posteria::density::NegativeBinomial;
///
/// let count = NegativeBinomial::new(2.0, f64::INFINITY)?;
/// assert!((count.log_probability(0.0) + 2.0).abs() < 1e-15);
/// assert!((count.variance() - 2.0).abs() < 1e-15);
/// # Ok::<(), posteria::density::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NegativeBinomial {
    log_mean: f64,
    shape: f64,
}

impl NegativeBinomial {
    /// The distribution with this mean and shape.
    ///
    /// # Errors
    /// [`ParameterError`] unless the mean is positive and finite and the shape positive.
    pub fn new(mean: f64, shape: f64) -> Result<Self, ParameterError> {
        let name = "a negative binomial distribution";
        super::error::positive(name, "mean", mean)?;
        super::error::positive(name, "shape", shape.min(f64::MAX))?;
        Ok(NegativeBinomial { log_mean: mean.ln(), shape })
    }

    /// The same by the logarithm of the mean, which may be any number; what then is none, is none
    /// in the results.
    pub fn of_log_mean(log_mean: f64, shape: f64) -> Self {
        let least = POISSON_BEYOND * log_mean.exp().max(1.0);
        let shape = if shape > least { f64::INFINITY } else { shape };
        NegativeBinomial { log_mean, shape }
    }

    /// The mean μ.
    pub fn mean(&self) -> f64 {
        self.log_mean.exp()
    }

    /// The variance μ + μ²/r.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        mean + mean * (mean / self.shape)
    }

    /// log P(y); -∞ unless y is a whole number from 0 on.
    pub fn log_probability(&self, y: f64) -> f64 {
        if !(y >= 0.0 && y.fract() <= 0.0) {
            return if y.is_nan() { f64::NAN } else { f64::NEG_INFINITY };
        }
        self.terms(y).value - ln_gamma(y + 1.0)
    }

    /// log P(y) + log y!, with its derivatives by the log mean η: the slope is (y - μ) r/(r + μ), minus the
    /// second derivative (y + r) μ r/(r + μ)².
    pub fn terms(&self, y: f64) -> LocationTerms {
        let (mean, shape) = (self.mean(), self.shape);
        if shape == f64::INFINITY {
            // Zero events say nothing about a mean that is none: 0 · -∞.
            let value = if y > 0.0 { y * self.log_mean } else { 0.0 } - mean;
            return LocationTerms { value, slope: y - mean, curvature: mean };
        }
        // The share of the mean in r + μ, and what is left of 1, each with all of its digits.
        let logit = self.log_mean - shape.ln();
        let (share, rest) = (logistic(logit), logistic(-logit));
        // log(1 + μ/r) from its own side.
        let log_excess = if logit > 30.0 { logit } else { logit.exp().ln_1p() };
        let events = if y > 0.0 { y * self.log_mean } else { 0.0 };
        LocationTerms {
            value: rising(y, shape) + events - (y + shape) * log_excess,
            slope: y * rest - shape * share,
            curvature: (y + shape) * share * rest,
        }
    }

    /// P(y + 1) / P(y) = (y + r)/(y + 1) · μ/(r + μ).
    pub fn ratio(&self, y: f64) -> f64 {
        let mean = self.mean();
        match self.shape {
            f64::INFINITY => mean / (y + 1.0),
            shape => (y + shape) / (y + 1.0) * (mean / (shape + mean)),
        }
    }

    /// P(Y ≤ y), accurate in the left tail.
    pub fn cdf(&self, y: f64) -> f64 {
        self.below(y.floor(), true)
    }

    /// P(Y > y), accurate in the right tail.
    pub fn probability_above(&self, y: f64) -> f64 {
        self.below(y.floor(), false)
    }

    /// P(Y ≤ y) or the rest of 1, of a whole number.
    fn below(&self, y: f64, lower: bool) -> f64 {
        let mean = self.mean();
        if y.is_nan() || mean.is_nan() || self.shape.is_nan() {
            return f64::NAN;
        }
        let settled = |is_below: bool| if is_below == lower { 1.0 } else { 0.0 };
        match (y, mean) {
            (y, _) if y < 0.0 => settled(false),
            (f64::INFINITY, _) | (_, 0.0) => settled(true),
            (_, f64::INFINITY) => settled(false),
            _ if self.shape == f64::INFINITY => match lower {
                true => regularized_gamma_upper(y + 1.0, mean),
                false => regularized_gamma_lower(y + 1.0, mean),
            },
            // Beyond, to first order in 1/r; the second is some (μ/r)²/8.
            _ if self.shape > NEARLY_POISSON * mean.max(1.0) => {
                let poisson = NegativeBinomial { shape: f64::INFINITY, ..*self };
                let change = mean * (y - mean) / (2.0 * self.shape);
                let change = change * poisson.log_probability(y).exp();
                let change = if lower { -change } else { change };
                (poisson.below(y, lower) + change).clamp(0.0, 1.0)
            }
            _ => {
                let logit = self.log_mean - self.shape.ln();
                match lower {
                    true => regularized_beta(self.shape, y + 1.0, logistic(-logit)),
                    false => regularized_beta(y + 1.0, self.shape, logistic(logit)),
                }
            }
        }
    }

    /// A draw; not a number if the mean is none, infinite if it is.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let mean = self.mean();
        if mean.is_nan() || self.shape.is_nan() {
            return f64::NAN;
        }
        match self.shape {
            f64::INFINITY => stream.poisson(mean),
            shape => {
                let multiplier = stream.gamma(shape) / shape;
                stream.poisson(mean * multiplier)
            }
        }
    }
}

/// log (Γ(y + r) / (Γ(r) r^y)), to 1e-12 or so of the larger of itself and y.
fn rising(y: f64, shape: f64) -> f64 {
    if shape < SERIES_FROM {
        return ln_gamma(y + shape) - ln_gamma(shape) - y * shape.ln();
    }
    // Stirling's series for both, whose leading terms cancel.
    let rest = |x: f64| {
        let q = (x * x).recip();
        (1.0 / 12.0 - q * (1.0 / 360.0 - q * (1.0 / 1260.0 - q / 1680.0))) / x
    };
    let total = y + shape;
    let (ratio, leading) = (y / shape, total - 0.5);
    // (r + y) log(1 + y/r) - y, without what cancels of it where y/r is small.
    let main = match ratio < 1e-4 {
        true => {
            let square = y * ratio;
            square * (0.5 - ratio * (1.0 / 6.0 - ratio * (1.0 / 12.0))) - 0.5 * ratio.ln_1p()
        }
        false => leading * ratio.ln_1p() - y,
    };
    main + rest(total) - rest(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_counts_follow, assert_derivative, assert_relative};
    use crate::random::{Purpose, Seed};

    const CASES: [(f64, f64); 7] = [
        (2.5, f64::INFINITY),
        (40.0, f64::INFINITY),
        (3.0, 0.4),
        (3.0, 7.0),
        (12.0, 25.0),
        (0.02, 1.5),
        (30.0, 1e7),
    ];

    #[test]
    fn probabilities_sum_to_one_with_the_mean_and_the_variance() {
        for (mean, shape) in CASES {
            let count = NegativeBinomial::new(mean, shape).unwrap();
            let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
            for y in 0..3000 {
                let y = f64::from(y);
                let p = count.log_probability(y).exp();
                total += p;
                first += p * y;
                second += p * (y - mean).powi(2);
                if p > 1e-12 {
                    assert!((count.cdf(y) - total).abs() < 1e-11, "{mean} {shape} {y}");
                    assert!((count.probability_above(y) - (1.0 - total)).abs() < 1e-11);
                }
            }
            assert!((total - 1.0).abs() < 1e-10, "{mean} {shape}: {total}");
            assert_relative(first, mean, 1e-9);
            assert_relative(second, count.variance(), 1e-8);
        }
        let count = NegativeBinomial::new(2.0, 3.0).unwrap();
        assert!(count.log_probability(0.5) == f64::NEG_INFINITY);
        assert!(count.log_probability(-1.0) == f64::NEG_INFINITY);
    }

    #[test]
    fn derivatives_are_those_of_the_log_probability() {
        for (mean, shape) in CASES {
            let eta = mean.ln();
            for y in [0.0, 1.0, 4.0, 55.0] {
                let at = |eta: f64| NegativeBinomial::of_log_mean(eta, shape).terms(y);
                assert_derivative(at(eta).slope, eta, |eta| at(eta).value);
                assert_derivative(at(eta).curvature, eta, |eta| -at(eta).slope);
            }
        }
    }

    #[test]
    fn a_large_shape_is_nearly_poisson() {
        // To first order in 1/r: log P = log Poisson + ((y - μ)² - y) / 2r.
        for y in [0.0, 3.0, 17.0, 200.0] {
            let (mean, shape) = (9.0_f64, 1e9);
            let poisson = NegativeBinomial::new(mean, f64::INFINITY).unwrap().log_probability(y);
            let found = NegativeBinomial::new(mean, shape).unwrap().log_probability(y);
            let expected = ((y - mean).powi(2) - y) / (2.0 * shape);
            assert!((found - poisson - expected).abs() < 2e-12 * (1.0 + poisson.abs()), "{y}");
        }
        for y in [1.0, 30.0, 4000.0] {
            let around = [SERIES_FROM * (1.0 - 1e-12), SERIES_FROM].map(|r| rising(y, r));
            assert!((around[0] - around[1]).abs() < 1e-10 * around[1].abs().max(1.0), "{around:?}");
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        for (index, (mean, shape)) in CASES[..5].iter().enumerate() {
            let count = NegativeBinomial::new(*mean, *shape).unwrap();
            let mut stream = Seed(11).stream(Purpose::Data, [index as u64, 0]);
            let mut counts = [0_u64; 12];
            // Bins between quantiles of roughly equal probability.
            let edges: Vec<f64> = (1..12)
                .map(|k| {
                    let p = f64::from(k) / 12.0;
                    (0..1000).map(f64::from).find(|y| count.cdf(*y) >= p).unwrap()
                })
                .collect();
            for _ in 0..20_000 {
                let y = count.draw(&mut stream);
                counts[edges.iter().filter(|edge| y > **edge).count()] += 1;
            }
            let at = |bin: usize| if bin == 11 { 1.0 } else { count.cdf(edges[bin]) };
            let bins = (0..12).map(|bin| at(bin) - if bin == 0 { 0.0 } else { at(bin - 1) });
            let (counts, probabilities): (Vec<u64>, Vec<f64>) =
                counts.into_iter().zip(bins).filter(|pair| pair.1 > 0.0).unzip();
            assert_counts_follow(&counts, &probabilities);
        }
    }
}
