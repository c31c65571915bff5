//! Put all files of a run folder into one file, and get them back.
//!
//! ```text
//! "POSTUNIT"  format  head  files (name, length, bytes)  SHA-256 of everything before
//! ```
//!
//! A file that is longer than its bytes goes on with the last eight of them: chunks of draws that are not
//! full are mostly padding.
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
pub(crate) const FORMAT: u32 = 2;

const MAGIC: &[u8; 8] = b"POSTUNIT";
/// Bytes of the checksum at the end.
const SEAL: usize = 32;
/// SHA-256.
pub(crate) type Seal = [u8; SEAL];
/// Bytes of a number, which padding repeats.
const WORD: usize = 8;
/// The longest padding that is believed.
const LONGEST_PADDING: usize = 1 << 30;

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
        let kept = without_padding(&content);
        bytes.put_count(content.len());
        bytes.put_count(kept.len());
        bytes.extend_from_slice(kept);
    }
    let seal = digest(&bytes);
    bytes.extend_from_slice(&seal);
    Ok(bytes)
}

fn digest(bytes: &[u8]) -> Seal {
    #[cfg(test)]
    tests::DIGESTS.set(tests::DIGESTS.get() + 1);
    Sha256::digest(bytes).into()
}

/// The content without what repeats its last eight bytes.
fn without_padding(content: &[u8]) -> &[u8] {
    let Some(last) = content.last_chunk::<WORD>() else { return content };
    let repeats = content.rchunks_exact(WORD).take_while(|word| word == last).count();
    // One of them stays, to be repeated.
    &content[..content.len() - WORD * (repeats - 1)]
}

/// A file as it was packed.
struct PackedFile<'a> {
    name: PathBuf,
    /// How long it is.
    length: usize,
    /// Its beginning, the last eight bytes of which it goes on with.
    kept: &'a [u8],
}

impl PackedFile<'_> {
    fn content(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(self.length);
        content.extend_from_slice(self.kept);
        if let Some(word) = self.kept.last_chunk::<WORD>() {
            let repeats = (self.length - self.kept.len()) / WORD;
            content.extend(std::iter::repeat_n(word, repeats).flatten());
        }
        content
    }
}

/// What was packed: the head, and names with contents.
pub(crate) struct Packed<'a> {
    pub(crate) head: String,
    /// The checksum at the end.
    pub(crate) seal: Seal,
    files: Vec<PackedFile<'a>>,
}

impl<'a> Packed<'a> {
    /// Reads what fits its checksum. `known` is that of the same file as it was read before: then it is
    /// not computed again.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] or [`StoreError::Newer`]; never panics, whatever the bytes.
    pub(crate) fn read(bytes: &'a [u8], known: Option<Seal>) -> Result<Self, StoreError> {
        let damaged = |what: &str| StoreError::damaged("the result", what);
        let (body, seal) =
            bytes.split_last_chunk::<SEAL>().ok_or_else(|| damaged("it is cut short"))?;
        if known != Some(*seal) && digest(body) != *seal {
            return Err(damaged("its content does not fit its checksum"));
        }
        let body = body.strip_prefix(MAGIC).ok_or_else(|| damaged("it is no result of a unit"))?;
        let mut from = Decoder::new("the result", body);
        match from.u32("the format")? {
            0 => return Err(damaged("there is no format 0")),
            found if found < FORMAT => return Err(damaged("an earlier posteria made it")),
            found if found > FORMAT => {
                return Err(StoreError::Newer { found, supported: FORMAT });
            }
            _ => {}
        }
        let head = from.text("the head")?;
        let count = from.count(24, "the number of files")?;
        let mut files = Vec::with_capacity(count);
        for _ in 0..count {
            let name = PathBuf::from(from.text("a name")?);
            let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
            if !plain || name.as_os_str().is_empty() {
                return Err(from.damaged("it names a file outside its folder"));
            }
            let length = from.number("the length of a file")?;
            let kept = from.count(1, "the bytes of a file")?;
            let kept = from.bytes(kept, "a file")?;
            let padding = length.checked_sub(kept.len());
            let fits = |it: usize| it.is_multiple_of(WORD) && (it == 0 || kept.len() >= WORD);
            if !padding.is_some_and(|it| it <= LONGEST_PADDING && fits(it)) {
                return Err(from.damaged("the length of a file is not that of its bytes"));
            }
            files.push(PackedFile { name, length, kept });
        }
        if !from.is_empty() {
            return Err(damaged("it goes on after its last file"));
        }
        Ok(Packed { head, files, seal: *seal })
    }

    /// The content of a file.
    pub(crate) fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.files.iter().find(|it| it.name == Path::new(name)).map(PackedFile::content)
    }

    /// Writes the files that are wanted into a new folder.
    pub(crate) fn unpack(
        &self,
        folder: &Path,
        wanted: impl Fn(&Path) -> bool,
    ) -> Result<(), StoreError> {
        fs::create_dir(folder).map_err(failure("create", folder))?;
        for file in self.files.iter().filter(|file| wanted(&file.name)) {
            let path = folder.join(&file.name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(failure("create", parent))?;
            fs::write(&path, file.content()).map_err(failure("write", &path))?;
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    thread_local! {
        /// Checksums that this thread has computed.
        pub(crate) static DIGESTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[test]
    fn files_are_the_same_and_padding_costs_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().join("from");
        fs::create_dir(&from).expect("made");
        let nan = f64::NAN.to_le_bytes();
        let padded = [&b"1234567 draws"[..], &nan.repeat(5000)].concat();
        let contents: [(&str, &[u8]); 6] = [
            ("empty", b""),
            ("short", b"abc"),
            ("word", b"12345678"),
            ("same", &[7; 23]),
            ("text", b"nothing repeats here"),
            ("padded", &padded),
        ];
        for (name, content) in contents {
            fs::write(from.join(name), content).expect("written");
        }
        let bytes = pack(&from, "head").expect("packed");
        assert!(bytes.len() < 1000, "{}", bytes.len());
        let packed = Packed::read(&bytes, None).expect("read");
        assert_eq!(packed.head, "head");
        packed.unpack(&folder.path().join("to"), |_| true).expect("unpacked");
        for (name, content) in contents {
            assert_eq!(fs::read(folder.path().join("to").join(name)).expect("there"), content);
            assert_eq!(packed.file(name).as_deref(), Some(content), "{name}");
        }
    }
}
