//! Continue a run folder where its checkpoint stands.

use std::path::Path;

use crate::added;
use crate::chain_log::ChainLog;
use crate::checkpoint::CHECKPOINT;
use crate::create::{RunFolder, VERSION};
use crate::error::StoreError;
use crate::lock::Lock;
use crate::publish::publish;
use crate::run::Run;
use crate::writer::{RunWriter, WriteOptions, encode};

impl RunFolder {
    /// Locks the run folder and continues it, to `draws` draws per chain in all: run the
    /// chains from [`RunWriter::memories`].
    ///
    /// Every file that must not have changed is checked first, and everything that follows
    /// from the checkpoint is written anew, so this also repairs what a crash or a power cut
    /// left of the files for other readers.
    ///
    /// # Errors
    /// [`StoreError`] if another process writes the folder, if it is damaged or of another
    /// version, or if it has more draws already.
    pub fn resume(
        path: &Path,
        draws: usize,
        options: WriteOptions,
    ) -> Result<RunWriter, StoreError> {
        // Looked at before anything is written into the folder: it may not be a run at all.
        Run::open(path)?;
        let lock = Lock::take(path)?;
        let run = Run::open(path)?;
        run.verify_immutable()?;
        let mut loaded = run.into_loaded();
        let checkpoint = &mut loaded.checkpoint;
        if checkpoint.facts.version != VERSION {
            let found = checkpoint.facts.version.clone();
            return Err(StoreError::OtherVersion { found, running: VERSION });
        }
        let done = checkpoint.chains.iter().map(|record| record.draws).max().unwrap_or(0);
        if draws < done {
            return Err(StoreError::Fewer { done, asked: draws });
        }
        checkpoint.facts.extent.draws = draws;
        checkpoint.facts.check()?;
        checkpoint.closed = false;

        let disk = options.disk(path);
        let store = disk.store();
        disk.replace_durably(CHECKPOINT, &encode(checkpoint))?;
        for array in &loaded.schema.arrays {
            store.check_folder(&array.folder())?;
        }
        for (chain, record) in loaded.checkpoint.chains.iter().enumerate() {
            let mut log = ChainLog::new(chain, &loaded.columns, record)?;
            log.write_partial_chunks(&loaded.columns, &store)?;
        }
        // They would tell of fewer draws than there will be.
        added::remove(&store)?;
        publish(&store, &loaded.schema, &loaded.checkpoint.facts, loaded.draws())?;
        RunWriter::new(disk, lock, loaded, options)
    }

    /// Makes a run whose chains are done what its writer would have left, had it not been killed
    /// between the last draw and its end. One that ended by itself stays as it is.
    ///
    /// # Errors
    /// [`StoreError`] as [`RunFolder::resume`].
    pub fn close(path: &Path, options: WriteOptions) -> Result<(), StoreError> {
        let run = Run::open(path)?;
        if run.is_closed() {
            return Ok(());
        }
        RunFolder::resume(path, run.extent().draws, options)?.finish().map(|_| ())
    }
}
