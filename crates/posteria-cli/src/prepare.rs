//! Read the data of a specification and condition its model on them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use posteria::data::{Table, TextFormat};
use posteria::fit::Prepared;
use posteria::model::spec::Spec;
use posteria_store::Run;
use sha2::{Digest, Sha256};

use crate::failure::{Classify, Failure, Result, store_failure};

/// Where the rows of a run can be had again.
pub enum Source {
    /// In the file that they were read from.
    File(PathBuf),
    /// In the run itself, since they came from standard input or from memory: the columns that it
    /// uses, to rounding.
    Kept(Table),
}

impl Source {
    /// That of a run.
    pub fn of_run(run: &Run, spec: &Spec) -> Result<Self> {
        let shown = run.path().display();
        if let Some(table) = spec.data.path.as_ref().map(PathBuf::from) {
            return match table.exists() {
                true => Ok(Source::File(table)),
                false => Err(Failure::bad_input(format!(
                    "the data of {shown}, {}, are not there any more; put the file back",
                    table.display()
                ))),
            };
        }
        let kept = run.table(spec.data.group.as_deref()).map_err(store_failure)?;
        kept.map(Source::Kept).ok_or_else(|| {
            Failure::bad_input(format!("{shown} does not say where its data are, and has none"))
        })
    }

    /// Conditions the model of `spec` on the rows.
    pub fn prepare(&self, spec: Spec) -> Result<Prepared> {
        match self {
            Source::File(path) => prepare(spec, path),
            Source::Kept(table) => condition(spec, table),
        }
    }
}

/// Reads the table at `path` and conditions the model of `spec` on it. A digest in `spec` must
/// be that of the file.
pub fn prepare(spec: Spec, path: &Path) -> Result<Prepared> {
    let (table, digest) = read_table(path, spec.data.header)?;
    if let Some(expected) = &spec.data.sha256
        && *expected != digest
    {
        return Err(Failure::bad_input(format!(
            "{} is not the file that the specification was written for (SHA-256 {}…, expected \
             {}…); give back the old file, or start a new run with the new one",
            path.display(),
            &digest[..digest.len().min(12)],
            expected.chars().take(12).collect::<String>(),
        )));
    }
    let mut prepared = condition(spec, &table)?;
    let data = &mut prepared.spec.data;
    data.path = if is_stdin(path) { None } else { Some(saved_path(path)?) };
    data.sha256 = Some(digest);
    Ok(prepared)
}

/// Conditions the model of `spec` on a table, and reads its test rows.
fn condition(mut spec: Spec, table: &Table) -> Result<Prepared> {
    let test = match &spec.data.test {
        Some(test) => {
            let path = PathBuf::from(test);
            spec.data.test = Some(saved_path(&path)?);
            Some(read_table(&path, spec.data.header)?.0)
        }
        None => None,
    };
    let mut prepared = Prepared::new(spec, table, test.as_ref()).bad_input()?;
    prepared.spec.version = Some(env!("CARGO_PKG_VERSION").into());
    Ok(prepared)
}

/// The path as a specification keeps it: absolute, so that it can be used from any folder.
fn saved_path(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path)
        .with_context(|| format!("cannot tell where {} is", path.display()))
        .bad_input()?;
    absolute.into_os_string().into_string().map_err(|path| {
        let shown = path.display();
        Failure::bad_input(format!("the name of {shown} is not UTF-8; rename it"))
    })
}

/// Whether a table is to be read from standard input.
fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads the table at `path`, or from standard input where that is `-`, and the digest of what was
/// read. Whether the first line holds names is auto-detected unless `header` says so.
pub fn read_table(path: &Path, header: Option<bool>) -> Result<(Table, String)> {
    if is_stdin(path) {
        return read_text("standard input", io::stdin().lock(), header);
    }
    let shown = path.display().to_string();
    if path.is_dir() {
        return Err(Failure::bad_input(format!("{shown}: this is a folder, not a table of text")));
    }
    let open = || {
        let opened = File::open(path).map_err(|e| anyhow!("{shown}: cannot be opened: {e}"));
        opened.bad_input()
    };
    if path.extension().is_some_and(|ending| ending == "parquet") {
        let table = read_parquet(&shown, open()?)?;
        return Ok((table, Hashing::new(open()?).digest(&shown)?));
    }
    read_text(&shown, open()?, header)
}

/// A table of text that is called `shown`, and the digest of all of it.
fn read_text(shown: &str, source: impl Read, header: Option<bool>) -> Result<(Table, String)> {
    let mut reader = Hashing::new(source);
    let format = TextFormat { header, ..TextFormat::default() };
    let table = Table::from_text(shown, &mut reader, &format).bad_input()?;
    Ok((table, reader.digest(shown)?))
}

#[cfg(feature = "parquet")]
fn read_parquet(shown: &str, file: File) -> Result<Table> {
    Table::from_parquet(shown, file).bad_input()
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(shown: &str, _: File) -> Result<Table> {
    Err(Failure::bad_input(format!(
        "{shown}: this posteria was built without Parquet; export the table as CSV, or build with \
         --features parquet"
    )))
}

/// Digests what is read through it: the digest is of the very bytes that were used.
struct Hashing<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Hashing<R> {
    fn new(inner: R) -> Self {
        Hashing { inner, hash: Sha256::new() }
    }

    /// The digest of everything, also of what the table did not need.
    fn digest(mut self, shown: &str) -> Result<String> {
        io::copy(&mut self, &mut io::sink())
            .with_context(|| format!("{shown}: cannot be read"))
            .bad_input()?;
        Ok(self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}
