//! Tell how many draws apart two draws of a chain are nearly independent.

use super::autocovariance::Autocovariance;
use super::chains::{Scaled, checked};

/// Where the sum over autocorrelations ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// At the first pair ρ̂_2k + ρ̂_2k+1 that is not positive.
    InitialPositive,
    /// There, with every pair reduced to the smallest before it, as the pairs of a reversible
    /// chain decrease.
    InitialMonotone,
}

/// Integrated autocorrelation time τ = 1 + 2 Σ_t ρ̂_t = -1 + 2 Σ_k (ρ̂_2k + ρ̂_2k+1) by Geyer's
/// initial sequence estimator [Geyer 1992, §3.3]; a chain of n draws is worth about n / τ.
///
/// Several chains are taken together: their autocovariances, each about the mean of its own chain,
/// are averaged. Disagreement between chains is left to [`r_hat`](super::r_hat), so that τ is
/// the right thinning interval even then. At least 1 / log₁₀ S for S draws, for chains whose draws
/// alternate. NaN for fewer than four draws per chain, chains of unequal length, draws that are
/// not finite, and chains that do not move.
pub fn autocorrelation_time<C: AsRef<[f64]>>(chains: &[C], truncation: Truncation) -> f64 {
    checked(chains, 1).map_or(f64::NAN, |chains| of_checked(&chains, truncation))
}

fn of_checked(chains: &[&[f64]], truncation: Truncation) -> f64 {
    let scaled = Scaled::new(chains);
    let draws = chains[0].len();
    let size = (chains.len() * draws) as f64;
    let mut autocovariance = Autocovariance::new(&scaled.views());
    let variance = autocovariance.at(0);
    if variance <= 0.0 {
        return f64::NAN;
    }
    let mut sum = 0.0;
    let mut smallest = f64::INFINITY;
    for lag in (0..draws - 1).step_by(2) {
        let pair = (autocovariance.at(lag) + autocovariance.at(lag + 1)) / variance; // Γ̂_k
        if pair <= 0.0 {
            break;
        }
        smallest = match truncation {
            Truncation::InitialPositive => pair,
            Truncation::InitialMonotone => smallest.min(pair),
        };
        sum += smallest;
    }
    (2.0 * sum - 1.0).max(1.0 / size.log10())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn meets_the_known_time_of_an_autoregression() {
        // (1 + ρ) / (1 - ρ) = 9; the estimate over 40 000 draws scatters by 4 %, 20 % is five
        // times that.
        let mut stream = Seed(4).stream(Purpose::Chain, [0, 0]);
        let mut x = 0.0;
        let mut chain = || -> Vec<f64> {
            (0..20_000)
                .map(|_| {
                    x = 0.8 * x + 0.6 * stream.normal();
                    x
                })
                .collect()
        };
        let chains = [chain(), chain()];
        let monotone = autocorrelation_time(&chains, Truncation::InitialMonotone);
        let positive = autocorrelation_time(&chains, Truncation::InitialPositive);
        assert!((monotone / 9.0 - 1.0).abs() < 0.2, "{monotone}");
        assert!(positive >= monotone && positive < 13.0, "{positive}");
        let apart = [chains[0].clone(), chains[1].iter().map(|x| x + 50.0).collect()];
        let same = autocorrelation_time(&apart, Truncation::InitialMonotone);
        assert!((same / monotone - 1.0).abs() < 1e-9);
    }

    #[test]
    fn undefined_without_movement() {
        let time = |chains: &[Vec<f64>]| autocorrelation_time(chains, Truncation::InitialMonotone);
        assert!(time(&[vec![0.1; 50]]).is_nan());
        assert!(time(&[vec![0.1; 50], vec![0.3; 50]]).is_nan());
        assert!(time(&[vec![1.0, 2.0, 3.0]]).is_nan());
    }
}
