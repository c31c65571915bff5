//! A search over input sets and the choice of one: stage after stage, as the choice needs fits.

use std::path::Path;

use posteria_store::{NewPlan, PlannedRun, RunSource, Unit, WorkPlan};
use serde_json::Value;

use super::missing::{install, missing, of_folder, of_wanted};
use super::stage::tell_added;
use super::{collect, read};
use crate::args;
use crate::commands::{Context, select};
use crate::failure::{Failure, Result};
use crate::prepare::{Source, prepare};

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
        runs.extend(wanted.iter().map(|it| of_wanted(it, false)));
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
    let source = RunSource::New(&prepared, &prepared.plan, table);
    let name = into.display().to_string();
    let runs = vec![PlannedRun { into: Some(into), ..PlannedRun::of(&name, source) }];
    Ok(WorkPlan::create(out, &NewPlan { action: "select", arguments, runs })?)
}

/// Goes as far as results allow: tells the choice, or which fits it needs next.
pub fn collected(
    plan: &mut WorkPlan,
    units: &[Unit],
    (asked, arguments): (args::PlannedSelect, &args::Collect),
    context: &Context,
) -> Result<()> {
    let divided = install(plan, units)?;
    collect::all_there(plan, units, arguments)?;
    plan.clear_all()?;
    let context = &collect::knowing(&divided, plan, context)?;
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
    let runs: Vec<PlannedRun<'_>> = wanted.iter().map(|it| of_wanted(it, false)).collect();
    let added = plan.extend(&runs)?;
    tell_added((&arguments.plan, plan), added, context)
}
