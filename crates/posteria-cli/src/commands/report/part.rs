//! Gather what the page tells about one run.

use std::path::Path;

use posteria::assess::{LeaveOneOutOptions, LogLikelihoods, TargetFacts, leave_one_out};
use posteria::caution::Caution;
use posteria::diagnose::{Summary, SummaryOptions, summarize};
use posteria::draws::Draws;
use posteria::fit::Prepared;
use posteria::model::spec::{InferenceChoice, Spec};
use posteria_report::sections::{
    Checks, Doubt, Evidence, Model, Predictions, Selection, Verdict, WeightReliability,
};
use posteria_report::{Level, Section};
use posteria_store::Run;

use super::super::summary::chains::{self, Looked};
use super::super::{Context, foreign};
use super::comparison::RowDensities;
use super::kept::{self, Assessment};
use super::rows::RowNote;
use super::selection::selection;
use super::{data, disagreement, posterior, predictions, verdict};
use crate::approximation;
use crate::failure::{Failure, Result, store_failure};
use crate::fitted::fitted;
use crate::interrupt::Interrupt;
use crate::sampling::{open, spec_of};
use crate::text;
use crate::words::Words;

/// Most numbers of log likelihoods that are read: 400 MB.
const MOST_LIKELIHOODS: usize = 50_000_000;

/// Everything about one run.
pub struct Gathered {
    /// Its folder.
    pub name: String,
    /// Its draws, of all chains.
    pub draws: usize,
    pub verdict: Verdict,
    pub predictions: Predictions,
    /// How its rows were predicted.
    pub row_note: Option<RowNote>,
    /// What is known about which inputs it needs.
    pub selection: Option<Selection>,
    pub assessment: Option<Assessment>,
    pub weights: Option<WeightReliability>,
    pub evidence: Option<Evidence>,
    /// Predictive checks, if there were any.
    pub checks: Option<Checks>,
    pub posterior: Section,
    pub convergence: Section,
    pub model: Section,
    /// Its targets, unless it has none or did not keep its data.
    pub rows: Option<RowsOfData>,
    /// What it predicts of rows left out, if it is one of several.
    pub densities: Option<RowDensities>,
}

/// The targets of a run.
pub struct RowsOfData {
    /// Of every row on the user's scale; classes as their indices.
    pub observed: Vec<Vec<f64>>,
    pub names: Vec<String>,
    pub targets: TargetFacts,
}

/// Gathers everything about the run in `folder`, which is one of several or not.
pub fn gather(
    folder: &Path,
    is_one_of_several: bool,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<Gathered> {
    let run = open(folder)?;
    let spec = spec_of(&run)?;
    let draws = foreign::draws_of(&run, context)?;
    if draws.draws == 0 {
        return Err(Failure::bad_input(format!(
            "{} has no draws yet; wait for some, or go on with posteria resume",
            folder.display()
        )));
    }
    let (inference, kind) = (spec.sampling.inference(), spec.model.kind);
    let mut summary = summarize(&draws, &SummaryOptions::default());
    if inference != InferenceChoice::Mcmc {
        // Independent draws converge by themselves, and members of a committee are no chain.
        summary.cautions.retain(|caution| matches!(caution, Caution::NonFinite { .. }));
    }
    let assessment = Assessment::read(folder)?;
    let weights = assessment.as_ref().and_then(|it| it.weights(draws.chains * draws.draws));
    let evidence = kept::evidence(folder)?;
    let selection = selection(folder, &draws, &spec)?;
    let looked = match inference {
        InferenceChoice::Mcmc => chains::look(&run, (&draws, &summary), false, context)?,
        _ => None,
    };
    let mut doubts = doubts(&run, &spec)?;
    doubts.extend(weights.iter().flat_map(WeightReliability::doubts));
    doubts.extend(evidence.iter().flat_map(Evidence::doubts));
    let mut gathered = Gathered {
        name: folder.display().to_string(),
        draws: draws.chains * draws.draws,
        verdict: verdict::verdict(&draws, (&summary, looked.as_ref()), (inference, kind), doubts),
        predictions: Predictions::default(),
        row_note: None,
        selection,
        assessment,
        weights,
        evidence,
        checks: kept::checks(folder)?,
        posterior: posterior::densities(&draws, &summary, &spec).section(),
        convergence: convergence(&draws, (&summary, looked.as_ref()), inference).section(),
        model: Section::default(),
        rows: None,
        densities: None,
    };
    // A posteria of old did not keep the data.
    if run.training_data().map_err(store_failure)?.is_some() {
        let prepared = fitted(&run, &spec, None)?;
        gathered.model = model(&prepared, &run).section();
        let how = (context, interrupt);
        (gathered.predictions, gathered.row_note) =
            predictions::predictions(&prepared, &draws, is_one_of_several, how)?;
        let Prepared { data, encoder, spec, .. } = &prepared;
        if !spec.model.kind.is_unsupervised() {
            gathered.rows = Some(RowsOfData {
                observed: encoder.observed(&data.targets),
                names: encoder.target_names(),
                targets: TargetFacts::of(data),
            });
        }
        // Where rows of the page are those of the fit, importance weights would mislead too.
        if is_one_of_several && gathered.row_note.is_some_and(|note| note.is_left_out()) {
            gathered.densities = densities(&run, &draws, data.rows(), context)?;
        }
    }
    Ok(gathered)
}

/// The log predictive densities of rows left out, by the log likelihoods in the run folder; `None`
/// where there are none, or too many to read for a page.
fn densities(
    run: &Run,
    draws: &Draws,
    rows: usize,
    context: &Context,
) -> Result<Option<RowDensities>> {
    if draws.chains * draws.draws * rows > MOST_LIKELIHOODS {
        return Ok(None);
    }
    let draws = run.draws().map_err(store_failure)?;
    let Ok(likelihoods) = LogLikelihoods::of(&draws) else { return Ok(None) };
    let options = LeaveOneOutOptions::default();
    let Ok(loo) = leave_one_out(&likelihoods, &options, context.threads) else { return Ok(None) };
    Ok(Some(RowDensities {
        elpd: loo.pointwise.iter().map(|row| row.elpd).collect(),
        unreliable: loo.shapes.bad,
    }))
}

fn convergence(
    draws: &Draws,
    (summary, looked): (&Summary, Option<&Looked>),
    inference: InferenceChoice,
) -> posteria_report::sections::Convergence {
    match inference {
        InferenceChoice::Mcmc => posteria_report::sections::Convergence {
            disagreement: looked.and_then(disagreement::disagreement),
            ..posterior::convergence(draws, summary)
        },
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
    let beta = spec.sampling.tempered();
    doubts.extend(beta.map(|inverse_temperature| {
        let prior_power = spec.sampling.prior_power();
        verdict::doubt(&Caution::Tempered { inverse_temperature, prior_power })
    }));
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
        prior: data::prior_draws(prepared),
    }
}
