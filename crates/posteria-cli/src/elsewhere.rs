//! Take note of fits that are to be made elsewhere, in place of making them; know what was found there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use posteria::assess::{Division, RowUtilities, Valuation};
use posteria::fit::Prepared;
use posteria::sample::Plan;
use posteria_store::{PlanFolds, PlannedDivision, WorkPlan};

use crate::failure::{Failure, Result};

/// A fit that is to be made.
pub enum Wanted {
    /// The chains of a run, of the table in a file.
    Chains {
        /// The folder of the run.
        path: PathBuf,
        /// What is to be sampled, and how.
        of: Box<(Prepared, Plan)>,
        /// The table.
        table: PathBuf,
    },
    /// The folds of a run.
    Folds {
        /// The folder of the run.
        path: PathBuf,
        /// How its rows are divided, with the number of training rows of each fold.
        divisions: Vec<(PlannedDivision, Vec<usize>)>,
    },
}

impl Wanted {
    fn path(&self) -> &Path {
        match self {
            Wanted::Chains { path, .. } | Wanted::Folds { path, .. } => path,
        }
    }
}

/// What is to be made elsewhere.
#[derive(Default)]
pub struct Elsewhere {
    wanted: Mutex<Vec<Wanted>>,
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Elsewhere")
    }
}

impl Elsewhere {
    /// Takes note of a fit, once for each folder and division: whoever asked for it cannot go on.
    pub fn want(&self, wanted: Wanted) -> Failure {
        let mut all = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        match (all.iter_mut().find(|own| own.path() == wanted.path()), wanted) {
            (None, wanted) => all.push(wanted),
            (Some(Wanted::Folds { divisions: own, .. }), Wanted::Folds { divisions, .. }) => {
                let new = divisions.into_iter().filter(|it| !own.contains(it)).collect::<Vec<_>>();
                own.extend(new);
            }
            _ => {}
        }
        Failure::Elsewhere
    }

    /// What was asked for.
    pub fn take(&self) -> Vec<Wanted> {
        std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What units of a plan have found out about folds.
#[derive(Debug)]
pub struct Collected {
    folds: PlanFolds,
    /// Folders of runs, and their numbers in the plan.
    runs: Vec<(PathBuf, usize)>,
}

impl Collected {
    /// By this plan, of the runs that are in these folders and have these numbers in it.
    pub fn new(plan: WorkPlan, runs: Vec<(PathBuf, usize)>) -> Result<Self> {
        let runs = runs.into_iter().map(|(path, number)| (real(&path), number)).collect();
        Ok(Collected { folds: PlanFolds::new(plan)?, runs })
    }

    /// What the predictions of all rows of the run in a folder by one of its folds are worth, if a unit
    /// has found that out.
    pub fn valued(
        &self,
        run: &Path,
        (division, fold): (&Division, usize),
        asked: &Valuation,
    ) -> Result<Option<Vec<RowUtilities>>> {
        let run = real(run);
        for (_, number) in self.runs.iter().filter(|(path, _)| *path == run) {
            let found = self.folds.valued_by(*number, (division, fold), asked)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// The one name of a folder that has many.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Why chains cannot be run one by one.
pub fn chains_wait() -> Failure {
    Failure::bad_input(
        "chains that stop when they have settled, or have drawn enough, wait for each other: say how \
         long each runs with --warmup W and --draws N (warmup and draws in [sampling]), without --ess \
         and --time",
    )
}

/// What was found, or nothing where fits are to be made elsewhere first.
///
/// # Errors
/// All others.
pub fn unless_elsewhere<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(Failure::Elsewhere) => Ok(None),
        found => found.map(Some),
    }
}
