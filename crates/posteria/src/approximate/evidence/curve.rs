//! Follow evidence and effective parameters over the precision of the weights.

use serde::{Deserialize, Serialize};

use super::{Estimation, Evidence, EvidenceError};
use crate::model::Regularised;

/// A point of a curve over the precision of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Logarithm of the factor by which every estimated α is multiplied.
    pub ln_factor: f64,
    /// Effective parameters γ.
    pub effective_parameters: f64,
    /// 2 Σ α E_W, which crosses γ where the evidence is greatest.
    pub twice_alpha_e_w: f64,
    /// Log evidence of one mode, in the user's unit.
    pub log_evidence: f64,
}

/// γ, 2αE_W and the log evidence when all estimated precisions of weights are multiplied by the
/// factors e^x, x in `ln_factors`; those of residuals stay. Every mode is found from that of
/// `mode`.
///
/// # Errors
/// [`EvidenceError`].
pub fn evidence_curve(
    model: &dyn Regularised,
    mode: &Evidence,
    ln_factors: &[f64],
) -> Result<Vec<CurvePoint>, EvidenceError> {
    let decays = model.decays();
    ln_factors
        .iter()
        .map(|&ln_factor| {
            let mut scales = mode.scales.clone();
            let estimated = scales.alphas.iter_mut().zip(&decays).filter(|(_, d)| !d.fixed);
            estimated.for_each(|(alpha, _)| *alpha *= ln_factor.exp());
            let alphas = scales.alphas.clone();
            let weights = mode.weights.clone();
            let found = Evidence::search(model, Estimation::Held, weights, scales)?;
            let free = |index: usize| !decays[index].fixed;
            let of = |index: usize| &found.weights[decays[index].members.clone()];
            let twice = (0..decays.len())
                .filter(|k| free(*k))
                .map(|k| alphas[k] * of(k).iter().map(|w| w * w).sum::<f64>());
            let gammas = found.weight_groups.iter().enumerate().filter(|(k, _)| free(*k));
            Ok(CurvePoint {
                ln_factor,
                effective_parameters: gammas.map(|(_, group)| group.effective_parameters).sum(),
                twice_alpha_e_w: twice.sum(),
                log_evidence: found.log_evidence,
            })
        })
        .collect()
}
