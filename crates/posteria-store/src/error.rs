//! Say what went wrong with a run folder, where, and what to do.

use std::io;
use std::path::PathBuf;

/// Why a run folder could not be made, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}{}", path.display(), cure(source))]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder of a new run is already in use.
    #[error("{} {}", path.display(), in_use(*is_run))]
    Exists {
        /// The folder.
        path: PathBuf,
        /// Whether it is the folder of another run.
        is_run: bool,
    },
    /// A run folder that is to be replaced holds something that is not of the run.
    #[error("{} holds {name:?}, which is not part of a run; move it away first", path.display())]
    Foreign {
        /// The run folder.
        path: PathBuf,
        /// What else is in it.
        name: String,
    },
    /// A file stands where a folder is wanted.
    #[error("{} is a file, not a folder; choose another place for this run", path.display())]
    FileInTheWay {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing at this path.
    #[error("there is no folder {}", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// There is no run at this path.
    #[error("{} is not a run folder: it has no file {missing}", path.display())]
    NotARun {
        /// The path.
        path: PathBuf,
        /// What every run folder has.
        missing: &'static str,
    },
    /// Another process writes this run.
    #[error(
        "{} is being written by {}; wait until it ends, or stop it",
        path.display(),
        process(*pid)
    )]
    Locked {
        /// The run folder.
        path: PathBuf,
        /// The writing process, where it could be read.
        pid: Option<u32>,
    },
    /// A later version of posteria made this folder.
    #[error(
        "this run folder has format {found}, this posteria reads up to format {supported}; \
         install a newer posteria"
    )]
    Newer {
        /// Format of the folder.
        found: u32,
        /// The latest format known here.
        supported: u32,
    },
    /// Another version of posteria made this run, so it cannot be continued bit for bit.
    #[error(
        "this run was begun by posteria {found:?} and can only be continued by it; this is \
         {running}"
    )]
    OtherVersion {
        /// The version that began the run.
        found: String,
        /// The version that is running.
        running: &'static str,
    },
    /// A file does not say what was written into it.
    #[error("{file} is damaged: {what}; restore the run folder from a copy, or run it again")]
    Damaged {
        /// The file, relative to the run folder.
        file: String,
        /// The record and what is wrong with it.
        what: String,
    },
    /// A symbolic link, a device or a shared file where a plain file is wanted.
    #[error(
        "{} is {what}; run folders hold only plain files and folders: replace it by a copy",
        path.display()
    )]
    NotPlain {
        /// The path.
        path: PathBuf,
        /// What was found instead.
        what: &'static str,
    },
    /// A run cannot be cut back to fewer draws.
    #[error("the run already has {done} draws per chain; ask for at least as many, not {asked}")]
    Fewer {
        /// Draws of the longest chain.
        done: usize,
        /// Draws wanted.
        asked: usize,
    },
    /// A chain handed over something that does not follow its last draw.
    #[error(
        "chain {chain} handed over {what} {found} where {expected} was due: it was not continued \
         from the memory of this run folder"
    )]
    OutOfStep {
        /// The chain.
        chain: usize,
        /// What differs.
        what: &'static str,
        /// What the folder expects.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// The number of values does not fit the dimensions.
    #[error("{name:?} has {found} values where its dimensions need {expected}")]
    Shape {
        /// The array.
        name: String,
        /// Product of its dimensions.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// More than a run folder can hold.
    #[error("{what} is beyond the limit of {limit}")]
    Limit {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A statistic that counts is not a whole number.
    #[error("{statistic} of a draw of chain {chain} is {value}, not a whole number")]
    NotWhole {
        /// Name of the statistic.
        statistic: &'static str,
        /// The chain.
        chain: usize,
        /// Its value.
        value: f64,
    },
}

impl StoreError {
    pub(crate) fn damaged(file: impl Into<String>, what: impl Into<String>) -> Self {
        StoreError::Damaged { file: file.into(), what: what.into() }
    }
}

fn in_use(is_run: bool) -> &'static str {
    match is_run {
        true => "holds a run already; choose another folder, or replace that run with --force",
        false => "is not empty and holds no run; choose another folder",
    }
}

fn cure(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, then resume the run: nothing before its last checkpoint is lost"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write to, or change its permissions"
        }
        _ => "",
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_string(), |pid| format!("process {pid}"))
}
