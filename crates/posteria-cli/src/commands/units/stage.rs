//! Say what is to be done next: which units, in which order, by which command.

use std::num::NonZero;
use std::path::Path;

use posteria::caution::shell_word;
use posteria_store::{Unit, WorkPlan};
use serde::Serialize;

use super::script::written;
use crate::context::Context;
use crate::failure::{Classify, Result};
use crate::file::write_whole;
use crate::text;

/// Name of the file with the numbers of the units that are not done, those that take longest first.
pub const ORDER: &str = "order.txt";

/// A stage of units that was added to a plan.
#[derive(Serialize)]
struct StageReport {
    plan: String,
    action: String,
    /// How often units were put into the plan.
    stage: usize,
    /// How many were put into it now.
    added: usize,
}

/// Writes which units are to be done, in the order in which none is left over in the end.
pub fn write_order(plan: &Path, units: &[Unit]) -> Result<()> {
    let mut units: Vec<&Unit> = units.iter().collect();
    units.sort_by(|a, b| b.cost.total_cmp(&a.cost).then(a.id.cmp(&b.id)));
    let order: String = units.iter().map(|unit| format!("{}\n", unit.id)).collect();
    write_whole(&plan.join(ORDER), |file| file.write_all(order.as_bytes()).running())
}

/// The command that does all units, and collects.
pub fn next(plan: &Path, threads: NonZero<usize>) -> String {
    if let Some(script) = written(plan) {
        return format!("next: sh {script}");
    }
    let shown = shell_word(&plan.display().to_string());
    format!(
        "next: xargs -n 1 -P {threads} posteria run-unit {shown} < {shown}/{ORDER}; posteria collect \
         {shown}"
    )
}

/// Tells that so many units were added to a plan.
pub fn tell_added((path, plan): (&Path, &WorkPlan), added: usize, context: &Context) -> Result<()> {
    let units = plan.units()?;
    let (done, new): (Vec<Unit>, Vec<Unit>) =
        units.into_iter().partition(|unit| plan.has_result(unit.id));
    write_order(path, &new)?;
    let report = StageReport {
        plan: path.display().to_string(),
        action: plan.action().to_string(),
        stage: plan.stages(),
        added,
    };
    context.result(&report, || match context.output.quiet {
        true => String::new(),
        false => format!(
            "{}: {} done; stage {} has {} more\n{}\n",
            text::printable(&report.plan),
            text::count(done.len(), "unit"),
            report.stage,
            text::count(added, "unit"),
            next(path, context.threads),
        ),
    })
}
