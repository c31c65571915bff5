//! Record running chains in a run folder, and write its checkpoints.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use posteria::fit::{Chain, ChainMemory, KeptDraw, Recorder, Report};

use crate::chain_log::{ChainLog, ChainRecord};
use crate::checkpoint::{CHECKPOINT, Checkpoint, Loaded, head, put_chain, seal};
use crate::codec::Encode;
use crate::columns::{Column, Draw};
use crate::disk::Disk;
use crate::error::StoreError;
use crate::facts::{Extent, Facts};
use crate::lock::Lock;
use crate::publish::{grow, publish};
use crate::schedule::{Cadence, Schedule};
use crate::schema::Schema;

/// How a run folder is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// How often checkpoints are written.
    pub cadence: Cadence,
    /// Set it, from anywhere, to end the run after the present sweeps.
    pub cancel: Arc<AtomicBool>,
    /// Whether the folder is only on its way to something else: then nobody waits until it is on the disk,
    /// and who finds it after a power cut checks all of it.
    pub scratch: bool,
    /// The crash that a test has planned.
    #[cfg(test)]
    pub(crate) crash: crate::tests::Crash,
}

impl WriteOptions {
    pub(crate) fn disk(&self, root: &Path) -> Disk {
        let mut disk = Disk::new(root);
        disk.waits = !self.scratch;
        #[cfg(test)]
        disk.crash.clone_from(&self.crash);
        disk
    }
}

/// What a run folder holds when its writer is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Draws that every chain has.
    pub draws: usize,
    /// Whether every chain has all its draws.
    pub complete: bool,
}

/// Writes one run folder; the [`Recorder`] of its chains.
///
/// Every chain writes its own full chunks. A checkpoint is written by the chain that was the
/// last to hand over its memory, while the others go on. End with [`RunWriter::finish`]; a
/// writer that is dropped instead leaves the folder at its last checkpoint, as a crash would.
#[derive(Debug)]
pub struct RunWriter {
    disk: Disk,
    store: Disk,
    schema: Schema,
    columns: Vec<Column>,
    facts: Facts,
    static_checksums: Vec<u32>,
    /// Sweeps after which every chain pauses.
    pause: AtomicUsize,
    chains: Vec<Slot>,
    schedule: Schedule,
    checkpoints: Mutex<Checkpoints>,
    cancel: Arc<AtomicBool>,
    failed: AtomicBool,
    error: Mutex<Option<StoreError>>,
    _lock: Lock,
}

#[derive(Debug)]
struct Slot {
    /// Only the chain's own thread takes it: never contended.
    log: Mutex<ChainLog>,
    /// What the chain handed over last; read by whoever writes a checkpoint.
    record: Mutex<ChainRecord>,
}

/// What the writing of checkpoints remembers from one to the next.
#[derive(Debug)]
struct Checkpoints {
    head: Vec<u8>,
    bytes: Vec<u8>,
    /// Full chunks known to be on the disk, for every chain and column.
    synced: Vec<Vec<usize>>,
    /// Draws that the metadata shows.
    published: usize,
}

impl RunWriter {
    pub(crate) fn new(
        disk: Disk,
        lock: Lock,
        loaded: Loaded,
        options: WriteOptions,
    ) -> Result<Self, StoreError> {
        let published = loaded.draws();
        let Loaded { checkpoint, schema, columns } = loaded;
        let Checkpoint { facts, static_checksums, chains: records, .. } = checkpoint;
        let lengths = |record: &ChainRecord| record.checksums.iter().map(Vec::len).collect();
        let synced = records.iter().map(lengths).collect();
        let head = head(&facts, &static_checksums);
        let mut chains = Vec::with_capacity(records.len());
        for (chain, record) in records.into_iter().enumerate() {
            let log = Mutex::new(ChainLog::new(chain, &columns, &record)?);
            chains.push(Slot { log, record: Mutex::new(record) });
        }
        Ok(RunWriter {
            store: disk.store(),
            disk,
            schema,
            columns,
            pause: AtomicUsize::new(facts.extent.iterations().unwrap_or(usize::MAX)),
            facts,
            static_checksums,
            chains,
            schedule: Schedule::new(options.cadence),
            checkpoints: Mutex::new(Checkpoints { head, bytes: Vec::new(), synced, published }),
            cancel: options.cancel,
            failed: AtomicBool::new(false),
            error: Mutex::new(None),
            _lock: lock,
        })
    }

    /// Where each chain stands, for [`posteria::fit::run`]; `None` for one that has not begun.
    pub fn memories(&self) -> Vec<Option<ChainMemory>> {
        self.chains.iter().map(|slot| lock(&slot.record).memory.clone()).collect()
    }

    /// Ends the run after the present sweeps.
    pub fn request_stop(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// How far the chains go.
    pub fn extent(&self) -> Extent {
        self.facts.extent
    }

    /// Changes how far the chains go: when they have paused or are done, before they run again
    /// from [`RunWriter::memories`].
    ///
    /// # Errors
    /// [`StoreError::Fewer`] if a chain has more draws already; [`StoreError::Limit`] if the sweeps
    /// cannot be counted.
    pub fn set_extent(&mut self, extent: Extent) -> Result<(), StoreError> {
        let done = self.chains.iter().map(|slot| lock(&slot.record).draws).max().unwrap_or(0);
        if extent.draws < done {
            return Err(StoreError::Fewer { done, asked: extent.draws });
        }
        let before = self.facts.extent;
        self.facts.extent = Extent { chains: before.chains, ..extent };
        self.facts.check()?;
        let published = {
            let mut state = lock(&self.checkpoints);
            state.head = head(&self.facts, &self.static_checksums);
            state.published
        };
        if before != self.facts.extent {
            // The metadata tell of the extent too.
            publish(&self.store, &self.schema, &self.facts, published)?;
        }
        self.pause = AtomicUsize::new(self.facts.extent.iterations().unwrap_or(usize::MAX));
        for slot in &mut self.chains {
            slot.log.get_mut().unwrap_or_else(PoisonError::into_inner).round = None;
        }
        Ok(())
    }

    /// From now on every chain pauses after `iteration` sweeps, warm-up included, if it is not done
    /// before: all of them at the same place. Also while chains run that have not passed it.
    pub fn pause_at(&self, iteration: usize) {
        self.pause.fetch_min(iteration, Ordering::Relaxed);
    }

    /// Whether writing failed and the chains stopped for that; [`RunWriter::finish`] tells why.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Writes a checkpoint of chains that have paused or are done, so that [`Run`](crate::Run)
    /// shows all of their draws.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be written.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.write_checkpoint(false)
    }

    /// Writes the last checkpoint and gives the lock back.
    ///
    /// # Errors
    /// What made the chains stop, if writing failed meanwhile: the folder then stands at its
    /// last checkpoint and can be resumed once the cause is gone.
    pub fn finish(self) -> Result<RunSummary, StoreError> {
        if let Some(error) = lock(&self.error).take() {
            return Err(error);
        }
        self.write_checkpoint(true)?;
        let draws = self.chains.iter().map(|slot| lock(&slot.record).draws).min().unwrap_or(0);
        Ok(RunSummary { draws, complete: draws == self.facts.extent.draws })
    }

    /// Whether draws come with the log likelihoods of all rows.
    pub(crate) fn keeps_log_likelihoods(&self) -> bool {
        self.facts.rows() > 0
    }

    /// Adds a draw of a chain that has run elsewhere.
    pub(crate) fn append(&self, chain: usize, kept: &KeptDraw<'_>) -> Result<(), StoreError> {
        self.append_to(&mut lock(&self.chains[chain].log), chain, kept)
    }

    /// Where a chain that has run elsewhere ended.
    pub(crate) fn end_at(&self, chain: usize, memory: ChainMemory) -> Result<(), StoreError> {
        let slot = &self.chains[chain];
        let log = &mut *lock(&slot.log);
        log.write_partial_chunks(&self.columns, &self.store)?;
        log.hand_over(memory, &mut lock(&slot.record));
        Ok(())
    }

    fn append_to(
        &self,
        log: &mut ChainLog,
        chain: usize,
        kept: &KeptDraw<'_>,
    ) -> Result<(), StoreError> {
        let expect = |what, expected, found| match expected == found {
            true => Ok(()),
            false => Err(StoreError::OutOfStep { chain, what, expected, found }),
        };
        expect("draw", log.draws, kept.index)?;
        expect("a draw of length", self.facts.layout.len(), kept.draw.len())?;
        expect("log likelihoods of rows:", self.facts.rows(), kept.log_likelihood.len())?;
        let draw = Draw {
            values: kept.draw,
            statistics: kept.statistics.to_array(),
            log_likelihood: kept.log_likelihood,
        };
        log.append(&self.columns, &self.store, &draw)
    }

    fn record(
        &self,
        report: &Report<'_>,
        chain: &Chain<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if self.failed.load(Ordering::Relaxed) {
            return Ok(ControlFlow::Break(()));
        }
        let slot = &self.chains[report.chain];
        let log = &mut *lock(&slot.log);
        let round = *log.round.get_or_insert_with(|| self.schedule.join());
        if let Some(kept) = report.kept {
            self.append_to(log, report.chain, &kept)?;
        }
        let done = report.iteration >= self.pause.load(Ordering::Relaxed);
        let stop = self.cancel.load(Ordering::Relaxed);
        if done || stop || self.schedule.calls(round, log.draws - log.handed_over) {
            log.write_partial_chunks(&self.columns, &self.store)?;
            log.hand_over(chain.memory(), &mut lock(&slot.record));
            let (round, write) = self.schedule.handed_over(round, done || stop);
            log.round = Some(round);
            if write {
                let began = Instant::now();
                self.write_checkpoint(false)?;
                self.schedule.written(began.elapsed());
            }
        }
        let complete = Some(report.iteration) >= self.facts.extent.iterations();
        let leaves = (stop || done) && !complete;
        Ok(if leaves { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Writes what the chains have handed over. Full chunks first, then the checkpoint that
    /// vouches for them; the metadata last, or before a checkpoint that closes the folder.
    fn write_checkpoint(&self, closed: bool) -> Result<(), StoreError> {
        let state = &mut *lock(&self.checkpoints);
        state.bytes.clear();
        state.bytes.extend_from_slice(&state.head);
        state.bytes.put_u8(closed.into());
        let (mut draws, mut new) = (usize::MAX, Vec::new());
        for (chain, (slot, synced)) in self.chains.iter().zip(&mut state.synced).enumerate() {
            let chunks: Vec<usize> = {
                let record = lock(&slot.record);
                put_chain(&mut state.bytes, &record);
                draws = draws.min(record.draws);
                record.checksums.iter().map(Vec::len).collect()
            };
            for ((column, synced), chunks) in self.columns.iter().zip(synced).zip(chunks) {
                new.extend((*synced..chunks).map(|chunk| column.array.draws_file(chain, chunk)));
                // Should the waiting fail, the run ends, and this is not looked at again.
                *synced = chunks;
            }
        }
        self.store.sync(&new)?;
        seal(&mut state.bytes);
        let draws = if self.chains.is_empty() { 0 } else { draws };
        let publish = |from| grow(&self.store, &self.schema, &self.facts, from, draws);
        if closed {
            publish(state.published)?;
        }
        self.disk.replace_durably(CHECKPOINT, &state.bytes)?;
        if !closed {
            publish(state.published)?;
        }
        state.published = draws;
        Ok(())
    }
}

impl Recorder for RunWriter {
    fn goes_on(&self, sweeps: usize) -> bool {
        sweeps < self.pause.load(Ordering::Relaxed)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        self.record(report, chain).unwrap_or_else(|error| {
            self.failed.store(true, Ordering::Relaxed);
            // The first failure is the cause; those of other chains follow from it.
            lock(&self.error).get_or_insert(error);
            ControlFlow::Break(())
        })
    }
}

/// The bytes of a whole checkpoint.
pub(crate) fn encode(checkpoint: &Checkpoint) -> Vec<u8> {
    let mut bytes = head(&checkpoint.facts, &checkpoint.static_checksums);
    bytes.put_u8(checkpoint.closed.into());
    checkpoint.chains.iter().for_each(|record| put_chain(&mut bytes, record));
    seal(&mut bytes);
    bytes
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
