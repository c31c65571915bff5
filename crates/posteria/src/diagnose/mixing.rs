//! Put what says how well chains have mixed into one: R-hat and effective sizes.

use serde::Serialize;

use super::chains::{borrow, checked, sorted, split};
use super::effective_size::{effective_size, tail};
use super::potential_scale_reduction::{larger, of_folded_ranks, of_ranks};
use super::rank::normal_scores;

/// How well chains have mixed: the worst of several quantities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mixing {
    /// Largest [`r_hat`](super::r_hat); NaN if it is defined of none (one chain, nothing that moves).
    pub r_hat: f64,
    /// Smallest [`bulk_effective_size`](super::bulk_effective_size); NaN if some draw is not finite.
    pub ess_bulk: f64,
    /// Smallest [`tail_effective_size`](super::tail_effective_size); NaN if some draw is not finite.
    pub ess_tail: f64,
}

impl Mixing {
    /// Of one quantity, chain by chain.
    pub fn of<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let Some(chains) = checked(chains, 1) else {
            return Mixing { r_hat: f64::NAN, ess_bulk: f64::NAN, ess_tail: f64::NAN };
        };
        // As the single functions, with the ranks that they share computed once.
        let halves = split(&chains);
        let scores = normal_scores(&halves);
        Mixing {
            r_hat: match chains.len() {
                1 => f64::NAN,
                _ => larger(of_ranks(&scores), of_folded_ranks(&halves)),
            },
            ess_bulk: effective_size(&borrow(&scores)),
            ess_tail: tail(&chains, &sorted(&chains)),
        }
    }

    /// The worse of both.
    #[must_use]
    pub fn worse(self, other: Mixing) -> Self {
        // Draws that are not finite are worth nothing, whatever the others are.
        let fewer = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) };
        Mixing {
            r_hat: self.r_hat.max(other.r_hat),
            ess_bulk: fewer(self.ess_bulk, other.ess_bulk),
            ess_tail: fewer(self.ess_tail, other.ess_tail),
        }
    }

    /// The smaller of both effective sizes; NaN if some draw is not finite.
    pub fn ess(&self) -> f64 {
        if self.ess_bulk.is_nan() { f64::NAN } else { self.ess_bulk.min(self.ess_tail) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{bulk_effective_size, r_hat, tail_effective_size};
    use crate::random::{Purpose, Seed};

    #[test]
    fn it_is_what_the_single_functions_say() {
        let mut stream = Seed(3).stream(Purpose::Chain, [0, 0]);
        for (count, draws) in [(4, 250), (3, 7), (1, 100), (2, 4), (2, 3)] {
            let mut chains = vec![vec![0.0; draws]; count];
            chains.iter_mut().for_each(|chain| stream.fill_normal(chain));
            let told = Mixing::of(&chains);
            let single =
                [r_hat(&chains), bulk_effective_size(&chains), tail_effective_size(&chains)];
            let bits = |values: [f64; 3]| values.map(f64::to_bits);
            assert_eq!(bits([told.r_hat, told.ess_bulk, told.ess_tail]), bits(single), "{draws}");
        }
    }
}
