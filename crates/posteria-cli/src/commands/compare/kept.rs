//! Keep a comparison in the folders of the runs, for their report.

use super::Report;
use crate::assessment::Subject;
use crate::failure::{Classify, Result};
use crate::file::write_json;

/// Name of the file of a run folder that keeps the last comparison it was in.
const FILE: &str = "compare.json";

/// Keeps what is printed in the folder of every run, with the number of the run among the models:
/// folders that are moved or renamed together still belong together. The number of draws of every run
/// tells whether it has gone on since.
pub fn keep(report: &Report, subjects: &[Subject]) -> Result<()> {
    let mut value = serde_json::to_value(report).running()?;
    let draws = |subject: &Subject| subject.draws.chains * subject.draws.draws;
    value["run_draws"] = subjects.iter().map(draws).collect::<Vec<usize>>().into();
    for (index, subject) in subjects.iter().enumerate() {
        value["run"] = index.into();
        write_json(&subject.path.join(FILE), &value)?;
    }
    Ok(())
}
