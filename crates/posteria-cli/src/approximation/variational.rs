//! Tell what a variational approximation found besides draws.

use posteria::approximate::EnsembleFindings;
use posteria::model::VariationalFindings;

use crate::text;

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

/// The same about an ensemble of networks with so many weights.
pub fn ensemble(found: &EnsembleFindings, weights: usize) -> Vec<String> {
    let rounds = text::count(found.bounds.len(), "round");
    let mut words = vec![
        format!(
            "{} effective of {weights} weights, best of {} starts",
            text::fixed(found.effective_parameters, 2),
            found.starts
        ),
        format!(
            "lower bound of the log evidence {} ± {} after {rounds}",
            text::fixed(found.bound, 2),
            text::fixed(found.bound_error, 2)
        ),
    ];
    words.extend(found.worth.as_ref().map(|worth| {
        let shape = worth.pareto_shape.map_or("unknown".into(), |shape| text::fixed(shape, 2));
        format!(
            "{} draws are worth {} of the posterior (Pareto k {shape})",
            worth.draws,
            text::fixed(worth.effective_size, 0)
        )
    }));
    words
}
