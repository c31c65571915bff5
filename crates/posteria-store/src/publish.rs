//! Show other readers what the checkpoint knows: metadata and the coordinate of draws.

use crate::disk::Disk;
use crate::error::StoreError;
use crate::facts::Facts;
use crate::metadata::documents;
use crate::schema::{Array, COORDINATE_DRAWS, Origin, Schema};
use crate::statics::number_bytes;

/// Writes all metadata and coordinates of draws, for a store of `draws` draws.
pub(crate) fn publish(
    disk: &Disk,
    schema: &Schema,
    facts: &Facts,
    draws: usize,
) -> Result<(), StoreError> {
    grow_coordinates(disk, schema, 0, draws)?;
    for document in documents(schema, facts, draws) {
        disk.replace(&document.file, document.text.as_bytes())?;
    }
    Ok(())
}

/// Grows a store that was published with `from` draws to `to` draws.
///
/// Everything inside the new shape is on the disk before any metadata shows it, so a reader
/// never meets a chunk that is not there.
pub(crate) fn grow(
    disk: &Disk,
    schema: &Schema,
    facts: &Facts,
    from: usize,
    to: usize,
) -> Result<(), StoreError> {
    if from == to {
        return Ok(());
    }
    grow_coordinates(disk, schema, from, to)?;
    for document in documents(schema, facts, to).iter().filter(|document| document.grows) {
        disk.replace(&document.file, document.text.as_bytes())?;
    }
    Ok(())
}

/// Files of the coordinates of draws for `draws` draws, with their content: always whole
/// chunks, so that a file once written stays as it is.
pub(crate) fn coordinate_files(
    schema: &Schema,
    chunks: std::ops::Range<usize>,
) -> impl Iterator<Item = (String, Vec<u8>)> {
    let is_draw = |array: &&Array| array.origin == Origin::Draw;
    schema.arrays.iter().filter(is_draw).flat_map(move |array| {
        chunks.clone().map(|chunk| {
            let bytes = number_bytes(chunk * COORDINATE_DRAWS, COORDINATE_DRAWS);
            (format!("{}/{chunk}", array.folder()), bytes)
        })
    })
}

fn grow_coordinates(
    disk: &Disk,
    schema: &Schema,
    from: usize,
    to: usize,
) -> Result<(), StoreError> {
    let chunks = from.div_ceil(COORDINATE_DRAWS)..to.div_ceil(COORDINATE_DRAWS);
    for (file, bytes) in coordinate_files(schema, chunks) {
        disk.replace(&file, &bytes)?;
    }
    Ok(())
}
