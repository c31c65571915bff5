//! Tell how the evidence depends on the scale of a prior.

use std::num::NonZero;

use posteria::evidence::{EvidenceOptions, LadderMemory, SensitivityPoint, estimate};
use posteria::fit::Prepared;
use posteria::model::spec::{PriorSpec, Spec};
use posteria::random::Seed;

use super::failure;
use super::subject::Subject;
use super::watch::Watch;
use crate::args;
use crate::failure::{Classify, Failure, Result};

/// The model with one prior scale multiplied by a factor.
pub struct Scaled {
    /// What it is called.
    pub name: String,
    /// By how much.
    pub factor: f64,
    /// The model.
    pub model: Prepared,
}

/// How the evidence of every point of a curve is found: by the method that counts.
pub fn options_of_points(options: &EvidenceOptions) -> EvidenceOptions {
    let methods = options.methods.iter().take(1).copied().collect();
    EvidenceOptions { methods, ..options.clone() }
}

/// The models at all factors.
pub fn points<'a>(
    subject: &'a Subject,
    sensitivity: &'a args::Sensitivity,
) -> impl Iterator<Item = Result<Scaled>> + 'a {
    sensitivity.factors.iter().map(|factor| {
        let spec = scaled(&subject.spec, &sensitivity.group, *factor)?;
        let (data, encoder) = (subject.data.clone(), subject.encoder.clone());
        let model = Prepared::of_dataset(spec, data, encoder, None).bad_input()?;
        let name = format!("{} × {factor}", sensitivity.group);
        Ok(Scaled { name, factor: *factor, model })
    })
}

/// The log evidence, by the method that counts, at every factor; what ladders have found is known of
/// some of them.
pub fn curve(
    subject: &Subject,
    sensitivity: &args::Sensitivity,
    (options, with): (&EvidenceOptions, (Seed, NonZero<usize>)),
    watch: &Watch,
    known: impl Fn(usize) -> Result<Option<LadderMemory>>,
) -> Result<Vec<SensitivityPoint>> {
    let first = options_of_points(options);
    let mut found = Vec::new();
    for (number, point) in points(subject, sensitivity).enumerate() {
        let Scaled { name, factor, model } = point?;
        let memory = known(number)?;
        let estimated = estimate(&model.posterior, &first, with, watch, memory.as_ref());
        let estimated = estimated.map_err(|error| failure(&name, error))?;
        let main = estimated.main();
        found.push(SensitivityPoint {
            group: sensitivity.group.clone(),
            factor,
            log_evidence: main.value,
            mcse: main.standard_error,
            usable: main.usable,
        });
    }
    Ok(found)
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
