//! Gather what is known about the inputs that a run needs.

use std::path::Path;

use posteria::draws::{Draws, Role};
use posteria::model::spec::Spec;
use posteria::select::Visits;
use posteria_report::sections::{
    InputFacts, ModelFacts, NestedFacts, Selection, SizeFacts, UtilityOfSize,
};
use serde::Deserialize;

use super::super::select::of_draws;
use super::kept::{number, read};
use crate::failure::Result;

/// What `posteria select` kept.
#[derive(Debug, Deserialize)]
struct Kept {
    inputs: Vec<KeptInput>,
    sizes: Vec<KeptSize>,
    models: Vec<KeptSet>,
    chosen: Vec<String>,
    utility: Option<String>,
    #[serde(default)]
    utilities: Vec<KeptUtility>,
    full: Option<KeptMean>,
    nested: Option<KeptNested>,
}

#[derive(Debug, Deserialize)]
struct KeptNested {
    folds: usize,
    mean: Option<f64>,
    sd: Option<f64>,
    optimism: KeptMean,
}

#[derive(Debug, Deserialize)]
struct KeptInput {
    name: String,
    probability: Option<f64>,
    sd: Option<f64>,
    prior: Option<f64>,
    importance: Option<KeptImportance>,
}

#[derive(Debug, Default, Deserialize)]
struct KeptImportance {
    relevance: Option<KeptMean>,
    comparison: Option<KeptMean>,
    leave_out: Option<KeptMean>,
}

#[derive(Debug, Deserialize)]
struct KeptSize {
    k: usize,
    probability: Option<f64>,
    prior: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct KeptSet {
    inputs: Vec<String>,
    probability: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct KeptUtility {
    k: usize,
    most_probable_inputs: bool,
    mean: Option<f64>,
    q05: Option<f64>,
    q95: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct KeptMean {
    mean: Option<f64>,
    sd: Option<f64>,
}

/// What `posteria select` found about the run in `folder`; else what its draws say, if it samples
/// sets of inputs.
pub fn selection(folder: &Path, draws: &Draws, spec: &Spec) -> Result<Option<Selection>> {
    let command = format!("select {}", folder.display());
    if let Some(kept) = read::<Kept>(folder, "selection.json", &command)? {
        return Ok(Some(of_kept(kept)));
    }
    match (&spec.selection, draws.layout.of_role(Role::Inclusion)) {
        (Some(selection), Some(_)) => Ok(Some(of_visits(&of_draws(draws, selection)?))),
        _ => Ok(None),
    }
}

/// Which of `all` are among `some`.
fn is_in<'a>(all: impl Iterator<Item = &'a str>, some: &[String]) -> Vec<bool> {
    all.map(|name| some.iter().any(|other| other == name)).collect()
}

fn of_kept(kept: Kept) -> Selection {
    let names = || kept.inputs.iter().map(|input| input.name.as_str());
    let models = kept.models.iter().map(|set| ModelFacts {
        is_in: is_in(names(), &set.inputs),
        probability: number(set.probability),
    });
    let models = models.collect();
    let mean = |it: Option<&KeptMean>| number(it.and_then(|it| it.mean));
    let none = KeptImportance::default();
    let inputs = kept.inputs.iter().map(|input| {
        let importance = input.importance.as_ref().unwrap_or(&none);
        InputFacts {
            name: input.name.clone(),
            probability: number(input.probability),
            sd: number(input.sd),
            prior: number(input.prior),
            comparison: mean(importance.comparison.as_ref()),
            relevance: mean(importance.relevance.as_ref()),
            loss: mean(importance.leave_out.as_ref()),
        }
    });
    let sizes = kept.sizes.iter().map(|size| SizeFacts {
        size: size.k,
        probability: number(size.probability),
        prior: number(size.prior),
    });
    let by_size = kept.utilities.iter().filter(|it| it.most_probable_inputs);
    let utilities = by_size.map(|it| UtilityOfSize {
        size: it.k,
        mean: number(it.mean),
        interval: [number(it.q05), number(it.q95)],
    });
    Selection {
        inputs: inputs.collect(),
        sizes: sizes.collect(),
        models,
        utilities: utilities.collect(),
        utility_name: kept.utility.unwrap_or_default(),
        full_utility: number(kept.full.and_then(|full| full.mean)),
        chosen: kept.chosen,
        nested: kept.nested.map(|it| NestedFacts {
            folds: it.folds,
            utility: [number(it.mean), number(it.sd)],
            optimism: [number(it.optimism.mean), number(it.optimism.sd)],
        }),
    }
}

fn of_visits(found: &Visits) -> Selection {
    let inputs = found.inputs.iter().map(|input| InputFacts {
        name: input.name.clone(),
        probability: input.probability,
        sd: input.sd,
        prior: input.prior,
        comparison: f64::NAN,
        relevance: f64::NAN,
        loss: f64::NAN,
    });
    let sizes = found.sizes.iter().map(|size| SizeFacts {
        size: size.k,
        probability: size.probability,
        prior: size.prior,
    });
    let names = || found.inputs.iter().map(|input| input.name.as_str());
    let models = found
        .sets
        .iter()
        .map(|set| ModelFacts { is_in: is_in(names(), &set.inputs), probability: set.probability });
    Selection {
        inputs: inputs.collect(),
        sizes: sizes.collect(),
        models: models.collect(),
        full_utility: f64::NAN,
        ..Selection::default()
    }
}
