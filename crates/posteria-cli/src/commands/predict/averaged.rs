//! Predict by several runs, averaged.

use std::path::PathBuf;

use posteria::assess::{ModelAverage, PredictOptions, TargetFacts};
use posteria::data::Missing;
use posteria::evidence::{EvidenceReport, ModelEvidence, model_probabilities};
use serde::Serialize;

use super::report::Report;
use crate::args::{self, ModelWeights};
use crate::assessment::Subject;
use crate::commands::evidence::{self, KeptEvidence};
use crate::commands::{compare, report};
use crate::context::Context;
use crate::decide::Decide;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::{Table, heading};
use crate::prepare::read_table;
use crate::text::fixed;
use crate::warning::Warning;

/// How much every run counts.
#[derive(Serialize)]
pub struct Averaged {
    weights: &'static str,
    models: Vec<AveragedRun>,
}

#[derive(Serialize)]
struct AveragedRun {
    run: String,
    weight: f64,
    /// What the errors of the log evidences leave open of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight_sd: Option<f64>,
    /// Of the rows of the table, by this run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_log_density: Option<f64>,
}

/// Runs `posteria predict` with several runs.
pub fn run(arguments: &args::Predict, context: &Context) -> Result<()> {
    let alone = [
        (arguments.effects, "--effects"),
        (arguments.draws_out.is_some(), "--draws-out"),
        (arguments.chains.is_some(), "--chains"),
        (arguments.by.is_some(), "--by"),
        (arguments.data.is_some(), "--data"),
    ];
    if let Some((_, flag)) = alone.into_iter().find(|(asked, _)| *asked) {
        return Err(Failure::bad_input(format!(
            "{flag} is about one run, and there are {}; omit it, or give one run",
            arguments.runs.len()
        )));
    }
    let interrupt = Interrupt::listen().running()?;
    let subjects = arguments.runs.iter().map(|path| Subject::open(path));
    let mut subjects = subjects.collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = arguments.runs.iter().map(|it| it.display().to_string()).collect();
    let first = &subjects[0].prepared;
    let given = (arguments.header || arguments.no_header).then_some(arguments.header);
    let (table, _) = read_table(&arguments.new, given.or(first.spec.data.header))?;
    let table = first.encoder.name_by_position(table).bad_input()?;
    super::refuse_times(&arguments.at, first.data.task)?;
    let decide =
        Decide::new(arguments.cost.as_deref(), &arguments.choosing, &TargetFacts::of(&first.data))?;
    // What cannot be averaged is refused before weights are looked for, which may take long.
    average(&subjects, &names, &vec![1.0; names.len()])?;
    subjects.iter().for_each(|subject| subject.repeat_verdict(&context.warnings));
    let (weights, sds) = match arguments.weights.unwrap_or(ModelWeights::Stacking) {
        ModelWeights::Equal => (vec![1.0; names.len()], None),
        ModelWeights::Stacking => (stacking(arguments, &subjects, &names, context)?, None),
        ModelWeights::Evidence => {
            let (weights, sds) = probabilities(arguments, &names, context)?;
            (weights, Some(sds))
        }
    };
    for subject in &mut subjects {
        subject.fit.draws = subject.fit.draws.clone().spread_evenly(arguments.draws);
        subject.fit.workers = context.workers(&interrupt);
    }
    let average = average(&subjects, &names, &weights)?;
    let asked = PredictOptions {
        at: &arguments.at,
        quantiles: &arguments.quantiles,
        decide: decide.as_ref().map(|it| (&it.costs, it.rule)),
        chains: None,
        missing: match arguments.missing {
            Some(args::Missing::Drop) => Missing::Drop,
            _ => Missing::Error,
        },
    };
    let found = average.predict(&table, &asked)?;
    let densities = &found.mean_log_densities;
    let models = names.into_iter().zip(average.shares()).enumerate();
    let models = models.map(|(index, (run, weight))| AveragedRun {
        run,
        weight,
        weight_sd: sds.as_ref().map(|sds| sds[index]),
        mean_log_density: densities.as_ref().map(|it| it[index]),
    });
    let weights = arguments.weights.unwrap_or(ModelWeights::Stacking).name();
    let averaged = Averaged { weights, models: models.collect() };
    let mut report = Report::new(arguments, found.predictions, None);
    report.average = Some(averaged);
    if let Some(path) = &arguments.out {
        report.write_csv(path)?;
    }
    report.found.cautions.iter().for_each(|caution| context.warn(caution));
    context.result(&report, || report.render())
}

fn average<'a>(
    subjects: &'a [Subject],
    names: &[String],
    weights: &[f64],
) -> Result<ModelAverage<'a>> {
    let fits = names.iter().zip(subjects).map(|(name, subject)| (name.as_str(), &subject.fit));
    Ok(ModelAverage::new(&fits.collect::<Vec<_>>(), weights)?)
}

/// Stacking weights: those of the comparison that the runs keep, or of one that is made now.
fn stacking(
    arguments: &args::Predict,
    subjects: &[Subject],
    names: &[String],
    context: &Context,
) -> Result<Vec<f64>> {
    let draws = |subject: &Subject| subject.draws.chains * subject.draws.draws;
    let draws: Vec<usize> = subjects.iter().map(draws).collect();
    if let Some(weights) = report::kept_weights(&arguments.runs, names, &draws)? {
        return Ok(weights);
    }
    let how = args::How::default();
    let asked = args::Compare { runs: arguments.runs.clone(), how, difference: None, by: None };
    let found = compare::find(&asked, context)?;
    found.warn(context);
    Ok(found.0.stacking_weights())
}

/// Posterior probabilities of the runs, all as probable before the data, and what errors of the log
/// evidences leave open of them.
fn probabilities(
    arguments: &args::Predict,
    names: &[String],
    context: &Context,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let command = || {
        let runs = arguments.runs.iter().map(|run| run.display().to_string());
        format!("evidence {}", runs.collect::<Vec<_>>().join(" "))
    };
    let one = |(path, name): (&PathBuf, &String)| {
        let missing = || {
            Failure::bad_input(format!(
                "{name} keeps no log evidence; run posteria {} first, or use --weights stacking",
                command()
            ))
        };
        let kept = report::read::<KeptEvidence>(path, evidence::FILE, &command())?;
        let EvidenceReport { log_evidence, mcse, usable, .. } =
            kept.ok_or_else(missing)?.report.found;
        if !log_evidence.is_finite() {
            return Err(missing());
        }
        if !usable {
            let text = "its log evidence is not to be relied on, and neither is its weight; see \
                        posteria evidence, or use --weights stacking";
            context.warn(Warning::new("evidence-not-usable", text).doubt(true).of_run(name));
        }
        Ok(ModelEvidence { log_evidence, standard_error: mcse, prior_weight: 1.0 })
    };
    let models = arguments.runs.iter().zip(names).map(one).collect::<Result<Vec<_>>>()?;
    let found = model_probabilities(&models, context.seed());
    Ok((found.probabilities, found.sds))
}

impl Averaged {
    /// How much every run counts, as text.
    pub fn render(&self) -> String {
        let mut header = vec!["", "weight"];
        let first = &self.models[0];
        header.extend(first.weight_sd.map(|_| "sd"));
        header.extend(first.mean_log_density.map(|_| "mean log density"));
        let mut table = Table::new(&header);
        for model in &self.models {
            let mut cells = vec![model.run.clone(), fixed(model.weight, 3)];
            cells.extend(model.weight_sd.map(|sd| fixed(sd, 3)));
            cells.extend(model.mean_log_density.map(|density| fixed(density, 3)));
            table.row(cells);
        }
        let title = format!("Average of {} runs, weights: {}", self.models.len(), self.weights);
        format!("{}{}", heading(&title), table.render())
    }
}
