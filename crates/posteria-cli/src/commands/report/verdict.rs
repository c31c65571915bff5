//! Judge a run in a few words.

use posteria::caution::{ApproximationDoubt, Caution};
use posteria::diagnose::{Summary, divergences};
use posteria::draws::Draws;
use posteria::model::spec::{InferenceChoice, ModelKind};
use posteria_report::Level;
use posteria_report::sections::{Doubt, Verdict};

use super::super::summary::chains::Looked;
use crate::approximation::draws_words;
use crate::text;
use crate::warning::Warnings;

/// R-hat from which disagreement is no matter of a few more draws.
const FAR_OFF: f64 = 1.05;

/// Divergent trajectories are a matter of narrow places that other moves pass as long as not more
/// than one draw in so many had one; a draw of a network has several.
const MANY: usize = 10;

/// The verdict on draws, whose chains have been `looked` at if there was reason to; `others` are
/// doubts that do not come from them.
pub fn verdict(
    draws: &Draws,
    (summary, looked): (&Summary, Option<&Looked>),
    (inference, kind): (InferenceChoice, ModelKind),
    others: Vec<Doubt>,
) -> Verdict {
    let doubts: Vec<Doubt> = of_draws(summary, looked).into_iter().chain(others).collect();
    let total = draws.chains * draws.draws;
    let fact = |name: &str, words: String| (name.to_string(), words);
    let (facts, reassurance) = match inference {
        InferenceChoice::Mcmc => {
            let accepted: f64 = draws.statistics.iter().map(|it| it.acceptance_rate).sum();
            let chains = text::count(draws.chains, "chain");
            let facts = vec![
                fact("draws", format!("{chains} of {}", text::count(draws.draws, "draw"))),
                fact("largest R-hat", text::fixed(summary.max_r_hat(), 3)),
                fact("fewest effective draws", text::fixed(summary.min_ess_bulk(), 0)),
                fact("divergences", divergences(draws).iter().sum::<usize>().to_string()),
                fact("acceptance", text::fixed(accepted / total.max(1) as f64, 2)),
            ];
            (facts, "No warnings: the chains agree and there are enough effective draws")
        }
        InferenceChoice::Committee => {
            (vec![fact("members", text::committee(draws.draws))], "No warnings")
        }
        _ => {
            let words = draws_words(inference, kind, total).unwrap_or_default();
            (
                vec![fact("draws", words)],
                "No warnings, but an approximation cannot tell how far it is from the posterior",
            )
        }
    };
    Verdict { doubts, facts, reassurance: reassurance.into() }
}

/// What the draws give reason to doubt, each long cure told once.
fn of_draws(summary: &Summary, looked: Option<&Looked>) -> Vec<Doubt> {
    let Some(looked) = looked else { return summary.cautions.iter().map(doubt).collect() };
    let of_chains = looked.advice.separated(&summary.cautions).into_iter().chain(looked.verdict());
    let of_chains = of_chains.map(|warning| (Level::Bad, warning));
    let is_own = |caution: &&Caution| !follows(caution, &summary.cautions);
    let own: Vec<Caution> = summary.cautions.iter().filter(is_own).cloned().collect();
    let levels = own.iter().map(|caution| doubt(caution).level);
    let own = levels.zip(looked.advice.warnings(&own));
    let told = Warnings::default();
    let shown = of_chains.chain(own).flat_map(|(level, warning)| {
        told.push(warning);
        told.unshown().into_iter().map(move |it| Doubt { level, text: it.to_string() })
    });
    shown.collect()
}

/// Whether a caution says nothing that another one does not: chains that disagree about a question
/// have few effective draws of it.
fn follows(caution: &Caution, all: &[Caution]) -> bool {
    let Caution::FewEffectiveDraws { about, .. } = caution else { return false };
    let is_same = |other: &Caution| match other {
        Caution::NotConverged { about: other, r_hat, .. } => other == about && *r_hat >= FAR_OFF,
        _ => false,
    };
    all.iter().any(is_same)
}

/// A caution, and how serious it is.
pub fn doubt(caution: &Caution) -> Doubt {
    let level = match caution {
        Caution::NotConverged { r_hat, .. } if *r_hat < FAR_OFF => Level::Doubtful,
        Caution::FewEffectiveDraws { effective_size, needed, .. }
            if *effective_size > needed / 2.0 =>
        {
            Level::Doubtful
        }
        Caution::Divergences { count, draws } if *count * MANY <= *draws => Level::Doubtful,
        Caution::NotConverged { .. }
        | Caution::FewEffectiveDraws { .. }
        | Caution::NonFinite { .. }
        | Caution::Divergences { .. }
        | Caution::LowEnergyFraction { .. }
        | Caution::Approximation(ApproximationDoubt::NotNormal { .. })
        | Caution::TooFewDraws { .. } => Level::Bad,
        _ => Level::Doubtful,
    };
    Doubt { level, text: caution.to_string() }
}

#[cfg(test)]
mod tests {
    use posteria::caution::Question;

    use super::*;

    #[test]
    fn few_effective_draws_follow_from_chains_that_disagree() {
        let few = |about| Caution::FewEffectiveDraws {
            about,
            variable: "a".into(),
            kind: "bulk",
            effective_size: 20.0,
            needed: 400.0,
        };
        let apart = |r_hat| {
            let (about, variable) = (Question::Predictions, "a".to_string());
            [Caution::NotConverged { about, variable, r_hat, count: 1 }]
        };
        assert!(follows(&few(Question::Predictions), &apart(1.4)));
        assert!(!follows(&few(Question::Predictions), &apart(1.02)));
        assert!(!follows(&few(Question::Residuals), &apart(1.4)));
        assert!(!follows(&apart(1.4)[0], &apart(1.4)));
    }

    #[test]
    fn what_is_far_off_is_bad() {
        let not = |r_hat| Caution::NotConverged {
            about: Question::Predictions,
            variable: "a".into(),
            r_hat,
            count: 1,
        };
        assert_eq!(doubt(&not(1.4)).level, Level::Bad);
        assert_eq!(doubt(&not(1.02)).level, Level::Doubtful);
        let divergent = |count| doubt(&Caution::Divergences { count, draws: 4000 }).level;
        assert_eq!((divergent(401), divergent(400)), (Level::Bad, Level::Doubtful));
        assert_eq!(doubt(&Caution::OneChain).level, Level::Doubtful);
        assert!(doubt(&not(1.4)).text.contains("draw longer"));
    }
}
