//! Learn from training rows how each column is to be encoded.

use super::encoder::{Indicator, InputContent, InputEncoding, TargetEncoding};
use super::rows::CompleteRows;
use super::{CellFault, DataError, Standardization, Task};
use crate::caution::Caution;

/// Looks at the columns of the training rows one after the other.
pub(super) struct Learner<'a> {
    rows: &'a CompleteRows<'a>,
    standardize: bool,
    pub cautions: Vec<Caution>,
}

impl<'a> Learner<'a> {
    pub(super) fn new(rows: &'a CompleteRows<'a>, standardize: bool) -> Self {
        Learner { rows, standardize, cautions: Vec::new() }
    }

    pub(super) fn input(&mut self, index: usize) -> Result<InputEncoding, DataError> {
        let column = self.rows.name(index);
        let constant = |column| Caution::ConstantColumn { column };
        if !self.rows.is_text(index) {
            let values = self.rows.numbers(index, CellFault::NotNumber)?;
            let content = InputContent::Number(self.scaling(&column, &values, constant)?);
            return Ok(InputEncoding { column, content });
        }
        let (mut levels, codes) = self.rows.checked_classes(index)?;
        let first = usize::from(levels.len() == 2);
        let classes = levels.split_off(first);
        let mut indicators = Vec::with_capacity(classes.len());
        for (offset, class) in classes.into_iter().enumerate() {
            let inside = |code: &usize| if *code == first + offset { 1.0 } else { 0.0 };
            let values: Vec<f64> = codes.iter().map(inside).collect();
            let scaling = self.scaling(&column, &values, constant)?;
            indicators.push(Indicator { class, scaling });
        }
        let content = InputContent::Classes { baseline: levels.pop(), indicators };
        Ok(InputEncoding { column, content })
    }

    pub(super) fn targets(
        &mut self,
        indices: &[usize],
        task: Option<Task>,
    ) -> Result<(TargetEncoding, Task), DataError> {
        let text = indices.iter().any(|index| self.rows.is_text(*index));
        match task {
            Some(Task::Regression) => self.real_targets(indices),
            None if !text => self.real_targets(indices),
            _ => self.class_target(indices, task),
        }
    }

    fn real_targets(&mut self, indices: &[usize]) -> Result<(TargetEncoding, Task), DataError> {
        let mut targets = Vec::with_capacity(indices.len());
        for &index in indices {
            let name = self.rows.name(index);
            if self.rows.is_text(index) {
                // Numbers gone wrong have an error of their own.
                self.rows.checked_classes(index)?;
            }
            let values = self.rows.numbers(index, CellFault::TextTarget)?;
            let constant = |column| Caution::ConstantTarget { column };
            let scaling = self.scaling(&name, &values, constant)?;
            targets.push((name, scaling));
        }
        Ok((TargetEncoding::Real(targets), Task::Regression))
    }

    fn class_target(
        &mut self,
        indices: &[usize],
        task: Option<Task>,
    ) -> Result<(TargetEncoding, Task), DataError> {
        let file = || self.rows.table.file().to_string();
        let &[index] = indices else {
            return Err(DataError::ClassTargets { file: file(), targets: indices.len() });
        };
        let column = self.rows.name(index);
        let (mut labels, _) = self.rows.checked_classes(index)?;
        let inferred = if labels.len() > 2 { Task::Multiclass } else { Task::Binary };
        let task = task.unwrap_or(inferred);
        if task == Task::Binary && labels.len() > 2 {
            return Err(DataError::NotBinary { file: file(), column, found: labels.len(), labels });
        }
        if let [label] = &labels[..] {
            let label = label.clone();
            if task == Task::Binary {
                labels = match label.as_str() {
                    "0" | "1" => vec!["0".to_string(), "1".to_string()],
                    other => vec![other.to_string(), format!("not {other}")],
                };
            }
            self.cautions.push(Caution::SingleClass { column: column.clone(), label });
        }
        Ok((TargetEncoding::Classes { column, labels }, task))
    }

    /// Scaling of a column, and the caution `caution` if it does not vary.
    fn scaling(
        &mut self,
        column: &str,
        values: &[f64],
        caution: impl FnOnce(String) -> Caution,
    ) -> Result<Standardization, DataError> {
        let constant = values.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
        // One row is not enough to say that a column does not vary.
        if constant && values.len() > 1 {
            self.cautions.push(caution(column.to_string()));
        }
        if !self.standardize {
            return Ok(Standardization::IDENTITY);
        }
        Standardization::fit(values).ok_or_else(|| DataError::Magnitude {
            file: self.rows.table.file().to_string(),
            column: column.to_string(),
        })
    }
}
