//! Judge whether chains agree about which models they visit.

use crate::density::special::regularized_gamma_upper;
use crate::diagnose::{
    Truncation, autocorrelation_time, chains_p_value, constant_chains, r_hat_of_counts,
};

/// Expected visits below which categories are pooled.
const FEWEST_EXPECTED: f64 = 5.0;

/// Agreement between chains about input sets [Brooks, Giudici & Philippe 2003; Vehtari 2001
/// §4.2.2].
#[derive(Clone, Debug, PartialEq)]
pub struct BetweenModels {
    /// Largest split R-hat of the number of inputs and of the inclusion of every candidate; 1 where
    /// nothing varies in any chain, infinite where chains that do not move disagree, NaN for one
    /// chain.
    pub r_hat: f64,
    /// The smallest p value of Kolmogorov–Smirnov tests of all pairs of chains on the number of
    /// inputs, times the number of pairs, chains thinned by their autocorrelation time; NaN if too
    /// few draws are left.
    pub ks_p: f64,
    /// p value of a chi-square test that all chains visit the numbers of inputs equally often,
    /// thinned alike; NaN for one chain, or if too few draws are left.
    pub chi_square_p: f64,
    /// Draws apart that draws of the number of inputs are all but independent; NaN if it never
    /// changes.
    pub autocorrelation_time: f64,
}

/// Compares the chains of the number of inputs, and those of the inclusion of every candidate.
pub fn between_models(sizes: &[Vec<f64>], inclusions: &[Vec<Vec<f64>>]) -> BetweenModels {
    let r_hats =
        std::iter::once(sizes).chain(inclusions.iter().map(Vec::as_slice)).map(r_hat_of_counts);
    let time = autocorrelation_time(sizes, Truncation::InitialMonotone);
    let (ks_p, chi_square_p) = match constant_chains(sizes) {
        Some(true) => (1.0, 1.0),
        Some(false) => (0.0, 0.0),
        None => (chains_p_value(sizes), chi_square_p(sizes)),
    };
    BetweenModels {
        r_hat: r_hats.fold(f64::NAN, f64::max),
        ks_p,
        chi_square_p,
        autocorrelation_time: time,
    }
}

/// Pearson's test of homogeneity of the chains' visits to every number, thinned by the largest
/// autocorrelation time of any chain that moves; rare numbers are pooled with their neighbours.
fn chi_square_p(chains: &[Vec<f64>]) -> f64 {
    if chains.len() < 2 {
        return f64::NAN;
    }
    let time = |chain: &Vec<f64>| autocorrelation_time(&[chain], Truncation::InitialMonotone);
    let thin = chains.iter().map(time).filter(|t| !t.is_nan()).fold(1.0, f64::max).ceil() as usize;
    let most = chains.iter().flatten().copied().fold(0.0, f64::max).round() as usize;
    let mut table = vec![vec![0.0; most + 1]; chains.len()];
    for (row, chain) in table.iter_mut().zip(chains) {
        chain.iter().step_by(thin).for_each(|k| row[k.round().max(0.0) as usize] += 1.0);
    }
    let kept: f64 = table[0].iter().sum();
    // Numbers from the smallest on, until a chain would be expected to visit them often enough.
    let mut pools: Vec<Vec<f64>> = Vec::new();
    let mut pool = vec![0.0; chains.len()];
    for k in 0..=most {
        pool.iter_mut().zip(&table).for_each(|(sum, row)| *sum += row[k]);
        if pool.iter().sum::<f64>() / chains.len() as f64 >= FEWEST_EXPECTED {
            pools.push(std::mem::replace(&mut pool, vec![0.0; chains.len()]));
        }
    }
    match pools.last_mut() {
        Some(last) => last.iter_mut().zip(&pool).for_each(|(sum, rest)| *sum += rest),
        None => return f64::NAN,
    }
    if kept < 2.0 * FEWEST_EXPECTED {
        return f64::NAN;
    }
    if pools.len() < 2 {
        return 1.0;
    }
    let mut statistic = 0.0;
    for pool in &pools {
        let expected = pool.iter().sum::<f64>() / chains.len() as f64;
        statistic += pool.iter().map(|seen| (seen - expected).powi(2) / expected).sum::<f64>();
    }
    let dof = (pools.len() - 1) * (chains.len() - 1);
    regularized_gamma_upper(0.5 * dof as f64, 0.5 * statistic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    /// Numbers of inputs that change now and then.
    fn chain(index: u64, draws: usize, p: f64) -> Vec<f64> {
        let mut stream = Seed(5).stream(Purpose::Chain, [index, 0]);
        let mut k = 0.0;
        (0..draws)
            .map(|_| {
                if stream.uniform() < 0.3 {
                    k = (0..4).map(|_| f64::from(stream.uniform() < p)).sum();
                }
                k
            })
            .collect()
    }

    #[test]
    fn p_values_of_chains_that_agree_are_about_uniform() {
        // 400 sets of three chains: binomial deviation 0.015 at 0.1 and 0.023 at 0.3, four and a
        // half of them; thinning by the largest of the estimated times makes both tests mild.
        let p: Vec<BetweenModels> = (0..400)
            .map(|set| {
                let chains: Vec<_> = (0..3).map(|c| chain(3 * set + c, 800, 0.4)).collect();
                between_models(&chains, &[])
            })
            .collect();
        for level in [0.1, 0.3] {
            let below = |p: &dyn Fn(&BetweenModels) -> f64, all: &[BetweenModels]| {
                all.iter().filter(|b| p(b) < level).count() as f64 / 400.0
            };
            let margin = 4.5 * (level * (1.0 - level) / 400.0_f64).sqrt();
            let chi = below(&|b| b.chi_square_p, &p);
            assert!((chi - level).abs() < margin + 0.02, "{level}: {chi}");
            // Ties and Bonferroni only make it milder.
            assert!(below(&|b| b.ks_p, &p) < level + margin);
        }
        assert!(p.iter().all(|b| b.r_hat < 1.1));
    }

    #[test]
    fn chains_that_disagree_are_seen() {
        let chains = [chain(1, 1000, 0.3), chain(2, 1000, 0.3), chain(3, 1000, 0.7)];
        let found = between_models(&chains, &[]);
        assert!(found.ks_p < 1e-4 && found.chi_square_p < 1e-4 && found.r_hat > 1.05, "{found:?}");
    }

    #[test]
    fn chains_that_do_not_move_agree_or_not() {
        let still = |k: f64| vec![k; 50];
        let same = between_models(&[still(2.0), still(2.0)], &[vec![still(1.0), still(1.0)]]);
        assert!(same.r_hat <= 1.0 && same.ks_p >= 1.0 && same.autocorrelation_time.is_nan());
        let other = between_models(&[still(2.0), still(2.0)], &[vec![still(0.0), still(1.0)]]);
        assert!(other.r_hat.is_infinite());
        let sizes = between_models(&[still(2.0), still(3.0)], &[]);
        assert!(sizes.ks_p <= 0.0 && sizes.chi_square_p <= 0.0);
        assert!(between_models(&[still(2.0)], &[]).r_hat.is_nan());
        // One stands still, the other does not: judged, not refused.
        let mixed = between_models(&[still(0.0), chain(4, 50, 0.9)], &[]);
        assert!(mixed.r_hat > 1.2);
    }
}
