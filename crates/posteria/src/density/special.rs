//! Special functions, each from the source that is most accurate for it.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// log √(2π).
pub const LOG_SQRT_2PI: f64 = 0.918_938_533_204_672_7;

/// log Γ(x) for positive x.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ψ(x) = d log Γ(x) / dx.
pub fn digamma(x: f64) -> f64 {
    statrs::function::gamma::digamma(x)
}

/// Φ(x), the standard normal distribution function, accurate in both tails.
pub fn normal_cdf(x: f64) -> f64 {
    // statrs is only good to 1e-10 here; erfc of libm keeps the relative error of the tail.
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ⁻¹(p), the standard normal quantile.
pub fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(2.0 * p)
}

/// log Σ exp(x_i); -∞ for an empty slice.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    // Shifted by the largest term, so that no exp overflows and one of them is 1.
    largest + values.iter().map(|value| (value - largest).exp()).sum::<f64>().ln()
}

/// log(exp(a) + exp(b)).
pub fn log_add_exp(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

/// log(1 + exp(x)) without overflow or cancellation.
pub fn log1p_exp(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// 1 / (1 + exp(-x)).
pub fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// log(1 - exp(x)) for negative x, without cancellation near 0 (Mächler 2012).
pub fn log1m_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}
