//! Put all files of a run folder into one file, and get them back.
//!
//! ```text
//! "POSTUNIT"  format  head  files (name, bytes)  SHA-256 of everything before
//! ```
//!
//! Little-endian, as a checkpoint. Nothing in it is ever executed, and names are those of plain files
//! below the folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::codec::{Decoder, Encode};
use crate::disk::{failure, plain_file, plain_folder};
use crate::error::StoreError;
use crate::lock::LOCK;

/// The format that this version writes, and the latest that it reads.
pub(crate) const FORMAT: u32 = 1;

const MAGIC: &[u8; 8] = b"POSTUNIT";
/// Bytes of the checksum at the end.
const SEAL: usize = 32;

/// All files of the folder, the lock excepted, behind `head`.
pub(crate) fn pack(folder: &Path, head: &str) -> Result<Vec<u8>, StoreError> {
    let mut bytes = MAGIC.to_vec();
    bytes.put_u32(FORMAT);
    bytes.put_text(head);
    let names = files_of(folder)?;
    bytes.put_count(names.len());
    for name in names {
        let path = folder.join(&name);
        let content = fs::read(&path).map_err(failure("read", &path))?;
        // Names are made by this crate: ASCII, divided by slashes.
        let parts = name.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        bytes.put_text(&parts.collect::<Vec<_>>().join("/"));
        bytes.put_count(content.len());
        bytes.extend_from_slice(&content);
    }
    let seal = Sha256::digest(&bytes);
    bytes.extend_from_slice(&seal);
    Ok(bytes)
}

/// What was packed: the head, and names with contents.
pub(crate) struct Packed<'a> {
    pub(crate) head: String,
    files: Vec<(PathBuf, &'a [u8])>,
}

impl<'a> Packed<'a> {
    /// # Errors
    /// [`StoreError::Damaged`] or [`StoreError::Newer`]; never panics, whatever the bytes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, StoreError> {
        let damaged = |what: &str| StoreError::damaged("the result", what);
        let cut = bytes.len().checked_sub(SEAL).ok_or_else(|| damaged("it is cut short"))?;
        let (body, seal) = bytes.split_at(cut);
        if Sha256::digest(body)[..] != *seal {
            return Err(damaged("its content does not fit its checksum"));
        }
        let body = body.strip_prefix(MAGIC).ok_or_else(|| damaged("it is no result of a unit"))?;
        let mut from = Decoder::new("the result", body);
        match from.u32("the format")? {
            0 => return Err(damaged("there is no format 0")),
            found if found > FORMAT => {
                return Err(StoreError::Newer { found, supported: FORMAT });
            }
            _ => {}
        }
        let head = from.text("the head")?;
        let count = from.count(16, "the number of files")?;
        let mut files = Vec::with_capacity(count);
        for _ in 0..count {
            let name = PathBuf::from(from.text("a name")?);
            let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
            if !plain || name.as_os_str().is_empty() {
                return Err(from.damaged("it names a file outside its folder"));
            }
            let length = from.count(1, "the length of a file")?;
            files.push((name, from.bytes(length, "a file")?));
        }
        if !from.is_empty() {
            return Err(damaged("it goes on after its last file"));
        }
        Ok(Packed { head, files })
    }

    /// The content of a file.
    pub(crate) fn file(&self, name: &str) -> Option<&'a [u8]> {
        self.files.iter().find(|(own, _)| own == Path::new(name)).map(|(_, content)| *content)
    }

    /// Writes the files into a new folder.
    pub(crate) fn unpack(&self, folder: &Path) -> Result<(), StoreError> {
        fs::create_dir(folder).map_err(failure("create", folder))?;
        for (name, content) in &self.files {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(failure("create", parent))?;
            fs::write(&path, content).map_err(failure("write", &path))?;
        }
        Ok(())
    }
}

/// Copies the files of a run folder, the lock excepted, into a new folder. The checkpoint first: what
/// it vouches for stays, whatever a writer adds meanwhile.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    wanted: impl Fn(&Path) -> bool,
) -> Result<(), StoreError> {
    fs::create_dir(to).map_err(failure("create", to))?;
    let mut names = files_of(from)?;
    names.sort_by_key(|name| name.as_os_str() != crate::checkpoint::CHECKPOINT);
    for name in names.iter().filter(|name| wanted(name)) {
        let (source, target) = (from.join(name), to.join(name));
        let parent = target.parent().unwrap_or(to);
        fs::create_dir_all(parent).map_err(failure("create", parent))?;
        fs::copy(&source, &target).map_err(failure("copy", &source))?;
    }
    Ok(())
}

/// The names of all plain files below a folder, in order, but locks and files on their way.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut names = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let path = folder.join(&inner);
        for entry in fs::read_dir(&path).map_err(failure("open", &path))? {
            let entry = entry.map_err(failure("open", &path))?;
            let name = entry.file_name();
            if name == LOCK || is_partial(&name) {
                continue;
            }
            let (name, path) = (inner.join(&name), entry.path());
            let found = fs::symlink_metadata(&path).map_err(failure("open", &path))?;
            if found.is_dir() {
                plain_folder(&path, &found)?;
                folders.push(name);
            } else {
                plain_file(&path, &found)?;
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a file is one that is about to take the place of another.
fn is_partial(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && (name.ends_with(".tmp") || name.ends_with(".part"))
}
