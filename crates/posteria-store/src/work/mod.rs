//! Divide work into units that machines do one by one, and join what they have found.
//!
//! ```text
//! PLAN/plan.json         what is asked for, of which runs; digests; how many units
//! PLAN/units.jsonl       the units, a line each
//! PLAN/divisions/N.json  how rows are divided
//! PLAN/runs/N            a copy of every run that the units are parts of
//! PLAN/tables/…          the table of a fit that is to be made, the data of one that was in memory
//! PLAN/temperatures/N    where the ladders of a run begin, once that is known
//! PLAN/work/             units on their way: run folders
//! PLAN/results/N.unit    what a unit has found, one file each
//! ```
//!
//! All paths are relative, so that a plan may be copied. Nothing is locked: a result appears under its
//! name when it is whole, and whoever comes second with the same unit has the same bytes. A unit goes
//! on from the furthest checkpoint that anyone has left of it, in a folder of its own.
//!
//! What is to be done next may depend on what was found: then whoever collects adds a *stage* of units.

mod create;
mod error;
mod exact;
mod extend;
mod fitted;
mod install;
mod ladders;
mod results;
mod run_unit;
mod unit;
mod valued;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use self::create::{NewPlan, PlannedRun, RunSource};
pub use self::error::WorkError;
pub use self::fitted::{PlanFits, PlanFolds};
pub use self::ladders::PlannedLadders;
pub use self::run_unit::Ran;
use self::unit::Origin;
pub use self::unit::{PlannedDivision, Unit, Work};
use crate::archive::Seal;
use crate::create::VERSION;
use crate::disk::failure;
use crate::staging::unique;

/// The format that this version writes and reads.
const FORMAT: u32 = 3;
const PLAN: &str = "plan.json";
const UNITS: &str = "units.jsonl";
const DIVISIONS: &str = "divisions";
const RUNS: &str = "runs";
const TABLES: &str = "tables";
const TEMPERATURES: &str = "temperatures";
/// Endings of tables.
const PARQUET: &str = "parquet";
const TEXT: &str = "txt";
const EXACT: &str = "bits";
const WORK: &str = "work";
const RESULTS: &str = "results";
/// No plan has larger files of text.
const LARGEST: u64 = 1 << 30;

/// A folder of units.
#[derive(Clone, Debug)]
pub struct WorkPlan {
    path: PathBuf,
    head: Head,
    /// The checksums of results that were read, by their units: who reads one again, or a clone of the
    /// plan does, computes it only if the file is another one.
    seals: Arc<Mutex<HashMap<usize, Seal>>>,
}

/// What `plan.json` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: u32,
    version: String,
    action: String,
    arguments: Value,
    /// How often units were put into it.
    stages: usize,
    runs: Vec<RunHead>,
    divisions: usize,
    units: usize,
}

/// A run that units are parts of.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunHead {
    /// What it is called.
    name: String,
    /// Where it is, from the folder of the plan; nowhere if it is made by the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Where it is to be, from the folder of the plan, if it is made by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    into: Option<String>,
    specification: String,
    data: String,
    state: String,
    /// The file of its table, if it is made by the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    /// The ladders of its evidence, if that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ladders: Option<PlannedLadders>,
}

impl WorkPlan {
    /// Opens the plan in a folder.
    ///
    /// # Errors
    /// [`WorkError`] if there is none, or one of another version.
    pub fn open(path: &Path) -> Result<Self, WorkError> {
        let file = path.join(PLAN);
        if !file.is_file() {
            return Err(WorkError::NotAPlan { path: path.to_path_buf(), missing: PLAN });
        }
        let value: Value = read_json(&file)?;
        match value["format"].as_u64().and_then(|it| u32::try_from(it).ok()) {
            Some(found) if found > FORMAT => {
                let path = path.to_path_buf();
                return Err(WorkError::Newer { path, found, supported: FORMAT });
            }
            Some(found) if found > 0 && found < FORMAT => {
                let (path, found) = (path.to_path_buf(), format!("of format {found}"));
                return Err(WorkError::OtherVersion { path, found, running: VERSION });
            }
            Some(1..) => {}
            _ => return Err(damaged(&file, "it does not say which format it has")),
        }
        let head: Head =
            serde_json::from_value(value).map_err(|error| damaged(&file, error.to_string()))?;
        if head.version != VERSION {
            let (path, found) = (path.to_path_buf(), head.version);
            return Err(WorkError::OtherVersion { path, found, running: VERSION });
        }
        Ok(WorkPlan { path: path.to_path_buf(), head, seals: Arc::default() })
    }

    /// What is asked for: the name of a command.
    pub fn action(&self) -> &str {
        &self.head.action
    }

    /// With which arguments, as whoever made the plan keeps them.
    pub fn arguments(&self) -> &Value {
        &self.head.arguments
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.head.units
    }

    /// How often units were put into it: once when it was made, and whenever what was found told what
    /// to do next.
    pub fn stages(&self) -> usize {
        self.head.stages
    }

    /// Names of the runs that units are parts of.
    pub fn run_names(&self) -> impl Iterator<Item = &str> {
        self.head.runs.iter().map(|run| &*run.name)
    }

    /// The copy of a run in the plan.
    pub fn run_copy(&self, run: usize) -> PathBuf {
        self.path.join(RUNS).join((run + 1).to_string())
    }

    /// The table of a fit that is to be made, if the plan has one.
    pub fn table(&self, run: usize) -> Option<PathBuf> {
        Some(self.path.join(TABLES).join(self.head.runs[run].table.as_ref()?))
    }

    /// Calls `each` with every unit, in order.
    ///
    /// # Errors
    /// [`WorkError`] if they cannot be read, and what `each` fails with.
    pub fn each_unit<E: From<WorkError>>(
        &self,
        mut each: impl FnMut(Unit) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.path.join(UNITS);
        let file = File::open(&path).map_err(|it| WorkError::from(failure("open", &path)(it)))?;
        let mut number = 0;
        // Whoever adds a stage writes its units first, and then says so.
        for line in BufReader::new(file.take(LARGEST)).lines().take(self.head.units) {
            let line = line.map_err(|it| WorkError::from(failure("read", &path)(it)))?;
            number += 1;
            each(self.parsed(&path, &line, number)?)?;
        }
        match number == self.head.units {
            true => Ok(()),
            false => Err(damaged(&path, "it has not as many units as the plan says").into()),
        }
    }

    /// All units, in order.
    ///
    /// # Errors
    /// [`WorkError`] if they cannot be read.
    pub fn units(&self) -> Result<Vec<Unit>, WorkError> {
        let mut units = Vec::new();
        self.each_unit::<WorkError>(|unit| {
            units.push(unit);
            Ok(())
        })?;
        Ok(units)
    }

    /// The unit of this number, from 1.
    ///
    /// # Errors
    /// [`WorkError::NoUnit`] if there is none.
    pub fn unit(&self, id: usize) -> Result<Unit, WorkError> {
        let none = || WorkError::NoUnit { path: self.path.clone(), unit: id, count: self.count() };
        if !(1..=self.count()).contains(&id) {
            return Err(none());
        }
        let path = self.path.join(UNITS);
        let line = line_of(&path, id).map_err(failure("read", &path))?.ok_or_else(none)?;
        self.parsed(&path, &line, id)
    }

    fn parsed(&self, path: &Path, line: &str, number: usize) -> Result<Unit, WorkError> {
        let wrong = |what: String| damaged(path, format!("line {number}: {what}"));
        let unit: Unit = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let knows = |division| division < self.head.divisions;
        let fits = match unit.work {
            Work::Fold { division, .. } | Work::FoldChain { division, .. } => knows(division),
            Work::Chain { .. } | Work::Whole => true,
            Work::Temperatures | Work::Ladder { .. } => {
                self.head.runs.get(unit.run).is_some_and(|run| run.ladders.is_some())
            }
        };
        if unit.id != number || unit.run >= self.head.runs.len() || !fits {
            return Err(wrong("it is not a unit of this plan".into()));
        }
        Ok(unit)
    }

    /// A division, with the digest of its text.
    fn division(&self, division: usize) -> Result<(PlannedDivision, String), WorkError> {
        let path = self.path.join(DIVISIONS).join(format!("{}.json", division + 1));
        let text = read_text(&path)?;
        let read = serde_json::from_str(&text).map_err(|it| damaged(&path, it.to_string()))?;
        Ok((read, digest(&text)))
    }

    /// What the result of a unit is of.
    fn origin(&self, unit: &Unit) -> Result<Origin, WorkError> {
        let RunHead { specification, data, state, .. } = self.head.runs[unit.run].clone();
        let work = match unit.work {
            Work::Fold { division, index } => {
                format!("fold {index} of {}", self.division(division)?.1)
            }
            Work::FoldChain { division, index, chain } => {
                format!("chain {chain} of fold {index} of {}", self.division(division)?.1)
            }
            Work::Chain { index } => format!("chain {index}"),
            Work::Whole => "whole".into(),
            Work::Temperatures | Work::Ladder { .. } => self.ladder_digest(unit)?,
        };
        let version = self.head.version.clone();
        Ok(Origin { version, data, specification, state, work: digest(&work) })
    }
}

/// The line of the unit of this number, found by halving: units are in order, and there may be 1e5.
fn line_of(path: &Path, id: usize) -> io::Result<Option<String>> {
    let mut file = BufReader::new(File::open(path)?);
    let (mut low, mut high) = (0, file.get_ref().metadata()?.len().min(LARGEST));
    while low < high {
        let middle = u64::midpoint(low, high);
        let mut begin = middle.saturating_sub(1).max(low);
        file.seek(SeekFrom::Start(begin))?;
        if middle > low {
            // To the first line that begins there or behind.
            begin += file.read_until(b'\n', &mut Vec::new())? as u64;
        }
        if begin >= high {
            high = middle;
            continue;
        }
        let mut line = String::new();
        let length = file.read_line(&mut line)? as u64;
        let number = line.strip_prefix("{\"id\":").and_then(|rest| rest.split(',').next());
        match number.and_then(|number| number.parse::<usize>().ok()).map(|it| it.cmp(&id)) {
            Some(Ordering::Less) => low = begin + length,
            Some(Ordering::Greater) => high = middle,
            // What is no unit is refused by whoever reads it.
            Some(Ordering::Equal) | None => return Ok(Some(line)),
        }
    }
    Ok(None)
}

/// SHA-256 in hexadecimal digits.
fn digest(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn damaged(path: &Path, what: impl Into<String>) -> WorkError {
    WorkError::Damaged { path: path.to_path_buf(), what: what.into() }
}

fn read_text(path: &Path) -> Result<String, WorkError> {
    let mut text = String::new();
    let file = File::open(path).map_err(failure("open", path))?;
    file.take(LARGEST).read_to_string(&mut text).map_err(failure("read", path))?;
    Ok(text)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, WorkError> {
    serde_json::from_str(&read_text(path)?).map_err(|error| damaged(path, error.to_string()))
}

/// Puts a file in the place of another at once.
fn replace_text(path: &Path, text: &str) -> Result<(), WorkError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.part", unique()));
    write_text(&temporary, text)?;
    Ok(fs::rename(&temporary, path).map_err(failure("write", path))?)
}

fn write_text(path: &Path, text: &str) -> Result<(), WorkError> {
    Ok(fs::write(path, text).map_err(failure("write", path))?)
}

fn to_json(value: &impl Serialize) -> Result<String, WorkError> {
    serde_json::to_string(value).map_err(|error| damaged(Path::new(PLAN), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_wherever_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(UNITS);
        for count in [1, 2, 3, 7, 64, 301] {
            // Lines of very different lengths.
            let line =
                |id: usize| format!("{{\"id\":{id},\"what\":\"{}\"}}\n", "x".repeat(id * 37 % 101));
            fs::write(&path, (1..=count).map(line).collect::<String>()).expect("written");
            for id in 1..=count {
                assert_eq!(line_of(&path, id).expect("read"), Some(line(id)), "{id} of {count}");
            }
            for id in [0, count + 1] {
                assert_eq!(line_of(&path, id).expect("read"), None, "{id} of {count}");
            }
        }
    }
}
