//! Learn from training rows how each column is to be encoded.

use super::duration::scaling_of_durations;
use super::encoder::{Indicator, InputContent, InputEncoding};
use super::levels::Part;
use super::rows::{CompleteRows, LARGEST};
use super::target_encoding::TargetEncoding;
use super::{CellFault, DataError, Roles, Standardization, Task};
use crate::caution::{Caution, WholeTarget};

/// So few numbers may count rows by chance, or for a reason.
const FEWEST_COUNTED: usize = 10;

/// Looks at the columns of the training rows one after the other.
pub(super) struct Learner<'a> {
    rows: &'a CompleteRows<'a>,
    roles: &'a Roles,
    pub cautions: Vec<Caution>,
}

impl<'a> Learner<'a> {
    pub(super) fn new(rows: &'a CompleteRows<'a>, roles: &'a Roles) -> Self {
        Learner { rows, roles, cautions: Vec::new() }
    }

    /// How each of these columns becomes inputs. Of columns with too many classes the error names
    /// all, so that they can be excluded together.
    pub(super) fn inputs(&mut self, indices: &[usize]) -> Result<Vec<InputEncoding>, DataError> {
        let mut encodings = Vec::with_capacity(indices.len());
        let mut refused: Option<DataError> = None;
        for &index in indices {
            let caution = self.row_numbers(index).filter(|_| indices.len() > 1);
            self.cautions.extend(caution);
            match (self.input(index), &mut refused) {
                (Ok(encoding), _) => encodings.push(encoding),
                (
                    Err(DataError::TooManyLevels { columns: more, .. }),
                    Some(DataError::TooManyLevels { columns, .. }),
                ) => columns.extend(more),
                (Err(_), Some(_)) => {}
                (Err(error @ DataError::TooManyLevels { .. }), None) => refused = Some(error),
                (Err(error), None) => return Err(error),
            }
        }
        refused.map_or(Ok(encodings), Err)
    }

    fn input(&mut self, index: usize) -> Result<InputEncoding, DataError> {
        let column = self.rows.name(index);
        let constant = |column| Caution::ConstantColumn { column };
        if !self.rows.is_text(index) {
            let values = self.rows.numbers(index, CellFault::NotNumber)?;
            let content = InputContent::Number(self.scaling(&column, &values, constant)?);
            return Ok(InputEncoding { column, content });
        }
        let most = self.roles.max_levels;
        let (mut levels, codes) = self.rows.checked_classes(index, Part::Input, most)?;
        let is_reference =
            |classes: usize| classes == 2 || self.roles.reference_classes && classes > 2;
        let first = usize::from(is_reference(levels.len()));
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
        (indices, censoring): (&[usize], Option<usize>),
    ) -> Result<(TargetEncoding, Task), DataError> {
        let text = indices.iter().any(|index| self.rows.is_text(*index));
        match self.roles.task {
            Some(Task::Regression) => self.real_targets(indices),
            Some(Task::Count) => self.count_target(indices),
            Some(Task::Duration) => self.duration_target(indices, censoring),
            None if !text => self.real_targets(indices),
            task => self.class_target(indices, task),
        }
    }

    fn real_targets(&mut self, indices: &[usize]) -> Result<(TargetEncoding, Task), DataError> {
        let mut targets = Vec::with_capacity(indices.len());
        for &index in indices {
            let name = self.rows.name(index);
            if self.rows.is_text(index) {
                // Numbers gone wrong have an error of their own.
                let (labels, codes) = self.rows.classes(index);
                self.rows.check_texts(index, &labels, &codes)?;
            }
            let values = self.rows.numbers(index, CellFault::TextTarget)?;
            if self.roles.task.is_none() && indices.len() == 1 {
                self.cautions.extend(whole_target(&name, &values).map(Caution::WholeTarget));
            }
            let constant = |column| Caution::ConstantTarget { column };
            let scaling = self.scaling(&name, &values, constant)?;
            targets.push((name, scaling));
        }
        Ok((TargetEncoding::Real(targets), Task::Regression))
    }

    fn count_target(&mut self, indices: &[usize]) -> Result<(TargetEncoding, Task), DataError> {
        let &[index] = indices else {
            let file = self.rows.table.file().to_string();
            return Err(DataError::CountTargets { file, targets: indices.len() });
        };
        let values = self.rows.counts(index)?;
        let column = self.rows.name(index);
        if values.len() > 1 && values.iter().all(|value| (value - values[0]).abs() <= 0.0) {
            self.cautions.push(Caution::ConstantTarget { column: column.clone() });
        }
        Ok((TargetEncoding::Counts { column }, Task::Count))
    }

    fn duration_target(
        &mut self,
        indices: &[usize],
        censoring: Option<usize>,
    ) -> Result<(TargetEncoding, Task), DataError> {
        let file = || self.rows.table.file().to_string();
        let &[index] = indices else {
            return Err(DataError::DurationTargets { file: file(), targets: indices.len() });
        };
        let times = self.rows.durations(index)?;
        let column = self.rows.name(index);
        let censored = match (&self.roles.censoring, censoring) {
            (Some(it), Some(at)) => {
                let censored = self.rows.censored(at, it)?;
                if censored.iter().all(|is_censored| *is_censored) {
                    let other = if it.option() == "event" { "censored" } else { "event" };
                    let (column, rows) = (it.column.clone(), times.len());
                    return Err(DataError::AllCensored { file: file(), column, rows, other });
                }
                Some(censored)
            }
            _ => None,
        };
        if times.len() > 1 && times.iter().all(|time| (time - times[0]).abs() <= 0.0) {
            self.cautions.push(Caution::ConstantTarget { column: column.clone() });
        }
        let scaling = match self.roles.standardize {
            true => scaling_of_durations(&times, censored.as_deref())
                .ok_or_else(|| self.magnitude(&column))?,
            false => Standardization::IDENTITY,
        };
        Ok((TargetEncoding::Durations { column, scaling }, Task::Duration))
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
        let most = self.roles.max_levels;
        let (mut labels, _) = self.rows.checked_classes(index, Part::Target, most)?;
        let inferred = if labels.len() > 2 { Task::Multiclass } else { Task::Binary };
        let task = task.unwrap_or(inferred);
        if task == Task::Binary && labels.len() > 2 {
            return Err(DataError::NotBinary { file: file(), column, found: labels.len(), labels });
        }
        if task == Task::Ordinal {
            let labels = self.ordered(index, labels)?;
            return Ok((TargetEncoding::Classes { column, labels }, task));
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

    /// The ordered classes of a target with these labels: those that were named, or numbers by value.
    fn ordered(&self, index: usize, labels: Vec<String>) -> Result<Vec<String>, DataError> {
        let (file, column) = (self.rows.table.file().to_string(), self.rows.name(index));
        let levels = match &self.roles.levels {
            Some(levels) => levels.clone(),
            None if labels.iter().all(|it| it.parse::<f64>().is_ok()) => labels,
            None => return Err(DataError::NoOrder { file, column, labels }),
        };
        let is_repeated = (1..levels.len()).any(|at| levels[..at].contains(&levels[at]));
        if levels.len() < 2 || is_repeated {
            return Err(DataError::FewLevels { file, column });
        }
        match self.rows.codes(index, &levels) {
            Err(DataError::Cell { place, column, text, .. }) => {
                let fault = CellFault::NotLevel { levels: levels.into() };
                Err(DataError::Cell { place, column, text, fault })
            }
            Err(error) => Err(error),
            Ok(_) => Ok(levels),
        }
    }

    /// Scaling of a column, and the caution `caution` if it does not vary.
    /// The caution that a column counts the rows of the table, as programs write one in front of
    /// others, and is an input because all columns are.
    fn row_numbers(&self, index: usize) -> Option<Caution> {
        if self.roles.inputs.is_some() || self.rows.is_text(index) {
            return None;
        }
        let values = self.rows.numbers(index, CellFault::NotNumber).ok()?;
        let first = [0_usize, 1].into_iter().find(|first| {
            let counts =
                |(row, value): (&usize, &f64)| value.total_cmp(&((row + first) as f64)).is_eq();
            values.len() >= FEWEST_COUNTED && self.rows.rows.iter().zip(&values).all(counts)
        })?;
        let rows = self.rows.table.rows();
        Some(Caution::RowNumbers { column: self.rows.name(index), first, rows })
    }

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
        if self.roles.standardize {
            return Standardization::fit(values).ok_or_else(|| self.magnitude(column));
        }
        let squares: f64 = values.iter().map(|value| value * value).sum();
        if squares.is_finite() {
            Ok(Standardization::IDENTITY)
        } else {
            Err(self.magnitude(column))
        }
    }

    /// Refuses inputs so small beside a real target that the slope, target per input, cannot be
    /// computed with on the user's scale.
    pub(super) fn check_slopes(
        &self,
        inputs: &[InputEncoding],
        targets: &TargetEncoding,
    ) -> Result<(), DataError> {
        let TargetEncoding::Real(targets) = targets else { return Ok(()) };
        for InputEncoding { column, content } in inputs {
            let InputContent::Number(input) = content else { continue };
            if targets.iter().any(|(_, target)| target.scale / input.scale > LARGEST) {
                return Err(self.magnitude(column));
            }
        }
        Ok(())
    }

    fn magnitude(&self, column: &str) -> DataError {
        let file = self.rows.table.file().to_string();
        DataError::Magnitude { file, column: column.to_string() }
    }
}

/// That the values of a target may be meant as classes: two whole numbers, or a few small ones
/// that occur twice or more on average.
fn whole_target(name: &str, values: &[f64]) -> Option<WholeTarget> {
    const MOST: usize = 10;
    const SMALL: f64 = 100.0;
    let mut different: Vec<f64> = Vec::with_capacity(MOST + 1);
    for value in values {
        if value.fract().abs() > 0.0 || value.abs() > SMALL {
            return None;
        }
        if !different.iter().any(|other| (other - value).abs() <= 0.0) {
            different.push(*value);
        }
        if different.len() > MOST {
            return None;
        }
    }
    different.sort_unstable_by(f64::total_cmp);
    let is_truth =
        matches!(different[..], [low, high] if low.abs() <= 0.0 && (high - 1.0).abs() <= 0.0);
    let repeated = different.len() > 1 && 2 * different.len() <= values.len();
    let (smallest, largest) = (*different.first()?, *different.last()?);
    let found = WholeTarget { column: name.into(), different: different.len(), smallest, largest };
    (is_truth || repeated).then_some(found)
}
