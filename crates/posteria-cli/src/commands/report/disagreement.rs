//! Hand over what chains that do not mix disagree about.

use posteria::assess::ChainScore;
use posteria_report::sections::{ChainOnRows, Disagreement};

use super::super::summary::chains::Looked;

/// What chains disagree about, if they were looked at.
pub fn disagreement(looked: &Looked) -> Option<Disagreement> {
    let (chains, each) = (looked.chains.as_ref()?, looked.each.as_ref()?);
    let worse = chains.found.worse();
    let chain = |(index, chain): (usize, &ChainScore)| ChainOnRows {
        is_worse: worse.iter().any(|it| it.chain == index),
        log_density: [chain.log_density, chain.log_density_sd],
        training_error: chain.training_error.unwrap_or(f64::NAN),
        log_likelihood: chain.log_likelihood,
        elpd: chain.elpd_loo,
        below_best: [0.0 - chain.elpd_diff, chain.dse],
        failing: chain.pareto_k_bad,
        distance: chain.distance.unwrap_or(f64::NAN),
        weight: chain.weight,
    };
    Some(Disagreement {
        verdict: looked.verdict().map(|verdict| verdict.to_string()).unwrap_or_default(),
        chains: each.iter().enumerate().map(chain).collect(),
        note: format!(
            "Left out by importance sampling within the chain: {}. Distance: of its means of f from \
             those of all chains, in standard deviations of f.",
            chains.of_rows()
        ),
    })
}
