//! Go as far as fits that are there allow, and make units of those that are missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use posteria_store::{PlannedRun, RunSource, Unit, WorkPlan};

use crate::commands::Context;
use crate::elsewhere::{Elsewhere, Wanted};
use crate::failure::{Failure, Result};
use crate::timing::Timing;
use crate::warning::Warnings;

/// Puts chains and folds that are complete where the choice looks for them; the folders of the runs of
/// folds, with their numbers in the plan.
pub fn install(plan: &WorkPlan, units: &[Unit]) -> Result<Vec<(PathBuf, usize)>> {
    let mut divided = Vec::new();
    for run in 0..plan.run_names().count() {
        let own: Vec<Unit> = units.iter().filter(|unit| unit.run == run).cloned().collect();
        let is_there = plan.have_whole_results(&own)?;
        match plan.place_for(run) {
            Some(path) if is_there && !path.exists() => plan.join_chains(&own, &path)?,
            Some(_) => {}
            None => {
                if own.iter().any(|unit| plan.has_result(unit.id)) {
                    let path = plan.origin_of(run)?;
                    plan.install_folds(run, &own, &path)?;
                    divided.push((path, run));
                }
            }
        }
    }
    Ok(divided)
}

/// Does what is asked for with what is there: whether that was all, and what is missing.
pub fn missing(
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

/// The run in a folder, without units.
pub fn of_folder(run: &Path) -> PlannedRun<'_> {
    PlannedRun::of(&run.display().to_string(), RunSource::Folder(run))
}

/// The run of what is missing, with a unit for each of its folds, or for each chain of them.
pub fn of_wanted(wanted: &Wanted, each_chain: bool) -> PlannedRun<'_> {
    match wanted {
        Wanted::Chains { path, of, table } => PlannedRun {
            into: Some(path.clone()),
            ..PlannedRun::of(&path.display().to_string(), RunSource::New(&of.0, &of.1, table))
        },
        Wanted::Folds { path, divisions } => PlannedRun {
            divisions: divisions.clone(),
            each_chain,
            pace: Timing::read(path).map(|timing| timing.seconds_of(1)),
            ..of_folder(path)
        },
    }
}
