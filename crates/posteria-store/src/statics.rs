//! Describe what is given once: labels of rows, observed data, constant data.

use posteria::draws::Dimension;

use crate::error::StoreError;
use crate::facts::{Coordinate, StaticFact, StaticGroup};

/// Most characters of a label that the coordinate arrays keep; the checkpoint keeps all.
pub(crate) const LONGEST_LABEL: usize = 128;

/// The labels along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// 0, 1, …, up to this many.
    Numbered(usize),
    /// One name per index.
    Named(Vec<String>),
}

impl Labels {
    /// Number of labels.
    pub fn len(&self) -> usize {
        match self {
            Labels::Numbered(count) => *count,
            Labels::Named(names) => names.len(),
        }
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One axis of an array: its name and its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Name of the axis; rows are `obs_id` in ArviZ.
    pub name: String,
    /// The labels along it.
    pub labels: Labels,
}

impl Axis {
    /// The rows of the data, numbered from 0, called `obs_id` as ArviZ does.
    pub fn rows(count: usize) -> Self {
        Axis { name: Dimension::ROWS.to_string(), labels: Labels::Numbered(count) }
    }

    pub(crate) fn coordinate(&self) -> Coordinate {
        let width = match &self.labels {
            Labels::Numbered(_) => None,
            Labels::Named(names) => Some(label_width(names)),
        };
        Coordinate { name: self.name.clone(), length: self.labels.len(), width }
    }
}

/// The log likelihood of every row, kept with every draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointwise {
    /// Name of the array in the group `log_likelihood`: by ArviZ's custom that of the target.
    pub name: String,
    /// The rows.
    pub rows: Axis,
}

/// An array that does not change during the run: targets, inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticArray {
    /// Name of the array.
    pub name: String,
    /// Its axes, in row-major order.
    pub axes: Vec<Axis>,
    /// Its values.
    pub values: Vec<f64>,
}

/// Divides arrays into coordinates, each listed once, and references to them.
///
/// # Errors
/// [`StoreError::Shape`] if an array has more or fewer values than its axes say.
pub(crate) fn group(arrays: &[StaticArray]) -> Result<(StaticGroup, Vec<&Labels>), StoreError> {
    let mut axes: Vec<&Axis> = Vec::new();
    let mut facts = Vec::new();
    for array in arrays {
        let expected = array
            .axes
            .iter()
            .try_fold(1usize, |product, axis| product.checked_mul(axis.labels.len()))
            .ok_or(StoreError::Limit { what: "the size of an array", limit: usize::MAX })?;
        if expected != array.values.len() {
            let (name, found) = (array.name.clone(), array.values.len());
            return Err(StoreError::Shape { name, expected, found });
        }
        let indices = array.axes.iter().map(|axis| {
            axes.iter().position(|seen| *seen == axis).unwrap_or_else(|| {
                axes.push(axis);
                axes.len() - 1
            })
        });
        let indices = indices.collect();
        facts.push(StaticFact { name: array.name.clone(), axes: indices });
    }
    let coordinates = axes.iter().map(|axis| axis.coordinate()).collect();
    let labels = axes.iter().map(|axis| &axis.labels).collect();
    Ok((StaticGroup { coordinates, arrays: facts }, labels))
}

/// The numbers of rows that a dimension is along: whole numbers in a store, as those of the data are,
/// so that readers can match them.
pub(crate) fn row_numbers(dimension: &Dimension) -> Option<Vec<usize>> {
    if dimension.name != Dimension::ROWS {
        return None;
    }
    dimension.labels.iter().map(|label| label.parse().ok()).collect()
}

/// Characters of the fixed-width text type that holds `labels`.
pub(crate) fn label_width(labels: &[String]) -> usize {
    let longest = labels.iter().map(|label| label.chars().take(LONGEST_LABEL).count()).max();
    longest.unwrap_or(0).max(1)
}

/// `labels` as fixed-width UTF-32, the only text that Zarr v2 stores without a filter.
pub(crate) fn label_bytes(labels: &[String], width: usize) -> Vec<u8> {
    let mut bytes = vec![0; labels.len() * width * 4];
    for (label, cell) in labels.iter().zip(bytes.chunks_exact_mut(width * 4)) {
        for (character, code) in label.chars().zip(cell.chunks_exact_mut(4)) {
            code.copy_from_slice(&u32::from(character).to_le_bytes());
        }
    }
    bytes
}

/// The numbers `from`, `from + 1`, … as 64-bit integers.
pub(crate) fn number_bytes(from: usize, count: usize) -> Vec<u8> {
    (from..from + count).flat_map(|number| (number as i64).to_le_bytes()).collect()
}
