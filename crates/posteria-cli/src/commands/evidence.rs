//! Estimate log evidences, and compare models by them.

mod planned;
mod report;
mod sensitivity;
mod subject;
mod watch;

use std::path::{Path, PathBuf};

use posteria::evidence::{
    CurveRung, EstimateError, EvidenceComparison, EvidenceFindings, EvidenceOptions, LadderError,
    NamedEvidence, estimate,
};
use posteria::random::Seed;
use posteria_store::WorkPlan;
use serde::{Deserialize, Serialize};

pub use self::planned::{check as check_planned, planned};
use self::report::{render, render_comparison, warnings};
use self::subject::Subject;
use self::watch::Watch;
use super::Context;
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::file::write_whole;
use crate::interrupt::Interrupt;
use crate::warning::{Enveloped, Warning};

/// Runs `posteria evidence`.
pub fn run(arguments: &args::Evidence, context: &Context) -> Result<()> {
    run_with(arguments, None, context)
}

/// The same, where ladders have been run by the units of a plan ([`planned`]).
pub fn run_with(
    arguments: &args::Evidence,
    plan: Option<&WorkPlan>,
    context: &Context,
) -> Result<()> {
    let mut subjects = subjects(arguments)?;
    let count = subjects.len();
    let each = 1 + arguments.factors();
    if let Some(plan) = plan {
        // As they were called when the plan was made, wherever they are seen from.
        let names = plan.run_names().step_by(each);
        subjects.iter_mut().zip(names).for_each(|(it, name)| it.name = name.into());
    }
    let planned = plan.map(|plan| Ok::<_, Failure>((plan, plan.units()?))).transpose()?;
    let interrupt = Interrupt::listen().running()?;
    let mut reports = Vec::with_capacity(count);
    for (number, subject) in subjects.iter().enumerate() {
        subject.repeat_verdict(context)?;
        let name = if count > 1 { format!("{}: ", subject.name) } else { String::new() };
        let (seed, options) = (seed_of(subject, context), arguments.options());
        let key = key(subject, &options, seed)?;
        let watch = Watch::new(context.output, name, interrupt.clone())
            .keeping(subject.folder.as_deref(), key);
        let first = number * each;
        let memory = match &planned {
            Some((plan, units)) => plan.ladder_memory(first, units)?,
            None => watch.memory(),
        };
        let with = (seed, context.threads);
        let found = estimate(&subject.posterior, &options, with, &watch, memory.as_ref());
        let findings = watch.ended(found.map_err(|error| failure(&subject.name, error)))?;
        let found = findings.report(subject.data.rows());
        let mut report = NamedEvidence { run: subject.name.clone(), found };
        if let Some(sensitivity) = &arguments.sensitivity {
            let watch = watch.without_partial();
            let known = |point: usize| match &planned {
                Some((plan, units)) => Ok(plan.ladder_memory(first + 1 + point, units)?),
                None => Ok(None),
            };
            let curve = sensitivity::curve(subject, sensitivity, (&options, with), &watch, known);
            report.found.sensitivity = Some(watch.ended(curve)?);
        }
        if let Some(folder) = &subject.folder {
            keep(folder, &report, &findings)?;
        }
        watch.complete();
        reports.push(report);
    }
    for report in &reports {
        for warning in warnings(report) {
            let warning = warning.doubt(!report.found.usable);
            context.warn(if count > 1 { warning.of_run(&report.run) } else { warning });
        }
    }
    match &reports[..] {
        [report] => context.result(report, || render(report)),
        _ => {
            let weights = &arguments.prior_weights;
            let comparison = EvidenceComparison::new(reports, weights, context.seed());
            context.result(&comparison, || render_comparison(&comparison))
        }
    }
}

/// What the evidence is asked of: models of the same targets.
fn subjects(arguments: &args::Evidence) -> Result<Vec<Subject>> {
    check(arguments)?;
    let load = |path: &PathBuf| Subject::load(path, arguments.data.as_deref());
    let subjects = arguments.paths.iter().map(load).collect::<Result<Vec<_>>>()?;
    for subject in &subjects[1..] {
        subject.must_have_targets_of(&subjects[0])?;
    }
    Ok(subjects)
}

fn seed_of(subject: &Subject, context: &Context) -> Seed {
    context.seed.map_or(subject.spec.sampling.seed(), Seed)
}

fn check(arguments: &args::Evidence) -> Result<()> {
    let (weights, count) = (&arguments.prior_weights, arguments.paths.len());
    if !weights.is_empty() && weights.len() != count {
        return Err(Failure::bad_input(format!(
            "--prior-weights has {} numbers for {count} models; give one for each",
            weights.len()
        )));
    }
    if weights.iter().any(|weight| !(*weight > 0.0 && weight.is_finite())) {
        return Err(Failure::bad_input("--prior-weights must be positive numbers"));
    }
    if arguments.data.is_some() && count > 1 {
        return Err(Failure::bad_input("--data FILE is for one run; omit it"));
    }
    Ok(())
}

/// Everything that the numbers of ladders depend on.
fn key(subject: &Subject, options: &EvidenceOptions, seed: Seed) -> Result<String> {
    let spec = subject.spec.to_toml().bad_input()?;
    let ladder = options.ladder(&subject.posterior);
    let kept = (&options.methods, options.proposal);
    Ok(format!("{spec}\n{ladder:?} {kept:?} {seed:?}"))
}

/// Why there is no estimate of what is called `name`, by whose fault.
fn failure(name: &str, error: EstimateError) -> Failure {
    match error {
        EstimateError::Ladder(
            LadderError::Start | LadderError::Interrupted | LadderError::Laplace(_),
        )
        | EstimateError::Mode(_) => {
            Failure::Running(anyhow::Error::new(error).context(name.to_string()))
        }
        error => Failure::bad_input(format!("{name}: {error}")),
    }
}

/// Name of the file of a run folder that keeps its evidence.
pub const FILE: &str = "evidence.json";

/// The evidence of a run as its folder keeps it.
#[derive(Serialize, Deserialize)]
pub struct KeptEvidence {
    /// What is printed.
    #[serde(flatten)]
    pub report: NamedEvidence,
    /// Energy against temperature.
    pub curve: Vec<CurveRung>,
    /// What to be careful about, which the envelope writes.
    #[serde(default, skip_serializing)]
    pub warnings: Vec<Warning>,
}

/// Writes the evidence into the folder of a run.
fn keep(folder: &Path, report: &NamedEvidence, findings: &EvidenceFindings) -> Result<()> {
    let (report, warnings) = (report.clone(), warnings(report));
    let kept = KeptEvidence { report, curve: findings.curve(), warnings: Vec::new() };
    let value = serde_json::to_value(Enveloped::new(&kept, &warnings)).running()?;
    let text = serde_json::to_string_pretty(&value).running()? + "\n";
    let path = folder.join(FILE);
    write_whole(&path, |file| file.write_all(text.as_bytes()).running())
}
