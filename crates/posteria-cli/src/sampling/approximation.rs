//! Tell what a variational approximation found besides draws.

use posteria::model::VariationalFindings;

use crate::text;

/// Components that are listed.
const LISTED: usize = 12;

/// A line about components, and one about the bound.
pub fn render(findings: &VariationalFindings) -> String {
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
    format!(
        "{found}\nlower bound of the log evidence {} after {}\n",
        text::fixed(findings.bound(), 2),
        text::count(findings.bounds().len(), "round")
    )
}
