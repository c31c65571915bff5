//! Tell what was found in place of a posterior.

mod at_mode;
mod hyperparameters;
mod likelihood;
mod variational;

use posteria::caution::ApproximationDoubt;
use posteria::fit::{ApproximationFindings, ApproximationResult};
use posteria::model::spec::{InferenceChoice, ModelKind};
use serde_json::Value;

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
        InferenceChoice::Ml => Some("the maximum of the likelihood (ml)"),
        InferenceChoice::Mcmc | InferenceChoice::Committee => None,
    }
}

/// How many draws of what.
pub fn draws_words(inference: InferenceChoice, kind: ModelKind, draws: usize) -> Option<String> {
    let name = name(inference, kind)?;
    Some(match (inference, draws) {
        (InferenceChoice::Map | InferenceChoice::Ml, 1) => name.to_string(),
        (InferenceChoice::Map, _) => {
            format!("{draws} independent draws of the functions at {name}")
        }
        (_, 1) => format!("1 independent draw from {name}"),
        _ => format!("{draws} independent draws from {name}"),
    })
}

/// What was found, in lines of text.
pub fn words(kept: Option<&str>) -> String {
    match kept.map(Found::read) {
        None => String::new(),
        Some(found) => found.words().into_iter().map(|line| line + "\n").collect(),
    }
}

/// What to be careful about in what was found.
pub fn warnings(kept: Option<&str>) -> Vec<String> {
    kept.map(|text| Found::read(text).warnings()).unwrap_or_default()
}

/// What was found for programs: the values, then what is said about them.
pub fn json(kept: &str) -> Option<Value> {
    let found = Found::read(kept);
    let mut value = match &found {
        Found::Values(result) => result.findings.report().ok()?,
        Found::Sentences(value) => return Some(value.clone()),
    };
    value["words"] = found.words().into();
    value["warnings"] = found.warnings().into();
    Some(value)
}

/// What `RUN/approximation.json` keeps.
enum Found {
    Values(Box<ApproximationResult>),
    /// Of an earlier version, which kept what it said.
    Sentences(Value),
}

impl Found {
    fn read(text: &str) -> Self {
        match ApproximationResult::from_json(text) {
            Ok(result) => Found::Values(Box::new(result)),
            Err(_) => Found::Sentences(serde_json::from_str(text).unwrap_or_default()),
        }
    }

    fn words(&self) -> Vec<String> {
        let result = match self {
            Found::Values(result) => result,
            Found::Sentences(value) => return texts(value, "words"),
        };
        match &result.findings {
            ApproximationFindings::Mode(findings) => at_mode::words(findings),
            ApproximationFindings::Likelihood(findings) => likelihood::words(findings),
            ApproximationFindings::Hyperparameters(findings) => hyperparameters::words(findings),
            ApproximationFindings::Ensemble { findings, weights } => {
                variational::ensemble(findings, *weights)
            }
            ApproximationFindings::Variational(findings) => variational::words(findings),
        }
    }

    fn warnings(&self) -> Vec<String> {
        match self {
            Found::Values(result) => {
                result.doubts.iter().map(ApproximationDoubt::to_string).collect()
            }
            Found::Sentences(value) => texts(value, "warnings"),
        }
    }
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let texts = value[key].as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_earlier_versions_say_what_they_said() {
        let old = r#"{"method": "map", "warnings": ["so so"], "words": ["one", "two"]}"#;
        assert_eq!(words(Some(old)), "one\ntwo\n");
        assert_eq!(warnings(Some(old)), ["so so"]);
        assert_eq!(json(old).expect("JSON")["method"], "map");
        assert_eq!((words(None), warnings(None).len()), (String::new(), 0));
    }
}
