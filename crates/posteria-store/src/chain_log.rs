//! Collect the draws of one chain: full chunks to files, the rest for the checkpoint.

use posteria::fit::ChainMemory;

use crate::columns::{Column, Draw};
use crate::disk::Disk;
use crate::error::StoreError;

/// What a checkpoint holds of one chain: its memory and the draws up to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChainRecord {
    /// `None` for a chain that has not begun.
    pub(crate) memory: Option<ChainMemory>,
    pub(crate) draws: usize,
    /// CRC-32 of every full chunk, column by column.
    pub(crate) checksums: Vec<Vec<u32>>,
    /// The draws after the last full chunk, column by column.
    pub(crate) tail: Vec<u8>,
}

impl ChainRecord {
    pub(crate) fn new(columns: &[Column]) -> Self {
        ChainRecord { checksums: vec![Vec::new(); columns.len()], ..Self::default() }
    }

    /// The bytes after the last full chunk of every column.
    pub(crate) fn tails<'a>(&'a self, columns: &'a [Column]) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.tail.as_slice();
        columns.iter().map(move |column| {
            let (tail, after) = rest.split_at(column.tail_bytes(self.draws));
            rest = after;
            tail
        })
    }
}

/// A chain's draws as they come in. Only the chain's own thread touches it.
#[derive(Debug)]
pub(crate) struct ChainLog {
    chain: usize,
    pub(crate) draws: usize,
    /// Draws at the last hand-over.
    pub(crate) handed_over: usize,
    /// The last round of checkpoints that the chain took part in; `None` before it runs.
    pub(crate) round: Option<u64>,
    /// Bytes after the last full chunk, for every column.
    tails: Vec<Vec<u8>>,
    checksums: Vec<Vec<u32>>,
    padded: Vec<u8>,
}

impl ChainLog {
    /// Continues where `record` ends. Room for whole chunks is taken here, once.
    ///
    /// # Errors
    /// [`StoreError::Limit`] if there is not so much memory.
    pub(crate) fn new(
        chain: usize,
        columns: &[Column],
        record: &ChainRecord,
    ) -> Result<Self, StoreError> {
        let mut tails = Vec::with_capacity(columns.len());
        for (column, bytes) in columns.iter().zip(record.tails(columns)) {
            let mut tail = Vec::new();
            tail.try_reserve_exact(column.chunk_bytes()).map_err(|_| StoreError::Limit {
                what: "the memory for one chunk of draws",
                limit: column.chunk_bytes(),
            })?;
            tail.extend_from_slice(bytes);
            tails.push(tail);
        }
        Ok(ChainLog {
            chain,
            draws: record.draws,
            handed_over: record.draws,
            round: None,
            tails,
            checksums: record.checksums.clone(),
            padded: Vec::new(),
        })
    }

    /// Takes one draw; a chunk that becomes full goes to its file.
    pub(crate) fn append(
        &mut self,
        columns: &[Column],
        disk: &Disk,
        draw: &Draw<'_>,
    ) -> Result<(), StoreError> {
        for ((column, tail), checksums) in
            columns.iter().zip(&mut self.tails).zip(&mut self.checksums)
        {
            column.encode(self.chain, draw, tail)?;
            if column.draw_bytes > 0 && tail.len() == column.chunk_bytes() {
                let file = column.array.draws_file(self.chain, checksums.len());
                disk.replace(&file, tail)?;
                checksums.push(crc32fast::hash(tail));
                tail.clear();
            }
        }
        self.draws += 1;
        Ok(())
    }

    /// Writes the chunks that are not full, filled up with missing values, for other readers.
    pub(crate) fn write_partial_chunks(
        &mut self,
        columns: &[Column],
        disk: &Disk,
    ) -> Result<(), StoreError> {
        for ((column, tail), checksums) in columns.iter().zip(&self.tails).zip(&self.checksums) {
            if !tail.is_empty() {
                self.padded.clear();
                self.padded.extend_from_slice(tail);
                column.pad(&mut self.padded);
                disk.replace(&column.array.draws_file(self.chain, checksums.len()), &self.padded)?;
            }
        }
        Ok(())
    }

    /// Brings `record` up to this moment, at which the chain has `memory`.
    pub(crate) fn hand_over(&mut self, memory: ChainMemory, record: &mut ChainRecord) {
        record.memory = Some(memory);
        record.draws = self.draws;
        for (handed, own) in record.checksums.iter_mut().zip(&self.checksums) {
            handed.extend_from_slice(&own[handed.len()..]);
        }
        record.tail.clear();
        self.tails.iter().for_each(|tail| record.tail.extend_from_slice(tail));
        self.handed_over = self.draws;
    }
}
