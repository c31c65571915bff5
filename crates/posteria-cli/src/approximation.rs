//! Find what takes the place of a posterior, and tell what was found.

mod at_mode;
mod variational;

use posteria::approximate::{
    Approximation, Ensemble, EnsembleOptions, Estimation, ImportanceSample, Linearised,
};
use posteria::caution::Caution;
use posteria::fit::fit_evidence;
use posteria::model::Regularised;
use posteria::model::spec::{InferenceChoice, Spec};
use posteria::random::Purpose;
use serde::Serialize;
use serde_json::Value;

use crate::commands::Context;
use crate::failure::{Classify, Result};
use crate::prepare::{Approximable, Conditioned, Prepared};

/// Draws of an ensemble that are weighted.
const WEIGHTED: usize = 20_000;

/// What takes the place of a posterior.
pub struct Found<'p> {
    /// What independent draws are taken from; none where the posterior draws from it itself.
    pub approximation: Option<Box<dyn Approximation + 'p>>,
    /// What was found besides draws, as `RUN/approximation.json` keeps it.
    pub json: String,
}

impl<'p> Found<'p> {
    /// An approximation, what was found besides draws, that in lines of text, and what to be
    /// careful about.
    pub fn new(
        approximation: impl Approximation + 'p,
        found: &impl Serialize,
        words: Vec<String>,
        cautions: &[Caution],
    ) -> Result<Self> {
        let json = json(found, words, cautions)?;
        Ok(Found { approximation: Some(Box::new(approximation)), json })
    }
}

/// What was found besides draws, as `RUN/approximation.json` keeps it.
fn json(found: &impl Serialize, words: Vec<String>, cautions: &[Caution]) -> Result<String> {
    let mut value = serde_json::to_value(found).running()?;
    value["words"] = words.into();
    let warnings: Vec<String> = cautions.iter().map(Caution::to_string).collect();
    value["warnings"] = warnings.into();
    Ok(serde_json::to_string_pretty(&value).running()? + "\n")
}

/// Finds the approximation that the specification asks for, or that chains are to start from; none
/// where nothing but chains or a committee is asked for. Takes the time that the approximation takes.
pub fn find<'p>(prepared: &'p Prepared, context: &Context) -> Result<Option<Found<'p>>> {
    let model = match &prepared.posterior {
        Conditioned::Approximated(model) => model,
        Conditioned::Variational(_, findings) => {
            let json = json(findings, variational::words(findings), &[])?;
            return Ok(Some(Found { approximation: None, json }));
        }
        Conditioned::Sampled(_) | Conditioned::Committee(_) => return Ok(None),
    };
    let (sampling, threads) = (&prepared.spec.sampling, context.threads);
    let inference = sampling.inference();
    let search = |model: &dyn Regularised, starts| {
        let posterior = &*prepared.posterior;
        at_mode::find((posterior, model), inference, (starts, sampling.seed()), threads)
    };
    let found = match (model, inference) {
        (_, InferenceChoice::Committee) | (Approximable::Linear(_), InferenceChoice::Mcmc) => {
            return Ok(None);
        }
        (
            Approximable::Network(posterior),
            InferenceChoice::Variational | InferenceChoice::Mcmc,
        ) => variational::ensemble(posterior, sampling.seed()),
        (Approximable::Network(posterior), _) => {
            search(&posterior.regularised().bad_input()?, at_mode::STARTS)
        }
        // One mode, wherever the search begins.
        (Approximable::Linear(posterior), _) => search(&posterior.regularised().bad_input()?, 1),
    };
    found.map(Some)
}

/// A network of the run taken as linear about its approximation, found again; `None` for other
/// models and ways, and where it does not apply.
pub fn linearised<'p>(
    posterior: &'p Conditioned,
    spec: &Spec,
    context: &Context,
) -> Result<Option<Linearised<'p>>> {
    let Conditioned::Approximated(Approximable::Network(network)) = posterior else {
        return Ok(None);
    };
    let (seed, threads) = (spec.sampling.seed(), context.threads);
    match spec.sampling.inference() {
        InferenceChoice::Laplace => {
            let model = network.regularised().bad_input()?;
            let (estimation, starts) = (Estimation::Evidence, at_mode::STARTS);
            let mode = fit_evidence(&model, estimation, starts, seed, threads).running()?;
            Ok(Linearised::at_mode(network, &mode))
        }
        InferenceChoice::Variational => {
            let ensemble = Ensemble::learn(network, &EnsembleOptions::default(), seed).running()?;
            Ok(Linearised::of_ensemble(&ensemble))
        }
        _ => Ok(None),
    }
}

/// Draws of the variational ensemble of the run, found again and weighted to be draws of the
/// posterior; `None` for other models and ways.
pub fn weighted(posterior: &Conditioned, spec: &Spec) -> Result<Option<ImportanceSample>> {
    let Conditioned::Approximated(Approximable::Network(network)) = posterior else {
        return Ok(None);
    };
    if spec.sampling.inference() != InferenceChoice::Variational {
        return Ok(None);
    }
    let seed = spec.sampling.seed();
    let ensemble = Ensemble::learn(network, &EnsembleOptions::default(), seed).running()?;
    let mut stream = seed.stream(Purpose::Weighted, [0, 0]);
    Ok(Some(ensemble.importance_sample(WEIGHTED, &mut stream)))
}

/// What draws of an approximation are called; `None` for chains and committees.
pub fn name(inference: InferenceChoice) -> Option<&'static str> {
    match inference {
        InferenceChoice::Laplace => Some("the normal distribution at the mode (laplace)"),
        InferenceChoice::Variational => Some("the variational approximation"),
        InferenceChoice::Map => Some("the mode (map)"),
        InferenceChoice::Mcmc | InferenceChoice::Committee => None,
    }
}

/// How many draws of what.
pub fn draws_words(inference: InferenceChoice, draws: usize) -> Option<String> {
    let name = name(inference)?;
    Some(match (inference, draws) {
        (InferenceChoice::Map, _) => name.to_string(),
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
