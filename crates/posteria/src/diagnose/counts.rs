//! Compare chains of small whole numbers, which may not move at all.

use super::{R_HAT_LIMIT, split_r_hat};

/// R-hat of 0/1 variables above this is a reason for doubt: they are not normal, and effective
/// sizes of a few hundred leave them above 1.01 often.
pub const DOUBTFUL_COUNTS: f64 = 1.0 + 5.0 * (R_HAT_LIMIT - 1.0);

/// Split R-hat, also of what does not move: 1 where nothing does and chains agree, infinite where
/// they disagree, NaN for one chain.
pub(crate) fn r_hat_of_counts(chains: &[Vec<f64>]) -> f64 {
    match constant_chains(chains) {
        _ if chains.len() < 2 => f64::NAN,
        Some(true) => 1.0,
        Some(false) => f64::INFINITY,
        None => split_r_hat(chains),
    }
}

/// Whether chains of which none moves agree; `None` if one does.
pub(crate) fn constant_chains(chains: &[Vec<f64>]) -> Option<bool> {
    let first = chains.iter().map(|chain| chain.first().copied().unwrap_or(f64::NAN));
    let still = |chain: &Vec<f64>| chain.windows(2).all(|w| (w[0] - w[1]).abs() < 0.5);
    let firsts: Vec<f64> = first.collect();
    let same = firsts.windows(2).all(|w| (w[0] - w[1]).abs() < 0.5);
    chains.iter().all(still).then_some(same)
}
