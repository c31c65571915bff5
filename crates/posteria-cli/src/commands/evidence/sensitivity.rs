//! Tell how the evidence depends on the scale of a prior.

use std::num::NonZero;

use posteria::evidence::{EvidenceOptions, SensitivityPoint, estimate};
use posteria::fit::Conditioned;
use posteria::model::spec::{PriorSpec, Spec};
use posteria::random::Seed;

use super::failure;
use super::subject::Subject;
use super::watch::Watch;
use crate::args;
use crate::failure::{Classify, Failure, Result};

/// The log evidence, by the method that counts, at every factor.
pub fn curve(
    subject: &Subject,
    sensitivity: &args::Sensitivity,
    options: &EvidenceOptions,
    with: (Seed, NonZero<usize>),
    watch: &Watch,
) -> Result<Vec<SensitivityPoint>> {
    let methods = options.methods.iter().take(1).copied().collect();
    let first = EvidenceOptions { methods, ..options.clone() };
    let mut points = Vec::new();
    for factor in &sensitivity.factors {
        let spec = scaled(&subject.spec, &sensitivity.group, *factor)?;
        let model = Conditioned::new(&spec, &subject.data, None).bad_input()?;
        let name = format!("{} × {factor}", sensitivity.group);
        let found = estimate(&model, &first, with, watch, None);
        let found = found.map_err(|error| failure(&name, error))?;
        let main = found.main();
        points.push(SensitivityPoint {
            group: sensitivity.group.clone(),
            factor: *factor,
            log_evidence: main.value,
            mcse: main.standard_error,
            usable: main.usable,
        });
    }
    Ok(points)
}

/// The specification with the standard deviations that a prior expects multiplied by `factor`.
fn scaled(spec: &Spec, group: &str, factor: f64) -> Result<Spec> {
    let mut spec = spec.clone();
    let fine = match (group, &mut spec.residual) {
        ("residual", Some(residual)) => match (&mut residual.precision, &mut residual.scale) {
            // A precision that is Gamma(shape, scale) falls with the square.
            (Some(precision), _) => {
                precision.scale /= factor * factor;
                true
            }
            (None, Some(scale)) => {
                *scale *= factor;
                true
            }
            (None, None) => false,
        },
        _ => spec.prior.get_mut(group).is_some_and(|prior| scale_prior(prior, factor)),
    };
    if fine {
        return Ok(spec);
    }
    let mut groups: Vec<&str> = spec.prior.keys().map(String::as_str).collect();
    if spec.residual.is_some() {
        groups.push("residual");
    }
    Err(Failure::bad_input(format!(
        "--sensitivity: the model has no prior {group} with a scale; it has {}",
        groups.join(", ")
    )))
}

/// Whether there was a scale to multiply.
fn scale_prior(prior: &mut PriorSpec, factor: f64) -> bool {
    if let Some(rate_scale) = &mut prior.rate_scale {
        *rate_scale /= factor * factor;
    } else if let Some(rho) = &mut prior.rho {
        *rho /= factor * factor;
    } else if let Some(fixed) = &mut prior.fixed {
        *fixed *= factor;
    } else if let Some(scale) = &mut prior.scale {
        *scale *= factor;
    } else {
        return false;
    }
    true
}
