//! Write a file so that it appears under its name only when it is whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::anyhow;
use serde::Serialize;

use crate::failure::{Classify as _, Failure, Result};

/// Writes `content` into a new file beside `path`, which then takes its place at once.
pub fn write_whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let failed = |error: io::Error| failure(path, &error);
    let name = path
        .file_name()
        .ok_or_else(|| Failure::bad_input(format!("{} does not name a file", path.display())))?;
    if path.is_dir() {
        return Err(Failure::bad_input(format!(
            "{} is a folder; name a file in it",
            path.display()
        )));
    }
    let mut temporary: OsString = ".".into();
    temporary.push(name);
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let file = File::options().write(true).create_new(true).open(&temporary).map_err(failed)?;
    let written =
        fill(file, content, failed).and_then(|()| fs::rename(&temporary, path).map_err(failed));
    if written.is_err() {
        // What went wrong is told; that the remains stay would only hide it.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes a value as a line of JSON, as [`write_whole`] does.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    write_whole(path, |writer| {
        serde_json::to_writer(&mut *writer, value)
            .map_err(io::Error::from)
            .and_then(|()| writer.write_all(b"\n"))
            .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
            .running()
    })
}

fn fill(
    file: File,
    content: impl FnOnce(&mut dyn Write) -> Result<()>,
    failed: impl Fn(io::Error) -> Failure,
) -> Result<()> {
    let mut writer = BufWriter::new(file);
    content(&mut writer)?;
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    let message = anyhow!("cannot write {}: {error}", path.display());
    match error.kind() {
        NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem => {
            Failure::BadInput(message)
        }
        _ => Failure::Running(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.csv");
        let put = |text: &'static [u8]| {
            move |writer: &mut dyn Write| writer.write_all(text).map_err(Failure::Print)
        };
        write_whole(&path, put(b"old")).expect("written");
        let failed = write_whole(&path, |writer| {
            writer.write_all(b"half").expect("written");
            Err(Failure::bad_input("broken"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).expect("there"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        write_whole(&path, put(b"new")).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn places_that_cannot_be_written_are_bad_input() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [folder.path().to_path_buf(), folder.path().join("absent/out.csv")] {
            let failure = write_whole(&path, |_| Ok(())).expect_err("refused");
            assert!(matches!(failure, Failure::BadInput(_)));
        }
    }
}
