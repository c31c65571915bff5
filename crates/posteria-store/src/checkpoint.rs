//! Encode, decode and check the checkpoint, the single source of truth of a run folder.
//!
//! Little-endian: the magic word, the format, the facts of the run, the checksums of its static
//! files, whether it was closed properly, one record per chain, and at the very end, in this
//! and in every later format, the CRC-32 of everything before.

use posteria::fit::ChainMemory;
use posteria::random::StreamPosition;

use crate::chain_log::ChainRecord;
use crate::codec::{Decoder, Encode};
use crate::columns::Column;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::facts::Facts;
use crate::schema::Schema;

/// Name of the file.
pub(crate) const CHECKPOINT: &str = "checkpoint";
/// The format that this version writes, and the latest that it reads. Format 2 says of every
/// variable whether it is identified, format 3 what a chain has seen of its window of warm-up.
pub(crate) const FORMAT: u32 = 3;
/// No checkpoint is larger: it holds at most a chunk per array and chain.
const LARGEST: u64 = 1 << 32;

const MAGIC: &[u8; 8] = b"POSTERIA";

/// What a run folder knows about itself.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) facts: Facts,
    /// CRC-32 of every static file, in the order of the schema.
    pub(crate) static_checksums: Vec<u32>,
    /// Whether the writer ended by itself, so that the derived files are up to date too.
    pub(crate) closed: bool,
    pub(crate) chains: Vec<ChainRecord>,
}

/// A checkpoint with the arrays that follow from it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) schema: Schema,
    pub(crate) columns: Vec<Column>,
}

/// The part of a checkpoint that stays the same, encoded once.
pub(crate) fn head(facts: &Facts, static_checksums: &[u32]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.put_u32(FORMAT);
    facts.encode(&mut bytes);
    bytes.put_count(static_checksums.len());
    static_checksums.iter().for_each(|checksum| bytes.put_u32(*checksum));
    bytes
}

/// Appends the record of one chain.
pub(crate) fn put_chain(bytes: &mut Vec<u8>, record: &ChainRecord) {
    bytes.put_u8(record.memory.is_some().into());
    if let Some(memory) = &record.memory {
        bytes.put_count(memory.iteration);
        bytes.put_floats(&memory.state);
        memory.stream.key.iter().for_each(|word| bytes.put_u64(*word));
        bytes.put_u64(memory.stream.words);
        bytes.put_count(memory.updates.len());
        memory.updates.iter().for_each(|update| bytes.put_floats(update));
        bytes.put_floats(&memory.window);
    }
    bytes.put_count(record.draws);
    for checksums in &record.checksums {
        bytes.put_count(checksums.len());
        checksums.iter().for_each(|checksum| bytes.put_u32(*checksum));
    }
    bytes.extend_from_slice(&record.tail);
}

/// Closes an encoded checkpoint with its checksum.
pub(crate) fn seal(bytes: &mut Vec<u8>) {
    let checksum = crc32fast::hash(bytes);
    bytes.put_u32(checksum);
}

impl Loaded {
    /// Reads the checkpoint of a run folder.
    pub(crate) fn read(disk: &Disk) -> Result<Self, StoreError> {
        Self::decode(&disk.read(CHECKPOINT, LARGEST)?)
    }

    /// # Errors
    /// [`StoreError::Damaged`] or [`StoreError::Newer`]; never panics, whatever the bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        let damaged = |what: &str| StoreError::damaged(CHECKPOINT, what);
        if bytes.len() < MAGIC.len() + 8 {
            return Err(damaged("it is cut short"));
        }
        let (body, checksum) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(body).to_le_bytes() != checksum {
            return Err(damaged("its content does not fit its checksum"));
        }
        let body = body.strip_prefix(MAGIC).ok_or_else(|| damaged("it is not a checkpoint"))?;
        let mut from = Decoder::new(CHECKPOINT, body);
        let format = match from.u32("the format")? {
            0 => return Err(damaged("there is no format 0")),
            format if format <= FORMAT => format,
            found => return Err(StoreError::Newer { found, supported: FORMAT }),
        };
        let facts = Facts::decode(&mut from, format)?;
        let schema = Schema::new(&facts).map_err(|error| from.damaged(error.to_string()))?;
        let columns = Column::all(&schema, &facts);
        let count = from.count(4, "the number of static checksums")?;
        let static_checksums =
            (0..count).map(|_| from.u32("a checksum")).collect::<Result<Vec<_>, _>>()?;
        // Compared one by one: the schema may claim more files than can be counted.
        if schema.static_files().take(count + 1).count() != count {
            return Err(damaged("its static checksums do not fit its arrays"));
        }
        let closed = from.flag("the closing flag")?;
        if facts.extent.chains.checked_mul(9 + 8 * columns.len()).is_none_or(|n| n > bytes.len()) {
            return Err(damaged("it has fewer chains than it says"));
        }
        let mut chains = Vec::with_capacity(facts.extent.chains);
        for chain in 0..facts.extent.chains {
            let record = take_chain(&mut from, &columns, format)?;
            check_chain(&facts, &record)
                .map_err(|what| from.damaged(format!("chain {chain} has {what}")))?;
            chains.push(record);
        }
        if !from.is_empty() {
            return Err(damaged("it goes on after its last chain"));
        }
        let checkpoint = Checkpoint { facts, static_checksums, closed, chains };
        Ok(Loaded { checkpoint, schema, columns })
    }

    /// Draws that every chain has.
    pub(crate) fn draws(&self) -> usize {
        self.checkpoint.chains.iter().map(|record| record.draws).min().unwrap_or(0)
    }
}

fn take_chain(
    from: &mut Decoder<'_>,
    columns: &[Column],
    format: u32,
) -> Result<ChainRecord, StoreError> {
    let memory = if from.flag("the flag of a memory")? {
        let iteration = from.number("an iteration")?;
        let state = from.floats("a state")?;
        let mut key = [0; 4];
        for word in &mut key {
            *word = from.u64("a stream")?;
        }
        let stream = StreamPosition { key, words: from.u64("a stream")? };
        let count = from.count(8, "the number of updates")?;
        let mut updates = Vec::with_capacity(count);
        for _ in 0..count {
            updates.push(from.floats("an update's memory")?);
        }
        let window = if format < 3 { Vec::new() } else { from.floats("a window of warm-up")? };
        Some(ChainMemory { iteration, state, stream, updates, window })
    } else {
        None
    };
    let draws = from.number("a number of draws")?;
    let mut checksums = Vec::with_capacity(columns.len());
    let mut tail = 0usize;
    for column in columns {
        let count = from.count(4, "a number of chunks")?;
        if count != column.full_chunks(draws) {
            return Err(from.damaged(format!("{draws} draws do not make {count} full chunks")));
        }
        let own = from.bytes(4 * count, "the checksums of chunks")?.chunks_exact(4);
        checksums.push(own.map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect());
        tail = tail.saturating_add(column.tail_bytes(draws));
    }
    let tail = from.bytes(tail, "the last draws")?.to_vec();
    Ok(ChainRecord { memory, draws, checksums, tail })
}

fn check_chain(facts: &Facts, record: &ChainRecord) -> Result<(), String> {
    let iteration = record.memory.as_ref().map_or(0, |memory| memory.iteration);
    if Some(iteration) > facts.extent.iterations() {
        return Err(format!("done {iteration} sweeps, more than planned"));
    }
    let expected = facts.extent.draws_after(iteration);
    if record.draws != expected {
        return Err(format!("{} draws where {iteration} sweeps give {expected}", record.draws));
    }
    Ok(())
}
