//! Say in words what a linear model is.

use posteria::data::{Dataset, Targets, Task};
use posteria::draws::Layout;
use posteria::model::spec::{
    BasisSpec, Dof, InferenceChoice, PriorFamily, PriorSpec, Sharing, Spec,
};

use super::residual::{
    location_of_durations, mean_of_counts, order_of_classes, residuals, second_class,
};
use super::{Part, log_normal_words, number, variance_words};
use crate::text;

/// Centres that are listed one by one.
const LISTED: usize = 6;

/// The parts of a linear model. `spec` is complete, `layout` that of its draws.
pub(super) fn parts(spec: &Spec, data: &Dataset, layout: &Layout) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut push = |name, words: String| parts.push(Part { name, words });
    push("output", output(spec, data));
    if let Some(basis) = &spec.model.basis {
        push("basis", basis_words(basis, spec.data.standardize));
    }
    for (name, key) in [("weights", "weights"), ("intercept", "intercept")] {
        if let Some(prior) = spec.prior.get(key) {
            push(name, weight_words(prior));
        } else if key == "intercept" && spec.model.intercept == Some(false) {
            push(name, "none".into());
        }
    }
    if let Some(residual) = &spec.residual {
        push("residual", residuals(residual, data, layout));
    }
    if spec.sampling.inference() == InferenceChoice::Ml {
        return parts;
    }
    let sampled = match data.task {
        Task::Regression => match spec.prior.get("weights").and_then(|prior| prior.family) {
            Some(PriorFamily::Conjugate) => "independent draws from the exact posterior",
            _ => "weights, scales and residuals drawn from their full conditionals in turn",
        },
        _ => "weights by the No-U-Turn sampler, scales drawn from their full conditionals",
    };
    push("kernel", sampled.into());
    parts
}

fn output(spec: &Spec, data: &Dataset) -> String {
    let mut words = String::from("f = ");
    if spec.model.intercept != Some(false) {
        words.push_str("intercept + ");
    }
    let what = if spec.model.basis.is_some() { "function" } else { "input" };
    words.push_str(&format!("sum of weight × {what}"));
    match (&data.targets, data.task) {
        (Targets::Real { .. }, _) => {}
        (Targets::Counts { .. }, _) => words.push_str(&format!("; {}", mean_of_counts(spec))),
        (Targets::Durations { name, .. }, _) => {
            words.push_str(&format!("; {}", location_of_durations(name)));
        }
        (Targets::Classes { labels, .. }, Task::Binary) => {
            words.push_str(&second_class(spec, &labels[1]));
        }
        (Targets::Classes { labels, .. }, Task::Ordinal) => {
            words.push_str(&format!("; {}", order_of_classes(labels)));
        }
        (Targets::Classes { labels, .. }, _) => words.push_str(&format!(
            " for each of {}; the probability of a class is proportional to exp f",
            text::count(labels.len(), "class")
        )),
    }
    words
}

fn basis_words(basis: &BasisSpec, standardized: bool) -> String {
    let functions = match basis {
        BasisSpec::Polynomial { degree } => {
            let base = if standardized { "x less its mean" } else { "x" };
            match degree {
                1 => "every number x itself".into(),
                2 => format!("of every number x: x and the square of {base}"),
                degree => format!("of every number x: x and powers 2 to {degree} of {base}"),
            }
        }
        BasisSpec::Gaussian { centres, width } => {
            let list = |values: &[f64]| values.iter().map(|c| number(*c)).collect::<Vec<_>>();
            let centres = if centres.len() > LISTED {
                let (first, last) = (&centres[..LISTED / 2], &centres[centres.len() - 1..]);
                let listed = [list(first), vec!["…".into()], list(last)].concat().join(", ");
                format!("the {} centres {listed}", centres.len())
            } else {
                format!("c = {}", list(centres).join(", "))
            };
            let square = number(2.0 * width * width);
            format!(
                "of every number x: exp(-(x - c)²/{square}), width {}, at {centres}",
                number(*width)
            )
        }
        BasisSpec::Fourier { period, terms } => format!(
            "of every number x: {} of waves sin(2πjx/{p}) and cos(2πjx/{p})",
            text::count(*terms, "pair"),
            p = number(*period)
        ),
    };
    let scale = if standardized {
        ", x in its own unit; the functions are standardised over the rows"
    } else {
        ""
    };
    format!("{functions}{scale}; indicators of classes stay as they are")
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
        _ => match (prior.scale, &prior.dof, prior.log_sd) {
            (Some(scale), Some(Dof::Known(dof)), _) => {
                format!("normal about 0, {whose}: {}", variance_words(scale, *dof))
            }
            (Some(scale), None, Some(log_sd)) => {
                let whose = whose.replace("variance", "standard deviation");
                format!("normal about 0, {whose}: {}", log_normal_words(&number(scale), log_sd))
            }
            _ => "normal about 0".into(),
        },
    }
}
