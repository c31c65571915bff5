//! Keep compiled kernels on disk.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use sha2::{Digest, Sha256};

/// First bytes of every file: what it is, and the version of its form.
const MAGIC: &[u8] = b"posteria kernels 1\n";
/// Length of a checksum.
const SUM: usize = 32;

/// A folder with compiled kernels, one file for each source, chip and driver.
///
/// A file is its checksum and the code. It appears whole or not at all, and one that is damaged
/// counts as absent: what is in the folder never decides what is computed, only how soon.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The folder of this user: `posteria/kernels` in `$XDG_CACHE_HOME`, which is `~/.cache` unless
    /// set. Nothing is kept where there is no such folder.
    pub fn of_user() -> Self {
        let absolute = |path: &PathBuf| path.is_absolute();
        let given = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(absolute);
        let home = || env::var_os("HOME").map(PathBuf::from).filter(absolute);
        let base = given.or_else(|| Some(home()?.join(".cache")));
        Cache { folder: base.map(|base| base.join("posteria").join("kernels")) }
    }

    /// A folder of one's own.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Cache { folder: Some(folder.into()) }
    }

    /// Keeps nothing.
    pub fn none() -> Self {
        Cache { folder: None }
    }

    /// What is kept under a key, or else what `make` makes, which is kept then. Whatever is wrong
    /// with the folder, the code is made.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get<E>(
        &self,
        key: &[&str],
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let Some(file) = self.file(key) else { return make() };
        if let Some(code) = read(&file) {
            return Ok(code);
        }
        let code = make()?;
        // A full disk or a folder that may not be written costs time, not results.
        let _ = write(&file, &code);
        Ok(code)
    }

    /// The file of a key. Parts are counted, so that no two keys run into each other.
    fn file(&self, key: &[&str]) -> Option<PathBuf> {
        let mut digest = Sha256::new();
        for part in key {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let name: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.folder.as_ref()?.join(name))
    }
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(file).ok()?;
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, code) = rest.split_at_checked(SUM)?;
    (Sha256::digest(code)[..] == *sum).then(|| code.to_vec())
}

/// Writes beside the file and renames, so that nobody ever reads half of it.
fn write(file: &Path, code: &[u8]) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder)?;
    let beside = file.with_extension(format!("{}.part", process::id()));
    let bytes = [MAGIC, &Sha256::digest(code)[..], code].concat();
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, file));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(code: &[u8]) -> impl FnOnce() -> Result<Vec<u8>, ()> {
        let code = code.to_vec();
        move || Ok(code)
    }

    fn only_file(folder: &Path) -> PathBuf {
        let files: Vec<_> =
            fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    #[test]
    fn code_is_made_once_for_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("new"));
        assert_eq!(cache.get(&["source", "sm_90"], make(b"one")), Ok(b"one".to_vec()));
        assert_eq!(cache.get(&["source", "sm_90"], make(b"two")), Ok(b"one".to_vec()));
        assert_eq!(cache.get(&["source", "sm_80"], make(b"two")), Ok(b"two".to_vec()));
        assert_eq!(cache.get(&["sourcesm_", "90"], make(b"three")), Ok(b"three".to_vec()));
        assert_eq!(cache.get(&["bad"], || Err("no")), Err("no"));
    }

    #[test]
    fn damaged_files_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let code = vec![7_u8; 100];
        cache.get(&["a"], make(&code)).unwrap();
        let file = only_file(folder.path());
        let whole = fs::read(&file).unwrap();
        let mut wrong = whole.clone();
        wrong[70] ^= 1;
        for damaged in [&wrong[..], &whole[..60], &whole[..10], b""] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(cache.get(&["a"], make(&code)), Ok(code.clone()));
            assert_eq!(fs::read(&file).unwrap(), whole, "put right");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_only_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::at(file.join("below"));
        assert_eq!(cache.get(&["a"], make(b"one")), Ok(b"one".to_vec()));
        assert_eq!(cache.get(&["a"], make(b"two")), Ok(b"two".to_vec()));
        assert_eq!(Cache::none().get(&["a"], make(b"one")), Ok(b"one".to_vec()));
    }
}
