//! Write what is known about every row.

use std::path::Path;

use anyhow::anyhow;
use posteria::assess::Assessed;

use crate::assessment::Plan;
use crate::failure::{Classify, Result};
use crate::file::write_whole;

/// Writes one line per row: its utilities, and what importance sampling says of it.
pub fn write(path: &Path, plan: &Plan, assessed: &Assessed) -> Result<()> {
    write_whole(path, |writer| {
        table(writer, plan, assessed)
            .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
            .running()
    })
}

fn table(
    writer: &mut dyn std::io::Write,
    plan: &Plan,
    assessed: &Assessed,
) -> std::result::Result<(), csv::Error> {
    let mut table = csv::Writer::from_writer(writer);
    let mut header = vec!["row".to_string()];
    header.extend(plan.utilities.iter().map(|utility| utility.name().to_string()));
    let (loo, folds) = (&assessed.loo, &assessed.folds);
    if loo.is_some() {
        header.extend(["pareto_k", "m_eff", "mcse", "matched", "refitted"].map(String::from));
    }
    if folds.is_some() {
        header.push("fold".into());
    }
    table.write_record(&header)?;
    let values: Vec<Vec<f64>> = assessed.utilities.iter().map(|it| it.values()).collect();
    for row in 0..assessed.evaluated.len() {
        let mut cells = vec![(assessed.row(row) + 1).to_string()];
        cells.extend(values.iter().map(|values| values[row].to_string()));
        if let Some(loo) = loo {
            let one = &loo.pointwise[row];
            let numbers = [one.pareto_shape, one.effective_size, one.mcse];
            cells.extend(numbers.map(|number| number.to_string()));
            let repaired = [&assessed.matched, &assessed.refitted];
            cells.extend(repaired.map(|rows| rows.contains(&row).to_string()));
        }
        cells.extend(folds.as_ref().map(|folds| (folds[row] + 1).to_string()));
        table.write_record(&cells)?;
    }
    table.flush()?;
    Ok(())
}
