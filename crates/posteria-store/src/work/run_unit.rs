//! Do one unit: from the furthest checkpoint that anyone has left of it to its result.

use std::fs;
use std::path::{Path, PathBuf};

use posteria::assess::{Division, FoldModel};
use posteria::draws::Draws;
use posteria::fit::{Fit, Prepared};
use posteria::model::spec::Spec;
use posteria::sample::Plan;

use super::unit::{PlannedDivision, Unit, Work};
use super::valued::value;
use super::{EXACT, TABLES, WORK, WorkError, WorkPlan, damaged, exact};
use crate::archive;
use crate::disk::failure;
use crate::folds::{ChainsInFolder, FoldRun, PartError, PartOptions, ReadTable};
use crate::staging::unique;
use crate::{FitFolderError, Run, WriteOptions};

/// How the doing of a unit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// Its result is there now.
    Done,
    /// Its result was there before.
    Before,
    /// It was stopped; what was drawn is kept, and whoever runs it again goes on from there.
    Stopped,
}

impl WorkPlan {
    /// Does the unit of this number, unless that has been done. Others may do the same at the same
    /// time, here or on another machine. `read` reads the table of a fit that is to be made.
    ///
    /// # Errors
    /// [`WorkError`] if there is no such unit, or it fails.
    pub fn run_unit(
        &self,
        id: usize,
        read: &ReadTable<'_>,
        options: PartOptions<'_>,
    ) -> Result<Ran, WorkError> {
        let unit = self.unit(id)?;
        if self.has_whole_result(&unit)? {
            self.clear(&unit);
            return Ok(Ran::Before);
        }
        let folder = self.take_up(&unit);
        // The result alone is to stay.
        let write = WriteOptions { scratch: true, ..options.write.clone() };
        let options = PartOptions { write: &write, ..options };
        let done = self.run_in((&unit, &folder), read, options).and_then(|done| match done {
            true => self.keep(&unit, &folder).map(|()| Ran::Done),
            false => Ok(Ran::Stopped),
        });
        match done {
            // Somebody else was done first, and has cleared up.
            Err(_) if self.has_whole_result(&unit).unwrap_or(false) => {
                self.clear(&unit);
                Ok(Ran::Before)
            }
            Ok(Ran::Stopped) => Ok(Ran::Stopped),
            done => {
                if done.is_ok() {
                    self.clear(&unit);
                }
                done
            }
        }
    }

    fn run_in(
        &self,
        (unit, folder): (&Unit, &Path),
        read: &ReadTable<'_>,
        options: PartOptions<'_>,
    ) -> Result<bool, WorkError> {
        let failed = |error: PartError| WorkError::Unit {
            unit: unit.id,
            what: unit.what.clone(),
            error: Box::new(error),
        };
        match unit.work {
            Work::Fold { division, index } => {
                let fit = self.fit_of(unit.run)?;
                let (planned, _) = self.division(division)?;
                let (division, fold) = self.fold_model(&fit, &planned, index)?;
                let run = FoldRun::open(&fit, &division, &fold, folder).map_err(failed)?;
                match (run.run(options).map_err(failed)?, &planned.valuation) {
                    (true, Some(by)) => value((&fit, &fold), by, folder, options).map_err(failed),
                    (done, _) => Ok(done),
                }
            }
            Work::FoldChain { division, index, chain } => {
                let fit = self.fit_of(unit.run)?;
                let (division, fold) = self.fold_model(&fit, &self.division(division)?.0, index)?;
                let of = (&fit, &division);
                let run = FoldRun::of_chains(of, &fold, Some(chain), folder).map_err(failed)?;
                run.run(options).map_err(failed)
            }
            Work::Chain { index } => {
                let prepared = match self.table(unit.run) {
                    Some(_) => self.prepared(unit.run, read).map_err(failed)?,
                    None => self.fit_of(unit.run)?.prepared,
                };
                prepared.check_device().map_err(|error| failed(error.into()))?;
                let plan = Plan { chains: 1, first_chain: index, ..prepared.plan.clone() };
                chains(&prepared, plan, folder, options).map_err(failed)
            }
            Work::Whole => {
                let prepared = self.prepared(unit.run, read).map_err(failed)?;
                prepared.check_device().map_err(|error| failed(error.into()))?;
                chains(&prepared, prepared.plan.clone(), folder, options).map_err(failed)
            }
            Work::Temperatures | Work::Ladder { .. } => self.run_ladder((unit, folder), options),
        }
    }

    /// What a fit that is to be made is of: its table, not what a run folder says of it, which is on
    /// the scale of the user and would differ in the last bits.
    ///
    /// # Errors
    /// [`PartError`] if there is no table, or it is not the one that the plan was made for.
    pub fn prepared(&self, run: usize, read: &ReadTable<'_>) -> Result<Prepared, PartError> {
        let begun = Run::open(&self.run_copy(run))?;
        let spec = Spec::from_toml(begun.spec()).map_err(FitFolderError::from)?;
        let Some(table) = self.table(run) else {
            let message = format!("{} has no table; copy the plan again", self.path.display());
            return Err(PartError::Table { message });
        };
        let mut prepared = read(&spec, &table)?;
        // Where the table was for whoever made the plan.
        prepared.spec.data.path = spec.data.path;
        Ok(prepared)
    }

    /// A run of the plan as a fit, without its draws.
    pub(super) fn fit_of(&self, number: usize) -> Result<Fit, WorkError> {
        let run = Run::open(&self.run_copy(number))?;
        let part = |error: FitFolderError| WorkError::from(PartError::from(error));
        let spec = Spec::from_toml(run.spec()).map_err(|error| part(error.into()))?;
        let mut prepared = run.prepared(spec).map_err(part)?;
        let exact = self.path.join(TABLES).join(format!("{}.{EXACT}", number + 1));
        if exact.is_file() {
            let Prepared { spec, mut data, encoder, .. } = prepared;
            exact::restore(&exact, &mut data)?;
            prepared = Prepared::of_dataset(spec, data, encoder, None)
                .map_err(|error| part(error.into()))?;
        }
        let layout = prepared.posterior.layout().clone();
        let draws = Draws::empty(layout, run.extent().chains, 0);
        let memories = run.memories().into_iter().flatten().collect();
        Ok(Fit::new(prepared, draws, memories, run.extent().warmup))
    }

    pub(super) fn fold_model(
        &self,
        fit: &Fit,
        planned: &PlannedDivision,
        index: usize,
    ) -> Result<(Division, FoldModel), WorkError> {
        let PlannedDivision { scheme, folds, draws, labels, .. } = planned;
        let wrong = |what: &str| Err(damaged(&self.path.join(super::DIVISIONS), what));
        if labels.as_ref().is_some_and(|labels| labels.len() != fit.rows()) {
            return wrong("a division has not one label per row");
        }
        let division =
            Division::new(scheme.clone(), &fit.prepared.data, labels.as_deref(), *draws)?;
        if index >= *folds || *folds != division.folds.count() {
            return wrong("a division has another number of folds than it says");
        }
        let fold = division.model(fit, index).map_err(posteria::assess::AssessError::from)?;
        Ok((division, fold))
    }

    /// A folder of this attempt alone, with a copy of the furthest one that anyone has left.
    fn take_up(&self, unit: &Unit) -> PathBuf {
        let own = self.path.join(WORK).join(format!("{:06}.{}", unit.id, unique()));
        let is_ladder = matches!(unit.work, Work::Temperatures | Work::Ladder { .. });
        let swept = |path: &PathBuf| -> usize {
            match is_ladder {
                true => WorkPlan::ladder_draws(path),
                false => Run::open(path).map_or(0, |run| run.chain_iterations().iter().sum()),
            }
        };
        let furthest = self.attempts(unit).into_iter().max_by_key(swept);
        if let Some(left) = furthest.filter(|path| swept(path) > 0) {
            // Copied, not taken: whoever left it may still be at work on another machine.
            let copied = archive::copy(&left, &own, |_| true);
            // Also what is derived: nobody writes that anew for a run that is closed.
            let whole = || Run::open(&own).is_ok_and(|run| run.verify().is_ok());
            let usable = copied.is_ok() && (is_ladder || whole());
            if !usable {
                // It changed under our hands; to begin anew is always right.
                let _ = fs::remove_dir_all(&own);
            }
        }
        own
    }

    /// The folders of all attempts at a unit.
    fn attempts(&self, unit: &Unit) -> Vec<PathBuf> {
        let begin = format!("{:06}.", unit.id);
        let Ok(entries) = fs::read_dir(self.path.join(WORK)) else { return Vec::new() };
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin))
            })
            .collect();
        found.sort();
        found
    }

    /// Removes what attempts at a unit have left, now that there is a result.
    fn clear(&self, unit: &Unit) {
        for folder in self.attempts(unit) {
            // Who is still at it stops there, and finds the result. Out of the way at once: half of a
            // folder under its own name might be taken for all of a result.
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let aside = folder.with_file_name(format!(".{name}.gone"));
            if fs::rename(&folder, &aside).is_ok() {
                let _ = fs::remove_dir_all(aside);
            }
        }
    }

    /// Removes what attempts have left, of units that are done.
    ///
    /// # Errors
    /// [`WorkError`] if the units cannot be read.
    pub fn clear_all(&self) -> Result<(), WorkError> {
        let folder = self.path.join(WORK);
        for entry in fs::read_dir(&folder).map_err(failure("open", &folder))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // What is on its way in or out has a dot before its name.
            let of = name.trim_start_matches('.').split('.').next().and_then(|id| id.parse().ok());
            if of.is_some_and(|id| self.has_result(id)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }
}

/// Runs chains into a folder, from where they are there.
fn chains(
    prepared: &Prepared,
    plan: Plan,
    folder: &Path,
    options: PartOptions<'_>,
) -> Result<bool, PartError> {
    let run = match folder.exists() {
        true => Some(Run::open(folder)?),
        false => None,
    };
    ChainsInFolder::new(prepared, (plan, None), (folder, run.as_ref())).run(options)
}
