//! Tell what a variational approximation found besides draws.

use posteria::approximate::{Ensemble, EnsembleOptions};
use posteria::caution::Caution;
use posteria::model::VariationalFindings;
use posteria::model::mlp::MlpPosterior;
use posteria::random::Seed;

use super::Found;
use crate::failure::{Classify, Result};
use crate::text;

/// Largest change of a bound in one round, in nats, that is none.
const SETTLED: f64 = 1e-4;
/// Components that are listed.
const LISTED: usize = 12;

/// A line about components, and one about the bound.
pub fn words(findings: &VariationalFindings) -> Vec<String> {
    let listed = |shares: &[f64], count: usize| {
        let mut shown: Vec<String> =
            shares.iter().take(count.min(LISTED)).map(|share| format!("{share:.3}")).collect();
        if count > LISTED {
            shown.push("…".into());
        }
        shown.join(", ")
    };
    let found = match findings {
        VariationalFindings::Mixture(found) => {
            let (kept, all) = (found.effective_components, found.mixing.len());
            format!(
                "{kept} of {all} components hold rows, with weights {}",
                listed(&found.mixing, kept)
            )
        }
        VariationalFindings::Pca(found) => {
            let (kept, all) = (found.effective_dimension, found.explained_variance.len());
            let shares = listed(&found.explained_variance, kept);
            let noise = found.noise_share;
            if kept == 0 {
                format!("none of {all} components is needed: the columns are noise")
            } else {
                format!(
                    "{kept} of {all} components are needed, with shares of the variance {shares}; noise {noise:.3}"
                )
            }
        }
    };
    vec![found, bound("lower bound", findings.bound(), findings.bounds().len())]
}

fn bound(name: &str, value: f64, rounds: usize) -> String {
    let rounds = text::count(rounds, "round");
    format!("{name} of the log evidence {} after {rounds}", text::fixed(value, 2))
}

/// Learns the ensemble of a network, and says what was found.
pub fn ensemble<'p>(posterior: &'p MlpPosterior, seed: Seed) -> Result<Found<'p>> {
    let ensemble = Ensemble::learn(posterior, &EnsembleOptions::default(), seed).bad_input()?;
    let found = ensemble.findings().clone();
    let name = if found.exact { "lower bound" } else { "linearised bound" };
    let words = vec![
        format!(
            "{} effective of {} weights, best of {} starts",
            text::fixed(found.effective_parameters, 2),
            ensemble.mean_weights().len(),
            found.starts
        ),
        bound(name, found.bound, found.bounds.len()),
    ];
    let (change, rounds) = (found.last_change(), found.bounds.len());
    let climbing = change.abs() > SETTLED;
    let caution = climbing.then_some(Caution::StillClimbing { change, rounds });
    Found::new(ensemble, &found, words, caution.as_slice())
}
