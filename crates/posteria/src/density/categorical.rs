//! The categorical distribution, and draws of an index by weights.

use super::ParameterError;
use super::special::log_sum_exp;
use crate::random::Stream;

/// A distribution of an index 0, …, K-1.
#[derive(Clone, Debug, PartialEq)]
pub struct Categorical {
    log_probabilities: Vec<f64>,
}

const NAME: &str = "a categorical distribution";

impl Categorical {
    /// The distribution with probabilities proportional to `weights`.
    ///
    /// # Errors
    /// [`ParameterError::BadWeight`] unless all weights are finite and not negative and their
    /// sum is positive and finite.
    pub fn new(weights: &[f64]) -> Result<Self, ParameterError> {
        for (index, &value) in weights.iter().enumerate() {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ParameterError::BadWeight { distribution: NAME, index, value });
            }
        }
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            let index = weights.len();
            return Err(ParameterError::BadWeight { distribution: NAME, index, value: total });
        }
        let log_total = total.ln();
        let log_probabilities = weights.iter().map(|weight| weight.ln() - log_total).collect();
        Ok(Categorical { log_probabilities })
    }

    /// The uniform distribution of 0, …, `count` - 1.
    ///
    /// # Errors
    /// [`ParameterError::BadWeight`] if `count` is zero.
    pub fn uniform(count: usize) -> Result<Self, ParameterError> {
        Categorical::new(&vec![1.0; count])
    }

    /// The logarithms of the probabilities; they sum to one after exp.
    pub fn log_probabilities(&self) -> &[f64] {
        &self.log_probabilities
    }

    /// log p(index); -∞ beyond the last.
    pub fn log_density(&self, index: usize) -> f64 {
        self.log_probabilities.get(index).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> usize {
        let mut remaining = stream.uniform();
        let mut last_possible = 0;
        for (index, log_probability) in self.log_probabilities.iter().enumerate() {
            if *log_probability > f64::NEG_INFINITY {
                last_possible = index;
                remaining -= log_probability.exp();
                if remaining < 0.0 {
                    return index;
                }
            }
        }
        // Rounding may leave a sliver above the sum.
        last_possible
    }
}

/// An index drawn with probability proportional to exp(`log_weights`), which may have any
/// common offset; -∞ is a weight of zero. Overwrites the buffer with the running sums. `None`
/// if no weight is positive or one is NaN or +∞.
pub fn draw_by_log_weights(log_weights: &mut [f64], stream: &mut Stream) -> Option<usize> {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let usable = largest.is_finite() && !log_weights.iter().any(|weight| weight.is_nan());
    if !usable {
        return None;
    }
    let mut total = 0.0;
    for weight in log_weights.iter_mut() {
        // Shifted by the largest, so that no exp overflows and one of them is 1.
        total += (*weight - largest).exp();
        *weight = total;
    }
    let point = stream.uniform() * total;
    // First running sum beyond the point: an index of weight zero never is.
    Some(log_weights.partition_point(|sum| *sum <= point).min(log_weights.len() - 1))
}

/// Turns log weights with any common offset into log probabilities, in place.
pub fn normalize_log_weights(log_weights: &mut [f64]) {
    let total = log_sum_exp(log_weights);
    for weight in log_weights {
        *weight -= total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_counts_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    #[test]
    fn both_ways_of_drawing_follow_the_probabilities() {
        let weights = [2.0, 0.0, 5.0, 1.0, 0.0];
        let categorical = Categorical::new(&weights).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [10, 0]);
        let mut buffer = [0.0; 5];
        let mut counts = [[0; 5]; 2];
        for _ in 0..20_000 {
            counts[0][categorical.draw(&mut stream)] += 1;
            for (log_weight, weight) in buffer.iter_mut().zip(weights) {
                *log_weight = weight.ln() - 5000.0;
            }
            counts[1][draw_by_log_weights(&mut buffer, &mut stream).unwrap()] += 1;
        }
        for counts in counts {
            assert_eq!(counts[1] + counts[4], 0);
            assert_counts_follow(&[counts[0], counts[2], counts[3]], &[0.25, 0.625, 0.125]);
        }
        assert_relative(categorical.log_density(2), 0.625_f64.ln(), 1e-15);
        let mut logs = weights.map(f64::ln);
        normalize_log_weights(&mut logs);
        assert_relative(logs[2], 0.625_f64.ln(), 1e-15);
        assert!(categorical.log_density(9) == f64::NEG_INFINITY);
    }

    #[test]
    fn unusable_weights_are_refused() {
        assert!(Categorical::new(&[]).is_err() && Categorical::uniform(0).is_err());
        assert!(Categorical::new(&[1.0, -0.1]).is_err());
        assert!(Categorical::new(&[0.0, 0.0]).is_err());
        assert!(Categorical::new(&[f64::MAX, f64::MAX]).is_err());
        let mut stream = Seed(1).stream(Purpose::Data, [10, 1]);
        for mut bad in [vec![], vec![f64::NEG_INFINITY], vec![0.0, f64::NAN], vec![f64::INFINITY]] {
            assert_eq!(draw_by_log_weights(&mut bad, &mut stream), None);
        }
    }
}
