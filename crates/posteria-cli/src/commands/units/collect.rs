//! Put together what units have found, and go on as the command by itself.

use std::path::PathBuf;
use std::sync::Arc;

use posteria::caution::shell_word;
use posteria_store::{Unit, WorkPlan};

use super::plan::planned;
use super::stage::tell_added;
use super::{candidates, read, selection};
use crate::args::{self, Planned};
use crate::commands::{Context, assess, compare, evidence, fit};
use crate::elsewhere::Collected;
use crate::failure::{Failure, Result};
use crate::text;

/// Most units that are named one by one.
const MOST_NAMED: usize = 5;

/// Runs `posteria collect`.
pub fn collect(arguments: &args::Collect, context: &Context) -> Result<()> {
    if context.seed.is_some() {
        return Err(Failure::bad_input("a plan keeps its seed; omit --seed"));
    }
    let mut plan = WorkPlan::open(&arguments.plan)?;
    let (action, seed) = planned(&plan)?;
    let units = plan.units()?;
    if matches!(action, Planned::Fit(_)) {
        return join(&plan, &units, arguments, context);
    }
    if arguments.out.is_some() {
        return Err(Failure::bad_input(
            "--out is for the plan of a fit; what others find goes into the folders of their runs, so \
             omit it",
        ));
    }
    let context = &Context { seed, ..context.clone() };
    let action = match action {
        Planned::Evidence(it) => {
            return evidence(&mut plan, &units, (it.evidence, arguments), context);
        }
        Planned::Select(it) => {
            return selection::collected(&mut plan, &units, (*it, arguments), context);
        }
        Planned::Compare(mut it) if compare::has_specifications(&it.compare) => {
            it.compare.how.method = Some(args::AssessMethod::Kfold);
            let asked = (it.compare, it.units.are_chains(), arguments);
            return candidates::collected(&mut plan, &units, asked, context);
        }
        action => action,
    };
    let runs = (0..plan.run_names().count())
        .map(|run| plan.origin_of(run))
        .collect::<Result<Vec<PathBuf>, _>>()?;
    // What is wrong with one keeps no other from its place.
    let each = runs.iter().enumerate();
    let installed: Vec<_> = each.map(|(run, path)| plan.install_folds(run, &units, path)).collect();
    installed.into_iter().collect::<Result<(), _>>()?;
    all_there(&plan, &units, arguments)?;
    plan.clear_all()?;
    let context = &knowing(&runs.iter().cloned().zip(0..).collect::<Vec<_>>(), &plan, context)?;
    match action {
        Planned::Assess(mut it) => {
            it.assess.run = runs.into_iter().next();
            it.assess.how.method = Some(args::AssessMethod::Kfold);
            assess::run(&it.assess, context)
        }
        Planned::Compare(mut it) => {
            it.compare.runs = runs;
            it.compare.how.method = Some(args::AssessMethod::Kfold);
            compare::run(&it.compare, context)
        }
        Planned::Fit(_) | Planned::Evidence(_) | Planned::Select(_) => Ok(()),
    }
}

/// The same context, which knows what units have found out about the folds of runs in these folders, with
/// their numbers in the plan.
pub fn knowing(runs: &[(PathBuf, usize)], plan: &WorkPlan, context: &Context) -> Result<Context> {
    let collected = Collected::new(plan.clone(), runs.to_vec())?;
    Ok(Context { collected: Some(Arc::new(collected)), ..context.clone() })
}

/// The evidences of what ladders have found together, or the ladders that are to be run next.
fn evidence(
    plan: &mut WorkPlan,
    units: &[Unit],
    (mut asked, arguments): (args::Evidence, &args::Collect),
    context: &Context,
) -> Result<()> {
    all_there(plan, units, arguments)?;
    plan.clear_all()?;
    // Those between them are the same models with other priors.
    let each = 1 + asked.factors();
    for (number, path) in asked.paths.iter_mut().enumerate() {
        *path = plan.place_of(number * each).unwrap_or(path.clone());
    }
    evidence::check_planned(plan, &asked)?;
    match plan.place_ladders()? {
        0 => evidence::run_with(&asked, Some(plan), context),
        added => tell_added((&arguments.plan, plan), added, context),
    }
}

/// The run that the chains make together.
fn join(
    plan: &WorkPlan,
    units: &[Unit],
    arguments: &args::Collect,
    context: &Context,
) -> Result<()> {
    let Some(out) = &arguments.out else {
        return Err(Failure::bad_input(
            "say where to put the run: posteria collect PLAN --out RUN",
        ));
    };
    all_there(plan, units, arguments)?;
    plan.join_chains(units, out)?;
    plan.clear_all()?;
    fit::print(&fit::joined(out, Some(plan.prepared(0, &read)?), context)?, context)
}

/// Refuses to go on while units are missing, and says which.
pub fn all_there(plan: &WorkPlan, units: &[Unit], arguments: &args::Collect) -> Result<()> {
    let mut missing = Vec::new();
    for unit in units {
        if !plan.has_whole_result(unit)? {
            missing.push(unit);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let name = |unit: &&Unit| match plan.has_result(unit.id) {
        true => format!("{} ({}; its result is damaged)", unit.id, unit.what),
        false => format!("{} ({})", unit.id, unit.what),
    };
    let named: Vec<String> = missing.iter().take(MOST_NAMED).map(name).collect();
    let more = match missing.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let numbers: Vec<String> =
        missing.iter().take(MOST_NAMED).map(|unit| unit.id.to_string()).collect();
    let shown = shell_word(&arguments.plan.display().to_string());
    Err(Failure::Running(anyhow::anyhow!(
        "{} of {} are missing: {}{more}; what is there is kept; run them with posteria run-unit {shown} \
         {}, and collect again",
        missing.len(),
        text::count(units.len(), "unit"),
        named.join(", "),
        numbers.join(" "),
    )))
}
