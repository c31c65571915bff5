//! Check gradients against differences.

use super::{Infeasible, LogDensity};

/// Where a gradient disagrees most with central differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientCheck {
    /// Component with the largest disagreement.
    pub component: usize,
    /// What the target claims there.
    pub analytic: f64,
    /// What central differences of the log density give.
    pub numeric: f64,
    /// |analytic - numeric| / max(1, |analytic|, |numeric|).
    pub error: f64,
}

/// Compares the gradient of `target` at `position` with central differences of its log
/// density, Richardson-extrapolated from two step widths so that the truncation error is of
/// fourth order.
///
/// # Errors
/// [`Infeasible`] if the density is not usable at `position` or a neighbouring point.
///
/// # Panics
/// If `position` is empty or not of the target's dimension.
pub fn check_gradient(
    target: &mut dyn LogDensity,
    position: &[f64],
) -> Result<GradientCheck, Infeasible> {
    assert_eq!(position.len(), target.dim(), "position has the target's dimension");
    assert!(!position.is_empty(), "a gradient needs at least one component");
    let mut gradient = vec![0.0; position.len()];
    target.log_density_gradient(position, &mut gradient)?;
    let mut shifted = position.to_vec();
    let mut worst = GradientCheck { component: 0, analytic: 0.0, numeric: 0.0, error: -1.0 };
    for (component, &analytic) in gradient.iter().enumerate() {
        // ε^(1/5) balances rounding against the fourth-order truncation error.
        let width = 2e-3 * position[component].abs().max(1.0) * 0.25;
        let mut central = |h: f64| -> Result<f64, Infeasible> {
            shifted[component] = position[component] + h;
            let above = target.log_density(&shifted)?;
            shifted[component] = position[component] - h;
            let below = target.log_density(&shifted)?;
            shifted[component] = position[component];
            Ok((above - below) / (2.0 * h))
        };
        let numeric = (4.0 * central(width / 2.0)? - central(width)?) / 3.0;
        let error = (analytic - numeric).abs() / analytic.abs().max(numeric.abs()).max(1.0);
        // NaN must win: it is the worst disagreement there is.
        if error > worst.error || error.is_nan() {
            worst = GradientCheck { component, analytic, numeric, error };
            if error.is_nan() {
                break;
            }
        }
    }
    Ok(worst)
}
