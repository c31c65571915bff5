//! Judge the draws of a run, and repeat that wherever they are used.

use std::path::Path;

use posteria::caution::Caution;
use posteria::draws::Draws;
use posteria::fit::judged_summary;
use posteria::model::spec::InferenceChoice;

use crate::approximation;
use crate::text;
use crate::warning::{Warning, Warnings};

/// Warns in one line, if there is reason to doubt the draws of the run at `path`, that whatever is
/// made of them is no better. `found` is what its approximation found, if it has one.
pub fn repeat(
    path: &Path,
    draws: &Draws,
    inference: InferenceChoice,
    found: Option<&str>,
    warnings: &Warnings,
) {
    let summary = judged_summary(draws, inference);
    // Why chains have not drawn enough, and so the cure, is told by looking at them.
    let warning = |caution: &Caution| match caution.is_of_chains() {
        true => Warning::from(caution).uncured(),
        false => Warning::from(caution),
    };
    let of_predictions = summary.cautions.iter().filter(|it| it.concerns_predictions());
    let mut doubts: Vec<Warning> = of_predictions.map(warning).collect();
    doubts
        .extend(approximation::warnings(found).iter().map(|it| Warning::new("approximation", it)));
    let others = doubts.len().saturating_sub(1);
    if let Some(worst) = doubts.into_iter().next() {
        let more = match others {
            0 => String::new(),
            count => format!(" (and {} more)", text::count(count, "warning")),
        };
        let command = if inference == InferenceChoice::Mcmc { "diagnose" } else { "summary" };
        let see = format!("see posteria {command} {}", path.display());
        warnings.push(
            worst
                .told_again("read what is made of its draws with care: ", &more, &see)
                .of_run(path.display()),
        );
    }
}
