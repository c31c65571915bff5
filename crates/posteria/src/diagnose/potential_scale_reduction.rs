//! Compare the spread between chains with the spread within them.

use super::chains::{self, Scaled, checked, is_finite, mean, split, thirds, variance};
use super::rank::{fold, normal_scores};

/// R-hat as it is recommended today: the larger of the split R-hats of the normal scores of the
/// ranks (location) and of the ranks of |x - median| (spread). [Vehtari et al. 2021, §4.1]
///
/// Above 1.01 the chains have not mixed. NaN for one chain, fewer than four draws, chains of
/// unequal length, draws that are not finite, and if all draws are the same; infinite if every
/// chain is stuck at a value of its own.
pub fn r_hat<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 2).map_or(f64::NAN, |chains| {
        let halves = split(&chains);
        larger(of_ranks(&normal_scores(&halves)), of_folded_ranks(&halves))
    })
}

/// R-hat of the split chains themselves: √(((n - 1) / n W + B / n) / W) with n draws in every half
/// chain, B / n the variance of their means and W the mean of their variances.
/// [Gelman et al. 2013, §11.4] NaN as [`r_hat`].
pub fn split_r_hat<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 2).map_or(f64::NAN, |chains| ratio(&split(&Scaled::new(&chains).views())))
}

pub(super) fn of_ranks(scores: &[Vec<f64>]) -> f64 {
    ratio(&chains::borrow(scores))
}

pub(super) fn of_folded_ranks(halves: &[&[f64]]) -> f64 {
    of_ranks(&normal_scores(&chains::borrow(&fold(halves))))
}

/// The first unless the second exceeds it; NaN only if the first is.
pub(super) fn larger(first: f64, second: f64) -> f64 {
    if second > first { second } else { first }
}

fn ratio(chains: &[&[f64]]) -> f64 {
    let draws = chains[0].len() as f64;
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let within = chains.iter().map(|chain| variance(chain)).sum::<f64>() / chains.len() as f64;
    let between = draws * variance(&means);
    ((between / within + draws - 1.0) / draws).sqrt()
}

/// The classic potential scale reduction factor of whole chains, with and without the correction
/// for the sampling variability of its own estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleReduction {
    /// √(V̂ / W).
    pub plain: f64,
    /// √((d + 3) / (d + 1) · V̂ / W).
    pub corrected: f64,
}

impl ScaleReduction {
    const UNDEFINED: ScaleReduction = ScaleReduction { plain: f64::NAN, corrected: f64::NAN };
}

/// The potential scale reduction factor of m ≥ 2 whole chains of n ≥ 2 draws, as used in the
/// MCMCstuff manual: W is the mean of the variances within chains, B / n the variance of their
/// means,
///
/// V̂ = (n - 1) / n · W + (1 + 1/m) · B / n, R̂ = √((d + 3) / (d + 1) · V̂ / W), d = 2 V̂² / var(V̂),
///
/// where var(V̂) is estimated from the variances and covariances over chains of their means and
/// variances. [Brooks & Gelman 1998, eq. 1.1 and §1.2; Gelman & Rubin 1992, eq. 4]
///
/// Values under 1.1 were taken to mean convergence; [`r_hat`] is stricter. NaN for fewer than two
/// chains or draws, chains of unequal length, draws that are not finite, and if all are the same.
pub fn potential_scale_reduction<C: AsRef<[f64]>>(chains: &[C]) -> ScaleReduction {
    let chains: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
    let draws = chains.first().map_or(0, |chain| chain.len());
    if chains.len() < 2
        || draws < 2
        || chains.iter().any(|chain| chain.len() != draws || !is_finite(chain))
    {
        return ScaleReduction::UNDEFINED;
    }
    let scaled = Scaled::new(&chains);
    if scaled.is_constant() {
        return ScaleReduction::UNDEFINED;
    }
    let views = scaled.views();
    let means: Vec<f64> = views.iter().map(|chain| mean(chain)).collect();
    let variances: Vec<f64> = views.iter().map(|chain| variance(chain)).collect();
    let (m, n) = (views.len() as f64, draws as f64);
    let within = mean(&variances); // W
    let between = n * variance(&means); // B
    let pooled = (n - 1.0) / n * within + (m + 1.0) / (m * n) * between; // V̂
    let squares: Vec<f64> = means.iter().map(|x| x * x).collect();
    let cross =
        covariance(&variances, &squares) - 2.0 * mean(&means) * covariance(&variances, &means);
    let pooled_variance = ((n - 1.0) / n).powi(2) / m * variance(&variances)
        + ((m + 1.0) / (m * n)).powi(2) * 2.0 / (m - 1.0) * between * between
        + 2.0 * (m + 1.0) * (n - 1.0) / (m * n * n) * n / m * cross;
    // (d + 3) / (d + 1) with d = 2 V̂² / var(V̂), written so that var(V̂) = 0 gives 1.
    let twice = 2.0 * pooled * pooled;
    let correction = (twice + 3.0 * pooled_variance) / (twice + pooled_variance);
    let ratio = pooled / within;
    ScaleReduction { plain: ratio.sqrt(), corrected: (correction * ratio).sqrt() }
}

/// The same factor between the first and the last third of a single chain, which the MCMCstuff
/// manual (appendix A) offers where there is only one; it is too optimistic, because both parts
/// may sit in the same mode.
pub fn potential_scale_reduction_of_thirds(chain: &[f64]) -> ScaleReduction {
    potential_scale_reduction(&thirds(chain))
}

fn covariance(x: &[f64], y: &[f64]) -> f64 {
    let (centre_x, centre_y) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - centre_x) * (y - centre_y));
    products.sum::<f64>() / (x.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stuck_chains_are_infinitely_far_apart() {
        // 0.1 and 0.3 are not exact in binary: sums over them must not look like movement.
        let chains = [vec![0.1; 30], vec![0.3; 30], vec![0.7; 30]];
        assert!(r_hat(&chains).is_infinite());
        assert!(split_r_hat(&chains).is_infinite());
        assert!(potential_scale_reduction(&chains).corrected.is_infinite());
    }

    #[test]
    fn constant_draws_have_none() {
        let chains = vec![vec![0.1; 30]; 4];
        assert!(r_hat(&chains).is_nan());
        assert!(split_r_hat(&chains).is_nan());
        assert!(potential_scale_reduction(&chains).plain.is_nan());
    }

    #[test]
    fn equal_location_but_unequal_spread_is_seen() {
        let wave = |scale: f64| -> Vec<f64> {
            (0..200).map(|i| scale * (i as f64 * 2.399_963).sin()).collect()
        };
        let chains = [wave(1.0), wave(1.0), wave(1.0), wave(5.0)];
        assert!(split_r_hat(&chains) < 1.01);
        assert!(r_hat(&chains) > 1.1);
    }

    #[test]
    fn few_or_ragged_chains_have_none() {
        assert!(r_hat(&[vec![1.0, 2.0, 3.0, 4.0]]).is_nan());
        assert!(potential_scale_reduction(&[vec![1.0, 2.0], vec![1.0]]).plain.is_nan());
        assert!(potential_scale_reduction_of_thirds(&[1.0, 2.0, 3.0]).plain.is_nan());
        assert!(potential_scale_reduction::<Vec<f64>>(&[]).plain.is_nan());
    }
}
