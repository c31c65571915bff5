//! Reweigh draws: how utilities would have come out from other Markov chains.

use super::bootstrap::dirichlet;
use crate::diagnose::{Truncation, autocorrelation_time};
use crate::random::{Purpose, Seed};

/// Second index of the streams of reweighted draws, beyond those of rows and models.
const FIRST_FIT: u64 = 1 << 32;

/// Autocorrelation times that a block is long. The variance of a mean by blocks of b draws
/// misses correlations across their ends, a part of about τ / (2b): a tenth.
const TIMES_PER_BLOCK: f64 = 5.0;

/// Fewest blocks that say anything about a variance: its own error is then a third.
const FEWEST_BLOCKS: usize = 20;

/// Contiguous blocks of the draws of every chain, which are reweighted together.
///
/// Utilities computed from draws have a Monte Carlo error. Weighing the draws from
/// Dirichlet(1, …, 1) shows it [Vehtari 2001, §3.2.4]; successive draws of a chain
/// depend on each other, so blocks of several autocorrelation times are weighed, not
/// single draws [Künsch 1989].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawBlocks {
    /// Block of every draw, chain after chain.
    of_draw: Vec<usize>,
    count: usize,
}

impl DrawBlocks {
    /// Blocks of five autocorrelation times; single draws where the time is at most 1. Never
    /// fewer than 20 blocks in all, as long as there are draws: then the variance is too small, but
    /// chains of so few independent draws are to be distrusted anyway.
    ///
    /// # Panics
    /// If there is no draw.
    pub fn new(chains: usize, draws: usize, autocorrelation_time: f64) -> Self {
        assert!(chains > 0 && draws > 0, "some draws");
        // A chain that does not move has no time, and no error that blocks could show.
        let length = match autocorrelation_time {
            time if time > 1.0 => (TIMES_PER_BLOCK * time).ceil(),
            _ => 1.0,
        };
        let least = FEWEST_BLOCKS.div_ceil(chains).min(draws);
        let per_chain = ((draws as f64 / length) as usize).clamp(least, draws);
        let of = |draw: usize| draw % draws * per_chain / draws + draw / draws * per_chain;
        DrawBlocks { of_draw: (0..chains * draws).map(of).collect(), count: chains * per_chain }
    }

    /// Blocks for chains of a quantity, such as the log likelihood of all rows together: by its
    /// autocorrelation time.
    ///
    /// # Panics
    /// If there is no draw, or chains differ in length.
    pub fn of_chains<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let draws = chains[0].as_ref().len();
        assert!(chains.iter().all(|chain| chain.as_ref().len() == draws), "chains of equal length");
        let time = autocorrelation_time(chains, Truncation::InitialMonotone);
        DrawBlocks::new(chains.len(), draws, time)
    }

    /// Number of draws.
    pub fn draws(&self) -> usize {
        self.of_draw.len()
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Random weights of all draws, one vector per replicate: for all rows that one fit predicts.
    /// `fit` as in [`draw_replicates`].
    pub fn weightings(&self, (seed, fit): (Seed, u64), replicates: usize) -> Vec<Vec<f64>> {
        let mut weights = vec![0.0; self.count];
        let one = |replicate: usize| {
            self.weights(seed, replicate, fit, &mut weights);
            self.of_draw.iter().map(|block| weights[*block]).collect()
        };
        (0..replicates).map(one).collect()
    }

    /// Weights of the blocks from Dirichlet(1, …, 1), by the number of the replicate and of the fit
    /// (0 for leave-one-out, the fold for k-fold): all rows that are predicted by one fit share
    /// them.
    fn weights(&self, seed: Seed, replicate: usize, fit: u64, weights: &mut [f64]) {
        let mut stream = seed.stream(Purpose::Bootstrap, [replicate as u64, FIRST_FIT + fit]);
        dirichlet(&mut stream, weights);
    }
}

/// The utilities of `rows` rows from `replicates` reweightings of the draws of one fit:
/// `evaluate(row, log_weights)` is asked for each, with the logarithms of weights of the draws, to
/// which importance weights are to be added. One vector of rows per replicate.
///
/// Takes replicates × rows evaluations over all draws; for log densities
/// [`log_density_replicates`] takes one.
pub fn draw_replicates(
    blocks: &DrawBlocks,
    (seed, fit): (Seed, u64),
    (replicates, rows): (usize, usize),
    mut evaluate: impl FnMut(usize, &[f64]) -> f64,
) -> Vec<Vec<f64>> {
    let mut weights = vec![0.0; blocks.count];
    let mut log_weights = vec![0.0; blocks.draws()];
    (0..replicates)
        .map(|replicate| {
            blocks.weights(seed, replicate, fit, &mut weights);
            weights.iter_mut().for_each(|weight| *weight = weight.ln());
            for (log_weight, block) in log_weights.iter_mut().zip(&blocks.of_draw) {
                *log_weight = weights[*block];
            }
            (0..rows).map(|row| evaluate(row, &log_weights)).collect()
        })
        .collect()
}

/// The log predictive densities log Σ_s w_s exp(ℓ_is) / Σ_s w_s of rows from reweighted draws.
/// `log_densities` holds ℓ row by row, the draws of a row together; `log_weights` likewise the
/// logarithms of importance weights, if there are any. One vector of rows per replicate.
///
/// Sums over the draws of a block are taken once, so that all replicates together take
/// rows × (draws + replicates × blocks) steps, with the same weights as [`draw_replicates`].
///
/// # Panics
/// If the lengths do not fit the blocks.
pub fn log_density_replicates(
    blocks: &DrawBlocks,
    (seed, fit): (Seed, u64),
    replicates: usize,
    log_densities: &[f64],
    log_weights: Option<&[f64]>,
) -> Vec<Vec<f64>> {
    let draws = blocks.draws();
    assert_eq!(log_densities.len() % draws, 0, "{draws} draws for every row");
    assert!(log_weights.is_none_or(|logs| logs.len() == log_densities.len()), "weights of all");
    let rows = log_densities.len() / draws;
    let mut weights = vec![0.0; replicates * blocks.count];
    for (replicate, own) in weights.chunks_exact_mut(blocks.count).enumerate() {
        blocks.weights(seed, replicate, fit, own);
    }
    let mut results = vec![Vec::with_capacity(rows); replicates];
    let (mut above, mut below) = (vec![0.0; blocks.count], vec![0.0; blocks.count]);
    for row in 0..rows {
        let range = row * draws..(row + 1) * draws;
        let logs = log_weights.map(|logs| &logs[range.clone()]);
        let log_weight = |draw: usize| logs.map_or(0.0, |logs| logs[draw]);
        let densities = &log_densities[range.clone()];
        let largest = |of: &dyn Fn(usize) -> f64| {
            let most = (0..draws).map(of).fold(f64::NEG_INFINITY, f64::max);
            if most.is_finite() { most } else { 0.0 }
        };
        let joint = |draw: usize| match log_weight(draw) {
            // No weight: whatever the density is.
            f64::NEG_INFINITY => f64::NEG_INFINITY,
            log_weight => log_weight + densities[draw],
        };
        let (most_above, most_below) = (largest(&joint), largest(&log_weight));
        above.fill(0.0);
        below.fill(0.0);
        for (draw, block) in blocks.of_draw.iter().enumerate() {
            above[*block] += (joint(draw) - most_above).exp();
            below[*block] += (log_weight(draw) - most_below).exp();
        }
        for (own, result) in weights.chunks_exact(blocks.count).zip(&mut results) {
            let sum = |of: &[f64]| own.iter().zip(of).map(|(w, x)| w * x).sum::<f64>();
            result.push(most_above - most_below + (sum(&above) / sum(&below)).ln());
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::utility::{Elpd, UtilityFunction};
    use crate::density::checks::assert_relative;
    use crate::predict::{Family, Predictive};

    /// Four chains of an autoregression with ρ = 0.8: variance 1, autocorrelation time 9.
    fn chains(draws: usize) -> Vec<Vec<f64>> {
        let mut stream = Seed(8).stream(Purpose::Data, [0, 0]);
        let mut x = 0.0;
        let mut next = || {
            x = 0.8 * x + 0.6 * stream.normal();
            x
        };
        (0..4).map(|_| (0..draws).map(|_| next()).collect()).collect()
    }

    #[test]
    fn blocks_show_the_error_of_a_dependent_chain() {
        let chains = chains(2000);
        let all = chains.concat();
        let spread = |blocks: &DrawBlocks| {
            let mean = |_: usize, log_weights: &[f64]| {
                log_weights.iter().zip(&all).map(|(log, x)| log.exp() * x).sum::<f64>()
                    / log_weights.iter().map(|log| log.exp()).sum::<f64>()
            };
            let found = draw_replicates(blocks, (Seed(9), 0), (400, 1), mean).concat();
            super::super::bootstrap::variance(&found)
        };
        let blocks = DrawBlocks::of_chains(&chains);
        assert!((100..300).contains(&blocks.count()), "{}", blocks.count());
        // τ / S = 9 / 8000, less a tenth; some 180 blocks and 400 replicates are right to 13 %.
        let found = spread(&blocks) / (9.0 / 8000.0);
        assert!((0.5..1.4).contains(&found), "{found}");
        // Single draws would pass for independent.
        let naive = spread(&DrawBlocks::new(4, 2000, 1.0)) / (9.0 / 8000.0);
        assert!((naive - 1.0 / 9.0).abs() < 0.05, "{naive}");
    }

    #[test]
    fn blocks_share_the_draws_of_a_chain_and_never_cross_chains() {
        for (draws, time) in [(1000, 3.0), (7, 2.0), (1, 1.0), (103, f64::NAN), (50, 1e9)] {
            let blocks = DrawBlocks::new(3, draws, time);
            assert_eq!(blocks.draws(), 3 * draws);
            let per_chain = blocks.count() / 3;
            let mut sizes = vec![0; blocks.count()];
            for (draw, block) in blocks.of_draw.iter().enumerate() {
                assert_eq!(block / per_chain, draw / draws);
                sizes[*block] += 1;
            }
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(*least > 0 && most - least <= 1, "{sizes:?}");
        }
        assert_eq!(DrawBlocks::new(4, 1000, 10.0).count(), 80);
        assert_eq!(DrawBlocks::new(4, 1000, 1e9).count(), 20);
    }

    #[test]
    fn block_sums_give_the_same_densities() {
        let (rows, chains) = (3, chains(50));
        let blocks = DrawBlocks::new(4, 50, 3.0);
        let family = Family::Normal { outputs: 1 };
        let all = chains.concat();
        let parameters: Vec<f64> = all.iter().flat_map(|x| [*x, 0.5]).collect();
        let y = [0.3, -2.0, 30.0];
        let mut densities = Vec::new();
        let mut importance = Vec::new();
        for target in y {
            for (index, own) in parameters.chunks_exact(2).enumerate() {
                densities.push(Predictive::new(family, own).log_density(&[target]));
                let weight = 0.3 * all[index] - 700.0;
                importance.push(if index == 5 { f64::NEG_INFINITY } else { weight });
            }
        }
        let name = (Seed(3), 7);
        let fast = log_density_replicates(&blocks, name, 4, &densities, Some(&importance));
        let slow = draw_replicates(&blocks, name, (4, rows), |row, log_weights| {
            let importance = &importance[row * 200..(row + 1) * 200];
            let both: Vec<f64> = log_weights.iter().zip(importance).map(|(a, b)| a + b).collect();
            Elpd.evaluate(&Predictive::weighted(family, &parameters, &both), &y[row..=row])
        });
        for (fast, slow) in fast.iter().flatten().zip(slow.iter().flatten()) {
            assert_relative(*fast, *slow, 1e-12);
        }
        assert_eq!(fast.len(), 4);
        assert!((fast[0][0] - fast[1][0]).abs() > 1e-6, "replicates differ");
        let plain = log_density_replicates(&blocks, name, 1, &densities, None);
        assert!(plain[0][2] > densities[400..].iter().copied().fold(f64::MAX, f64::min));
    }
}
