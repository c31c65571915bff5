//! A comparison of specifications: the chains of those that are not fitted, then all folds.

use std::path::{Path, PathBuf};

use posteria_store::{NewPlan, PlannedRun, Unit, WorkError, WorkPlan};
use serde_json::Value;

use super::missing::{install, missing, of_folder, of_wanted};
use super::stage::tell_added;
use super::{collect, read};
use crate::args;
use crate::commands::{Context, compare, fit};
use crate::failure::Result;

/// A plan of what is missing.
pub fn planned(
    (asked, each_chain): (&args::Compare, bool),
    (out, arguments): (&Path, Value),
    context: &Context,
) -> Result<WorkPlan> {
    let (_, wanted) = missing(context, |context| compare::find(asked, context).map(drop))?;
    if wanted.is_empty() {
        return Err(WorkError::Empty.into());
    }
    // What is there is copied, too: it is found from wherever the plan is collected.
    let folders: Vec<PathBuf> = asked.runs.iter().map(|path| compare::folder_of(path)).collect();
    let mut runs: Vec<PlannedRun<'_>> =
        folders.iter().filter(|path| path.exists()).map(|path| of_folder(path)).collect();
    runs.extend(wanted.iter().map(|it| of_wanted(it, each_chain)));
    Ok(WorkPlan::create(out, &NewPlan { action: "compare", arguments, runs })?)
}

/// Goes as far as results allow: tells the comparison, or which folds it needs next.
pub fn collected(
    plan: &mut WorkPlan,
    units: &[Unit],
    (mut asked, each_chain, arguments): (args::Compare, bool, &args::Collect),
    context: &Context,
) -> Result<()> {
    let divided = install(plan, units)?;
    collect::all_there(plan, units, arguments)?;
    plan.clear_all()?;
    let context = &collect::knowing(&divided, plan, context)?;
    for path in &mut asked.runs {
        *path = place(plan, &compare::folder_of(path), context)?;
    }
    let (found, wanted) = missing(context, |context| compare::run(&asked, context))?;
    if found {
        return Ok(());
    }
    let runs: Vec<PlannedRun<'_>> = wanted.iter().map(|it| of_wanted(it, each_chain)).collect();
    let added = plan.extend(&runs)?;
    tell_added((&arguments.plan, plan), added, context)
}

/// Where a run is now; one whose chains the plan has run is made whole.
fn place(plan: &WorkPlan, folder: &Path, context: &Context) -> Result<PathBuf> {
    let name = folder.display().to_string();
    let Some(run) = plan.run_names().position(|own| own == name) else {
        return Ok(folder.to_path_buf());
    };
    let Some(path) = plan.place_for(run) else { return Ok(plan.origin_of(run)?) };
    fit::joined(&path, Some(plan.prepared(run, &read)?), context)?;
    Ok(path)
}
