//! Count how many independent draws the chains are worth.
//!
//! All functions follow ArviZ 0.23 and take the draws of one variable, chain by chain. They give
//! NaN for fewer than four draws per chain, chains of unequal length, and any draw that is NaN or
//! infinite (ArviZ still ranks infinite draws); S, the number of draws, if all draws are the same
//! (an odd middle draw is not counted, as in ArviZ). No result exceeds S log₁₀ S.

use super::autocovariance::Autocovariance;
use super::chains::{self, Scaled, checked, mean, sorted, split, variance};
use super::rank::normal_scores;

/// Effective number of draws for the location of the bulk: of the normal scores of the ranks of
/// the split chains. [Vehtari et al. 2021, §4.3]
pub fn bulk_effective_size<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 1)
        .map_or(f64::NAN, |chains| effective_size(&chains::borrow(&normal_scores(&split(&chains)))))
}

/// Effective number of draws in the tails: the smaller of those of the 5 % and the 95 %
/// quantile. [Vehtari et al. 2021, §4.3]
pub fn tail_effective_size<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 1).map_or(f64::NAN, |chains| tail(&chains, &sorted(&chains)))
}

/// Effective number of draws for the mean.
pub fn mean_effective_size<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 1).map_or(f64::NAN, |chains| effective_size(&split(&chains)))
}

/// Effective number of draws for the standard deviation: of the squared distances to the mean.
pub fn sd_effective_size<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 1).map_or(f64::NAN, |chains| {
        let squares = squared_deviations(&Scaled::new(&chains));
        effective_size(&split(&chains::borrow(&squares)))
    })
}

/// Effective number of draws for the quantile at `probability`: of the indicator of draws not
/// above it. NaN if `probability` is not in [0, 1].
pub fn quantile_effective_size<C: AsRef<[f64]>>(chains: &[C], probability: f64) -> f64 {
    checked(chains, 1)
        .map_or(f64::NAN, |chains| of_quantile(&chains, &sorted(&chains), probability))
}

/// Effective number of draws for the median.
pub fn median_effective_size<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    quantile_effective_size(chains, 0.5)
}

/// Effective number of draws for the probability of the interval between two quantiles: of the
/// indicator of draws within it. NaN if a probability is not in [0, 1].
pub fn local_effective_size<C: AsRef<[f64]>>(chains: &[C], low: f64, high: f64) -> f64 {
    if !is_probability(low) || !is_probability(high) {
        return f64::NAN;
    }
    checked(chains, 1).map_or(f64::NAN, |chains| {
        let sorted = sorted(&chains);
        let (low, high) = (interpolate(&sorted, low), interpolate(&sorted, high));
        of_indicator(&chains, |x| low <= x && x <= high)
    })
}

pub(super) fn tail(chains: &[&[f64]], sorted: &[f64]) -> f64 {
    of_quantile(chains, sorted, 0.05).min(of_quantile(chains, sorted, 0.95))
}

pub(super) fn of_quantile(chains: &[&[f64]], sorted: &[f64], probability: f64) -> f64 {
    if !is_probability(probability) {
        return f64::NAN;
    }
    let quantile = interpolate(sorted, probability);
    of_indicator(chains, |x| x <= quantile)
}

/// (x - x̄)² with the mean of all chains, on the scale of [`Scaled`].
pub(super) fn squared_deviations(scaled: &Scaled) -> Vec<Vec<f64>> {
    let views = scaled.views();
    let centre = mean(&chains::pool(&views));
    chains::map_chains(&views, |x| (x - centre).powi(2))
}

fn is_probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

fn of_indicator(chains: &[&[f64]], inside: impl Fn(f64) -> bool) -> f64 {
    let indicators = chains::map_chains(chains, |x| f64::from(u8::from(inside(x))));
    effective_size(&split(&chains::borrow(&indicators)))
}

/// The quantile as a weighted mean of its neighbours. Among equal draws its rounding decides on
/// which side of them the indicator falls, so it is written as in ArviZ, whose answers for
/// discrete variables would otherwise not be met.
fn interpolate(sorted: &[f64], probability: f64) -> f64 {
    let last = sorted.len() as f64;
    let position = last * probability + (1.0 - probability);
    let below = position.clamp(1.0, last - 1.0).floor();
    let weight = (position - below).clamp(0.0, 1.0);
    let index = below as usize;
    (1.0 - weight) * sorted[index - 1] + weight * sorted[index]
}

/// Effective size S / τ̂ of chains that were split already, all checked and of equal length.
///
/// ρ̂_t = 1 - (W - γ̂_t) / V̂, with W the mean variance within chains, V̂ the pooled variance and
/// γ̂_t the mean autocovariance; τ̂ = -1 + 2 Σ ρ̂_t over Geyer's initial monotone sequence, plus one
/// half of the next even term, at least 1 / log₁₀ S. [Vehtari et al. 2021, §3.2; Geyer 1992]
pub(super) fn effective_size(chains: &[&[f64]]) -> f64 {
    let scaled = Scaled::new(chains);
    let draws = chains[0].len();
    let size = (chains.len() * draws) as f64;
    if scaled.is_constant() {
        return size;
    }
    let views = scaled.views();
    let mut autocovariance = Autocovariance::new(&views);
    let biased = autocovariance.at(0);
    let within = biased * draws as f64 / (draws as f64 - 1.0); // W
    let means: Vec<f64> = views.iter().map(|chain| mean(chain)).collect();
    let between = if means.len() > 1 { variance(&means) } else { 0.0 };
    let pooled = biased + between; // V̂
    let mut rho = |lag: usize| 1.0 - (within - autocovariance.at(lag)) / pooled;

    let (mut even, mut odd) = (1.0, rho(1));
    let mut pairs = Vec::new();
    let mut lag = 1;
    while lag + 3 < draws && even + odd > 0.0 {
        pairs.push(even + odd);
        (even, odd) = (rho(lag + 1), rho(lag + 2));
        lag += 2;
    }
    // The pair that ended the sequence is not in the sum, but its even term reduces the bias of
    // cutting there, unless the pair shows it to be noise.
    let next = if even > 0.0 || even + odd >= 0.0 { even } else { 0.0 };
    for k in 1..pairs.len() {
        pairs[k] = pairs[k].min(pairs[k - 1]);
    }
    let time = -1.0 + 2.0 * pairs.iter().sum::<f64>() + next; // τ̂
    if time.is_nan() { f64::NAN } else { size / time.max(1.0 / size.log10()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn autoregressive(chains: usize, draws: usize, rho: f64) -> Vec<Vec<f64>> {
        let mut stream = Seed(11).stream(Purpose::Chain, [0, 0]);
        let mut chain = || {
            let mut x = stream.normal();
            (0..draws)
                .map(|_| {
                    x = rho * x + (1.0 - rho * rho).sqrt() * stream.normal();
                    x
                })
                .collect()
        };
        (0..chains).map(|_| chain()).collect()
    }

    #[test]
    fn meets_the_known_value_of_an_autoregression() {
        // S (1 - ρ) / (1 + ρ). Over 40 000 draws the estimate scatters by 3 % (6 % for ρ = 0.9),
        // as 60 replicates showed; five times that is allowed.
        for (rho, scatter) in [(0.5, 0.03), (0.9, 0.06), (-0.4, 0.03)] {
            let chains = autoregressive(4, 10_000, rho);
            let exact = 40_000.0 * (1.0 - rho) / (1.0 + rho);
            for value in [mean_effective_size(&chains), bulk_effective_size(&chains)] {
                assert!((value / exact - 1.0).abs() < 5.0 * scatter, "{rho}: {value} for {exact}");
            }
        }
    }

    #[test]
    fn a_very_long_memory_uses_the_transforms() {
        // Beyond the lags that are summed one by one: exact 4·10⁴ · 0.005 / 1.995 = 100, whose
        // estimate scatters by 27 %; five times that above, and positive.
        let value = mean_effective_size(&autoregressive(4, 10_000, 0.995));
        assert!((10.0..235.0).contains(&value), "{value}");
    }

    #[test]
    fn does_not_depend_on_location_and_scale() {
        let chains = autoregressive(2, 101, 0.6);
        let size = mean_effective_size(&chains);
        let deviation = sd_effective_size(&chains);
        for scale in [1e-200, 1e-30, 1e30, 1e200] {
            let scaled: Vec<Vec<f64>> =
                chains.iter().map(|chain| chain.iter().map(|x| x * scale).collect()).collect();
            assert!((mean_effective_size(&scaled) / size - 1.0).abs() < 1e-9);
            assert!((sd_effective_size(&scaled) / deviation - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn constant_draws_count_fully() {
        let chains = vec![vec![0.1; 50]; 3];
        let sizes = [
            bulk_effective_size(&chains),
            tail_effective_size(&chains),
            mean_effective_size(&chains),
            sd_effective_size(&chains),
        ];
        assert!(sizes.iter().all(|size| (size - 150.0).abs() < 1e-12), "{sizes:?}");
    }

    #[test]
    fn impossible_requests_are_not_numbers() {
        let chains = autoregressive(2, 20, 0.0);
        assert!(quantile_effective_size(&chains, 1.5).is_nan());
        assert!(local_effective_size(&chains, -0.1, 0.5).is_nan());
        assert!(bulk_effective_size(&[vec![f64::INFINITY, 1.0, 2.0, 3.0]]).is_nan());
        assert!(quantile_effective_size(&chains, 0.0).is_finite());
        assert!(quantile_effective_size(&chains, 1.0).is_finite());
    }
}
