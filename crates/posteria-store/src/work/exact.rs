//! Keep the data of a fit in memory to the last bit. A run folder has them on the scale of the user, to
//! rounding.

use std::fs;
use std::path::Path;

use posteria::data::{Dataset, Targets};
use posteria_linalg::Matrix;

use super::{WorkError, damaged};
use crate::codec::{Decoder, Encode};
use crate::disk::failure;

/// The numbers that a model was conditioned on.
pub(super) fn encode(data: &Dataset) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put_floats(&values(&data.inputs));
    match &data.targets {
        Targets::Real { values: targets, .. } => bytes.put_floats(&values(targets)),
        // Kept as they are.
        Targets::Classes { .. } | Targets::Counts { .. } | Targets::Durations { .. } => {
            bytes.put_floats(&[])
        }
    }
    bytes.put_floats(data.offsets.as_deref().unwrap_or_default());
    bytes
}

/// Puts the numbers in the file `path` in place of those of `data`, which are the same to rounding.
///
/// # Errors
/// [`WorkError::Damaged`] if they are not as many.
pub(super) fn restore(path: &Path, data: &mut Dataset) -> Result<(), WorkError> {
    let bytes = fs::read(path).map_err(failure("read", path))?;
    let mut from = Decoder::new("the data", &bytes);
    let inputs = from.floats("the inputs")?;
    let targets = from.floats("the targets")?;
    let offsets = from.floats("the exposures")?;
    put(&inputs, &mut data.inputs).ok_or_else(|| damaged(path, "it has other inputs"))?;
    if let Targets::Real { values, .. } = &mut data.targets {
        put(&targets, values).ok_or_else(|| damaged(path, "it has other targets"))?;
    }
    if let Some(own) = &mut data.offsets {
        if own.len() != offsets.len() || !offsets.iter().all(|offset| offset.is_finite()) {
            return Err(damaged(path, "it has other exposures"));
        }
        *own = offsets;
    }
    Ok(())
}

fn values(matrix: &Matrix) -> Vec<f64> {
    let mut all = Vec::with_capacity(matrix.rows() * matrix.columns());
    for row in 0..matrix.rows() {
        all.extend((0..matrix.columns()).map(|column| matrix[(row, column)]));
    }
    all
}

fn put(values: &[f64], matrix: &mut Matrix) -> Option<()> {
    let columns = matrix.columns();
    if values.len() != matrix.rows() * columns || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    *matrix = Matrix::from_fn(matrix.rows(), columns, |row, column| values[row * columns + column]);
    Some(())
}
