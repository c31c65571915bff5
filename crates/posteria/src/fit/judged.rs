//! Summarise draws, and doubt them by how they were found.

use crate::caution::Caution;
use crate::diagnose::{Summary, SummaryOptions, VariableSummary, summarize};
use crate::draws::Draws;
use crate::model::spec::InferenceChoice;

/// The summary of draws that were found by `inference`, with the diagnostics and cautions that apply
/// to them: only chains can fail to converge.
pub fn judged_summary(draws: &Draws, inference: InferenceChoice) -> Summary {
    let mut summary = summarize(draws, &SummaryOptions::default());
    if inference == InferenceChoice::Committee {
        // Members of a committee are no draws of a chain: what judges chains is not defined.
        summary.cautions.clear();
        summary.variables.iter_mut().for_each(unjudged);
    } else if inference.is_approximation() {
        // Independent draws converge by themselves, and scales that are estimated stand still.
        summary.cautions.retain(|caution| matches!(caution, Caution::NonFinite { .. }));
    }
    summary
}

/// Takes away what is defined for draws of chains alone.
fn unjudged(variable: &mut VariableSummary) {
    let judged = [
        &mut variable.mcse_mean,
        &mut variable.mcse_sd,
        &mut variable.ess_bulk,
        &mut variable.ess_tail,
        &mut variable.r_hat,
        &mut variable.r_hat_classic,
        &mut variable.autocorrelation_time,
        &mut variable.ks_p,
    ];
    judged.into_iter().for_each(|slot| *slot = f64::NAN);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Layout;

    /// Two chains that are far apart, each standing still.
    #[test]
    fn only_chains_can_fail_to_converge() {
        let mut layout = Layout::new();
        layout.push_scalar("weight");
        let mut draws = Draws::empty(layout, 2, 0);
        draws.draws = 50;
        draws.values =
            (0..100).map(|draw| f64::from(draw / 50) + f64::from(draw % 7) * 1e-3).collect();
        let of = |inference| judged_summary(&draws, inference);
        assert!(!of(InferenceChoice::Mcmc).cautions.is_empty());
        let laplace = of(InferenceChoice::Laplace);
        assert!(laplace.cautions.is_empty() && laplace.variables[0].r_hat > 1.5);
        let committee = of(InferenceChoice::Committee);
        assert!(committee.cautions.is_empty() && committee.variables[0].r_hat.is_nan());
        assert!((committee.variables[0].mean - 0.503).abs() < 1e-3);
        draws.values[3] = f64::NAN;
        let doubted = judged_summary(&draws, InferenceChoice::Map).cautions;
        assert!(matches!(doubted[..], [Caution::NonFinite { .. }]), "{doubted:?}");
    }
}
