//! Make a plan: of which runs, which units.

use std::path::{Path, PathBuf};

use clap::Parser;
use posteria::assess::{ComparedFit, Division, Method, Refit, check_comparable};
use posteria::sample::Plan as ChainPlan;
use posteria_store::{NewPlan, PlannedRun, RunSource, WorkPlan};
use serde::Serialize;
use serde_json::{Value, json};

use super::stage::{next, write_order};
use super::{candidates, script, selection};
use crate::args::{self, AssessMethod, Cli, Command, How, Planned, Scripted};
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::commands::fit::warn_of_size;
use crate::commands::{compare, evidence};
use crate::context::Context;
use crate::elsewhere::chains_wait;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::job::FitJob;
use crate::prepare::prepare;
use crate::text;
use crate::timing::Timing;

/// What was planned.
#[derive(Serialize)]
struct PlanReport {
    plan: String,
    action: &'static str,
    units: usize,
    runs: usize,
    /// Of all units together, in seconds of one core where runs say how long their chains took.
    cost: f64,
    /// The unit that takes longest.
    longest: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
}

/// Runs `posteria plan`.
pub fn plan(arguments: &args::Plan, context: &Context) -> Result<()> {
    let typed = typed(context)?;
    let (path, action, made, scripted) = match &arguments.action {
        Planned::Assess(it) => {
            let runs: Vec<PathBuf> = it.assess.run.iter().cloned().collect();
            refuse(&it.assess.how, it.assess.pointwise.is_some())?;
            if it.assess.chains.is_some() {
                return Err(Failure::bad_input(
                    "--chains is for --test, which has no units; omit it",
                ));
            }
            (
                &it.out,
                "assess",
                folds(
                    (&runs, it.units.are_chains()),
                    &it.assess.how,
                    (&it.out, "assess", typed),
                    context,
                )?,
                it.script,
            )
        }
        Planned::Compare(it) => {
            refuse(&it.compare.how, false)?;
            let args::Compare { runs, how, .. } = &it.compare;
            let made = if compare::has_specifications(&it.compare) {
                let how = How { method: Some(AssessMethod::Kfold), ..how.clone() };
                let asked = args::Compare { how, ..it.compare.clone() };
                candidates::planned((&asked, it.units.are_chains()), (&it.out, typed), context)?
            } else {
                folds((runs, it.units.are_chains()), how, (&it.out, "compare", typed), context)?
            };
            (&it.out, "compare", made, it.script)
        }
        Planned::Fit(it) => {
            let Some(out) = &it.fit.out else {
                return Err(Failure::bad_input("say where to put the plan: -o PLAN"));
            };
            (out, "fit", chains(&it.fit, (out, typed), context)?, it.script)
        }
        Planned::Evidence(it) => {
            let made = evidence::planned(&it.evidence, (&it.out, typed), context)?;
            (&it.out, "evidence", made, it.script)
        }
        Planned::Select(it) => {
            let Some(out) = &it.select.fit.out else {
                return Err(Failure::bad_input("say where to put the plan: -o PLAN"));
            };
            (out, "select", selection::planned(it, (out, typed), context)?, it.script)
        }
    };
    report((path, action), &made, scripted, context)
}

/// The arguments as they were typed, to be read again by who collects.
fn typed(context: &Context) -> Result<Value> {
    let text = |it: &std::ffi::OsString| {
        let text = it.to_str().map(String::from);
        text.ok_or_else(|| Failure::bad_input("an argument is not UTF-8; rename it"))
    };
    // Programs have many names.
    let first = std::iter::once(Ok("posteria".to_string()));
    let all = first.chain(context.typed.iter().skip(1).map(text));
    Ok(json!(all.collect::<Result<Vec<_>>>()?))
}

/// What was planned, from the arguments that a plan keeps.
pub fn planned(plan: &WorkPlan) -> Result<(Planned, Option<u64>)> {
    let other = || {
        Failure::bad_input(
            "this plan was not made by posteria plan; collect it where it was made, or make it anew",
        )
    };
    let typed: Vec<String> =
        serde_json::from_value(plan.arguments().clone()).map_err(|_| other())?;
    let cli = Cli::try_parse_from(typed).map_err(|_| other())?;
    let Command::Plan(arguments) = cli.command else { return Err(other()) };
    match &arguments.action {
        Planned::Assess(it) => refuse(&it.assess.how, it.assess.pointwise.is_some())?,
        Planned::Compare(it) => refuse(&it.compare.how, false)?,
        Planned::Fit(_) | Planned::Evidence(_) | Planned::Select(_) => {}
    }
    Ok((arguments.action, cli.global.seed))
}

/// Refuses what is not about folds, or reads or writes files that are not in the plan.
fn refuse(how: &How, pointwise: bool) -> Result<()> {
    if how.method.is_some_and(|method| method != AssessMethod::Kfold) || how.test.is_some() {
        return Err(Failure::bad_input(
            "only folds are units: a plan needs --method kfold, and no --test",
        ));
    }
    let of_files = [("--cost", how.cost.is_some()), ("--pointwise", pointwise)];
    match of_files.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::bad_input(format!(
            "{flag} is not for plans: omit it, and give it to the same command when the plan is \
             collected; the folds are there then"
        ))),
    }
}

/// A plan of the folds of runs.
fn folds(
    (paths, each_chain): (&[PathBuf], bool),
    how: &How,
    (out, action, arguments): (&Path, &str, Value),
    context: &Context,
) -> Result<WorkPlan> {
    let how = &How { method: Some(AssessMethod::Kfold), ..how.clone() };
    let interrupt = Interrupt::listen().running()?;
    let subjects = paths.iter().map(|path| Subject::open(path)).collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let compared: Vec<ComparedFit<'_>> = subjects
        .iter()
        .zip(&names)
        .map(|(it, name)| ComparedFit { name, fit: &it.fit, observed: it.judged() })
        .collect();
    if compared.len() > 1 {
        check_comparable(&compared).bad_input()?;
    }
    let mut runs = Vec::with_capacity(subjects.len());
    for (subject, name) in subjects.iter().zip(&names) {
        let plan = Plan::beside(how, subject, &subjects, context.seed())?;
        let Method::KFold { schemes, draws } = &plan.method else {
            return Err(Failure::bad_input("a plan needs --method kfold"));
        };
        let refit = FoldFolders::new(subject, context.seed(), context.watched(&interrupt));
        let refit = refit.valued(&plan);
        let labels = |column: &str| refit.labels(column);
        let all = Division::all(&subject.fit, (schemes, *draws), labels)?;
        let divisions = all.iter().map(|division| refit.planned(division));
        runs.push(PlannedRun {
            divisions: divisions.collect::<Result<Vec<_>>>()?,
            each_chain,
            pace: Timing::read(&subject.path).map(|timing| timing.seconds_of(1)),
            ..PlannedRun::of(name, RunSource::Folder(&subject.path))
        });
    }
    Ok(WorkPlan::create(out, &NewPlan { action, arguments, runs })?)
}

/// A plan of the chains of a fit.
fn chains(flags: &args::Fit, (out, typed): (&Path, Value), context: &Context) -> Result<WorkPlan> {
    let given = [
        ("--dry-run", flags.dry_run),
        ("--force", flags.force),
        ("--chain", flags.chain.is_some()),
        ("--test", flags.test.is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::bad_input(format!("{flag} is not for the plan of a fit; omit it")));
    }
    let job = FitJob::new(flags, context.seed)?;
    if job.data == Path::new("-") {
        return Err(Failure::bad_input("a plan copies its table: write it into a file first"));
    }
    let prepared = prepare(job.spec, &job.data)?;
    if prepared.spec.data.test.is_some() {
        return Err(Failure::bad_input("test in [data] is not for the plan of a fit; omit it"));
    }
    if prepared.is_sampled() && !prepared.has_independent_chains() {
        return Err(chains_wait());
    }
    let plan: &ChainPlan = &prepared.plan;
    warn_of_size(&prepared, plan, context)?;
    prepared.cautions.iter().for_each(|caution| context.warn(caution));
    let name = job.data.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = format!("{} of {name}", prepared.spec.model.kind.name());
    let source = RunSource::New(&prepared, plan, &job.data);
    let runs = vec![PlannedRun::of(&name, source)];
    Ok(WorkPlan::create(out, &NewPlan { action: "fit", arguments: typed, runs })?)
}

fn report(
    (path, action): (&Path, &'static str),
    made: &WorkPlan,
    scripted: Scripted,
    context: &Context,
) -> Result<()> {
    let units = made.units()?;
    write_order(path, &units)?;
    let script = scripted.script.map(|kind| script::write(path, action, kind));
    let script = script.transpose()?;
    let cost = units.iter().map(|unit| unit.cost).sum();
    let longest = units.iter().map(|unit| unit.cost).fold(0.0, f64::max);
    let (runs, plan) = (made.run_names().count(), path.display().to_string());
    let report = PlanReport { plan, action, units: units.len(), runs, cost, longest, script };
    context.result(&report, || {
        let next = next(path, context.threads);
        let units = text::count(report.units, "unit");
        match context.output.quiet {
            true => String::new(),
            false => format!("{}: {units} of {action}\n{next}\n", text::printable(&report.plan)),
        }
    })
}
