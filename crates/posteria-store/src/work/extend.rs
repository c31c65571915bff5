//! Add a stage of units to a plan.

use std::fs;

use super::create::add;
use super::{
    DIVISIONS, Head, PLAN, PlannedRun, RUNS, TABLES, UNITS, WORK, WorkError, WorkPlan, read_text,
    replace_text, to_json,
};
use crate::disk::failure;
use crate::staging::unique;

impl WorkPlan {
    /// Adds the units of these runs, as a stage of its own; how many.
    ///
    /// # Errors
    /// [`WorkError`] if there is no room for them, or a run cannot be copied.
    pub fn extend(&mut self, runs: &[PlannedRun<'_>]) -> Result<usize, WorkError> {
        let scratch = self.path.join(WORK).join(format!("stage.{}", unique()));
        fs::create_dir_all(&scratch).map_err(failure("create", &scratch))?;
        let added = self.put_together(&scratch, runs);
        let _ = fs::remove_dir_all(&scratch);
        let (head, lines) = added?;
        self.grow(head, &lines)
    }

    fn put_together(
        &self,
        scratch: &std::path::Path,
        runs: &[PlannedRun<'_>],
    ) -> Result<(Head, String), WorkError> {
        let folders = [RUNS, TABLES, DIVISIONS];
        for name in folders {
            let folder = scratch.join(name);
            fs::create_dir(&folder).map_err(failure("create", &folder))?;
        }
        let mut head = self.head.clone();
        let lines = add((scratch, &self.path), &mut head, runs)?;
        for name in folders {
            let folder = scratch.join(name);
            for entry in fs::read_dir(&folder).map_err(failure("open", &folder))?.flatten() {
                let place = self.path.join(name).join(entry.file_name());
                // The plan does not know of it: whoever put it there was stopped on the way.
                if place.is_dir() {
                    fs::remove_dir_all(&place).map_err(failure("replace", &place))?;
                }
                fs::rename(entry.path(), &place).map_err(failure("write", &place))?;
            }
        }
        Ok((head, lines))
    }

    /// Puts units behind those that are there: first the units, then that there are so many.
    pub(super) fn grow(&mut self, mut head: Head, lines: &str) -> Result<usize, WorkError> {
        let more = head.units - self.head.units;
        if more == 0 {
            return Err(WorkError::Empty);
        }
        head.stages += 1;
        let path = self.path.join(UNITS);
        let own: String = read_text(&path)?.split_inclusive('\n').take(self.head.units).collect();
        replace_text(&path, &(own + lines))?;
        replace_text(&self.path.join(PLAN), &(to_json(&head)? + "\n"))?;
        self.head = head;
        Ok(more)
    }
}
