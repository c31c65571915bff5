//! Rows of a table by which a fit is judged that has not seen them.

use posteria_linalg::Matrix;

use super::{AssessError, HeldOut};
use crate::data::{Missing, Table};
use crate::fit::Prepared;

/// Rows that a fit has not seen, with their targets.
#[derive(Clone, Debug)]
pub struct HeldOutRows {
    /// Inputs, standardised like those of the fit, and log exposures behind them if there are any.
    inputs: Matrix,
    /// The targets on the user's scale; classes as their indices.
    observed: Vec<Vec<f64>>,
    /// The row of the table behind each of them.
    rows: Vec<usize>,
    /// Logarithms of the weights of the draws that predict them, where they are not equal.
    log_weights: Option<Vec<f64>>,
}

impl HeldOutRows {
    /// Of a table that has the columns of what was fitted; rows with missing cells are treated as
    /// those of the fit were.
    ///
    /// # Errors
    /// [`AssessError`] if the table lacks inputs, targets or complete rows, or if its rows are those
    /// of the fit itself.
    pub fn new(prepared: &Prepared, table: &Table) -> Result<Self, AssessError> {
        let Prepared { encoder, data, spec, .. } = prepared;
        let found = encoder.encode(table, Missing::from(spec.data.missing))?;
        let inputs = found.inputs_and_offsets().into_owned();
        let file = || table.file().to_string();
        let targets = found.targets.ok_or_else(|| {
            let targets = encoder.target_names();
            AssessError::TargetsNotHeldOut { file: file(), targets }
        })?;
        if found.inputs.rows() == 0 {
            return Err(AssessError::NoCompleteRow { file: file() });
        }
        let observed = encoder.observed(&targets);
        let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        let same = |one: &[f64], other: &[f64]| {
            one.len() == other.len() && one.iter().zip(other).all(is_same)
        };
        let known = encoder.observed(&data.targets);
        if same(found.inputs.values(), data.inputs.values())
            && same(&observed.concat(), &known.concat())
        {
            return Err(AssessError::SeenRows { file: file() });
        }
        Ok(HeldOutRows { inputs, observed, rows: found.rows, log_weights: None })
    }

    /// The targets on the user's scale; classes as their indices.
    pub fn observed(&self) -> &[Vec<f64>] {
        &self.observed
    }

    /// The row of the table behind each of them, from 0.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The same, predicted by draws with these logarithms of their weights, chain after chain.
    #[must_use]
    pub fn weighted(self, log_weights: Option<Vec<f64>>) -> Self {
        HeldOutRows { log_weights, ..self }
    }

    /// What an [`Assessor`](super::Assessor) is given.
    pub fn as_held_out(&self) -> HeldOut<'_> {
        let HeldOutRows { inputs, observed, log_weights, .. } = self;
        HeldOut { inputs, observed, log_weights: log_weights.as_deref() }
    }
}
