//! Let one process at a time write a run folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use crate::disk::{failure, plain_file};
use crate::error::StoreError;

/// Name of the lock file.
pub(crate) const LOCK: &str = "lock";

/// The right to write a run folder; given back when dropped, or by the system when the process
/// ends in any way.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// # Errors
    /// [`StoreError::Locked`] if another process has it.
    pub(crate) fn take(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(LOCK);
        check(&path)?;
        let mut options = OpenOptions::new();
        // Truncated only once it is ours.
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failure("open", &path))?;
        // A reader that asks who writes holds the lock for an instant; that is not a writer.
        let mut patience = 5;
        while let Err(error) = file.try_lock() {
            match error {
                TryLockError::WouldBlock if patience > 0 => {
                    patience -= 1;
                    std::thread::sleep(Duration::from_millis(5));
                }
                TryLockError::WouldBlock => {
                    let pid = read_pid(&mut file);
                    return Err(StoreError::Locked { path: folder.to_path_buf(), pid });
                }
                TryLockError::Error(source) => return Err(failure("lock", &path)(source)),
            }
        }
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{}", std::process::id())
        };
        write(&mut file).map_err(failure("write", &path))?;
        Ok(Lock { _file: file })
    }

    /// Whether a process writes the folder now, and which.
    pub(crate) fn holder(folder: &Path) -> Result<Option<Option<u32>>, StoreError> {
        let path = folder.join(LOCK);
        check(&path)?;
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure("open", &path)(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read_pid(&mut file))),
            Err(TryLockError::Error(source)) => Err(failure("lock", &path)(source)),
        }
    }
}

/// The lock is the one file that is written in place, so it must be nobody else's file.
fn check(path: &Path) -> Result<(), StoreError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    plain_file(path, &found)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&found) > 1 {
        return Err(StoreError::NotPlain { path: path.to_path_buf(), what: "a shared file" });
    }
    Ok(())
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
