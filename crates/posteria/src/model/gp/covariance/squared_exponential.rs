//! Let the covariance fall as exp(-r²): very smooth functions.

use posteria_linalg::decay;

use super::stationary::Decay;

/// exp(-r²); ∂k/∂log ρ_k = -2 k ρ_k² (x_k - x'_k)² [Neal 1999].
pub(super) struct SquaredExponential;

impl Decay for SquaredExponential {
    const RATE: f64 = 2.0;
    const SLOPES_ARE_VALUES: bool = true;

    fn values(values: &mut [f64]) {
        decay::squared_exponential(values);
    }

    fn slopes(values: &mut [f64], _: &mut [f64]) {
        decay::squared_exponential(values);
    }
}
