//! Say what predictions are worth in groups of rows.

use serde::{Deserialize, Serialize};

use super::AssessmentAsked;
use crate::assess::{AssessError, Assessed, PointwiseUtilities, bayesian_bootstrap};
use crate::data::Table;

/// More groups are not looked at one by one.
const MOST_GROUPS: usize = 100;

/// Rows with the same value in a column.
#[derive(Clone, Debug)]
pub struct RowGroups {
    column: String,
    /// The value, and the rows that have it.
    members: Vec<(String, Vec<usize>)>,
}

/// What predictions of some rows are worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subgroup {
    /// The column and its value in these rows.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Every utility that was asked for.
    pub utilities: Vec<SubgroupUtility>,
}

/// What predictions of some rows are worth by one utility.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubgroupUtility {
    /// Its name.
    pub name: String,
    /// The estimate, per row.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Standard deviation of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
}

impl RowGroups {
    /// Those of these rows of a table, which a fit is judged by, that have the same value in a
    /// column.
    ///
    /// # Errors
    /// [`AssessError`] if there is no such column, or it has too many values.
    pub fn new((table, rows): (&Table, &[usize]), column: &str) -> Result<Self, AssessError> {
        let labels = table.labels(column, rows)?;
        let values = table.column(column)?;
        let mut members: Vec<(String, Vec<usize>)> = Vec::new();
        for (row, label) in labels.iter().enumerate() {
            if *label == members.len() {
                members.push((values.cell(rows[row]).to_string(), Vec::new()));
            }
            members[*label].1.push(row);
        }
        if members.len() > MOST_GROUPS {
            let (column, different) = (column.into(), members.len());
            return Err(AssessError::ManyGroups { column, different, most: MOST_GROUPS });
        }
        Ok(RowGroups { column: column.into(), members })
    }

    /// What every group is called, and its rows.
    pub(in crate::assess) fn named(&self) -> impl Iterator<Item = (String, &[usize])> {
        self.members.iter().map(|(value, rows)| (format!("{} = {value}", self.column), &rows[..]))
    }

    /// What predictions are worth in every group; of a sample of the rows those groups that have
    /// some in it.
    pub(super) fn expected(
        &self,
        asked: &AssessmentAsked<'_>,
        assessed: &Assessed,
    ) -> Result<Vec<Subgroup>, AssessError> {
        let bootstrap = asked.bootstrap.of_sample(assessed.sample.as_ref());
        let of = |(name, rows): (String, &[usize])| {
            let rows = assessed.positions(rows);
            let of_rows = bootstrap.select(&rows);
            let each = assessed.utilities.iter().skip(asked.unasked());
            let each = each.map(|pointwise: &PointwiseUtilities| {
                let found = bayesian_bootstrap(&pointwise.select(&rows), &of_rows)?;
                let (mean, sd) = (found.estimate, found.sd());
                Ok(SubgroupUtility { name: found.name, mean, sd })
            });
            let utilities = each.collect::<Result<_, AssessError>>()?;
            Ok(Subgroup { name, rows: rows.len(), utilities })
        };
        let members = self.named();
        members.filter(|(_, rows)| !assessed.positions(rows).is_empty()).map(of).collect()
    }
}
