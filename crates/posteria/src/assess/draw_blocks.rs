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

    /// Random weights of all draws, one vector per replicate: for all rows that one fit predicts. `fit`
    /// is 0 for leave-one-out, the fold for k-fold.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            let mean = |weights: &Vec<f64>| {
                let sum = weights.iter().zip(&all).map(|(weight, x)| weight * x).sum::<f64>();
                sum / weights.iter().sum::<f64>()
            };
            let weightings = blocks.weightings((Seed(9), 0), 400);
            let found: Vec<f64> = weightings.iter().map(mean).collect();
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
}
