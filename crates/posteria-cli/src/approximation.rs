//! Tell what was found in place of a posterior.

mod at_mode;
mod hyperparameters;
mod variational;

use posteria::caution::Caution;
use posteria::fit::{ApproximationFindings, FittedApproximation};
use posteria::model::spec::{InferenceChoice, ModelKind};
use posteria_store::PartError;
use serde_json::Value;

use crate::failure::{Classify, Failure, Result};

/// What was found besides draws, as `RUN/approximation.json` keeps it.
pub fn json(found: &FittedApproximation<'_>) -> Result<String> {
    let words = match &found.findings {
        ApproximationFindings::Mode(findings) => at_mode::words(findings),
        ApproximationFindings::Hyperparameters(findings) => hyperparameters::words(findings),
        ApproximationFindings::Ensemble { findings, weights } => {
            variational::ensemble(findings, *weights)
        }
        ApproximationFindings::Variational(findings) => variational::words(findings),
    };
    let mut value = serde_json::to_value(&found.findings).running()?;
    value["words"] = words.into();
    let warnings: Vec<String> = found.cautions.iter().map(Caution::to_string).collect();
    value["warnings"] = warnings.into();
    Ok(serde_json::to_string_pretty(&value).running()? + "\n")
}

/// The same for whoever writes run folders in parts.
pub fn tell(found: &FittedApproximation<'_>) -> std::result::Result<String, PartError> {
    let failed =
        |failure: Failure| PartError::Told { message: failure.message().unwrap_or_default() };
    json(found).map_err(failed)
}

/// What draws of an approximation are called; `None` for chains and committees.
pub fn name(inference: InferenceChoice, kind: ModelKind) -> Option<&'static str> {
    match inference {
        InferenceChoice::Laplace if kind == ModelKind::Gp => {
            Some("the hyperparameters weighted about their modes (laplace)")
        }
        InferenceChoice::Map if kind == ModelKind::Gp => {
            Some("the mode of the hyperparameters (map)")
        }
        InferenceChoice::Laplace => Some("the normal distribution at the mode (laplace)"),
        InferenceChoice::Variational => Some("the variational approximation"),
        InferenceChoice::Map => Some("the mode (map)"),
        InferenceChoice::Mcmc | InferenceChoice::Committee => None,
    }
}

/// How many draws of what.
pub fn draws_words(inference: InferenceChoice, kind: ModelKind, draws: usize) -> Option<String> {
    let name = name(inference, kind)?;
    Some(match (inference, draws) {
        (InferenceChoice::Map, 1) => name.to_string(),
        (InferenceChoice::Map, _) => {
            format!("{draws} independent draws of the functions at {name}")
        }
        (_, 1) => format!("1 independent draw from {name}"),
        _ => format!("{draws} independent draws from {name}"),
    })
}

/// The lines of text in what was found.
pub fn words(json: Option<&str>) -> String {
    texts(json, "words").into_iter().map(|line| line + "\n").collect()
}

/// What to be careful about in what was found.
pub fn warnings(json: Option<&str>) -> Vec<String> {
    texts(json, "warnings")
}

fn texts(json: Option<&str>, key: &str) -> Vec<String> {
    let value: Option<Value> = json.and_then(|text| serde_json::from_str(text).ok());
    let texts = value.as_ref().and_then(|value| value[key].as_array());
    texts.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect()
}
