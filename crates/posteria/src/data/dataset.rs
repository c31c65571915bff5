//! Hold what a model is conditioned on: inputs, targets, groups.

use posteria_linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::Standardization;

/// The statistical task that the targets set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Real targets.
    Regression,
    /// One target with two classes.
    Binary,
    /// One target with more than two classes.
    Multiclass,
}

/// The observed responses.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// Real responses, one column per target, standardised as [`Dataset::target_scaling`] says.
    Real {
        /// Names of the target columns.
        names: Vec<String>,
        /// Rows × targets.
        values: Matrix,
    },
    /// One response that is a class.
    Classes {
        /// Name of the target column.
        name: String,
        /// Labels of the classes, in order: numbers by value, text alphabetically.
        labels: Vec<String>,
        /// Index of the class of every row.
        codes: Vec<usize>,
    },
}

/// Rows of data as a model sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Rows × inputs, standardised as `input_scaling` says.
    pub inputs: Matrix,
    /// Name of every input; an indicator column of class `red` of column `colour` is called
    /// `colour[red]`.
    pub input_names: Vec<String>,
    /// How every input was standardised.
    pub input_scaling: Vec<Standardization>,
    /// The responses.
    pub targets: Targets,
    /// How every real target was standardised; empty for classes.
    pub target_scaling: Vec<Standardization>,
    /// Index of the group of every row, if rows belong together.
    pub groups: Option<Vec<usize>>,
    /// What the targets set.
    pub task: Task,
}

impl Dataset {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.inputs.rows()
    }
}
