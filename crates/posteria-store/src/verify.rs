//! Compare every file of a run folder with what was written into it.

use crate::added;
use crate::error::StoreError;
use crate::metadata::{MOST_METADATA, consolidated};
use crate::publish::coordinate_files;
use crate::run::Run;
use crate::schema::COORDINATE_DRAWS;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files that must never change, each with its checksum, and the checkpoint, the
    /// specification and what an approximation found.
    pub immutable: usize,
    /// Files that follow from the checkpoint. They are compared if the last writer finished
    /// properly; otherwise they may lag behind, and resuming writes them anew.
    pub derived: Option<usize>,
}

impl Run {
    /// Checks every file of the folder, the lock excepted.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for the first file that is not as it was written.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        let immutable = self.verify_immutable()?;
        let derived = if self.is_closed() { Some(self.verify_derived()?) } else { None };
        Ok(Verified { immutable, derived })
    }

    /// Checks the static files and the full chunks; the checkpoint, the specification and what
    /// an approximation found were checked when the folder was opened.
    pub(crate) fn verify_immutable(&self) -> Result<usize, StoreError> {
        let mut files = 2 + usize::from(self.approximation().is_some());
        let checksums = &self.loaded.checkpoint.static_checksums;
        for ((array, chunk), checksum) in self.loaded.schema.static_files().zip(checksums) {
            self.read_chunk(&array.static_file(chunk), array.chunk_bytes(), *checksum)?;
            files += 1;
        }
        self.each_chunk(usize::MAX, |name, length, [chain, column, chunk]| {
            let checksum = self.loaded.checkpoint.chains[chain].checksums[column][chunk];
            self.read_chunk(name, length, checksum)?;
            files += 1;
            Ok(())
        })?;
        Ok(files)
    }

    fn verify_derived(&self) -> Result<usize, StoreError> {
        let (added, added_files) = added::verify(&self.store)?;
        let mut files = 0;
        let mut compare = |name: &str, expected: &[u8]| {
            if self.store.read_exactly(name, expected.len())? != expected {
                return Err(self.store.damaged(name, "it does not fit the checkpoint"));
            }
            files += 1;
            Ok(())
        };
        let (checkpoint, draws) = (&self.loaded.checkpoint, self.loaded.draws());
        let mut documents = self.documents();
        let whole = documents.pop();
        for document in &documents {
            compare(&document.file, document.text.as_bytes())?;
        }
        if let Some(whole) = whole {
            // A group is in the consolidated metadata last of all, and may have missed that.
            let shown = self.store.read(&whole.file, MOST_METADATA)?;
            documents.extend(added);
            let complete = consolidated(&documents);
            let expected = if shown == whole.text.as_bytes() { whole.text } else { complete };
            compare(&whole.file, expected.as_bytes())?;
        }
        let chunks = 0..draws.div_ceil(COORDINATE_DRAWS);
        for (file, bytes) in coordinate_files(&self.loaded.schema, chunks) {
            compare(&file, &bytes)?;
        }
        let columns = &self.loaded.columns;
        for (chain, record) in checkpoint.chains.iter().enumerate() {
            for ((column, tail), full) in
                columns.iter().zip(record.tails(columns)).zip(&record.checksums)
            {
                if tail.is_empty() {
                    continue;
                }
                let file = column.array.draws_file(chain, full.len());
                // The length first: what it promises decides how much memory is taken.
                self.store.expect_length(&file, column.chunk_bytes())?;
                let mut bytes = tail.to_vec();
                column.pad(&mut bytes);
                compare(&file, &bytes)?;
            }
        }
        Ok(files + added_files)
    }
}
