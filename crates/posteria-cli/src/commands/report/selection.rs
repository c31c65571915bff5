//! Gather what is known about the inputs that a run needs.

use std::path::Path;

use posteria::draws::{Draws, Role};
use posteria::model::spec::Spec;
use posteria::predict::Estimate;
use posteria::select::{InputImportance, SelectionReport};
use posteria_report::sections::{
    InputFacts, ModelFacts, NestedFacts, Selection, SizeFacts, UtilityOfSize,
};

use super::kept::read;
use crate::commands::select;
use crate::failure::Result;

/// What `posteria select` found about the run in `folder`; else what its draws say, if it samples
/// sets of inputs.
pub fn selection(folder: &Path, draws: &Draws, spec: &Spec) -> Result<Option<Selection>> {
    let command = format!("select {}", folder.display());
    if let Some(found) = read(folder, select::FILE, &command)? {
        return Ok(Some(of_report(found)));
    }
    let (Some(selection), Some(_)) = (&spec.selection, draws.layout.of_role(Role::Inclusion))
    else {
        return Ok(None);
    };
    let visits = select::of_draws(draws, selection)?;
    let unknown = vec![InputImportance::default(); visits.inputs.len()];
    let found = SelectionReport::new(spec, &visits, unknown);
    // Nothing has been chosen yet.
    Ok(Some(of_report(SelectionReport { chosen: Vec::new(), ..found })))
}

/// Which of `all` are among `some`.
fn is_in<'a>(all: impl Iterator<Item = &'a str>, some: &[String]) -> Vec<bool> {
    all.map(|name| some.iter().any(|other| other == name)).collect()
}

fn of_report(found: SelectionReport) -> Selection {
    let names = || found.inputs.iter().map(|input| input.name.as_str());
    let models = found
        .models
        .iter()
        .map(|set| ModelFacts { is_in: is_in(names(), &set.inputs), probability: set.probability });
    let mean = |it: Option<Estimate>| it.map_or(f64::NAN, |it| it.mean);
    let inputs = found.inputs.iter().map(|input| InputFacts {
        name: input.name.clone(),
        probability: input.probability,
        sd: input.sd,
        prior: input.prior,
        comparison: mean(input.importance.comparison),
        relevance: mean(input.importance.relevance),
        loss: input.importance.leave_out.as_ref().map_or(f64::NAN, |it| it.utility.mean),
    });
    let sizes = found.sizes.iter().map(|size| SizeFacts {
        size: size.k,
        probability: size.probability,
        prior: size.prior,
    });
    let choice = found.choice.as_ref();
    let sets = choice.iter().flat_map(|it| &it.utilities).filter(|it| it.most_probable_inputs);
    let utilities = sets.map(|it| UtilityOfSize {
        size: it.k,
        mean: it.utility.mean,
        interval: [it.utility.q05, it.utility.q95],
    });
    let nested = choice.and_then(|it| it.nested.as_ref()).map(|it| NestedFacts {
        folds: it.folds,
        utility: [it.utility.mean, it.utility.sd],
        optimism: [it.optimism.mean, it.optimism.sd],
    });
    Selection {
        inputs: inputs.collect(),
        sizes: sizes.collect(),
        models: models.collect(),
        utilities: utilities.collect(),
        utility_name: choice.map(|it| it.utility.clone()).unwrap_or_default(),
        full_utility: choice.map_or(f64::NAN, |it| it.full.mean),
        nested,
        chosen: found.chosen,
    }
}
