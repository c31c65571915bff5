//! Divide work into units, do them, and put together what they have found.

mod candidates;
mod collect;
mod missing;
mod plan;
mod script;
mod selection;
mod stage;

use std::num::NonZero;
use std::path::Path;
use std::time::Instant;

use posteria::caution::shell_word;
use posteria::fit::Prepared;
use posteria::model::spec::Spec;
use posteria_store::{
    Cadence, PartError, PartOptions, Ran, RunFolder, WorkError, WorkPlan, WriteOptions,
};
use serde::Serialize;

pub use self::collect::collect;
pub use self::plan::plan;
use super::{Context, fit};
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::prepare::prepare;
use crate::sampling::options;
use crate::text;

/// Which units were done.
#[derive(Serialize)]
struct UnitsReport {
    plan: String,
    units: Vec<UnitReport>,
}

/// A unit that was done.
#[derive(Serialize)]
struct UnitReport {
    unit: usize,
    what: String,
    /// Whether its result was there before.
    before: bool,
    seconds: f64,
}

/// Runs `posteria run-unit`.
pub fn run_unit(arguments: &args::RunUnit, context: &Context) -> Result<()> {
    if context.seed.is_some() {
        return Err(Failure::bad_input("units keep the seed of their plan; omit --seed"));
    }
    let plan = WorkPlan::open(&arguments.plan)?;
    // All are looked at before one is done.
    let units = arguments.units.iter().map(|id| plan.unit(*id)).collect::<Result<Vec<_>, _>>()?;
    let interrupt = Interrupt::listen().running()?;
    let mut done = Vec::with_capacity(units.len());
    for unit in units {
        let started = Instant::now();
        let write = WriteOptions { cadence: Cadence::by_time(), ..options(&interrupt) };
        let ran = match interrupt.signal() {
            Some(_) => Ran::Stopped,
            None => do_unit(&plan, unit.id, context.threads, (&write, &|| ()))?,
        };
        if let (Ran::Stopped, Some(signal)) = (ran, interrupt.signal()) {
            let shown = shell_word(&arguments.plan.display().to_string());
            let advice = format!(
                "what was drawn of unit {} is kept; go on with: posteria run-unit {shown} {}",
                unit.id, unit.id
            );
            return Err(Failure::Interrupted { signal, advice });
        }
        let seconds = started.elapsed().as_secs_f64();
        done.push(UnitReport {
            unit: unit.id,
            what: unit.what,
            before: ran == Ran::Before,
            seconds,
        });
    }
    let report = UnitsReport { plan: arguments.plan.display().to_string(), units: done };
    context.result(&report, || {
        let line = |it: &UnitReport| {
            let before =
                if it.before { "was done before".into() } else { text::duration(it.seconds) };
            format!("unit {}, {}: {before}\n", it.unit, text::printable(&it.what))
        };
        match context.output.quiet {
            true => String::new(),
            false => report.units.iter().map(line).collect(),
        }
    })
}

/// Does a unit of a plan as `posteria run-unit` does, wherever that is: until `write` says stop, telling
/// `seen` after every sweep.
///
/// # Errors
/// [`WorkError`] if there is no such unit, or it fails.
pub fn do_unit(
    plan: &WorkPlan,
    id: usize,
    threads: NonZero<usize>,
    (write, seen): (&WriteOptions, &(dyn Fn() + Sync)),
) -> std::result::Result<Ran, WorkError> {
    plan.run_unit(id, &read, PartOptions { threads, write, seen })
}

/// Runs `posteria join`.
pub fn join(arguments: &args::Join, context: &Context) -> Result<()> {
    RunFolder::join(&arguments.runs, &arguments.out)?;
    fit::print(&fit::joined(&arguments.out, None, context)?, context)
}

/// Reads the table of a fit that a plan makes.
fn read(spec: &Spec, table: &Path) -> std::result::Result<Prepared, PartError> {
    let failed =
        |failure: Failure| PartError::Table { message: failure.message().unwrap_or_default() };
    prepare(spec.clone(), table).map_err(failed)
}
