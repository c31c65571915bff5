//! Say in words how targets are distributed about the model's output.

use posteria::data::Dataset;
use posteria::draws::{Layout, Role};
use posteria::model::mlp::RESIDUAL_DOFS;
use posteria::model::spec::{
    Dof, Link, ResidualFamily, ResidualSharing, ResidualSpec, Spec, Unknown,
};

use super::{dof_words, in_unit, number, scale_words, variance_words};
use crate::text;

/// Values of a grid that are listed one by one.
const LISTED: usize = 12;

/// Degrees of freedom that may be sampled; `unknown` is the grid of that word.
pub(super) fn sampled_dof(dof: &Dof, unknown: &[f64]) -> String {
    match dof {
        Dof::Known(dof) => dof_words(*dof),
        Dof::Unknown(Unknown::Unknown) => grid(unknown),
        Dof::Unknown(Unknown::Continuous) => {
            "unknown degrees of freedom, gamma with shape 2 and mean 20".into()
        }
        Dof::Grid(values) => grid(&values.grid),
        Dof::Above(prior) => format!(
            "unknown degrees of freedom above {}, inverse gamma about {} with {}",
            number(prior.above),
            number(prior.scale),
            dof_words(prior.dof),
        ),
    }
}

fn grid(values: &[f64]) -> String {
    let list = |values: &[f64]| values.iter().map(|v| number(*v)).collect::<Vec<_>>().join(", ");
    let values = if values.len() > LISTED {
        let (first, last) = (&values[..LISTED / 2], &values[values.len() - 2..]);
        format!("{}, …, {} ({} values)", list(first), list(last), values.len())
    } else {
        list(values)
    };
    format!("unknown degrees of freedom, equally probable {values}")
}

/// The residual model. `layout` names its groups of rows.
pub(super) fn residuals(residual: &ResidualSpec, data: &Dataset, layout: &Layout) -> String {
    let family = family(residual);
    match residual.family {
        Some(ResidualFamily::Poisson) => return family,
        Some(ResidualFamily::NegativeBinomial) => {
            let scale = residual.scale.unwrap_or(f64::NAN);
            let words = scale_words(scale, residual.scale_dof, residual.log_sd);
            return format!("{family}; overdispersion σ: {words}");
        }
        _ => {}
    }
    if let Some(gamma) = residual.precision {
        let [shape, scale] = [gamma.shape, gamma.scale].map(number);
        return format!("{family}; precision gamma with shape {shape} and scale {scale}");
    }
    let (scale, scale_dof) =
        (residual.scale.unwrap_or(f64::NAN), residual.scale_dof.unwrap_or(f64::NAN));
    let targets = data.target_scaling.len();
    let sharing = residual.sharing.filter(|_| targets > 1);
    if sharing == Some(ResidualSharing::Covariance) {
        return format!(
            "{family}; covariance matrix of the {targets} targets inverse Wishart with {}: each \
             {}",
            dof_words(scale_dof + targets as f64 - 1.0),
            variance_words(scale, scale_dof)
        );
    }
    let of_targets = match sharing {
        Some(ResidualSharing::Common) => " for all targets",
        Some(_) => " for each target",
        None => "",
    };
    let unit = in_unit(scale, data);
    let slopes = slope_words(residual);
    match &residual.by {
        Some(by) if !by.is_empty() => {
            let groups = layout.of_role(Role::ResidualScale).and_then(|v| v.dimensions.last());
            format!(
                "{family}; one scale{of_targets} and each of {} by {}: variance inverse gamma about \
                 that of a common scale with {}; the common scale: {}{unit}{slopes}",
                text::count(groups.map_or(0, |groups| groups.labels.len()), "group"),
                by.join(", "),
                dof_words(scale_dof),
                scale_words(scale, residual.top_dof, residual.log_sd),
            )
        }
        // Maximum likelihood knows no prior of the scale.
        _ if residual.scale.is_none() => format!("{family}; one scale{of_targets}"),
        _ => {
            let words = scale_words(scale, residual.scale_dof, residual.log_sd);
            format!("{family}; one scale{of_targets}: {words}{unit}{slopes}")
        }
    }
}

/// How the scale changes along inputs, if it does.
fn slope_words(residual: &ResidualSpec) -> String {
    match (&residual.slopes, residual.slope_sd) {
        (Some(names), Some(sd)) if !names.is_empty() => format!(
            ", where {} {}; log scale linear in {}: slope normal about 0 with standard deviation {} \
             per standard deviation of the input",
            names.join(", "),
            if names.len() == 1 { "has its mean" } else { "have their means" },
            names.join(", "),
            number(sd),
        ),
        _ => String::new(),
    }
}

/// The distribution given its scale.
pub(super) fn family(residual: &ResidualSpec) -> String {
    let dof = residual.dof.as_ref().map(|dof| sampled_dof(dof, &RESIDUAL_DOFS));
    let dof = dof.unwrap_or_default();
    match residual.family {
        Some(ResidualFamily::StudentT) => match residual.dof_by.as_deref() {
            Some(by) if !by.is_empty() => {
                format!("Student's t with {dof}, for each group of rows by {}", by.join(", "))
            }
            _ => format!("Student's t with {dof}"),
        },
        Some(ResidualFamily::Laplace) => "Laplace".into(),
        Some(ResidualFamily::PerCase) => format!(
            "normal with a variance of its own for every row, inverse gamma about that of the \
             residual scale with {dof}"
        ),
        Some(ResidualFamily::Poisson) => "Poisson, with a variance that is the mean".into(),
        Some(ResidualFamily::Weibull) => {
            "Weibull with the scale exp f and the shape 1/σ, where σ is the residual scale of the \
             logarithm"
                .into()
        }
        Some(ResidualFamily::LogNormal) => "log-normal: the logarithm is normal about f".into(),
        Some(ResidualFamily::NegativeBinomial) => {
            "negative binomial, with a variance of mean + σ² mean²".into()
        }
        _ => "normal".to_string(),
    }
}

/// What a function says about the second of two classes.
pub(super) fn second_class(spec: &Spec, label: &str) -> String {
    match spec.model.link {
        Some(Link::Probit) => {
            format!("; the probability of {label} is Φ(f), the normal distribution function")
        }
        _ => format!(", the log odds of {label}"),
    }
}

/// What a function says about ordered classes.
pub(super) fn order_of_classes(labels: &[String]) -> String {
    format!(
        "the log odds of a class up to a cut between the {} are its cut point less f",
        text::count(labels.len(), "class")
    )
}

/// Where the logarithm of a duration is.
pub(super) fn location_of_durations(name: &str) -> String {
    format!(
        "f is where the logarithm of {name} is: exp of a weight is the factor by which it is longer"
    )
}

/// What the mean of a count is.
pub(super) fn mean_of_counts(spec: &Spec) -> String {
    match &spec.data.exposure {
        Some(exposure) => {
            format!("the mean count is {exposure} × exp f, times the mean rate of all rows")
        }
        None => "the mean count is exp f, times that of all rows".into(),
    }
}
