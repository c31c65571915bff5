//! Tell what was found of the hyperparameters of a process.

use posteria::fit::{HyperparameterFindings, WeightFindings};

use crate::text;

/// A line about the modes, and of weighted draws one about them.
pub fn words(found: &HyperparameterFindings) -> Vec<String> {
    let count = text::count(found.hyperparameters, "hyperparameter");
    let modes = text::count(found.modes, "mode");
    let mut lines = vec![match found.climbs {
        0 => "all hyperparameters are known".into(),
        climbs => format!(
            "{count}, {modes} found by {}; log density {} at the highest",
            text::count(climbs, "climb"),
            text::fixed(found.log_density, 2)
        ),
    }];
    if let Some(weights) = found.weights.as_ref().filter(|_| found.climbs > 0) {
        lines.push(weighted(weights));
    }
    if let Some(WeightFindings { log_evidence, log_evidence_error, .. }) = &found.weights {
        let error = match *log_evidence_error > 0.0 {
            true => format!(" ± {}", text::fixed(*log_evidence_error, 2)),
            false => String::new(),
        };
        lines.push(format!("log evidence {}{error}", text::fixed(*log_evidence, 2)));
    }
    lines
}

fn weighted(weights: &WeightFindings) -> String {
    let shape = match weights.pareto_shape {
        Some(shape) => format!(
            " (Pareto k {}, trusted up to {})",
            text::fixed(shape, 2),
            text::fixed(weights.pareto_limit, 2)
        ),
        None => String::new(),
    };
    format!(
        "{} weighted draws are worth {}{shape}",
        weights.weighted,
        text::fixed(weights.effective_size, 0)
    )
}
