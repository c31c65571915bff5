//! Keep a comparison in the folders of the runs, for their report.

use posteria::assess::ComparisonReport;
use serde::{Deserialize, Serialize};

use crate::assessment::Subject;
use crate::failure::{Classify, Result};
use crate::file::write_json;

/// Name of the file of a run folder that keeps the last comparison it was in.
pub const FILE: &str = "compare.json";

/// A comparison as the folder of each of the runs keeps it: folders that are moved or renamed together
/// still belong together.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    /// What is printed.
    #[serde(flatten)]
    pub found: ComparisonReport,
    /// Which of the models the folder holds.
    pub run: usize,
    /// Draws that every model had, which tell whether a run has gone on since.
    pub run_draws: Vec<usize>,
}

/// Keeps what is printed in the folder of every run.
pub fn keep(found: &ComparisonReport, subjects: &[Subject]) -> Result<()> {
    let draws = |subject: &Subject| subject.draws.chains * subject.draws.draws;
    let run_draws = subjects.iter().map(draws).collect();
    let mut kept = Kept { found: found.clone(), run: 0, run_draws };
    for (run, subject) in subjects.iter().enumerate() {
        kept.run = run;
        let value = serde_json::to_value(&kept).running()?;
        write_json(&subject.path.join(FILE), &value)?;
    }
    Ok(())
}
