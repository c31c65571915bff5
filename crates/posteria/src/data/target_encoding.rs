//! Remember what the targets of training data were, and read those of a table alike.

use posteria_linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::rows::CompleteRows;
use super::{Censoring, DataError, Encoder, Standardization, Table, Targets};

/// What the targets of the training data were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TargetEncoding {
    Real(Vec<(String, Standardization)>),
    Classes { column: String, labels: Vec<String> },
    Counts { column: String },
    Durations { column: String, scaling: Standardization },
}

impl Encoder {
    /// The classes of the target, in order; none for real targets.
    pub fn labels(&self) -> &[String] {
        match &self.targets {
            TargetEncoding::Real(_)
            | TargetEncoding::Counts { .. }
            | TargetEncoding::Durations { .. } => &[],
            TargetEncoding::Classes { labels, .. } => labels,
        }
    }

    /// The targets of every row on the user's scale, classes as their indices; durations that are
    /// censored are negative.
    pub fn observed(&self, targets: &Targets) -> Vec<Vec<f64>> {
        match targets {
            Targets::Real { values, .. } => {
                let scaling = self.target_scaling();
                let of = |row: usize| {
                    let each = scaling.iter().enumerate();
                    each.map(|(column, scaling)| scaling.invert(values[(row, column)])).collect()
                };
                (0..values.rows()).map(of).collect()
            }
            Targets::Classes { codes, .. } => codes.iter().map(|code| vec![*code as f64]).collect(),
            Targets::Counts { values, .. } => values.iter().map(|value| vec![*value]).collect(),
            Targets::Durations { .. } => {
                targets.signed_durations().into_iter().map(|value| vec![value]).collect()
            }
        }
    }

    /// How every real target was standardised, and the logarithm of durations; empty for classes and
    /// counts.
    pub fn target_scaling(&self) -> Vec<Standardization> {
        match &self.targets {
            TargetEncoding::Real(targets) => targets.iter().map(|(_, scaling)| *scaling).collect(),
            TargetEncoding::Durations { scaling, .. } => vec![*scaling],
            TargetEncoding::Classes { .. } | TargetEncoding::Counts { .. } => Vec::new(),
        }
    }

    /// The names of the target columns.
    pub fn target_names(&self) -> Vec<String> {
        match &self.targets {
            TargetEncoding::Real(targets) => targets.iter().map(|(name, _)| name.clone()).collect(),
            TargetEncoding::Classes { column, .. }
            | TargetEncoding::Counts { column }
            | TargetEncoding::Durations { column, .. } => vec![column.clone()],
        }
    }

    /// Where a table with targets says which durations are censored.
    pub(super) fn censoring_of(
        &self,
        censoring: &Censoring,
        table: &Table,
    ) -> Result<usize, DataError> {
        table.find(&censoring.column).ok_or_else(|| DataError::Censoring {
            file: table.file().to_string(),
            column: censoring.column.clone(),
            option: censoring.option(),
            fault: "the table has the durations without it; add it, or leave the durations out",
        })
    }

    pub(super) fn targets(
        &self,
        rows: &CompleteRows,
        indices: &[usize],
        censoring: Option<usize>,
    ) -> Result<Targets, DataError> {
        match &self.targets {
            TargetEncoding::Real(targets) => {
                let mut values = Matrix::zeros(rows.rows.len(), targets.len());
                for (column, ((_, scaling), &index)) in targets.iter().zip(indices).enumerate() {
                    rows.standardized(index, scaling, values.column_mut(column))?;
                }
                Ok(Targets::Real { names: self.target_names(), values })
            }
            TargetEncoding::Classes { column, labels } => Ok(Targets::Classes {
                name: column.clone(),
                labels: labels.clone(),
                codes: rows.codes(indices[0], labels)?,
            }),
            TargetEncoding::Counts { column } => {
                Ok(Targets::Counts { name: column.clone(), values: rows.counts(indices[0])? })
            }
            TargetEncoding::Durations { column, .. } => Ok(Targets::Durations {
                name: column.clone(),
                times: rows.durations(indices[0])?,
                censored: match (&self.censoring, censoring) {
                    (Some(it), Some(index)) => Some(rows.censored(index, it)?),
                    _ => None,
                },
            }),
        }
    }
}
