//! The beta-binomial distribution of a count.

use rand_distr::Distribution;

use super::special::ln_beta;
use super::{Beta, ParameterError};
use crate::random::Stream;

/// Number of successes in `trials` trials whose common probability is Beta(a, b):
/// p(k) = C(n, k) B(k + a, n - k + b) / B(a, b).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaBinomial {
    trials: u64,
    probability: Beta,
}

impl BetaBinomial {
    /// The distribution for `trials` trials and the shapes of the beta.
    ///
    /// # Errors
    /// [`ParameterError`] unless both shapes are positive and finite.
    pub fn new(trials: u64, a: f64, b: f64) -> Result<Self, ParameterError> {
        Ok(BetaBinomial { trials, probability: Beta::new(a, b)? })
    }

    /// Number of trials.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// The distribution of the success probability.
    pub fn probability(&self) -> Beta {
        self.probability
    }

    /// log p(k); -∞ for more successes than trials.
    pub fn log_density(&self, successes: u64) -> f64 {
        if successes > self.trials {
            return f64::NEG_INFINITY;
        }
        let (a, b) = self.probability.shapes();
        let (n, k) = (self.trials as f64, successes as f64);
        // C(n, k) = 1 / ((n + 1) B(k + 1, n - k + 1)).
        let log_choices = -(n + 1.0).ln() - ln_beta(k + 1.0, n - k + 1.0);
        log_choices + ln_beta(k + a, n - k + b) - ln_beta(a, b)
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let probability = self.probability.draw(stream);
        rand_distr::Binomial::new(self.trials, probability)
            .expect("a beta draw is a probability")
            .sample(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_counts_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    #[test]
    fn probabilities_sum_to_one_and_match_references() {
        // mpmath, 50 digits.
        for (trials, successes, a, b, expected) in [
            (10, 3, 0.5, 2.0, -2.428_961_336_513_856),
            (1000, 0, 2.0, 3.0, -11.337_591_438_425_61),
            (40, 40, 1.0, 1.0, -3.713_572_066_704_308),
        ] {
            let counts = BetaBinomial::new(trials, a, b).unwrap();
            assert_relative(counts.log_density(successes), expected, 1e-13);
            let total: f64 = (0..=trials).map(|k| counts.log_density(k).exp()).sum();
            assert_relative(total, 1.0, 1e-12);
            assert!(counts.log_density(trials + 1) == f64::NEG_INFINITY);
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let distribution = BetaBinomial::new(6, 0.7, 2.0).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [9, 0]);
        let mut counts = [0; 7];
        for _ in 0..20_000 {
            counts[distribution.draw(&mut stream) as usize] += 1;
        }
        let probabilities: Vec<f64> = (0..=6).map(|k| distribution.log_density(k).exp()).collect();
        assert_counts_follow(&counts, &probabilities);
    }
}
