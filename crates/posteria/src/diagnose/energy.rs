//! Judge Hamiltonian chains by what they report of themselves.

use super::chains::{Scaled, is_finite, variance};
use crate::draws::{Draws, Statistics};

/// Estimated Bayesian fraction of missing information of one chain,
/// mean (E_i - E_(i-1))² / var E of the energies [Betancourt 2016, eq. 8]. Below 0.3 momentum
/// refreshment explores the energy levels too slowly. NaN for fewer than two draws, energies that
/// are not finite, and energies that do not change.
pub fn energy_fraction(energies: &[f64]) -> f64 {
    if energies.len() < 2 || !is_finite(energies) {
        return f64::NAN;
    }
    let scaled = Scaled::new(&[energies]);
    let energies = &scaled.chains[0];
    let steps = energies.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    let step = steps.sum::<f64>() / (energies.len() - 1) as f64;
    step / variance(energies)
}

/// [`energy_fraction`] of every chain; empty for draws without statistics.
pub fn energy_fractions(draws: &Draws) -> Vec<f64> {
    chains_of(draws)
        .map(|chain| energy_fraction(&chain.iter().map(|s| s.energy).collect::<Vec<_>>()))
        .collect()
}

/// Draws of every chain whose trajectory diverged; empty for draws without statistics.
pub fn divergences(draws: &Draws) -> Vec<usize> {
    chains_of(draws).map(|chain| chain.iter().filter(|s| s.diverging > 0.0).count()).collect()
}

/// Draws of every chain whose tree reached `depth`; empty for draws without statistics.
pub fn saturated_trees(draws: &Draws, depth: usize) -> Vec<usize> {
    let reached = |s: &&Statistics| s.tree_depth >= depth as f64;
    chains_of(draws).map(|chain| chain.iter().filter(reached).count()).collect()
}

fn chains_of(draws: &Draws) -> impl Iterator<Item = &[Statistics]> {
    draws.statistics.chunks(draws.draws.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_slow_and_alternation_is_not() {
        let walk: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(energy_fraction(&walk) < 0.01);
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!((energy_fraction(&alternating) - 4.0 * 99.0 / 100.0).abs() < 1e-12);
        assert!(energy_fraction(&[0.1; 20]).is_nan());
        assert!(energy_fraction(&[1.0, f64::NAN]).is_nan());
        assert!(energy_fraction(&[1.0]).is_nan());
    }
}
