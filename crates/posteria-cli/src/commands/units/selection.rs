//! A search over input sets and the choice of one: stage after stage, as the choice needs fits.

use std::path::Path;
use std::sync::Arc;

use posteria_store::{NewPlan, PlannedRun, RunSource, Unit, WorkPlan};
use serde_json::Value;

use super::stage::tell_added;
use super::{collect, read};
use crate::args;
use crate::commands::{Context, select};
use crate::elsewhere::{Elsewhere, Wanted};
use crate::failure::{Failure, Result};
use crate::prepare::{Source, prepare};
use crate::timing::Timing;
use crate::warning::Warnings;

/// A plan of the search, or of the choice of a search that is there.
pub fn planned(
    asked: &args::PlannedSelect,
    (out, arguments): (&Path, Value),
    context: &Context,
) -> Result<WorkPlan> {
    let flags = &asked.select.fit;
    if let Some((flag, _)) =
        [("--dry-run", flags.dry_run), ("--force", flags.force)].into_iter().find(|it| it.1)
    {
        return Err(Failure::bad_input(format!("{flag} is not for the plan of a search; omit it")));
    }
    if let Some(run) = asked.select.run() {
        if asked.run.is_some() {
            return Err(Failure::bad_input("--run is for a search that is to be made; omit it"));
        }
        let mut select = asked.select.clone();
        select.fit.out = None;
        let (_, wanted) = missing(context, |context| select::run(&select, context))?;
        let mut runs = vec![of_folder(run)];
        runs.extend(wanted.iter().map(of_wanted));
        return Ok(WorkPlan::create(out, &NewPlan { action: "select", arguments, runs })?);
    }
    let mut select = asked.select.clone();
    select.fit.out = asked.run.clone();
    let job = select::job(&select, context)?;
    let source = Source::File(job.data.clone());
    let into = job.out.unwrap_or_default();
    if into.exists() {
        return Err(Failure::bad_input(format!(
            "{} is there already; choose another name with --run, or plan its choice: posteria plan \
             select {}",
            into.display(),
            into.display()
        )));
    }
    if job.data == Path::new("-") {
        return Err(Failure::bad_input("a plan copies its table: write it into a file first"));
    }
    let prepared = prepare(job.spec, &job.data)?;
    let table = select::independent(&prepared, &source)?;
    let runs = vec![PlannedRun {
        name: into.display().to_string(),
        source: RunSource::New(&prepared, &prepared.plan, table),
        into: Some(into.clone()),
        divisions: Vec::new(),
        pace: None,
        ladders: None,
    }];
    Ok(WorkPlan::create(out, &NewPlan { action: "select", arguments, runs })?)
}

/// Goes as far as results allow: tells the choice, or which fits it needs next.
pub fn collected(
    plan: &mut WorkPlan,
    units: &[Unit],
    (asked, arguments): (args::PlannedSelect, &args::Collect),
    context: &Context,
) -> Result<()> {
    install(plan, units)?;
    collect::all_there(plan, units, arguments)?;
    plan.clear_all()?;
    let mut select = asked.select;
    let (found, wanted) = match plan.place_for(0) {
        Some(path) => {
            select.fit.out = Some(path.clone());
            let prepared = plan.prepared(0, &read)?;
            missing(context, |context| select::run_joined(&select, (&path, prepared), context))?
        }
        None => {
            select.fit.out = None;
            select.fit.data = Some(plan.origin_of(0)?);
            missing(context, |context| select::run(&select, context))?
        }
    };
    if found {
        return Ok(());
    }
    let runs: Vec<PlannedRun<'_>> = wanted.iter().map(of_wanted).collect();
    let added = plan.extend(&runs)?;
    tell_added((&arguments.plan, plan), added, context)
}

/// Puts chains and folds that are complete where the choice looks for them.
fn install(plan: &WorkPlan, units: &[Unit]) -> Result<()> {
    for run in 0..plan.run_names().count() {
        let own: Vec<Unit> = units.iter().filter(|unit| unit.run == run).cloned().collect();
        let is_there = own.iter().all(|unit| plan.has_result(unit.id));
        match plan.place_for(run) {
            Some(path) if is_there && !path.exists() => plan.join_chains(&own, &path)?,
            Some(_) => {}
            None => {
                let done = own.iter().filter(|unit| plan.has_result(unit.id));
                for unit in done {
                    plan.install_fold(unit, &plan.origin_of(run)?)?;
                }
            }
        }
    }
    Ok(())
}

/// Does what is asked for with what is there: whether that was all, and what is missing.
fn missing(
    context: &Context,
    work: impl FnOnce(&Context) -> Result<()>,
) -> Result<(bool, Vec<Wanted>)> {
    let elsewhere = Arc::new(Elsewhere::default());
    let noting = Context { elsewhere: Some(elsewhere.clone()), ..context.clone() };
    let quiet = Context { warnings: Warnings::default(), ..noting };
    match work(&quiet) {
        Ok(()) => {
            context.warnings.take_over(&quiet.warnings);
            Ok((true, Vec::new()))
        }
        Err(Failure::Elsewhere) => Ok((false, elsewhere.take())),
        Err(failure) => Err(failure),
    }
}

fn of_folder(run: &Path) -> PlannedRun<'_> {
    PlannedRun {
        name: run.display().to_string(),
        source: RunSource::Folder(run),
        into: None,
        divisions: Vec::new(),
        pace: None,
        ladders: None,
    }
}

fn of_wanted(wanted: &Wanted) -> PlannedRun<'_> {
    match wanted {
        Wanted::Chains { path, of, table } => PlannedRun {
            name: path.display().to_string(),
            source: RunSource::New(&of.0, &of.1, table),
            into: Some(path.clone()),
            divisions: Vec::new(),
            pace: None,
            ladders: None,
        },
        Wanted::Folds { path, division, training } => PlannedRun {
            divisions: vec![(division.clone(), training.clone())],
            pace: Timing::read(path).map(|timing| timing.seconds_of(1)),
            ..of_folder(path)
        },
    }
}
