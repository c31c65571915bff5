//! Let the covariance fall as exp(-r): continuous functions that are nowhere smooth.

use posteria_linalg::decay;

use super::stationary::Decay;

/// exp(-r), the Ornstein-Uhlenbeck process along one input;
/// ∂k/∂log ρ_k = -(exp(-r)/r) ρ_k² (x_k - x'_k)², which tends to 0 with r.
pub(super) struct Exponential;

impl Decay for Exponential {
    const RATE: f64 = 1.0;

    fn values(values: &mut [f64]) {
        decay::exponential(values);
    }

    fn slopes(values: &mut [f64], slopes: &mut [f64]) {
        decay::exponential_with_slopes(values, slopes);
    }
}
