//! Take mean and precision of a normal distribution for independent, and see what it costs.

use crate::density::special::{LOG_SQRT_2PI, digamma, ln_gamma};

/// Rounds after which a climb ends.
const MOST_ROUNDS: usize = 1000;
/// A climb ends when a round raises the bound by less than this part of it.
const TOLERANCE: f64 = 1e-14;

/// The normal-gamma distribution: τ ~ Gamma(shape a, rate b), μ given τ ~ N(m, 1/(λτ)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalGamma {
    /// The mean m.
    pub mean: f64,
    /// λ: the rows that the knowledge of the mean is worth.
    pub rows: f64,
    /// The shape a.
    pub shape: f64,
    /// The rate b.
    pub rate: f64,
}

impl NormalGamma {
    /// The exact posterior given values x ~ N(μ, 1/τ).
    #[must_use]
    pub fn given(&self, values: &[f64]) -> Self {
        let sums = Sums::of(values);
        let rows = self.rows + sums.count;
        let off = sums.mean - self.mean;
        let between = self.rows * sums.count / rows * off * off;
        NormalGamma {
            mean: self.mean + sums.count / rows * off,
            rows,
            shape: self.shape + 0.5 * sums.count,
            rate: self.rate + 0.5 * (sums.squares + between),
        }
    }

    /// Log density at μ and τ.
    pub fn log_density(&self, mean: f64, precision: f64) -> f64 {
        let z = (mean - self.mean) * (self.rows * precision).sqrt();
        0.5 * ((self.rows * precision).ln() - z * z) - LOG_SQRT_2PI + self.shape * self.rate.ln()
            - ln_gamma(self.shape)
            + (self.shape - 1.0) * precision.ln()
            - self.rate * precision
    }

    /// Exact log evidence of values, with this as the prior.
    pub fn log_evidence(&self, values: &[f64]) -> f64 {
        let constant =
            |it: &NormalGamma| ln_gamma(it.shape) - it.shape * it.rate.ln() - 0.5 * it.rows.ln();
        let after = self.given(values);
        constant(&after) - constant(self) - values.len() as f64 * LOG_SQRT_2PI
    }
}

/// q(μ) q(τ) in the place of the posterior of mean and precision of a normal distribution, whose
/// prior is normal-gamma [Bishop 2006, §10.1.3]: q(μ) = N(m, 1/λ), q(τ) = Gamma(a, rate b).
///
/// ```
/// use posteria::approximate::{FactorisedNormal, NormalGamma};
///
/// let prior = NormalGamma { mean: 0.0, rows: 1.0, shape: 1.0, rate: 1.0 };
/// let values = [0.3, 1.9, 0.8, 1.1];
/// let found = FactorisedNormal::new(prior, &values, 1.0).climb();
/// assert!(found.bound() < prior.log_evidence(&values));
/// assert!((found.mean() - prior.given(&values).mean).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorisedNormal {
    prior: NormalGamma,
    sums: Sums,
    mean: f64,
    mean_precision: f64,
    shape: f64,
    rate: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    count: f64,
    mean: f64,
    /// Σ (x - x̄)².
    squares: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        Sums { count, mean, squares: values.iter().map(|x| (x - mean).powi(2)).sum() }
    }
}

impl FactorisedNormal {
    /// A start: q(τ) has its final shape and mean `precision`, q(μ) the mean and the deviation of
    /// the prior at that precision.
    pub fn new(prior: NormalGamma, values: &[f64], precision: f64) -> Self {
        let sums = Sums::of(values);
        // One more half for the mean, whose prior has τ in it.
        let shape = prior.shape + 0.5 * (sums.count + 1.0);
        FactorisedNormal {
            prior,
            sums,
            mean: prior.mean,
            mean_precision: prior.rows * precision,
            shape,
            rate: shape / precision,
        }
    }

    /// Finds q(μ) given q(τ).
    #[must_use]
    pub fn with_mean(self) -> Self {
        let rows = self.prior.rows + self.sums.count;
        let share = self.sums.count / rows;
        FactorisedNormal {
            mean: self.prior.mean + share * (self.sums.mean - self.prior.mean),
            mean_precision: rows * self.precision(),
            ..self
        }
    }

    /// Finds q(τ) given q(μ).
    #[must_use]
    pub fn with_precision(self) -> Self {
        FactorisedNormal { rate: self.prior.rate + 0.5 * self.squares(), ..self }
    }

    /// Both by turns, until nothing is gained.
    #[must_use]
    pub fn climb(self) -> Self {
        let mut now = self;
        for _ in 0..MOST_ROUNDS {
            let next = now.with_mean().with_precision();
            let gained = next.bound() - now.bound();
            now = next;
            if gained <= TOLERANCE * (1.0 + now.bound().abs()) {
                break;
            }
        }
        now
    }

    /// E μ.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Standard deviation of μ.
    pub fn mean_sd(&self) -> f64 {
        self.mean_precision.sqrt().recip()
    }

    /// E τ.
    pub fn precision(&self) -> f64 {
        self.shape / self.rate
    }

    /// Standard deviation of τ.
    pub fn precision_sd(&self) -> f64 {
        self.shape.sqrt() / self.rate
    }

    /// log q(μ) q(τ).
    pub fn log_density(&self, mean: f64, precision: f64) -> f64 {
        let z = (mean - self.mean) * self.mean_precision.sqrt();
        0.5 * (self.mean_precision.ln() - z * z) - LOG_SQRT_2PI + self.shape * self.rate.ln()
            - ln_gamma(self.shape)
            + (self.shape - 1.0) * precision.ln()
            - self.rate * precision
    }

    /// E Σ (x - μ)² + λ₀ E (μ - μ₀)².
    fn squares(&self) -> f64 {
        let Sums { count, mean, squares } = self.sums;
        let variance = 1.0 / self.mean_precision;
        let about = |centre: f64| (self.mean - centre).powi(2) + variance;
        squares + count * about(mean) + self.prior.rows * about(self.prior.mean)
    }

    /// The lower bound of the log evidence; never above [`NormalGamma::log_evidence`].
    pub fn bound(&self) -> f64 {
        let NormalGamma { rows, shape, rate, .. } = self.prior;
        let log_precision = digamma(self.shape) - self.rate.ln();
        let data = 0.5 * (self.sums.count + 1.0) * log_precision
            - 0.5 * self.precision() * self.squares()
            + 0.5 * rows.ln()
            - (self.sums.count + 1.0) * LOG_SQRT_2PI;
        let prior = shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * log_precision
            - rate * self.precision();
        let entropy_mean = 0.5 - 0.5 * self.mean_precision.ln() + LOG_SQRT_2PI;
        let entropy = self.shape - self.rate.ln()
            + ln_gamma(self.shape)
            + (1.0 - self.shape) * digamma(self.shape);
        data + prior + entropy_mean + entropy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn values(count: usize) -> Vec<f64> {
        let mut stream = Seed(6).stream(Purpose::Data, [0, 0]);
        (0..count).map(|_| 1.5 + 0.7 * stream.normal()).collect()
    }

    #[test]
    fn every_step_raises_the_bound_to_below_the_evidence() {
        for prior in [
            NormalGamma { mean: 0.0, rows: 1.0, shape: 1.0, rate: 1.0 },
            NormalGamma { mean: -3.0, rows: 0.01, shape: 0.1, rate: 2.0 },
        ] {
            for count in [1, 2, 10, 500] {
                let values = values(count);
                let evidence = prior.log_evidence(&values);
                let mut now = FactorisedNormal::new(prior, &values, 7.0);
                for _ in 0..20 {
                    for next in [now.with_mean(), now.with_mean().with_precision()] {
                        assert!(next.bound() >= now.bound() - 1e-10, "{count}");
                        now = next;
                    }
                    assert!(now.bound() < evidence, "{count}: {} {evidence}", now.bound());
                }
                let found = now.climb();
                // With many rows mean and precision are nearly independent.
                let gap = evidence - found.bound();
                assert!(gap < 1.0 / count as f64, "{count}: {gap}");
                let exact = prior.given(&values);
                assert!((found.mean() - exact.mean).abs() < 1e-12);
                let precision = exact.shape / exact.rate;
                assert!((found.precision() / precision - 1.0).abs() < 0.5 / count as f64);
            }
        }
    }

    #[test]
    fn the_evidence_is_the_integral_of_the_joint_density() {
        let prior = NormalGamma { mean: 0.4, rows: 0.5, shape: 2.0, rate: 1.5 };
        let values = values(3);
        let log_joint = |mean: f64, precision: f64| {
            let each = values
                .iter()
                .map(|x| 0.5 * (precision.ln() - precision * (x - mean).powi(2)) - LOG_SQRT_2PI);
            prior.log_density(mean, precision) + each.sum::<f64>()
        };
        // At any point the evidence is joint density over posterior density.
        let after = prior.given(&values);
        for (mean, precision) in [(0.0, 1.0), (1.3, 4.0), (-2.0, 0.1)] {
            let ratio = log_joint(mean, precision) - after.log_density(mean, precision);
            assert!((ratio - prior.log_evidence(&values)).abs() < 1e-10, "{ratio}");
        }
    }

    #[test]
    fn a_vague_prior_gives_the_mean_of_the_squares() {
        // E τ = (n + 1)/(S + 1/E τ), so 1/E τ = S/n: as the exact posterior has it.
        let (values, tiny) = (values(12), 1e-9);
        let prior = NormalGamma { mean: 0.0, rows: tiny, shape: tiny, rate: tiny };
        let found = FactorisedNormal::new(prior, &values, 1.0).climb();
        let sums = Sums::of(&values);
        assert!((found.mean() - sums.mean).abs() < 1e-6);
        assert!((found.precision() * sums.squares / 12.0 - 1.0).abs() < 1e-6);
    }
}
