//! Sum exponentials one by one, in log space.

/// A running log Σ exp(x), shifted by the largest term so far, so that no exp overflows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSum {
    largest: f64,
    sum: f64,
}

impl LogSum {
    pub(crate) const EMPTY: Self = LogSum { largest: f64::NEG_INFINITY, sum: 0.0 };

    pub(crate) fn add(&mut self, term: f64) {
        if term == f64::NEG_INFINITY {
            return;
        }
        if term <= self.largest {
            self.sum += (term - self.largest).exp();
        } else {
            // Also for NaN, which stays. The first time exp(-∞) = 0.
            self.sum = self.sum * (self.largest - term).exp() + 1.0;
            self.largest = term;
        }
    }

    /// -∞ if nothing was added.
    pub(crate) fn value(&self) -> f64 {
        self.largest + self.sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_relative;
    use crate::density::special::log_sum_exp;

    #[test]
    fn the_running_sum_is_the_sum() {
        let none = f64::NEG_INFINITY;
        for terms in [
            vec![1.0, 2.0, 3.0],
            vec![-1e5, -1e5 + 0.5, none, -1e5 - 3.0],
            vec![none, 1e300, -1e300],
            vec![7.0, none, 7.0],
        ] {
            let mut sum = LogSum::EMPTY;
            terms.iter().for_each(|term| sum.add(*term));
            assert_relative(sum.value(), log_sum_exp(&terms), 1e-15);
        }
        assert_eq!(LogSum::EMPTY.value().to_bits(), none.to_bits());
        let mut sum = LogSum::EMPTY;
        [1.0, f64::NAN, 2.0].iter().for_each(|term| sum.add(*term));
        assert!(sum.value().is_nan());
    }
}
