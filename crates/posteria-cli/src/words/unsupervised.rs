//! Say in words what a model without targets is.

use posteria::data::Dataset;
use posteria::model::spec::{Dof, PriorSpec, Spec};

use super::{Part, number, variance_words};
use crate::text;

/// The parts of a mixture. `spec` is complete.
pub(super) fn mixture(spec: &Spec) -> Vec<Part> {
    let components = spec.model.components.unwrap_or(0);
    let of = |name: &str| spec.prior.get(name).cloned().unwrap_or_default();
    let concentration = of("mixing").shape.unwrap_or(f64::NAN);
    let rows = of("means").rho.unwrap_or(f64::NAN);
    vec![
        Part {
            name: "density",
            words: format!(
                "a mixture of {} with means and covariances of their own; those that the rows do \
                 not need stay empty",
                text::count(components, "normal component")
            ),
        },
        Part {
            name: "mixing",
            words: format!("Dirichlet with concentration {} each", number(concentration)),
        },
        Part {
            name: "means",
            words: format!(
                "normal about 0 with the covariance of the component times {}",
                number(1.0 / rows)
            ),
        },
        Part {
            name: "covariance",
            words: format!("inverse Wishart; of every column {}", variance(&of("covariance"))),
        },
    ]
}

/// The parts of principal components. `spec` is complete.
pub(super) fn components(spec: &Spec, data: &Dataset) -> Vec<Part> {
    let most = spec.model.components.unwrap_or(data.input_names.len().saturating_sub(1));
    let of = |name: &str| spec.prior.get(name).cloned().unwrap_or_default();
    let sd = of("mean").fixed.unwrap_or(f64::NAN);
    vec![
        Part {
            name: "rows",
            words: format!(
                "mean + loadings × scores + noise, scores N(0, 1), at most {}; those that are not \
                 needed are switched off",
                text::count(most, "component")
            ),
        },
        Part {
            name: "loadings",
            words: format!(
                "normal about 0, a variance per component: {}",
                variance(&of("loadings"))
            ),
        },
        Part {
            name: "mean",
            words: format!("normal about 0 with standard deviation {}", number(sd)),
        },
        Part {
            name: "noise",
            words: format!("normal, the same in every column: {}", variance(&of("noise"))),
        },
    ]
}

fn variance(prior: &PriorSpec) -> String {
    match (prior.scale, &prior.dof) {
        (Some(scale), Some(Dof::Known(dof))) => variance_words(scale, *dof),
        _ => "variance with its default prior".into(),
    }
}

/// On which scale the numbers hold.
pub(super) fn scale(standardized: bool) -> &'static str {
    match standardized {
        true => "priors hold for columns standardised to mean 0 and deviation 1",
        false => "priors hold for columns as they are",
    }
}
