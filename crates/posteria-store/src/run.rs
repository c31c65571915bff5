//! Read a run folder, also while another process writes it.

use std::io;
use std::path::{Path, PathBuf};

use posteria::draws::{Draws, Layout, Statistics};
use posteria::fit::ChainMemory;

use crate::checkpoint::{CHECKPOINT, Loaded};
use crate::columns::{Column, Reading};
use crate::create::{check_approximation, check_spec};
use crate::disk::{DRAWS, Disk, failure, plain_folder};
use crate::error::StoreError;
use crate::facts::Extent;
use crate::lock::Lock;
use crate::metadata::{Document, documents};
use crate::schema::Origin;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Whether every chain has all its draws.
    pub complete: bool,
    /// Whether a process writes the folder now.
    pub locked: bool,
    /// Which, where it could be read.
    pub pid: Option<u32>,
}

/// A run folder as its checkpoint described it when it was opened.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    spec: String,
    approximation: Option<String>,
    pub(crate) loaded: Loaded,
    pub(crate) store: Disk,
}

impl Run {
    /// Opens a run folder for reading.
    ///
    /// # Errors
    /// [`StoreError`] if there is no run, or one that is damaged or too new.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::NoFolder { path: path.to_path_buf() });
        }
        let disk = Disk::new(path);
        for missing in [CHECKPOINT, DRAWS] {
            if let Err(error) = std::fs::symlink_metadata(disk.path(missing)) {
                return Err(match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                        StoreError::NotARun { path: path.to_path_buf(), missing }
                    }
                    _ => failure("open", &disk.path(missing))(error),
                });
            }
        }
        disk.check_folder(DRAWS)?;
        let loaded = Loaded::read(&disk)?;
        let spec = check_spec(&disk, &loaded.checkpoint.facts)?;
        let approximation = check_approximation(&disk, &loaded.checkpoint.facts)?;
        Ok(Run { path: path.to_path_buf(), spec, approximation, loaded, store: disk.store() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The specification, as it was given.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// What an approximation found besides draws, as JSON; `None` for Markov chains.
    pub fn approximation(&self) -> Option<&str> {
        self.approximation.as_deref()
    }

    /// The version of posteria that began the run.
    pub fn version(&self) -> &str {
        &self.loaded.checkpoint.facts.version
    }

    /// Names of what a draw holds.
    pub fn layout(&self) -> &Layout {
        &self.loaded.checkpoint.facts.layout
    }

    /// Rows with a log likelihood of their own; 0 if none were kept.
    pub fn rows(&self) -> usize {
        self.loaded.checkpoint.facts.rows()
    }

    /// How far the chains are to go.
    pub fn extent(&self) -> Extent {
        self.loaded.checkpoint.facts.extent
    }

    /// Whether whoever wrote the folder last ended by itself: otherwise what follows from the
    /// checkpoint may lag behind it, also where every chain is done.
    pub fn is_closed(&self) -> bool {
        self.loaded.checkpoint.closed
    }

    /// Draws of each chain at the checkpoint.
    pub fn chain_draws(&self) -> Vec<usize> {
        self.loaded.checkpoint.chains.iter().map(|record| record.draws).collect()
    }

    /// Sweeps of each chain at the checkpoint, warm-up included.
    pub fn chain_iterations(&self) -> Vec<usize> {
        let chains = self.loaded.checkpoint.chains.iter();
        chains.map(|record| record.memory.as_ref().map_or(0, |memory| memory.iteration)).collect()
    }

    /// Where each chain stood at the checkpoint; `None` for one that had not begun.
    pub fn memories(&self) -> Vec<Option<ChainMemory>> {
        self.loaded.checkpoint.chains.iter().map(|record| record.memory.clone()).collect()
    }

    /// How the run stands; the lock is asked now, the rest is of the checkpoint.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the lock cannot be read.
    pub fn status(&self) -> Result<Status, StoreError> {
        let holder = Lock::holder(&self.path)?;
        Ok(Status {
            complete: self.loaded.draws() == self.extent().draws,
            locked: holder.is_some(),
            pid: holder.flatten(),
        })
    }

    /// The draws; chains that are ahead are cut to the shortest.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if a chunk is not what was written.
    pub fn draws(&self) -> Result<Draws, StoreError> {
        self.read(|_| true)
    }

    /// The draws as [`Run::draws`], without the log likelihoods of rows, which for much data are
    /// far larger than everything else.
    ///
    /// # Errors
    /// As [`Run::draws`].
    pub fn draws_of_variables(&self) -> Result<Draws, StoreError> {
        self.read(|column| column.array.origin != Origin::LogLikelihood)
    }

    fn read(&self, wanted: impl Fn(&Column) -> bool) -> Result<Draws, StoreError> {
        let facts = &self.loaded.checkpoint.facts;
        let columns = &self.loaded.columns;
        let draws = self.loaded.draws();
        // Whether the files are there is known before memory is taken for what is in them.
        self.each_chunk(draws, |name, length, [_, column, _]| match wanted(&columns[column]) {
            true => self.store.expect_length(name, length),
            false => Ok(()),
        })?;
        let all = draws.checked_mul(facts.extent.chains);
        let pointwise = columns.iter().find(|it| it.array.origin == Origin::LogLikelihood);
        let rows = if pointwise.is_some_and(&wanted) { facts.rows() } else { 0 };
        let mut reading = Reading {
            draws: Draws {
                draws,
                values: zeros(all, facts.layout.len())?,
                log_likelihood: zeros(all, rows)?,
                ..Draws::empty(facts.layout.clone(), facts.extent.chains, rows)
            },
            statistics: vec![[0.0; Statistics::LEN]; all.unwrap_or(0)],
        };
        self.each_chunk(draws, |name, length, [chain, column, chunk]| {
            if wanted(&columns[column]) {
                let checksum = self.loaded.checkpoint.chains[chain].checksums[column][chunk];
                let bytes = self.read_chunk(name, length, checksum)?;
                columns[column].decode(chain, chunk, &bytes, &mut reading);
            }
            Ok(())
        })?;
        for (chain, record) in self.loaded.checkpoint.chains.iter().enumerate() {
            let tails = record.tails(columns);
            for ((column, tail), full) in columns.iter().zip(tails).zip(&record.checksums) {
                if wanted(column) {
                    column.decode(chain, full.len(), tail, &mut reading);
                }
            }
        }
        let Reading { mut draws, statistics } = reading;
        draws.statistics = statistics.into_iter().map(Statistics::from_array).collect();
        Ok(draws)
    }

    /// Visits every full chunk that holds one of the first `draws` draws: its file, its length,
    /// and its chain, column and number.
    pub(crate) fn each_chunk(
        &self,
        draws: usize,
        mut visit: impl FnMut(&str, usize, [usize; 3]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for (chain, record) in self.loaded.checkpoint.chains.iter().enumerate() {
            for (index, column) in self.loaded.columns.iter().enumerate() {
                let holds = draws.div_ceil(column.array.chunks[1]);
                for chunk in 0..record.checksums[index].len().min(holds) {
                    let name = column.array.draws_file(chain, chunk);
                    visit(&name, column.chunk_bytes(), [chain, index, chunk])?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn read_chunk(
        &self,
        name: &str,
        length: usize,
        checksum: u32,
    ) -> Result<Vec<u8>, StoreError> {
        let bytes = self.store.read_exactly(name, length)?;
        if crc32fast::hash(&bytes) != checksum {
            return Err(self.store.damaged(name, "its content does not fit its checksum"));
        }
        Ok(bytes)
    }

    /// All metadata that follow from the checkpoint, the consolidated ones last.
    pub(crate) fn documents(&self) -> Vec<Document> {
        documents(&self.loaded.schema, &self.loaded.checkpoint.facts, self.loaded.draws())
    }

    pub(crate) fn into_loaded(self) -> Loaded {
        self.loaded
    }
}

impl Disk {
    /// # Errors
    /// [`StoreError::NotPlain`] if the folder, or one on the way to it, is a link.
    pub(crate) fn check_folder(&self, name: &str) -> Result<(), StoreError> {
        let mut path = self.path("");
        for part in name.split('/') {
            path.push(part);
            let found = std::fs::symlink_metadata(&path).map_err(failure("open", &path))?;
            plain_folder(&path, &found)?;
        }
        Ok(())
    }
}

fn zeros(count: Option<usize>, each: usize) -> Result<Vec<f64>, StoreError> {
    let limit =
        || StoreError::Limit { what: "the memory for all draws", limit: isize::MAX as usize };
    let length = count.and_then(|count| count.checked_mul(each)).ok_or_else(limit)?;
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(length).map_err(|_| limit())?;
    zeros.resize(length, 0.0);
    Ok(zeros)
}
