//! Tell what maximum likelihood found.

use posteria::fit::{LikelihoodFindings, ParameterEstimate};

use super::at_mode;
use crate::text;

/// Coefficients that are listed.
const LISTED: usize = 40;

/// A line about each.
pub fn words(found: &LikelihoodFindings) -> Vec<String> {
    let line = |it: &ParameterEstimate| {
        let [estimate, error] = [it.estimate, it.standard_error].map(text::short);
        format!("{} {estimate} (standard error {error})", text::printable(&it.name))
    };
    let mut lines: Vec<String> = found.coefficients.iter().take(LISTED).map(line).collect();
    if let Some(over) = found.coefficients.len().checked_sub(LISTED).filter(|over| *over > 0) {
        lines.push(format!("… and {} (--json has all)", text::count(over, "coefficient")));
    }
    let references = found.reference_classes.iter().map(|it| {
        let [column, class] = [&it.column, &it.class].map(|name| text::printable(name));
        format!(
            "{column}: {class} is the reference, weights of other classes are differences from it"
        )
    });
    lines.extend(references);
    lines.extend(found.residual_scales.iter().map(line));
    lines.extend(at_mode::criteria(found.log_likelihood, &found.criteria, found.aicc));
    lines
}
