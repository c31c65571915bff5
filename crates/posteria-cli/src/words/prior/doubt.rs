//! Say where the functions of a prior are not of the size of the data, and what to do.

use posteria::data::{Targets, Task};
use posteria::fit::Prepared;
use posteria::model::spec::{ModelKind, Priors, Spec};

use super::{Quantiles, deviation};
use crate::text;

/// What is absurd about a prior whose functions have these deviations over the rows: none of them
/// is of the size of the targets, or one in twenty is a hundred times as large. Log odds of 20 are
/// certainties.
pub(super) fn of(sd_of_f: &Quantiles, prepared: &Prepared) -> Option<String> {
    let Prepared { data, spec, .. } = prepared;
    let (of_data, what) = match &data.targets {
        Targets::Real { values, names, .. } => {
            let scaling = data.target_scaling[0];
            let targets: Vec<f64> = values.column(0).iter().map(|y| scaling.invert(*y)).collect();
            (deviation(&targets), format!("the standard deviation of {}", names[0]))
        }
        Targets::Classes { .. } => (2.0, "log odds of 2".into()),
        Targets::Counts { .. } => (1.0, "a factor of e in the mean count".into()),
        Targets::Durations { name, .. } => {
            let scale = data.target_scaling[0].scale;
            (scale, format!("the standard deviation of the logarithm of {name}"))
        }
    };
    let [low, high] = [sd_of_f.q05 / of_data, sd_of_f.q95 / of_data];
    let far = match (low > 10.0, high < 0.1, high > 100.0) {
        (true, ..) => format!("the functions of the prior vary more than ten times {what}"),
        (_, true, _) => format!("the functions of the prior vary less than a tenth of {what}"),
        (.., true) => format!("one in twenty functions of the prior varies a hundred times {what}"),
        _ => return None,
    };
    let standardised = data.target_scaling.iter().all(|it| (it.scale - 1.0).abs() < 1e-12);
    let cure = match (data.task, standardised) {
        (Task::Regression, true) => "standardise, or give priors in the unit of the target".into(),
        _ if high < 0.1 => "give larger scales in the prior sections".into(),
        _ => {
            let is_vague = spec.model.priors.unwrap_or_default() != Priors::WeaklyInformative;
            let set = if is_vague { "use --priors weakly-informative, or " } else { "" };
            format!("{set}{}", smaller_scale(spec, (sd_of_f.median, of_data)))
        }
    };
    Some(format!("{far}; {cure}"))
}

/// What makes functions of a median deviation `found` as large as those of the data, `wanted`; of a
/// linear model with the number, since its functions vary in proportion to one scale.
fn smaller_scale(spec: &Spec, (found, wanted): (f64, f64)) -> String {
    let weights = spec.prior.get("weights").filter(|_| spec.model.kind == ModelKind::Linear);
    match weights.and_then(|prior| prior.scale) {
        Some(scale) => format!(
            "give the coefficients a smaller scale, such as scale = {} under [prior.weights] of a \
             specification file (--spec FILE)",
            text::significant(scale * wanted / found, 1)
        ),
        None => "give smaller scales in the prior sections".into(),
    }
}
