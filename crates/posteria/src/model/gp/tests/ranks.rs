//! Ranks of the truth among draws: every rank is equally probable [Talts et al. 2018].

use crate::density::special::regularized_gamma_upper;

/// Draws of every replication: ranks 0, …, 31.
pub(super) const DRAWS: usize = 31;
/// Bins of equal probability.
const BINS: usize = 8;
/// Probability of failing by chance, for each quantity (fixed seeds).
const FALSE_ALARM: f64 = 1e-5;

/// Counts of ranks of several quantities.
#[derive(Default)]
pub(super) struct Ranks {
    counts: Vec<[f64; BINS]>,
}

impl Ranks {
    /// Ranks the quantities of a truth among those of [`DRAWS`] draws.
    pub(super) fn add(&mut self, truth: &[f64], mut draw: impl FnMut() -> Vec<f64>) {
        let mut ranks = vec![0; truth.len()];
        for _ in 0..DRAWS {
            for (rank, (value, truth)) in ranks.iter_mut().zip(draw().iter().zip(truth)) {
                assert!(value.is_finite(), "{value}");
                *rank += usize::from(value < truth);
            }
        }
        self.counts.resize(ranks.len(), [0.0; BINS]);
        for (counts, rank) in self.counts.iter_mut().zip(ranks) {
            counts[rank * BINS / (DRAWS + 1)] += 1.0;
        }
    }

    #[track_caller]
    pub(super) fn assert_uniform(&self, what: &str) {
        for (index, counts) in self.counts.iter().enumerate() {
            let expected = counts.iter().sum::<f64>() / BINS as f64;
            let chi_square: f64 = counts.iter().map(|n| (n - expected).powi(2) / expected).sum();
            let p = regularized_gamma_upper(0.5 * (BINS - 1) as f64, 0.5 * chi_square);
            assert!(p > FALSE_ALARM, "{what}, quantity {index}: p = {p}, {counts:?}");
        }
    }
}
