//! Make room for a run where another one is.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::checkpoint::CHECKPOINT;
use crate::create::{APPROXIMATION, RunFolder, SPEC};
use crate::disk::{DRAWS, failure};
use crate::error::StoreError;
use crate::lock::{LOCK, Lock};
use crate::staging::vacant;

/// What posteria writes into a run folder: the run itself, and what commands keep beside it.
const OWN: [&str; 17] = [
    CHECKPOINT,
    DRAWS,
    SPEC,
    APPROXIMATION,
    LOCK,
    "assess.json",
    "check.json",
    "compare.json",
    "evidence.json",
    "evidence.partial",
    "folds",
    "model.txt",
    "nested",
    "selection.json",
    "sets",
    "device.json",
    "time.json",
];

impl RunFolder {
    /// Refuses a place where [`RunFolder::create`] would fail because something is there, unless
    /// that is a run which may be replaced. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] that says what is in the way.
    pub fn check_place(path: &Path, replace: bool) -> Result<(), StoreError> {
        match vacant(path) {
            Err(StoreError::Exists { is_run: true, .. }) if replace => {
                check_own(path)?;
                match Lock::holder(path)? {
                    Some(pid) => Err(StoreError::Locked { path: path.to_path_buf(), pid }),
                    None => Ok(()),
                }
            }
            found => found,
        }
    }

    /// Removes the run folder at `path`, if there is one; never anything else.
    ///
    /// # Errors
    /// [`StoreError`] if something else is there, another process writes the run, or the system
    /// refuses.
    pub fn remove(path: &Path) -> Result<(), StoreError> {
        if vacant(path).is_ok() {
            return Ok(());
        }
        Self::check_place(path, true)?;
        let lock = Lock::take(path)?;
        // Out of the way at once: a process that is killed meanwhile leaves no half of a run.
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".old-{}", std::process::id()));
        let aside = path.with_file_name(name);
        fs::rename(path, &aside).map_err(failure("replace", path))?;
        drop(lock);
        fs::remove_dir_all(&aside).map_err(failure("remove", &aside))
    }
}

/// Refuses a run folder with something in it that posteria did not write.
fn check_own(path: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(path).map_err(failure("open", path))? {
        let name = entry.map_err(failure("open", path))?.file_name();
        let own = name.to_str().is_some_and(|name| OWN.contains(&name));
        if !own {
            let name = name.to_string_lossy().into_owned();
            return Err(StoreError::Foreign { path: path.to_path_buf(), name });
        }
    }
    Ok(())
}
