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
    if let Some(it) = &found.functions {
        lines.push(format!(
            "functions by Laplace's method: at the mode {}; the log evidence there lacks {}",
            worth(it.weighted, it.effective_size, it.pareto_shape, it.pareto_limit),
            text::fixed(it.log_correction, 2)
        ));
    }
    if let Some(weights) = found.weights.as_ref().filter(|_| found.climbs > 0) {
        let WeightFindings { weighted, effective_size, pareto_shape, pareto_limit, .. } = weights;
        lines.push(worth(*weighted, *effective_size, *pareto_shape, *pareto_limit));
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

fn worth(draws: usize, size: f64, shape: Option<f64>, limit: f64) -> String {
    let shape = match shape {
        Some(shape) => format!(
            " (Pareto k {}, trusted up to {})",
            text::fixed(shape, 2),
            text::fixed(limit, 2)
        ),
        None => String::new(),
    };
    format!("{draws} weighted draws are worth {}{shape}", text::fixed(size, 0))
}
