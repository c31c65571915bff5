//! Order inverse temperatures from the posterior down towards the prior.

use std::ops::Deref;

/// Why a ladder cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// The first inverse temperature is not 1.
    #[error("the first inverse temperature must be 1, the posterior itself; got {first}")]
    First {
        /// What was given; NaN if nothing was.
        first: f64,
    },
    /// An inverse temperature does not lie below the one before, or is negative.
    #[error(
        "inverse temperature {value} at place {place} must lie below the one before and not \
         below 0"
    )]
    NotDecreasing {
        /// Its place, from 0.
        place: usize,
        /// The value.
        value: f64,
    },
    /// A ratio outside (0, 1).
    #[error("the ratio of a geometric ladder must lie between 0 and 1, got {ratio}")]
    Ratio {
        /// The value.
        ratio: f64,
    },
}

/// Inverse temperatures 1 = β_0 > β_1 > … ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder(Vec<f64>);

impl Ladder {
    /// These inverse temperatures.
    ///
    /// # Errors
    /// [`LadderError`] if they do not start at 1 and decrease strictly to no less than 0.
    pub fn new(inverse_temperatures: Vec<f64>) -> Result<Self, LadderError> {
        let first = inverse_temperatures.first().copied().unwrap_or(f64::NAN);
        if first.to_bits() != 1f64.to_bits() {
            return Err(LadderError::First { first });
        }
        for (place, pair) in inverse_temperatures.windows(2).enumerate() {
            if !(pair[1] < pair[0] && pair[1] >= 0.0) {
                return Err(LadderError::NotDecreasing { place: place + 1, value: pair[1] });
            }
        }
        Ok(Ladder(inverse_temperatures))
    }

    /// The powers 1, ratio, ratio², …, `count` in all (at least the first).
    ///
    /// # Errors
    /// [`LadderError::Ratio`] if the ratio is not strictly between 0 and 1.
    pub fn geometric(ratio: f64, count: usize) -> Result<Self, LadderError> {
        if !(ratio > 0.0 && ratio < 1.0) {
            return Err(LadderError::Ratio { ratio });
        }
        let mut beta = 1.0;
        let mut powers = vec![beta];
        for _ in 1..count {
            beta *= ratio;
            powers.push(beta);
        }
        Ladder::new(powers)
    }

    /// The ladder with the prior, β = 0, as its last rung.
    #[must_use]
    pub fn down_to_prior(mut self) -> Self {
        if self.0.last().is_some_and(|last| *last > 0.0) {
            self.0.push(0.0);
        }
        self
    }
}

impl Deref for Ladder {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decreasing_ladders_from_one_are_taken() {
        assert!(Ladder::new(vec![1.0, 0.5, 0.0]).is_ok());
        assert!(matches!(Ladder::new(vec![]), Err(LadderError::First { .. })));
        assert!(matches!(Ladder::new(vec![0.9]), Err(LadderError::First { .. })));
        for bad in [1.0, 2.0, -0.1, f64::NAN] {
            assert!(matches!(
                Ladder::new(vec![1.0, bad]),
                Err(LadderError::NotDecreasing { place: 1, .. })
            ));
        }
    }

    #[test]
    fn a_geometric_ladder_holds_powers_and_ends_at_the_prior_on_request() {
        let ladder = Ladder::geometric(0.5, 3).expect("a valid ratio");
        assert_eq!(*ladder, [1.0, 0.5, 0.25]);
        assert_eq!(*ladder.down_to_prior().down_to_prior(), [1.0, 0.5, 0.25, 0.0]);
        assert!(matches!(Ladder::geometric(1.0, 3), Err(LadderError::Ratio { .. })));
    }
}
