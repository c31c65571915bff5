//! Read and write the files of one folder: atomically, and only plain files.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use posteria::fit::run_jobs;

use crate::error::StoreError;

/// Name of the store in a run folder.
pub(crate) const DRAWS: &str = "draws.zarr";

/// A folder and the operations on its files. Names are relative and made by this crate.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    root: PathBuf,
    /// What precedes a name in messages.
    prefix: &'static str,
    /// Whether what is to be there after a power cut is waited for.
    pub(crate) waits: bool,
    #[cfg(test)]
    pub(crate) crash: crate::tests::Crash,
}

impl Disk {
    pub(crate) fn new(root: &Path) -> Self {
        Disk {
            root: root.to_path_buf(),
            prefix: "",
            waits: true,
            #[cfg(test)]
            crash: crate::tests::Crash::default(),
        }
    }

    /// The store inside a run folder.
    pub(crate) fn store(&self) -> Self {
        let mut store = self.moved(&self.root.join(DRAWS));
        store.prefix = "draws.zarr/";
        store
    }

    /// The same folder after it was moved.
    pub(crate) fn moved(&self, root: &Path) -> Self {
        let mut moved = self.clone();
        moved.root = root.to_path_buf();
        moved
    }

    /// That the file of this folder is damaged.
    pub(crate) fn damaged(&self, name: &str, what: impl Into<String>) -> StoreError {
        StoreError::damaged(format!("{}{name}", self.prefix), what)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn create_folder(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name);
        fs::create_dir_all(&path).map_err(failure("create", &path))
    }

    /// Puts `bytes` in the place of the file, all or nothing. What a power cut leaves is
    /// decided by [`Disk::sync`] alone.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(name);
        let temporary = temporary(&path);
        self.write_new(&temporary, bytes).map_err(failure("write", &path))?;
        self.rename(&temporary, &path)?;
        #[cfg(test)]
        self.crash.note(format!("{}{name}", self.prefix), false);
        Ok(())
    }

    /// As [`Disk::replace`], and on the disk for good when it returns.
    pub(crate) fn replace_durably(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        if !self.waits {
            return self.replace(name, bytes);
        }
        let path = self.path(name);
        let temporary = temporary(&path);
        let file = self.write_new(&temporary, bytes).map_err(failure("write", &path))?;
        file.sync_all().map_err(failure("write", &path))?;
        self.rename(&temporary, &path)?;
        #[cfg(test)]
        self.crash.note(format!("{}{name}", self.prefix), true);
        sync_folder(path.parent().unwrap_or(&self.root))
    }

    /// Waits until the files, and the folders they are in, are on the disk.
    pub(crate) fn sync(&self, names: &[String]) -> Result<(), StoreError> {
        if !self.waits {
            return Ok(());
        }
        // File systems answer waits that come together together: eight at a time take little
        // longer than one.
        let at_once = NonZero::new(8).expect("not zero");
        let files = run_jobs(names.len(), at_once, |index| {
            let path = self.path(&names[index]);
            let sync = || self.step().and_then(|()| File::open(&path)?.sync_all());
            sync().map_err(failure("write", &path))
        });
        files.into_iter().collect::<Result<(), _>>()?;
        let mut folders = BTreeSet::new();
        for name in names {
            let parents = name.match_indices('/').map(|(end, _)| &name[..end]);
            folders.extend(parents.chain([""]));
        }
        let folders: Vec<&str> = folders.into_iter().collect();
        let folders =
            run_jobs(folders.len(), at_once, |index| sync_folder(&self.path(folders[index])));
        folders.into_iter().collect::<Result<(), _>>()?;
        #[cfg(test)]
        names.iter().for_each(|name| self.crash.note(format!("{}{name}", self.prefix), true));
        Ok(())
    }

    /// Length of the file.
    pub(crate) fn length(&self, name: &str) -> Result<u64, StoreError> {
        let mut path = self.root.clone();
        let mut length = 0;
        let parts: Vec<&str> = name.split('/').collect();
        for (index, part) in parts.iter().enumerate() {
            path.push(part);
            let found = fs::symlink_metadata(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => self.damaged(name, "the file is missing"),
                _ => failure("read", &path)(error),
            })?;
            if index + 1 < parts.len() {
                plain_folder(&path, &found)?;
            } else {
                plain_file(&path, &found)?;
                length = found.len();
            }
        }
        Ok(length)
    }

    /// The file's content, if it has at most `most` bytes.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Vec<u8>, StoreError> {
        // Refuses what is not a plain file.
        self.length(name)?;
        let path = self.path(name);
        let file = File::open(&path).map_err(failure("read", &path))?;
        // Of the file that is open: a writer may put another in its place at any moment.
        let length = file.metadata().map_err(failure("read", &path))?.len();
        if length > most {
            let what = format!("it has {length} bytes where at most {most} make sense");
            return Err(self.damaged(name, what));
        }
        let read = || {
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(length as usize)?;
            // A file that grows meanwhile is not followed.
            file.take(length).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(failure("read", &path))
    }

    /// The content of a file that must have exactly `length` bytes.
    pub(crate) fn read_exactly(&self, name: &str, length: usize) -> Result<Vec<u8>, StoreError> {
        self.expect_length(name, length)?;
        self.read(name, length as u64)
    }

    /// # Errors
    /// [`StoreError::Damaged`] if the file has not `length` bytes.
    pub(crate) fn expect_length(&self, name: &str, length: usize) -> Result<(), StoreError> {
        let found = self.length(name)?;
        if found == length as u64 {
            return Ok(());
        }
        Err(self.damaged(name, format!("it has {found} bytes, {length} were written")))
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<File> {
        let new = || OpenOptions::new().write(true).create_new(true).open(path);
        // Only ever a new file: a link left under this name is removed, not followed.
        let mut file = match new() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(path)?;
                new()?
            }
            opened => opened?,
        };
        #[cfg(test)]
        if let Err(error) = self.step() {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)?;
        Ok(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let renamed = self.step().and_then(|()| fs::rename(from, to));
        renamed.map_err(failure("write", to))
    }

    /// One step towards the crash that a test has planned.
    fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        self.crash.step()?;
        Ok(())
    }
}

/// Makes the error of an operation on `path`.
pub(crate) fn failure(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::Io { doing, path: path.to_path_buf(), source }
}

/// Waits until the names in the folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    // Elsewhere a folder cannot be opened, and renames are durable by themselves.
    if cfg!(unix) {
        File::open(path).and_then(|folder| folder.sync_all()).map_err(failure("write", path))?;
    }
    Ok(())
}

/// # Errors
/// [`StoreError::NotPlain`] if it is anything but a folder.
pub(crate) fn plain_folder(path: &Path, found: &fs::Metadata) -> Result<(), StoreError> {
    if found.is_dir() {
        return Ok(());
    }
    let what = if found.is_symlink() { "a symbolic link" } else { "not a folder" };
    Err(StoreError::NotPlain { path: path.to_path_buf(), what })
}

/// # Errors
/// [`StoreError::NotPlain`] if it is anything but a file of its own.
pub(crate) fn plain_file(path: &Path, found: &fs::Metadata) -> Result<(), StoreError> {
    let what = if found.is_symlink() {
        "a symbolic link"
    } else if !found.is_file() {
        "not a file"
    } else {
        return Ok(());
    };
    Err(StoreError::NotPlain { path: path.to_path_buf(), what })
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}
