//! Gather what the page tells about one run.

use std::path::Path;

use posteria::assess::TargetFacts;
use posteria::caution::Caution;
use posteria::diagnose::{Summary, SummaryOptions, summarize};
use posteria::draws::Draws;
use posteria::model::spec::{InferenceChoice, Spec};
use posteria_report::sections::{Doubt, Evidence, Model, Selection, WeightReliability};
use posteria_report::{Level, Part};
use posteria_store::Run;

use super::super::{Context, foreign};
use super::kept::{self, Assessment};
use super::selection::selection;
use super::{data, posterior, predictions, verdict};
use crate::approximation;
use crate::failure::{Classify, Failure, Result};
use crate::fitted::{Fitted, fitted, observed};
use crate::interrupt::Interrupt;
use crate::prepare::Prepared;
use crate::sampling::{open, spec_of, store_failure};
use crate::text;
use crate::words::Words;

/// An assessment, and what it was of.
pub struct Assessed {
    pub assessment: Assessment,
    /// The targets of every row on the user's scale; classes as their indices.
    pub observed: Vec<Vec<f64>>,
    pub targets: TargetFacts,
}

/// Everything about the run in `folder`, and its assessment, if it has one and can be compared.
pub fn gather(
    folder: &Path,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<(Part, Option<Assessed>)> {
    let run = open(folder)?;
    let spec = spec_of((folder, &run))?;
    let draws = foreign::draws_of(&run, context)?;
    if draws.draws == 0 {
        return Err(Failure::bad_input(format!(
            "{} has no draws yet; wait for some, or go on with posteria resume",
            folder.display()
        )));
    }
    let inference = spec.sampling.inference();
    let mut summary = summarize(&draws, &SummaryOptions::default());
    if inference != InferenceChoice::Mcmc {
        // Independent draws converge by themselves, and members of a committee are no chain.
        summary.cautions.retain(|caution| matches!(caution, Caution::NonFinite { .. }));
    }
    let assessment = Assessment::read(folder)?;
    let weights = assessment.as_ref().and_then(|it| it.weights(draws.chains * draws.draws));
    let evidence = kept::evidence(folder)?;
    let selection = selection(folder, &draws, &spec)?;
    let mut doubts = doubts(&run, &spec)?;
    doubts.extend(weights.iter().flat_map(WeightReliability::doubts));
    doubts.extend(evidence.iter().flat_map(Evidence::doubts));
    let mut part = Part::new(folder.display().to_string());
    part.push(verdict::verdict(&draws, &summary, inference, doubts).section());
    let mut rows = None;
    match run.training_data().map_err(store_failure)? {
        Some(_) => {
            let prepared = prepared(&run, spec, folder)?;
            part.push(model(&prepared, &run).section());
            part.push(convergence(&draws, &summary, inference).section());
            let predictions = predictions::predictions(&prepared, &draws, context, interrupt)?;
            part.push(predictions.section());
            part.push(posterior::densities(&draws, &summary, &prepared.spec).section());
            let Prepared { data, encoder, spec, .. } = &prepared;
            if !spec.model.kind.is_unsupervised() {
                rows = Some((observed(&data.targets, encoder), TargetFacts::of(data)));
            }
        }
        // A run of a posteria that did not keep the data.
        None => {
            part.push(convergence(&draws, &summary, inference).section());
            part.push(posterior::densities(&draws, &summary, &spec).section());
        }
    }
    let sections = assessment.iter().map(|it| it.utilities().section());
    let sections = sections.chain(weights.iter().map(WeightReliability::section));
    let sections = sections.chain(selection.iter().map(Selection::section));
    sections.chain(evidence.iter().map(Evidence::section)).for_each(|section| part.push(section));
    let assessed = assessment.zip(rows).map(|(assessment, (observed, targets))| Assessed {
        assessment,
        observed,
        targets,
    });
    Ok((part, assessed))
}

/// What was fitted, as it was before the fit.
fn prepared(run: &Run, spec: Spec, folder: &Path) -> Result<Prepared> {
    let Fitted { encoder, dataset, posterior } = fitted((folder, run), &spec, None)?;
    let plan = spec.sampling.plan().bad_input()?;
    Ok(Prepared { spec, data: dataset, encoder, cautions: Vec::new(), posterior, plan })
}

fn convergence(
    draws: &Draws,
    summary: &Summary,
    inference: InferenceChoice,
) -> posteria_report::sections::Convergence {
    match inference {
        InferenceChoice::Mcmc => posterior::convergence(draws, summary),
        _ => Default::default(),
    }
}

/// Doubts that do not come from draws.
fn doubts(run: &Run, spec: &Spec) -> Result<Vec<Doubt>> {
    let mut doubts: Vec<Doubt> = approximation::warnings(run.approximation())
        .into_iter()
        .map(|text| Doubt { level: Level::Bad, text })
        .collect();
    let status = run.status().map_err(store_failure)?;
    if !status.complete {
        let drawn = run.chain_draws().into_iter().min().unwrap_or(0);
        let asked = text::count(run.extent().draws, "draw");
        let going_on = if status.locked { "goes on" } else { "is not complete" };
        let text = format!(
            "the run {going_on}: {drawn} of {asked} per chain so far; report again when it is done \
             (posteria resume continues it)"
        );
        doubts.push(Doubt { level: Level::Doubtful, text });
    }
    let beta = spec.sampling.inverse_temperature.filter(|beta| (beta - 1.0).abs() > 0.0);
    doubts.extend(
        beta.map(|inverse_temperature| verdict::doubt(&Caution::Tempered { inverse_temperature })),
    );
    Ok(doubts)
}

/// The model in words, and the columns of its data.
fn model(prepared: &Prepared, run: &Run) -> Model {
    let words = Words::new(prepared);
    let parts = words.parts().into_iter().map(|(name, words)| (name.to_string(), words));
    let found = approximation::words(run.approximation());
    let path = prepared.spec.data.path.as_ref();
    let path = path.map(|path| ("table".to_string(), path.clone()));
    Model {
        summary: words.headline(),
        parts: parts.chain(path).collect(),
        columns: data::columns(&prepared.data, &prepared.encoder),
        found: found.lines().map(String::from).collect(),
    }
}
