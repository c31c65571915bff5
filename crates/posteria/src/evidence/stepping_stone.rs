//! Estimate ratios of neighbouring constants from the hotter one alone.

use super::energies::Energies;
use super::estimate::{LogEvidence, Method, error_of_influence};

/// Σ over intervals of log E_k[exp(hU)], the mean being over draws at the hotter rung k and h the
/// step of β: stepping-stone sampling [Xie et al. 2011].
pub fn stepping_stone(energies: &Energies) -> LogEvidence {
    let mut influence = energies.influence();
    let mut value = 0.0;
    let count = (energies.ladders() * energies.draws()) as f64;
    for (interval, pair) in energies.inverse_temperatures.windows(2).enumerate() {
        let step = pair[1] - pair[0];
        let rung = &energies.values[interval];
        let top = rung.iter().flatten().fold(f64::NEG_INFINITY, |top, u| top.max(step * u));
        let weight = |u: &f64| (step * u - top).exp();
        let mean = rung.iter().flatten().map(weight).sum::<f64>() / count;
        value += top + mean.ln();
        for (slots, ladder) in influence.iter_mut().zip(rung) {
            for (slot, u) in slots.iter_mut().zip(ladder) {
                *slot += weight(u) / mean;
            }
        }
    }
    LogEvidence::new(Method::SteppingStone, value, error_of_influence(&influence))
}
