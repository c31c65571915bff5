//! Group rows by the values of some inputs.

use crate::data::Dataset;
use crate::model::ModelError;

/// Groups of rows with a residual scale or degrees of freedom each, by the values of some inputs.
#[derive(Clone, Debug)]
pub(in crate::model) struct By {
    /// Columns of the inputs.
    pub(in crate::model) columns: Vec<usize>,
    /// Standardised values of the columns in every group.
    pub(in crate::model) values: Vec<Vec<f64>>,
    /// What reports call the groups.
    pub(in crate::model) labels: Vec<String>,
}

impl By {
    /// The groups of rows that agree in all columns of `by`, named in a key of `[residual]`.
    pub(super) fn new(
        (key, by): (&'static str, &[String]),
        data: &Dataset,
    ) -> Result<Self, ModelError> {
        let mut columns = Vec::new();
        for name in by {
            columns.extend(inputs_of((key, name), data)?);
        }
        let mut values: Vec<Vec<f64>> = Vec::new();
        for row in 0..data.rows() {
            let these: Vec<f64> = columns.iter().map(|k| data.inputs[(row, *k)]).collect();
            let same = |other: &Vec<f64>| {
                other.iter().zip(&these).all(|(a, b)| a.to_bits() == b.to_bits())
            };
            if !values.iter().any(same) {
                values.push(these);
            }
        }
        // As many groups as half of the rows tell nothing about separate scales.
        if values.len() > (data.rows() / 2).max(2) {
            let (columns, groups) = (by.to_vec(), values.len());
            return Err(ModelError::TooManyGroups { key, columns, groups });
        }
        values.sort_by(|a, b| {
            a.iter()
                .zip(b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|o| o.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let labels = values
            .iter()
            .map(|values| {
                let parts: Vec<String> = values
                    .iter()
                    .zip(&columns)
                    .map(|(value, k)| {
                        let value = data.input_scaling[*k].invert(*value);
                        // A round trip through the standard scale must not show its last digits.
                        format!("{}={}", data.input_names[*k], (value * 1e9).round() / 1e9)
                    })
                    .collect();
                parts.join(" ")
            })
            .collect();
        Ok(By { columns, values, labels })
    }

    /// The group of a row of standardised inputs; `None` for values that no training row had.
    pub(in crate::model) fn group(&self, input: impl Fn(usize) -> f64) -> Option<usize> {
        self.values.iter().position(|values| {
            values.iter().zip(&self.columns).all(|(value, column)| same(*value, input(*column)))
        })
    }
}

/// The inputs that a column of the table became, named in a key of `[residual]`.
pub(super) fn inputs_of(
    (key, name): (&'static str, &str),
    data: &Dataset,
) -> Result<Vec<usize>, ModelError> {
    let indicator = format!("{name}[");
    let is_of = |input: &String| input == name || input.starts_with(&indicator);
    let names = &data.input_names;
    let found: Vec<usize> = (0..names.len()).filter(|k| is_of(&names[*k])).collect();
    if found.is_empty() {
        return Err(ModelError::NoSuchInput { key, name: name.into(), inputs: names.clone() });
    }
    Ok(found)
}

/// Whether two standardised values are of one number: up to the rounding of a trip to the user's
/// scale and back.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}
