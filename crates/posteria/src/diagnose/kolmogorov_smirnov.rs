//! Test whether two chains have the same distribution.

use super::autocorrelation_time::{Truncation, autocorrelation_time};
use super::chains::{checked, thirds};

/// Products of sizes up to which the distribution of the statistic is computed exactly.
const EXACT_UP_TO: usize = 10_000;

/// Fewest draws left after thinning for which a comparison means anything: five against five give
/// p values down to 0.008.
const FEWEST_INDEPENDENT: usize = 5;

/// Result of a two-sample Kolmogorov–Smirnov test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// D = max |F̂₁ - F̂₂|.
    pub statistic: f64,
    /// Probability of a D at least as large if both distributions are the same and all draws
    /// independent.
    pub p_value: f64,
}

/// Two-sample Kolmogorov–Smirnov test of independent draws.
///
/// The p value is exact while the product of the two sizes is at most 10 000, else
/// asymptotic. With ties it is an upper bound, because the exact distribution
/// is that of continuous draws. NaN if either is empty or has a draw that is NaN.
pub fn kolmogorov_smirnov(first: &[f64], second: &[f64]) -> KolmogorovSmirnov {
    let undefined = KolmogorovSmirnov { statistic: f64::NAN, p_value: f64::NAN };
    if first.is_empty() || second.is_empty() || first.iter().chain(second).any(|x| x.is_nan()) {
        return undefined;
    }
    let distance = greatest_distance(first, second);
    let (n, m) = (first.len(), second.len());
    let statistic = distance as f64 / (n * m) as f64;
    let p_value = if n * m <= EXACT_UP_TO {
        exact_p_value(distance, n, m)
    } else {
        asymptotic_p_value(statistic, n, m)
    };
    KolmogorovSmirnov { statistic, p_value }
}

/// Q((√N + 0.12 + 0.11 / √N) D), N = n m / (n + m), Q(x) = 2 Σ_k (-1)^(k-1) exp(-2 k² x²): the
/// limiting distribution with the small-sample correction of [Stephens 1970]. It is smooth where
/// the true distribution has steps: for two samples of 100 it may be a sixth of p too small.
pub fn asymptotic_p_value(statistic: f64, n: usize, m: usize) -> f64 {
    let size = (n as f64 * m as f64 / (n as f64 + m as f64)).sqrt();
    survival((size + 0.12 + 0.11 / size) * statistic)
}

/// Pairwise comparison of all chains of one variable: every chain is thinned by the largest
/// autocorrelation time of any (initial monotone sequence, rounded up), every pair is tested, and
/// the smallest p value is multiplied by the number of pairs (Bonferroni), at most 1. A single
/// chain is compared with itself, first against last third. [Robert & Casella 2004, p. 466;
/// MCMCstuff manual, appendix A]
///
/// NaN if fewer than five draws are left after thinning, or none can be judged: fewer than four
/// draws, chains of unequal length, draws that are not finite, a chain that does not move.
pub fn chains_p_value<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let Some(mut chains) = checked(chains, 1) else { return f64::NAN };
    let time = |chain: &&[f64]| autocorrelation_time(&[chain], Truncation::InitialMonotone);
    let times: Vec<f64> = chains.iter().map(time).collect();
    if times.iter().any(|time| time.is_nan()) {
        return f64::NAN;
    }
    let thin = times.iter().copied().fold(1.0, f64::max).ceil() as usize;
    if chains.len() == 1 {
        chains = thirds(chains[0]).to_vec();
    }
    let thinned: Vec<Vec<f64>> =
        chains.iter().map(|chain| chain.iter().copied().step_by(thin).collect()).collect();
    if thinned[0].len() < FEWEST_INDEPENDENT {
        return f64::NAN;
    }
    let mut smallest = f64::INFINITY;
    for (i, first) in thinned.iter().enumerate() {
        for second in &thinned[..i] {
            smallest = smallest.min(kolmogorov_smirnov(first, second).p_value);
        }
    }
    let pairs = thinned.len() * (thinned.len() - 1) / 2;
    (smallest * pairs as f64).min(1.0)
}

/// n m D, which is an integer.
fn greatest_distance(first: &[f64], second: &[f64]) -> usize {
    let sorted = |values: &[f64]| {
        // Adding 0 turns -0 into 0, which must tie.
        let mut values: Vec<f64> = values.iter().map(|x| x + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (x, y) = (sorted(first), sorted(second));
    let (mut i, mut j, mut greatest) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        let here = if x[i] < y[j] { x[i] } else { y[j] };
        while i < x.len() && x[i] <= here {
            i += 1;
        }
        while j < y.len() && y[j] <= here {
            j += 1;
        }
        greatest = greatest.max((i * y.len()).abs_diff(j * x.len()));
    }
    greatest
}

/// P(n m D ≥ distance): a uniformly random merge of both samples is a walk from (0, 0) to (n, m);
/// the probability that it first reaches a point with |i m - j n| ≥ distance is summed over these
/// points, which loses nothing to cancellation however small it is.
fn exact_p_value(distance: usize, n: usize, m: usize) -> f64 {
    if distance == 0 {
        return 1.0;
    }
    let outside = |i: usize, j: usize| (i * m).abs_diff(j * n) >= distance;
    let mut left = 0.0;
    // Probability of being at (i, j) without having been outside, for the current i.
    let mut inside = vec![0.0; m + 1];
    for i in 0..=n {
        for j in 0..=m {
            let across = if i > 0 {
                inside[j] * (n - i + 1) as f64 / (n - i + 1 + m - j) as f64
            } else {
                0.0
            };
            let along = if j > 0 {
                inside[j - 1] * (m - j + 1) as f64 / (n - i + m - j + 1) as f64
            } else {
                0.0
            };
            let here = if i == 0 && j == 0 { 1.0 } else { across + along };
            inside[j] = if outside(i, j) {
                left += here;
                0.0
            } else {
                here
            };
        }
    }
    left.min(1.0)
}

fn survival(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0; // within 1e-13
    }
    let term = |k: i32| f64::from(1 - 2 * ((k + 1) % 2)) * (-2.0 * f64::from(k * k) * x * x).exp();
    (2.0 * (1..=60).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn normals(count: usize, index: u64) -> Vec<f64> {
        let mut values = vec![0.0; count];
        Seed(21).stream(Purpose::Chain, [index, 0]).fill_normal(&mut values);
        values
    }

    #[test]
    fn separated_samples_have_the_combinatorial_p_value() {
        // Only two of the C(10, 5) = 252 merges separate the samples.
        let test = kolmogorov_smirnov(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((test.statistic - 1.0).abs() < 1e-15);
        assert!((test.p_value - 2.0 / 252.0).abs() < 1e-15);
        assert!(kolmogorov_smirnov(&[], &[1.0]).p_value.is_nan());
    }

    #[test]
    fn p_values_of_equal_distributions_are_uniform() {
        // 2000 p values below 0.1, 0.3 and 0.5: binomial sd 0.007 to 0.011. The exact test with
        // unequal sizes is slightly conservative by its lattice (under 0.01); 4.5 sd on top.
        let values: Vec<f64> = (0..2000)
            .map(|i| kolmogorov_smirnov(&normals(60, 2 * i), &normals(47, 2 * i + 1)).p_value)
            .collect();
        for level in [0.1, 0.3, 0.5] {
            let below = values.iter().filter(|&&p| p <= level).count() as f64 / 2000.0;
            assert!((below - level).abs() < 0.01 + 4.5 * (level * (1.0 - level) / 2000.0).sqrt());
        }
    }

    #[test]
    fn asymptotic_and_exact_agree_at_the_switch() {
        let (x, y) = (normals(100, 1), normals(100, 2));
        for shift in [0.0, 0.05, 0.1] {
            let moved: Vec<f64> = y.iter().map(|y| y + shift).collect();
            let test = kolmogorov_smirnov(&x, &moved);
            let other = asymptotic_p_value(test.statistic, 100, 100);
            // Half a step of 1/100 in D is 0.035 in x, and d log p / dx = -4x with x up to 1.2.
            assert!((other / test.p_value - 1.0).abs() < 0.17, "{} {other}", test.p_value);
        }
    }

    #[test]
    fn chains_that_disagree_are_seen_and_others_are_not() {
        let mut chains: Vec<Vec<f64>> = (0..4).map(|i| normals(400, 100 + i)).collect();
        assert!(chains_p_value(&chains) > 0.01);
        chains[2].iter_mut().for_each(|x| *x += 1.0);
        assert!(chains_p_value(&chains) < 1e-6);
        let drift: Vec<f64> =
            normals(600, 9).iter().enumerate().map(|(i, x)| x + 0.02 * i as f64).collect();
        assert!(chains_p_value(&[&drift[..]]).is_nan(), "its thirds are too short to judge");
        assert!(chains_p_value(&[vec![0.1; 100], vec![0.2; 100]]).is_nan());
    }
}
