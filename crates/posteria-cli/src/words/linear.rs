//! Say in words what a linear model is.

use posteria::data::{Dataset, Task};
use posteria::model::spec::{Dof, PriorFamily, PriorSpec, Sharing, Spec};

use super::{Part, variance_words};

/// The parts of a linear model.
pub(super) fn parts(spec: &Spec, data: &Dataset) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut push = |name, words: String| parts.push(Part { name, words });
    push(
        "output",
        match data.task {
            Task::Regression => "f = intercept + sum of weight × input".into(),
            _ => "f = intercept + sum of weight × input, the log odds of the second class".into(),
        },
    );
    for (name, key) in [("weights", "weights"), ("intercept", "intercept")] {
        if let Some(prior) = spec.prior.get(key) {
            push(name, weight_words(prior));
        } else if key == "intercept" && spec.model.intercept == Some(false) {
            push(name, "none".into());
        }
    }
    if let Some(residual) = &spec.residual {
        let variance = match (residual.precision, residual.scale, residual.scale_dof) {
            (Some(gamma), ..) => {
                format!("precision gamma with shape {} and scale {}", gamma.shape, gamma.scale)
            }
            (None, Some(scale), Some(dof)) => variance_words(scale, dof),
            _ => "variance with its default prior".into(),
        };
        push("residual", format!("normal, {variance}"));
    }
    parts
}

fn weight_words(prior: &PriorSpec) -> String {
    let whose = match prior.sharing {
        Some(Sharing::PerInput) => "one variance per input",
        _ => "a common variance",
    };
    match (prior.family, prior.fixed, prior.rho) {
        (_, Some(fixed), _) => format!("normal about 0 with standard deviation {fixed}"),
        (Some(PriorFamily::Conjugate), _, Some(rho)) => {
            format!("normal about 0 with precision {rho} times that of the residual")
        }
        (Some(PriorFamily::Independent), ..) => format!(
            "normal about 0, {whose} whose inverse is gamma with shape {} and scale {}",
            prior.shape.unwrap_or(f64::NAN),
            prior.rate_scale.unwrap_or(f64::NAN)
        ),
        _ => match (prior.scale, &prior.dof) {
            (Some(scale), Some(Dof::Known(dof))) => {
                format!("normal about 0, {whose}: {}", variance_words(scale, *dof))
            }
            _ => "normal about 0".into(),
        },
    }
}
