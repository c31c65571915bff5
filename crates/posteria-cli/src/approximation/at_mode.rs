//! Tell what was found at a mode.

use posteria::approximate::{Criteria, ScaleEstimate};
use posteria::fit::ModeFindings;
use posteria::model::spec::InferenceChoice;

use crate::text;

/// Groups that are listed.
const LISTED: usize = 12;

/// A line about each.
pub fn words(mode: &ModeFindings) -> Vec<String> {
    let fixed = |value: f64| text::fixed(value, 2);
    let mut lines = Vec::new();
    let of = format!("{} effective of {}", fixed(mode.effective_parameters), mode.weights);
    let starts = mode.starts;
    let best = if starts > 1 { format!(", best of {starts} starts") } else { String::new() };
    lines.push(format!("{of} weights{best}"));
    if mode.method == InferenceChoice::Laplace {
        let modes = match mode.log_symmetries > 0.0 {
            true => format!(
                " (of one mode; {} with those that differ by names and signs of hidden units)",
                fixed(mode.log_evidence + mode.log_symmetries)
            ),
            false => String::new(),
        };
        lines.push(format!("log evidence {}{modes}", fixed(mode.log_evidence)));
        if !mode.converged {
            lines.push(format!(
                "the scales did not settle in {} rounds; fix one of them",
                mode.rounds
            ));
        }
    }
    let group = |group: &ScaleEstimate| {
        let name = text::printable(&group.name);
        let known = if group.fixed { ", fixed" } else { "" };
        let gamma = format!("{} of {}", fixed(group.effective_parameters), group.count);
        format!("{name} {} ({gamma}{known})", text::short(group.scale))
    };
    let mut groups: Vec<String> = mode.weight_groups.iter().take(LISTED).map(group).collect();
    if mode.weight_groups.len() > LISTED {
        groups.push("…".into());
    }
    lines.push(format!("scales, standardised, with effective weights: {}", groups.join(", ")));
    let noise: Vec<String> =
        mode.residual_groups.iter().take(LISTED).map(|group| text::short(group.scale)).collect();
    if !noise.is_empty() {
        lines.push(format!("residual scale, standardised: {}", noise.join(", ")));
    }
    lines.extend(criteria(mode.log_likelihood, &mode.criteria, None));
    lines
}

/// Lines about a log likelihood and what criteria make of it.
pub(super) fn criteria(log_likelihood: f64, criteria: &Criteria, aicc: Option<f64>) -> Vec<String> {
    let fixed = |value: f64| text::fixed(value, 2);
    let Criteria { aic, bic, nic, nic_parameters, fpe, gpe, parameters, .. } = *criteria;
    let aicc = aicc.map_or(String::new(), |aicc| format!(", AICc {}", fixed(aicc)));
    let mut lines = vec![format!(
        "log likelihood {}; less parameters: AIC {} ({parameters}){aicc}, BIC {}, NIC {} ({} \
         effective)",
        fixed(log_likelihood),
        fixed(aic),
        fixed(bic),
        fixed(nic),
        fixed(nic_parameters)
    )];
    let errors = [("FPE", fpe), ("GPE", gpe)];
    let errors: Vec<String> = errors
        .into_iter()
        .filter_map(|(name, error)| error.map(|error| format!("{name} {}", text::short(error))))
        .collect();
    if !errors.is_empty() {
        lines.push(format!("squared prediction error: {}", errors.join(", ")));
    }
    lines
}
