//! Say what is wrong with a plan, a unit or a result.

use std::path::PathBuf;

use crate::{PartError, StoreError};

/// Why a plan could not be made, done or collected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// A file or folder cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A unit failed.
    #[error("unit {unit} ({what}): {error}")]
    Unit {
        /// Its number.
        unit: usize,
        /// What it is.
        what: String,
        /// Why.
        error: Box<PartError>,
    },
    /// There is no plan in the folder.
    #[error("{} is no plan: it has no file {missing}; make one with posteria plan", path.display())]
    NotAPlan {
        /// The folder.
        path: PathBuf,
        /// What every plan has.
        missing: &'static str,
    },
    /// A file of the plan is not what was written.
    #[error("{} is damaged: {what}; copy the plan again, or make it anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A later posteria made the plan.
    #[error(
        "{} has format {found}, this posteria reads format {supported}; install a newer posteria",
        path.display()
    )]
    Newer {
        /// The plan.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that is known here.
        supported: u32,
    },
    /// Another version made the plan, so that its numbers could differ.
    #[error(
        "{} was made by posteria {found}, this is {running}: the numbers could differ; use the same \
         version on all machines, or make the plan anew",
        path.display()
    )]
    OtherVersion {
        /// The plan.
        path: PathBuf,
        /// Who made it.
        found: String,
        /// Who reads it.
        running: &'static str,
    },
    /// The plan has no such unit.
    #[error("there is no unit {unit}: {} has units 1 to {count}", path.display())]
    NoUnit {
        /// The plan.
        path: PathBuf,
        /// What was asked for.
        unit: usize,
        /// How many there are.
        count: usize,
    },
    /// The plan does not have a fold.
    #[error("{} has no fold {fold} of this division; make a new plan", path.display())]
    NoFold {
        /// The plan.
        path: PathBuf,
        /// The fold, from 1.
        fold: usize,
    },
    /// A result is of something else.
    #[error(
        "{} is a result of {what}; remove it, and run unit {unit} again",
        path.display()
    )]
    OtherResult {
        /// The file.
        path: PathBuf,
        /// Of what: other data, another specification, another version, another unit.
        what: String,
        /// The unit that was to be there.
        unit: usize,
    },
    /// A result cannot be read.
    #[error("{}: {error}; run unit {unit} again, which replaces it", path.display())]
    DamagedResult {
        /// The file.
        path: PathBuf,
        /// Why.
        error: StoreError,
        /// The unit.
        unit: usize,
    },
    /// The run that results belong to is not the one that was planned for.
    #[error("{} {what} the plan was made; make a new plan", path.display())]
    OtherRun {
        /// The run.
        path: PathBuf,
        /// What has changed.
        what: &'static str,
    },
    /// A fit cannot be put into a plan.
    #[error("{0}")]
    Part(Box<PartError>),
    /// What is asked for has nothing to do.
    #[error("there is nothing to do: the plan would have no units")]
    Empty,
    /// Runs of single chains cannot be put together.
    #[error("{} cannot be joined: {what}", path.display())]
    Join {
        /// The run.
        path: PathBuf,
        /// Why.
        what: String,
    },
}

impl From<PartError> for WorkError {
    fn from(error: PartError) -> Self {
        WorkError::Part(Box::new(error))
    }
}
