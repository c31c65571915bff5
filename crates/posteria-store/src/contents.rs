//! Write the data that is given once: labels, observed data, constant data.

use posteria::draws::Layout;

use crate::disk::Disk;
use crate::error::StoreError;
use crate::facts::StaticGroup;
use crate::schema::{Array, Element, Origin, Schema};
use crate::statics::{
    Labels, Pointwise, StaticArray, group, label_bytes, label_width, number_bytes, row_numbers,
};

/// The content of every static array of a store.
pub(crate) struct Contents<'a> {
    chains: usize,
    layout: &'a Layout,
    rows: Option<&'a Labels>,
    groups: [(&'a [StaticArray], Vec<&'a Labels>); 2],
}

impl<'a> Contents<'a> {
    /// Also returns the facts of the observed and the constant data.
    pub(crate) fn new(
        chains: usize,
        layout: &'a Layout,
        pointwise: Option<&'a Pointwise>,
        [observed, constant]: [&'a [StaticArray]; 2],
    ) -> Result<(Self, [StaticGroup; 2]), StoreError> {
        let (observed_facts, observed_labels) = group(observed)?;
        let (constant_facts, constant_labels) = group(constant)?;
        let rows = pointwise.map(|pointwise| &pointwise.rows.labels);
        let groups = [(observed, observed_labels), (constant, constant_labels)];
        let contents = Contents { chains, layout, rows, groups };
        Ok((contents, [observed_facts, constant_facts]))
    }

    /// Makes the folders of all arrays and writes the static ones, to stay; returns the CRC-32
    /// of every file in the order of the schema.
    pub(crate) fn write(&self, disk: &Disk, schema: &Schema) -> Result<Vec<u32>, StoreError> {
        for array in &schema.arrays {
            disk.create_folder(&array.folder())?;
        }
        let (mut checksums, mut names) = (Vec::new(), Vec::new());
        for (array, chunk) in schema.static_files() {
            let (name, bytes) = (array.static_file(chunk), self.bytes(array, chunk));
            disk.replace(&name, &bytes)?;
            checksums.push(crc32fast::hash(&bytes));
            names.push(name);
        }
        disk.sync(&names)?;
        Ok(checksums)
    }

    fn bytes(&self, array: &Array, chunk: usize) -> Vec<u8> {
        match array.origin {
            Origin::Chain => number_bytes(0, self.chains),
            Origin::Dimension { variable, dimension } => {
                let dimension = &self.layout.variables()[variable].dimensions[dimension];
                match row_numbers(dimension) {
                    Some(rows) => rows.iter().flat_map(|row| (*row as i64).to_le_bytes()).collect(),
                    None => label_bytes(&dimension.labels, label_width(&dimension.labels)),
                }
            }
            Origin::Rows => coordinate_bytes(self.rows.expect("rows have labels"), array),
            Origin::StaticCoordinate { group, index } => {
                coordinate_bytes(self.groups[group].1[index], array)
            }
            Origin::Static { group, index } => {
                let values = &self.groups[group].0[index].values;
                let length = array.chunk_bytes() / 8;
                let own = values.chunks(length).nth(chunk).unwrap_or_default();
                let missing = std::iter::repeat_n(&f64::NAN, length - own.len());
                own.iter().chain(missing).flat_map(|value| value.to_le_bytes()).collect()
            }
            Origin::Draw | Origin::Variable(_) | Origin::Statistic(_) | Origin::LogLikelihood => {
                unreachable!("{} grows", array.name)
            }
        }
    }
}

fn coordinate_bytes(labels: &Labels, array: &Array) -> Vec<u8> {
    match (labels, array.element) {
        (Labels::Named(names), Element::Text(width)) => label_bytes(names, width),
        _ => number_bytes(0, labels.len()),
    }
}
