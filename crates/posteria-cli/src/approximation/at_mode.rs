//! Find a mode, by the evidence framework or alone, and say what was found.

use std::num::NonZero;

use posteria::approximate::{
    Criteria, CurvePoint, Estimation, Evidence, NormalAtMode, PointAtMode, ScaleFound,
    check_normality, evidence_curve,
};
use posteria::fit::fit_evidence;
use posteria::model::spec::InferenceChoice;
use posteria::model::{Posterior, Regularised};
use posteria::random::Seed;
use serde::Serialize;

use super::Found;
use crate::failure::{Classify, Result};
use crate::text;

/// Starting points of a search that may end at several modes.
pub const STARTS: usize = 8;
/// Logarithms of the factors of α at which the evidence is told: steps of a half to this.
const REACH: f64 = 5.0;
const STEP: f64 = 0.5;
/// Groups that are listed.
const LISTED: usize = 12;

/// What was found at a mode.
#[derive(Debug, Serialize)]
struct AtMode {
    method: &'static str,
    /// How the second derivatives of the misfit were found.
    curvature: &'static str,
    /// Log evidence of one mode, of targets in the user's unit.
    log_evidence: f64,
    /// Logarithm of the number of modes that are the same but for names and signs of hidden units;
    /// added to the log evidence it gives that of all of them.
    log_symmetries: f64,
    log_likelihood: f64,
    log_density: f64,
    effective_parameters: f64,
    weights: usize,
    /// Precisions α, and standard deviations, on the standardised scale.
    weight_groups: Vec<ScaleFound>,
    /// Precisions β, and standard deviations, on the standardised scale.
    residual_groups: Vec<ScaleFound>,
    criteria: Criteria,
    /// γ, 2αE_W and the log evidence when all estimated α are multiplied by a factor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curve: Vec<CurvePoint>,
    starts: usize,
    rounds: usize,
    converged: bool,
}

/// Searches the mode of a model from several starting points.
pub fn find<'p>(
    (posterior, model): (&dyn Posterior, &dyn Regularised),
    inference: InferenceChoice,
    (starts, seed): (usize, Seed),
    threads: NonZero<usize>,
) -> Result<Found<'p>> {
    let estimation = match inference {
        InferenceChoice::Map => Estimation::Mode,
        _ => Estimation::Evidence,
    };
    let mode = fit_evidence(model, estimation, starts, seed, threads).running()?;
    let estimated = model.decays().iter().any(|decay| !decay.fixed);
    let curve = match inference == InferenceChoice::Laplace && estimated {
        true => {
            let steps = (REACH / STEP) as i32;
            let grid: Vec<f64> = (-steps..=steps).map(|step| STEP * f64::from(step)).collect();
            evidence_curve(model, &mode, &grid).running()?
        }
        false => Vec::new(),
    };
    let found = AtMode {
        method: inference.name(),
        curvature: "Gauss-Newton: exact for linear models, without second derivatives of the \
                    outputs for networks",
        log_evidence: mode.log_evidence,
        log_symmetries: mode.log_symmetries,
        log_likelihood: mode.log_likelihood,
        log_density: mode.log_density,
        effective_parameters: mode.effective_parameters,
        weights: mode.weights.len(),
        weight_groups: mode.weight_groups.clone(),
        residual_groups: mode.residual_groups.clone(),
        criteria: mode.criteria,
        curve,
        starts,
        rounds: mode.rounds,
        converged: mode.converged,
    };
    let words = words(inference, &mode, starts);
    match inference {
        InferenceChoice::Map => Found::new(PointAtMode::new(&mode), &found, words, &[]),
        _ => {
            let caution = check_normality(posterior, &mode, seed);
            Found::new(NormalAtMode::new(&mode), &found, words, caution.as_slice())
        }
    }
}

fn words(inference: InferenceChoice, mode: &Evidence, starts: usize) -> Vec<String> {
    let fixed = |value: f64| text::fixed(value, 2);
    let mut lines = Vec::new();
    let of = format!("{} effective of {}", fixed(mode.effective_parameters), mode.weights.len());
    let best = if starts > 1 { format!(", best of {starts} starts") } else { String::new() };
    lines.push(format!("{of} weights{best}"));
    if inference == InferenceChoice::Laplace {
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
    let group = |group: &ScaleFound| {
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
    let Criteria { aic, bic, nic, nic_parameters, fpe, gpe, parameters, .. } = mode.criteria;
    lines.push(format!(
        "log likelihood {}; less parameters: AIC {} ({parameters}), BIC {}, NIC {} ({} effective)",
        fixed(mode.log_likelihood),
        fixed(aic),
        fixed(bic),
        fixed(nic),
        fixed(nic_parameters)
    ));
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
