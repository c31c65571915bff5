//! Keep a comparison in the folders of the runs, for their report.

use super::Report;
use crate::assessment::Subject;
use crate::failure::{Classify, Result};
use crate::file::write_json;

/// Name of the file of a run folder that keeps the last comparison it was in.
const FILE: &str = "compare.json";

/// Keeps what is printed in the folder of every run, with the number of the run among the models:
/// folders that are moved or renamed together still belong together.
pub fn keep(report: &Report, subjects: &[Subject]) -> Result<()> {
    let mut value = serde_json::to_value(report).running()?;
    for (index, subject) in subjects.iter().enumerate() {
        value["run"] = index.into();
        write_json(&subject.path.join(FILE), &value)?;
    }
    Ok(())
}
