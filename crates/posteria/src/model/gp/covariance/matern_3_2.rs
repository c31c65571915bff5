//! Let functions be differentiable once: Matérn's covariance with ν = 3/2.

use posteria_linalg::decay;

use super::stationary::Decay;

/// (1 + a) exp(-a), a = √3 r; ∂k/∂log ρ_k = -3 exp(-a) ρ_k² (x_k - x'_k)²
/// [Rasmussen and Williams 2006, §4.2.1].
pub(super) struct Matern32;

impl Decay for Matern32 {
    const RATE: f64 = 3.0;

    fn values(values: &mut [f64]) {
        decay::matern_3_2(values);
    }

    fn slopes(values: &mut [f64], slopes: &mut [f64]) {
        decay::matern_3_2_with_slopes(values, slopes);
    }
}
