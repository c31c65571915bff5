//! Check that a dataset holds together before a model is conditioned on it.

use super::ModelError;
use crate::data::{Dataset, Targets, Task};

/// Checks that there are rows, that all parts of `data` fit together, that every number is
/// finite and every class known.
///
/// # Errors
/// [`ModelError`].
pub(super) fn usable(data: &Dataset) -> Result<(), ModelError> {
    let (rows, inputs) = (data.rows(), data.input_names.len());
    if rows == 0 {
        return Err(ModelError::NoRows);
    }
    length("columns of the inputs", inputs, data.inputs.columns())?;
    length("standardisations of the inputs", inputs, data.input_scaling.len())?;
    for (column, name) in data.input_names.iter().enumerate() {
        finite(name, data.inputs.column(column))?;
    }
    if let Some(offsets) = &data.offsets {
        length("exposures", rows, offsets.len())?;
        finite("exposure", offsets)?;
    }
    match &data.targets {
        Targets::Real { names, values } => {
            length("names of the targets", values.columns(), names.len())?;
            length("standardisations of the targets", names.len(), data.target_scaling.len())?;
            length("targets", rows, values.rows())?;
            for (column, name) in names.iter().enumerate() {
                finite(name, values.column(column))?;
            }
            Ok(())
        }
        Targets::Classes { name, labels, codes } => {
            length("targets", rows, codes.len())?;
            let classes = if data.task == Task::Binary { 2 } else { labels.len() };
            match codes.iter().position(|code| *code >= classes) {
                Some(row) => Err(ModelError::NoSuchClass { column: name.clone(), row, classes }),
                None => Ok(()),
            }
        }
        Targets::Durations { name, times, censored } => {
            length("targets", rows, times.len())?;
            length("standardisations of the targets", 1, data.target_scaling.len())?;
            if let Some(censored) = censored {
                length("what is censored", rows, censored.len())?;
            }
            let is_duration = |time: &f64| *time > 0.0 && *time < f64::INFINITY;
            match times.iter().position(|time| !is_duration(time)) {
                Some(row) => Err(ModelError::NotDuration { column: name.clone(), row }),
                None => Ok(()),
            }
        }
        Targets::Counts { name, values } => {
            length("targets", rows, values.len())?;
            let is_count = |value: &f64| *value >= 0.0 && value.fract() <= 0.0;
            match values.iter().position(|value| !is_count(value)) {
                Some(row) => Err(ModelError::NotCount { column: name.clone(), row }),
                None => Ok(()),
            }
        }
    }
}

/// Checks a dataset whose inputs are all there is, and lays them out row by row.
///
/// # Errors
/// [`ModelError`], also if there are targets or no inputs.
pub(super) fn usable_rows(data: &Dataset) -> Result<Vec<f64>, ModelError> {
    usable(data)?;
    let columns = data.inputs.columns();
    let targets = match &data.targets {
        Targets::Real { names, .. } => names.len(),
        Targets::Classes { .. } | Targets::Counts { .. } | Targets::Durations { .. } => 1,
    };
    length("targets of a model without targets", 0, targets)?;
    if columns == 0 {
        let what = "columns of a model of rows".into();
        return Err(ModelError::Length { what, expected: 1, found: 0 });
    }
    let row = |row: usize| (0..columns).map(move |column| data.inputs[(row, column)]);
    Ok((0..data.rows()).flat_map(row).collect())
}

fn length(what: &str, expected: usize, found: usize) -> Result<(), ModelError> {
    if expected == found {
        Ok(())
    } else {
        Err(ModelError::Length { what: what.into(), expected, found })
    }
}

fn finite(column: &str, values: &[f64]) -> Result<(), ModelError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(ModelError::NotFinite { column: column.into(), row }),
        None => Ok(()),
    }
}
