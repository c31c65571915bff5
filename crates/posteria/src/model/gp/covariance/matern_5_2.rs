//! Let functions be differentiable twice: Matérn's covariance with ν = 5/2.

use posteria_linalg::decay;

use super::stationary::Decay;

/// (1 + a + a²/3) exp(-a), a = √5 r; ∂k/∂log ρ_k = -(5/3) (1 + a) exp(-a) ρ_k² (x_k - x'_k)²
/// [Rasmussen and Williams 2006, §4.2.1].
pub(super) struct Matern52;

impl Decay for Matern52 {
    const RATE: f64 = 5.0 / 3.0;

    fn values(values: &mut [f64]) {
        decay::matern_5_2(values);
    }

    fn slopes(values: &mut [f64], slopes: &mut [f64]) {
        decay::matern_5_2_with_slopes(values, slopes);
    }
}
