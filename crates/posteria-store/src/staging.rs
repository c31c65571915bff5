//! Make a folder beside its place and move it there when it is whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::checkpoint::CHECKPOINT;
use crate::disk::{failure, sync_folder};
use crate::error::StoreError;

/// A folder under a temporary name, removed again unless it is moved into place. A process
/// that is killed meanwhile leaves `.NAME.new-…` beside the place and nothing in it.
pub(crate) struct Staging {
    target: PathBuf,
    parent: PathBuf,
    temporary: PathBuf,
    moved: bool,
}

impl Staging {
    /// # Errors
    /// If the place is taken, or nothing can be created beside it.
    pub(crate) fn begin(target: &Path) -> Result<Self, StoreError> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let Some(name) = target.file_name() else {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "the folder needs a name");
            return Err(failure("create", target)(source));
        };
        let parent = match target.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => Path::new("."),
        };
        vacant(target)?;
        fs::create_dir_all(parent).map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                StoreError::FileInTheWay { path: file_in(parent) }
            }
            _ => failure("create", parent)(error),
        })?;
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        temporary.push(format!(".new-{}-{number}", std::process::id()));
        let temporary = parent.join(temporary);
        fs::create_dir(&temporary).map_err(failure("create", target))?;
        let (target, parent) = (target.to_path_buf(), parent.to_path_buf());
        Ok(Staging { target, parent, temporary, moved: false })
    }

    /// Where to build.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Moves the folder of this name in it into its place.
    pub(crate) fn commit_inner(mut self, name: &str) -> Result<(), StoreError> {
        let outer = self.temporary.clone();
        self.temporary = outer.join(name);
        let moved = self.commit();
        let _ = fs::remove_dir_all(outer);
        moved
    }

    /// Moves the folder into its place, for good.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        self.commit_waiting(true)
    }

    /// Moves the folder into its place, and `waits` until that is on the disk, or does not.
    pub(crate) fn commit_waiting(mut self, waits: bool) -> Result<(), StoreError> {
        let sync = |path: &Path| if waits { sync_folder(path) } else { Ok(()) };
        sync(&self.temporary)?;
        // Someone may have come first; and not every system replaces even an empty folder.
        vacant(&self.target)?;
        let renamed = fs::rename(&self.temporary, &self.target).or_else(|_| {
            fs::remove_dir(&self.target)?;
            fs::rename(&self.temporary, &self.target)
        });
        renamed.map_err(failure("create", &self.target))?;
        self.moved = true;
        sync(&self.parent)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.moved {
            // Nothing more can be done about a folder that cannot be removed either.
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// A name that no other attempt has, here or on another machine.
pub(crate) fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos());
    format!("{:x}-{now:x}-{number}", std::process::id())
}

/// The longest beginning of `path` at which there is a file.
fn file_in(path: &Path) -> PathBuf {
    path.ancestors().find(|it| it.is_file()).unwrap_or(path).to_path_buf()
}

/// # Errors
/// Unless there is nothing at `path`, or an empty folder.
pub(crate) fn vacant(path: &Path) -> Result<(), StoreError> {
    let taken =
        || StoreError::Exists { path: path.to_path_buf(), is_run: path.join(CHECKPOINT).is_file() };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(StoreError::FileInTheWay { path: file_in(path) })
        }
        Err(error) => Err(failure("open", path)(error)),
        Ok(found) if found.is_dir() => {
            let mut entries = fs::read_dir(path).map_err(failure("open", path))?;
            if entries.next().is_some() { Err(taken()) } else { Ok(()) }
        }
        Ok(_) => Err(StoreError::FileInTheWay { path: path.to_path_buf() }),
    }
}
