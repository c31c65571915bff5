//! Give the harmonic mean of likelihoods, as a warning example.

use super::energies::Energies;
use super::estimate::{LogEvidence, Method, error_of_influence};
use crate::caution::{Caution, EvidenceDoubt};

/// 1 / E[1/L] over draws of the posterior [Newton & Raftery 1994; Fabricius 1999, §5.2]: never
/// usable, since its variance is infinite as a rule. For comparisons with published values only.
pub fn harmonic_mean(energies: &Energies) -> LogEvidence {
    let cold = &energies.values[energies.rungs() - 1];
    let lowest = cold.iter().flatten().fold(f64::INFINITY, |low, u| low.min(*u));
    let count = (energies.ladders() * energies.draws()) as f64;
    let mean = cold.iter().flatten().map(|u| (lowest - u).exp()).sum::<f64>() / count;
    let mut influence = energies.influence();
    for (slots, ladder) in influence.iter_mut().zip(cold) {
        for (slot, u) in slots.iter_mut().zip(ladder) {
            *slot = -(lowest - u).exp() / mean;
        }
    }
    LogEvidence::new(Method::Harmonic, lowest - mean.ln(), error_of_influence(&influence))
        .doubted(Caution::Evidence(EvidenceDoubt::HarmonicMean))
}
