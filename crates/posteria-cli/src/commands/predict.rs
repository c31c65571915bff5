//! Predict the targets of new rows.

mod averaged;
mod effects;
mod functions;
mod report;

use posteria::assess::{PredictOptions, Predictions, RowPrediction, TargetFacts};
use posteria::caution::Caution;
use posteria::data::{EncodedRows, Encoder, Missing, Task};
use posteria::draws::Draws;
use posteria::fit::{Conditioned, PosteriorPredictive, Prepared};
use posteria::model::spec::{ModelKind, Spec};
use posteria::random::Purpose;

use self::report::{Importance, Report};
use super::{Context, foreign};
use crate::args;
use crate::chains::{Chained, Chains};
use crate::decide::Decide;
use crate::failure::{Classify, Failure, Result};
use crate::fitted::fitted;
use crate::interrupt::Interrupt;
use crate::prepare::read_table;
use crate::sampling::{open, spec_of};
use crate::verdict;

/// Fewest effective draws that weighted predictions are trusted with.
const FEWEST_WEIGHTS: f64 = 50.0;

/// Runs `posteria predict`.
pub fn run(arguments: &args::Predict, context: &Context) -> Result<()> {
    let quantiles = &arguments.quantiles;
    for (index, quantile) in quantiles.iter().enumerate() {
        if quantiles[..index].contains(quantile) {
            return Err(Failure::bad_input(format!(
                "--quantiles has {quantile} twice; give it once"
            )));
        }
    }
    let [path] = &arguments.runs[..] else { return averaged::run(arguments, context) };
    if arguments.weights.is_some() {
        return Err(Failure::bad_input("--weights is for the average of several runs; omit it"));
    }
    let interrupt = Interrupt::listen().running()?;
    let run = open(path)?;
    let spec = spec_of(&run)?;
    let flag = if arguments.effects { "--effects" } else { "--draws-out" };
    if spec.model.kind.is_unsupervised() && (arguments.effects || arguments.draws_out.is_some()) {
        let kind = spec.model.kind.name();
        return Err(Failure::bad_input(format!(
            "{flag} is about the function behind a target, and a {kind} model has none; omit it"
        )));
    }
    let fitted = fitted(&run, &spec, arguments.data.as_deref())?;
    let Prepared { encoder, data: dataset, posterior, .. } = &fitted;
    let args::Predict { cost, choosing, .. } = arguments;
    let decide = Decide::new(cost.as_deref(), choosing, &TargetFacts::of(dataset))?;
    let decided = decide.as_ref().map(|it| (&it.costs, it.rule));
    refuse_times(&arguments.at, dataset.task)?;
    let at = &arguments.at;
    let asked = PredictOptions { quantiles, at, decide: decided, ..PredictOptions::default() };
    let drawn = foreign::draws_of(&run, context)?;
    if drawn.draws > 0 {
        let inference = spec.sampling.inference();
        verdict::repeat(path, &drawn, inference, run.approximation(), &context.warnings);
    }
    let chains = match arguments.chains {
        Some(args::ChainWeights::Stacked) if drawn.draws > 0 => {
            let chained = Chained { path, run: &run, fitted: &fitted, draws: &drawn };
            Some(stacked(&chained, arguments, context, &interrupt)?)
        }
        _ => None,
    };
    let mut draws = drawn.spread_evenly(arguments.draws);
    let mut importance = None;
    if arguments.by == Some(args::By::Importance) {
        let (weighted, found) = weighted(posterior, &spec, &draws, context)?;
        (draws, importance) = (weighted, Some(found));
    }
    if draws.draws == 0 {
        return Err(Failure::bad_input(format!(
            "{} has no draws yet; wait for some, or go on with posteria resume",
            path.display()
        )));
    }
    let mut new = new_rows(encoder, &spec, arguments)?;
    let beyond = encoder.extrapolation(dataset, &new.inputs);
    new.cautions.extend(beyond.map(Caution::Extrapolation));
    let is_open = spec.model.kind == ModelKind::Gp;
    let workers = context.workers(&interrupt);
    let work = match arguments.by {
        Some(args::By::Draws | args::By::Importance) => {
            PosteriorPredictive::new(&**posterior, &draws, is_open, context.seed(), &workers)
        }
        _ => PosteriorPredictive::of_run(posterior, (&spec, &draws), context.seed(), &workers)?,
    };
    let work = work.ok_or_else(|| {
        let kind = spec.model.kind.name();
        Failure::bad_input(format!("a {kind} model has no targets to predict"))
    })?;
    let work = work.weighted(chains.as_ref().map(|it| it.found.log_weights(draws.draws)));
    if arguments.by == Some(args::By::Linearised) && !work.is_linearised() {
        return Err(Failure::bad_input(
            "--by linearised is for networks of --inference laplace, with real targets of one \
             residual scale each, or classes; omit it",
        ));
    }
    let observed = new.targets.as_ref().map(|targets| encoder.observed(targets));
    let rows = work.map_rows(&new.inputs_and_offsets(), |row, predictive| {
        let observed = observed.as_ref().map(|observed| &observed[row][..]);
        RowPrediction::new(predictive, observed, &asked)
    })?;
    let effects = match arguments.effects {
        true => Some(work.effects(dataset, encoder)?),
        false => None,
    };
    if let Some(path) = &arguments.draws_out {
        functions::write(&work, &new, encoder, path, arguments.function_draws)?;
    }
    let numbers = new.rows.iter().map(|row| row + 1).collect();
    let found = Predictions::new(encoder, &asked, (numbers, rows), new.cautions);
    let mut report = Report::new(arguments, found, effects);
    report.importance = importance;
    report.chains = chains.as_ref().map(|it| it.stacked());
    if let Some(path) = &arguments.out {
        report.write_csv(path)?;
    }
    report.found.cautions.iter().for_each(|caution| context.warn(caution));
    context.result(&report, || report.render())
}

/// Refuses times of anything but durations.
fn refuse_times(times: &[f64], task: Task) -> Result<()> {
    match times.is_empty() || task == Task::Duration {
        true => Ok(()),
        false => Err(Failure::bad_input(
            "--at gives the probability that a duration is longer, and the target is none; omit it",
        )),
    }
}

/// The chains weighed by stacking, if nothing that was asked for needs draws of equal weight.
fn stacked(
    chained: &Chained<'_>,
    arguments: &args::Predict,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<Chains> {
    if let Some(refusal) = chained.refusal() {
        return Err(Failure::bad_input(refusal));
    }
    let equal = [(arguments.effects, "--effects"), (arguments.draws_out.is_some(), "--draws-out")];
    if let Some((_, flag)) = equal.into_iter().find(|(asked, _)| *asked) {
        return Err(Failure::bad_input(format!(
            "{flag} takes all draws alike, and --chains stacked does not; omit one of them"
        )));
    }
    let chains = chained.look(context.seed(), &context.workers(interrupt))?;
    chains.doubt().iter().chain(&chains.no_better()).for_each(|it| context.warn(it));
    Ok(chains)
}

/// As many draws of the posterior as there are `draws`, resampled from weighted ones of its
/// variational ensemble, and what these are worth.
fn weighted(
    posterior: &Conditioned,
    spec: &Spec,
    draws: &Draws,
    context: &Context,
) -> Result<(Draws, Importance)> {
    let refused = || {
        Failure::bad_input("--by importance is for networks of --inference variational; omit it")
    };
    let sample = posterior.importance_sample(spec)?.ok_or_else(refused)?;
    let (effective_size, count) = (sample.effective_size, sample.log_weights.len());
    if effective_size.is_nan() || effective_size < FEWEST_WEIGHTS {
        context.warn(&Caution::FewWeights { effective_size, draws: count });
    }
    let mut stream = spec.sampling.seed().stream(Purpose::Weighted, [1, 0]);
    let resampled = sample.resampled(draws.chains * draws.draws, &mut stream);
    let none = || Failure::bad_input("no draw of the ensemble is possible under the posterior");
    Ok((resampled.ok_or_else(none)?, Importance { draws: count, effective_size }))
}

/// The rows of NEW, encoded as those of the fit were.
fn new_rows(encoder: &Encoder, spec: &Spec, arguments: &args::Predict) -> Result<EncodedRows> {
    let given = (arguments.header || arguments.no_header).then_some(arguments.header);
    let (table, _) = read_table(&arguments.new, given.or(spec.data.header))?;
    let table = encoder.name_by_position(table).bad_input()?;
    let missing = match arguments.missing {
        Some(args::Missing::Drop) => Missing::Drop,
        _ => Missing::Error,
    };
    encoder.encode(&table, missing).bad_input()
}
