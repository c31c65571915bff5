//! Ladders of temperatures as units: where they are placed, then each by itself.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use posteria::evidence::{LadderError, LadderMemory, LaddersAsked, Observer, PlacedLadders};
use posteria::fit::Prepared;
use posteria::random::Seed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::unit::{Unit, Work};
use super::{
    TEMPERATURES, WorkError, WorkPlan, damaged, digest, exact, read_json, read_text, replace_text,
    to_json,
};
use crate::disk::failure;
use crate::folds::{PartError, PartOptions};

/// What a unit leaves in its folder: where ladders begin, or what one has found.
const FOUND: &str = "found.json";
/// What it leaves there on its way.
const MEMORY: &str = "memory.json";
/// Temperatures of a ladder where their number is not known yet.
const USUAL_RUNGS: usize = 20;

/// The ladders of the evidence of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLadders {
    /// Names their streams.
    pub seed: u64,
    /// How they run.
    pub asked: LaddersAsked,
}

impl PlannedLadders {
    /// The units of the ladders of a run of this name and number, whose sweeps take so long: where
    /// temperatures are placed, if they are placed together, else the ladders.
    pub(super) fn first_units(&self, run: (&str, usize), pace: f64) -> Vec<Unit> {
        if !self.asked.are_placed_together() {
            return self.ladder_units(run, pace);
        }
        let options = &self.asked.options;
        let sweeps = options.ladders * options.warmup * USUAL_RUNGS;
        let what = format!("temperatures of {}", run.0);
        vec![self.unit(what, run.1, (Work::Temperatures, pace * sweeps as f64))]
    }

    fn ladder_units(&self, (name, run): (&str, usize), pace: f64) -> Vec<Unit> {
        let LaddersAsked { options, direction_sweeps } = &self.asked;
        let sweeps = options.warmup + options.draws + 2 * direction_sweeps.unwrap_or(0);
        let cost = pace * (sweeps * USUAL_RUNGS) as f64;
        let each = (0..options.ladders).map(|index| {
            let what = format!("ladder {} of {} of {name}", index + 1, options.ladders);
            self.unit(what, run, (Work::Ladder { index }, cost))
        });
        each.collect()
    }

    fn unit(&self, what: String, run: usize, (work, cost): (Work, f64)) -> Unit {
        Unit { id: 0, what, run, work, seed: self.seed, cost }
    }
}

impl WorkPlan {
    fn ladders(&self, run: usize) -> Result<&PlannedLadders, WorkError> {
        let none = || damaged(&self.path, "it does not say which ladders there are");
        self.head.runs[run].ladders.as_ref().ok_or_else(none)
    }

    /// The file that says where the ladders of a run begin.
    fn temperatures(&self, run: usize) -> PathBuf {
        self.path.join(TEMPERATURES).join(format!("{}.json", run + 1))
    }

    /// Which unit of which ladders this is.
    pub(super) fn ladder_digest(&self, unit: &Unit) -> Result<String, WorkError> {
        let ladders = self.ladders(unit.run)?;
        let asked = digest(to_json(ladders)?);
        let Work::Ladder { index } = unit.work else {
            return Ok(format!("temperatures of {asked}"));
        };
        let from = match ladders.asked.are_placed_together() {
            true => digest(read_text(&self.temperatures(unit.run))?),
            false => String::new(),
        };
        Ok(format!("ladder {index} of {asked} from {from}"))
    }

    /// Does a unit of ladders in a folder of its own; whether it is done then.
    pub(super) fn run_ladder(
        &self,
        (unit, folder): (&Unit, &Path),
        options: PartOptions<'_>,
    ) -> Result<bool, WorkError> {
        let PlannedLadders { seed, asked } = self.ladders(unit.run)?;
        let fit = self.fit_of(unit.run)?;
        let (posterior, seed) = (&*fit.prepared.posterior, Seed(*seed));
        fs::create_dir_all(folder).map_err(failure("create", folder))?;
        let observer = Watching { options, folder };
        let found = match unit.work {
            Work::Ladder { index } => {
                let placed: Option<PlacedLadders> = match asked.are_placed_together() {
                    true => Some(read_json(&self.temperatures(unit.run))?),
                    false => None,
                };
                // Begun anew where it is not what it should be.
                let memory: Option<LadderMemory> = read_json(&folder.join(MEMORY)).ok();
                let from = (placed.as_ref(), memory.as_ref());
                let found = asked.run_one((posterior, seed), index, from, &observer);
                found.map(|it| to_json(&it))
            }
            _ => {
                let with = (seed, options.threads);
                let found = PlacedLadders::run(posterior, &asked.options, with, &observer);
                found.map(|it| to_json(&it))
            }
        };
        match found {
            Ok(json) => {
                let _ = fs::remove_file(folder.join(MEMORY));
                replace_text(&folder.join(FOUND), &json?)?;
                Ok(true)
            }
            Err(LadderError::Interrupted) => Ok(false),
            Err(error) => Err(WorkError::Unit {
                unit: unit.id,
                what: unit.what.clone(),
                error: Box::new(PartError::Ladder(Box::new(error))),
            }),
        }
    }

    /// How many draws a ladder has left in the folder of an attempt, plus one; 0 where there are none.
    pub(super) fn ladder_draws(folder: &Path) -> usize {
        let memory: Option<LadderMemory> = read_json(&folder.join(MEMORY)).ok();
        memory.map_or(0, |memory| memory.done() + 1)
    }

    fn found<T: DeserializeOwned>(&self, unit: &Unit) -> Result<T, WorkError> {
        let bytes = self.result_bytes(unit.id)?;
        let packed = self.checked(unit, &bytes)?;
        let path = self.result_file(unit.id);
        let json = packed.file(FOUND).ok_or_else(|| damaged(&path, "it lacks what was found"))?;
        serde_json::from_slice(&json).map_err(|error| damaged(&path, error.to_string()))
    }

    /// Adds the ladders of runs whose temperatures have been placed, as a stage of their own; how many
    /// there are, 0 if there is nothing to add. All units must be done.
    ///
    /// # Errors
    /// [`WorkError`] if a result is of something else or damaged, or nothing can be written.
    pub fn place_ladders(&mut self) -> Result<usize, WorkError> {
        let units = self.units()?;
        let (mut head, mut lines) = (self.head.clone(), String::new());
        let is_ladder = |it: &&Unit| matches!(it.work, Work::Ladder { .. });
        let begun: HashSet<usize> = units.iter().filter(is_ladder).map(|unit| unit.run).collect();
        for unit in units.iter().filter(|unit| unit.work == Work::Temperatures) {
            if begun.contains(&unit.run) {
                continue;
            }
            let placed: PlacedLadders = self.found(unit)?;
            replace_text(&self.temperatures(unit.run), &to_json(&placed)?)?;
            let ladders = self.ladders(unit.run)?;
            let sweeps = ladders.asked.options.ladders * ladders.asked.options.warmup;
            let pace = unit.cost / (sweeps.max(1) * USUAL_RUNGS) as f64;
            let name = &self.head.runs[unit.run].name;
            for ladder in ladders.ladder_units((name, unit.run), pace) {
                head.units += 1;
                let line = to_json(&Unit { id: head.units, ..ladder })?;
                // Writing to a text cannot fail.
                let _ = writeln!(lines, "{line}");
            }
        }
        match lines.is_empty() {
            true => Ok(0),
            false => self.grow(head, &lines),
        }
    }

    /// What the ladders of a run, among `units`, have found together; none if it has no ladders.
    ///
    /// # Errors
    /// [`WorkError`] if a result is missing, of something else, or damaged.
    pub fn ladder_memory(
        &self,
        run: usize,
        units: &[Unit],
    ) -> Result<Option<LadderMemory>, WorkError> {
        if self.head.runs.get(run).is_none_or(|it| it.ladders.is_none()) {
            return Ok(None);
        }
        let own = units.iter().filter(|it| it.run == run);
        let ladders = own.filter(|it| matches!(it.work, Work::Ladder { .. }));
        let parts = ladders.map(|unit| self.found(unit)).collect::<Result<Vec<_>, _>>()?;
        let joined = LadderMemory::join(parts);
        joined.map(Some).map_err(|error| PartError::Ladder(Box::new(error)).into())
    }

    /// Refuses a model that is not the one that the plan was made for.
    ///
    /// # Errors
    /// [`WorkError::OtherRun`] if data or specification have changed.
    pub fn check_model(&self, run: usize, prepared: &Prepared) -> Result<(), WorkError> {
        let (head, path) = (&self.head.runs[run], PathBuf::from(&self.head.runs[run].name));
        if digest(exact::encode(&prepared.data)) != head.data {
            return Err(WorkError::OtherRun { path, what: "has other data than when" });
        }
        let spec = prepared
            .spec
            .to_toml()
            .map_err(|error| PartError::from(crate::FitFolderError::from(error)))?;
        match digest(spec) == head.specification {
            true => Ok(()),
            false => Err(WorkError::OtherRun { path, what: "has another specification than when" }),
        }
    }
}

/// Keeps what a ladder can go on from in the folder of an attempt, until it shall stop.
struct Watching<'a> {
    options: PartOptions<'a>,
    folder: &'a Path,
}

impl Observer for Watching<'_> {
    fn checkpoint(&self, memory: &LadderMemory) {
        let kept = to_json(memory).and_then(|json| replace_text(&self.folder.join(MEMORY), &json));
        // The ladder itself does not need it.
        let _ = kept;
    }

    fn advanced(&self, _sweeps: u64) -> ControlFlow<()> {
        (self.options.seen)();
        match self.options.write.cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
