//! Integrate the mean log likelihood over the inverse temperature.

use super::bridge::{Bridging, Ratio};
use super::energies::Energies;
use super::estimate::{LogEvidence, Method, error_of_influence};

/// Intervals where a step times the standard deviation of U exceeds this are bridged: the mean
/// need not exist there, as at the prior with heavy tails, and no rule would integrate it.
const WIDEST: f64 = 1.0;
/// Ratio of the errors of the corrected trapezoid rule at twice the step and at the step, less 1.
const RICHARDSON: f64 = 15.0;

/// Path sampling (thermodynamic integration) log Z = ∫₀¹ E_θ\[U\] dθ [Fabricius 1999, eq. 5.21;
/// Gelman & Meng 1998] by the trapezoid rule, with its second-order correction
/// -h²/12 (Var_{k+1} U - Var_k U) since dE_θ\[U\]/dθ = Var_θ U [Friel et al. 2014].
///
/// Where the standard deviation of U is large against 1/h, at the prior end as a rule, the mean
/// is not to be had, or does not exist; such intervals are bridged ([`super::bridge()`]).
///
/// The error holds that of the draws and of the discretisation: a fifteenth of the difference
/// to every second rung, the rule being of fourth order.
pub fn path_sampling(energies: &Energies) -> LogEvidence {
    let betas = &energies.inverse_temperatures;
    let moments: Vec<(f64, f64)> = (0..energies.rungs()).map(|k| energies.moments(k)).collect();
    let integrated: Vec<bool> =
        (0..betas.len() - 1).map(|k| is_integrable(betas, &moments, k, k + 1)).collect();
    let mut influence = energies.influence();
    let mut value = 0.0;
    for (k, integrated) in integrated.iter().enumerate() {
        if *integrated {
            value += trapezoid(betas, &moments, k, k + 1);
            add_trapezoid_influence(energies, &moments, k, &mut influence);
        } else {
            let ratio = Ratio::new(energies, k, Bridging::Optimal);
            value += ratio.log_ratio;
            ratio.add_influence(energies, k, &mut influence);
        }
    }
    let mut difference = 0.0;
    let (mut k, mut pairs, mut rules) = (0, 0.0, 0.0);
    while k < integrated.len() {
        if k + 1 < integrated.len() && integrated[k] && integrated[k + 1] {
            let fine =
                trapezoid(betas, &moments, k, k + 1) + trapezoid(betas, &moments, k + 1, k + 2);
            difference += trapezoid(betas, &moments, k, k + 2) - fine;
            pairs += 2.0;
            k += 1;
        }
        k += 1;
    }
    rules += integrated.iter().filter(|integrated| **integrated).count() as f64;
    let share = if pairs > 0.0 { rules / pairs } else { 0.0 };
    let discretization = share * difference.abs() / RICHARDSON;
    let error = error_of_influence(&influence);
    LogEvidence {
        standard_error: error.hypot(discretization),
        discretization,
        ..LogEvidence::new(Method::Path, value, error)
    }
}

fn is_integrable(betas: &[f64], moments: &[(f64, f64)], from: usize, to: usize) -> bool {
    let step = betas[to] - betas[from];
    [moments[from], moments[to]]
        .iter()
        .all(|(mean, variance)| mean.is_finite() && step * variance.sqrt() < WIDEST)
}

/// The corrected trapezoid rule.
fn trapezoid(betas: &[f64], moments: &[(f64, f64)], from: usize, to: usize) -> f64 {
    let step = betas[to] - betas[from];
    let ((hot, hot_variance), (cold, cold_variance)) = (moments[from], moments[to]);
    0.5 * step * (hot + cold) - step * step / 12.0 * (cold_variance - hot_variance)
}

/// Adds what every draw at both ends contributes to the error of the rule.
fn add_trapezoid_influence(
    energies: &Energies,
    moments: &[(f64, f64)],
    interval: usize,
    influence: &mut [Vec<f64>],
) {
    let betas = &energies.inverse_temperatures;
    let step = betas[interval + 1] - betas[interval];
    for (rung, sign) in [(interval, 1.0), (interval + 1, -1.0)] {
        let centre = moments[rung].0;
        for (slots, ladder) in influence.iter_mut().zip(&energies.values[rung]) {
            for (slot, u) in slots.iter_mut().zip(ladder) {
                let off = u - centre;
                *slot += 0.5 * step * off + sign * step * step / 12.0 * off * off;
            }
        }
    }
}
