//! Read back what was given once: observed data, constant data, attributes.

use crate::codec::float;
use crate::error::StoreError;
use crate::run::Run;
use crate::schema::Origin;

/// An array of the observed or constant data, without its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredArray {
    /// Name, as it was given.
    pub name: String,
    /// Length of every axis.
    pub shape: Vec<usize>,
    /// Values, in row-major order.
    pub values: Vec<f64>,
}

impl Run {
    /// The attribute of the store called `name`.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let attributes = &self.loaded.checkpoint.facts.attributes;
        attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The observed data, in the order in which they were given.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if a file is not what was written.
    pub fn observed(&self) -> Result<Vec<StoredArray>, StoreError> {
        self.stored(0)
    }

    /// The constant data, in the order in which they were given.
    ///
    /// # Errors
    /// As [`Run::observed`].
    pub fn constant(&self) -> Result<Vec<StoredArray>, StoreError> {
        self.stored(1)
    }

    fn stored(&self, wanted: usize) -> Result<Vec<StoredArray>, StoreError> {
        let facts = &self.loaded.checkpoint.facts;
        let group = [&facts.observed, &facts.constant][wanted];
        let files = || self.loaded.schema.static_files();
        let own = |origin: Origin| match origin {
            Origin::Static { group, index } if group == wanted => Some(index),
            _ => None,
        };
        // Whether the files are there is known before memory is taken for what is in them.
        for (array, chunk) in files().filter(|(array, _)| own(array.origin).is_some()) {
            self.store.expect_length(&array.static_file(chunk), array.chunk_bytes())?;
        }
        let length = |axis: &usize| group.coordinates[*axis].length;
        let mut arrays: Vec<StoredArray> = group
            .arrays
            .iter()
            .map(|fact| StoredArray {
                name: fact.name.clone(),
                shape: fact.axes.iter().map(length).collect(),
                values: Vec::new(),
            })
            .collect();
        let checksums = &self.loaded.checkpoint.static_checksums;
        for ((array, chunk), checksum) in files().zip(checksums) {
            let Some(index) = own(array.origin) else { continue };
            let bytes =
                self.read_chunk(&array.static_file(chunk), array.chunk_bytes(), *checksum)?;
            let StoredArray { shape, values, .. } = &mut arrays[index];
            // The last chunk is filled up beyond the end of the array.
            let left = shape.iter().product::<usize>() - values.len();
            let here = left.min(bytes.len() / 8);
            values.reserve_exact(here);
            values.extend(bytes.chunks_exact(8).take(here).map(float));
        }
        Ok(arrays)
    }
}
