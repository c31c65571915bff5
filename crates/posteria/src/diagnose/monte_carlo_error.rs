//! Give the standard errors of estimates from dependent draws.
//!
//! Formulas of ArviZ 0.23; NaN where the effective size is (see
//! [`effective_size`](super::bulk_effective_size)).

use statrs::function::beta::checked_beta_reg;

use super::chains::{Scaled, checked, mean, pool, sorted, split, variance};
use super::effective_size::{effective_size, of_quantile, squared_deviations};

/// Standard error of the mean, sd / √ESS(mean).
pub fn mcse_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 1).map_or(f64::NAN, |chains| mean_error(&Scaled::new(&chains)))
}

/// Standard error of the standard deviation by the delta method: with e = (x - x̄)²,
/// √((mean(e²) - mean(e)²) / ESS(e) / (4 mean(e))). NaN if all draws are the same.
/// [Kenney & Keeping 1951, p. 141]
pub fn mcse_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    checked(chains, 1).map_or(f64::NAN, |chains| sd_error(&Scaled::new(&chains)))
}

/// Standard error of the quantile at `probability`: half the distance between the draws at the
/// one-sigma limits of the Beta(ESS p + 1, ESS (1 - p) + 1) distribution of its probability, ESS
/// being that of the quantile. [Vehtari et al. 2021, §4.4]
pub fn mcse_quantile<C: AsRef<[f64]>>(chains: &[C], probability: f64) -> f64 {
    // Φ(-1) and Φ(1), to the digits that ArviZ uses.
    const LIMITS: [f64; 2] = [0.158_655_3, 0.841_344_7];
    let Some(chains) = checked(chains, 1) else { return f64::NAN };
    let sorted = sorted(&chains);
    let size = of_quantile(&chains, &sorted, probability);
    if size.is_nan() {
        return f64::NAN;
    }
    let (a, b) = (size * probability + 1.0, size * (1.0 - probability) + 1.0);
    let last = (sorted.len() - 1) as f64;
    let position = |limit| beta_quantile(a, b, limit) * sorted.len() as f64 - 1.0;
    let low = position(LIMITS[0]).max(0.0).floor();
    let high = position(LIMITS[1]).min(last).ceil();
    (sorted[high as usize] - sorted[low as usize]) / 2.0
}

pub(super) fn mean_error(scaled: &Scaled) -> f64 {
    let views = scaled.views();
    let size = effective_size(&split(&views));
    scaled.scale * (variance(&pool(&views)) / size).sqrt()
}

pub(super) fn sd_error(scaled: &Scaled) -> f64 {
    let squares = squared_deviations(scaled);
    let views = super::chains::borrow(&squares);
    let size = effective_size(&split(&views));
    let pooled = pool(&views);
    let centre = mean(&pooled);
    // mean(e²) - mean(e)², without the cancellation.
    let spread = pooled.iter().map(|e| (e - centre).powi(2)).sum::<f64>() / pooled.len() as f64;
    scaled.scale * (spread / size / centre / 4.0).sqrt()
}

/// By bisection, which cannot fail; both parameters are above 1.
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 4.0 * f64::EPSILON * high {
        let middle = 0.5 * (low + high);
        if checked_beta_reg(a, b, middle).is_ok_and(|value| value < probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_quantiles_of_known_distributions() {
        // Beta(1, 1) is uniform; Beta(2, 1) has distribution function x².
        assert!((beta_quantile(1.0, 1.0, 0.3) - 0.3).abs() < 1e-12);
        assert!((beta_quantile(2.0, 1.0, 0.3) - 0.3_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn errors_scale_with_the_draws_and_vanish_without_movement() {
        let chains: Vec<Vec<f64>> =
            (0..3).map(|c| (0..40).map(|i| ((i * 37 + c * 11) % 101) as f64).collect()).collect();
        let large: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|x| x * 1e170).collect()).collect();
        assert!((mcse_mean(&large) / mcse_mean(&chains) / 1e170 - 1.0).abs() < 1e-9);
        assert!((mcse_sd(&large) / mcse_sd(&chains) / 1e170 - 1.0).abs() < 1e-9);
        let still = vec![vec![0.1; 40]; 3];
        assert!(mcse_mean(&still).abs() < 1e-300);
        assert!(mcse_sd(&still).is_nan());
        assert!(mcse_quantile(&still, 0.5).abs() < 1e-300);
        assert!(mcse_quantile(&chains, 2.0).is_nan());
    }
}
