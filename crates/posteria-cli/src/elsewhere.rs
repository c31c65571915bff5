//! Take note of fits that are to be made elsewhere, in place of making them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use posteria::fit::Prepared;
use posteria::sample::Plan;
use posteria_store::PlannedDivision;

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
