//! Hold what a model is conditioned on: inputs, targets, groups.

use std::borrow::Cow;

use posteria_linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::duration::scaling_of_durations;
use super::{DataError, Encoder, Roles, Standardization, Table};
use crate::caution::Caution;

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
    /// One target whose classes have an order.
    Ordinal,
    /// One target that counts events: 0, 1, 2, …
    Count,
    /// One target that is how long something lasts, and may be censored.
    Duration,
}

impl Task {
    /// Whether the target is a class.
    pub fn is_of_classes(self) -> bool {
        matches!(self, Task::Binary | Task::Multiclass | Task::Ordinal)
    }
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
        /// Labels of the classes, in order: as was said, or numbers by value and text alphabetically.
        labels: Vec<String>,
        /// Index of the class of every row.
        codes: Vec<usize>,
    },
    /// One response that counts events.
    Counts {
        /// Name of the target column.
        name: String,
        /// Whole numbers, 0 or more, as they are.
        values: Vec<f64>,
    },
    /// One response that is how long something lasts.
    Durations {
        /// Name of the target column.
        name: String,
        /// Positive numbers, as they are; the logarithms are standardised by models, as
        /// [`Dataset::target_scaling`] says.
        times: Vec<f64>,
        /// Whether all that is known of a row is that it lasts longer, if a column tells it.
        censored: Option<Vec<bool>>,
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
    /// How every real target was standardised, and the logarithms of durations; empty for classes. Of counts empty, or one whose centre
    /// is the logarithm of the rate that functions are about, in place of the mean rate of all rows.
    pub target_scaling: Vec<Standardization>,
    /// Logarithm of the exposure of every row, if a column tells it: how long, over how large an area
    /// or population, events were counted.
    pub offsets: Option<Vec<f64>>,
    /// Index of the group of every row, if rows belong together.
    pub groups: Option<Vec<usize>>,
    /// What the targets set.
    pub task: Task,
}

impl Targets {
    /// Those of these rows.
    ///
    /// # Panics
    /// If a row does not exist.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Targets::Real { names, values } => {
                Targets::Real { names: names.clone(), values: pick(values, rows) }
            }
            Targets::Classes { name, labels, codes } => Targets::Classes {
                name: name.clone(),
                labels: labels.clone(),
                codes: pick_codes(codes, rows),
            },
            Targets::Counts { name, values } => {
                Targets::Counts { name: name.clone(), values: pick_numbers(values, rows) }
            }
            Targets::Durations { name, times, censored } => Targets::Durations {
                name: name.clone(),
                times: pick_numbers(times, rows),
                censored: censored.as_ref().map(|all| rows.iter().map(|row| all[*row]).collect()),
            },
        }
    }
}

impl Targets {
    /// Targets as numbers: standardised ones o·n + i, class codes, counts, or durations, of which those
    /// that are censored are negative.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match self {
            Targets::Real { values, .. } => values.values().to_vec(),
            Targets::Classes { codes, .. } => codes.iter().map(|code| *code as f64).collect(),
            Targets::Counts { values, .. } => values.clone(),
            Targets::Durations { .. } => self.signed_durations(),
        }
    }
}

/// Inputs, followed by a column of offsets if there are any.
pub(super) fn with_offsets<'a>(inputs: &'a Matrix, offsets: Option<&[f64]>) -> Cow<'a, Matrix> {
    let Some(offsets) = offsets else { return Cow::Borrowed(inputs) };
    let count = inputs.columns();
    Cow::Owned(Matrix::from_fn(inputs.rows(), count + 1, |row, column| {
        if column < count { inputs[(row, column)] } else { offsets[row] }
    }))
}

pub(super) fn pick(matrix: &Matrix, rows: &[usize]) -> Matrix {
    Matrix::from_fn(rows.len(), matrix.columns(), |row, column| matrix[(rows[row], column)])
}

pub(super) fn pick_numbers(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|row| values[*row]).collect()
}

fn pick_codes(codes: &[usize], rows: &[usize]) -> Vec<usize> {
    rows.iter().map(|row| codes[*row]).collect()
}

impl Dataset {
    /// The data that a table holds when its columns play these roles, and what to be careful
    /// about. [`Encoder::fit`] gives the same with the means to encode new tables alike.
    ///
    /// A target with one class only is accepted with a caution. A binary task then has a second
    /// label that no row has: 0 and 1 complete each other, any other class `c` has `not c`.
    ///
    /// # Errors
    /// [`DataError`] if the roles do not fit the table or a cell does not fit its role.
    pub fn new(table: &Table, roles: &Roles) -> Result<(Self, Vec<Caution>), DataError> {
        let encoding = Encoder::fit(table, roles)?;
        Ok((encoding.dataset, encoding.cautions))
    }

    /// Numbers as they are, nothing standardised: inputs x0, x1, … and the task that such targets set
    /// (two classes are binary; more have no order).
    ///
    /// ```
    /// use posteria::data::{Dataset, Targets, Task};
    /// use posteria_linalg::Matrix;
    ///
    /// let inputs = Matrix::from_fn(4, 2, |row, column| (row + column) as f64);
    /// let targets = Targets::Counts { name: "events".into(), values: vec![0.0, 2.0, 1.0, 3.0] };
    /// let data = Dataset::unscaled(inputs, targets);
    /// assert_eq!(data.input_names, ["x0", "x1"]);
    /// assert_eq!(data.task, Task::Count);
    /// ```
    pub fn unscaled(inputs: Matrix, targets: Targets) -> Self {
        let (task, scaled) = match &targets {
            Targets::Real { names, .. } => (Task::Regression, names.len()),
            Targets::Classes { labels, .. } if labels.len() > 2 => (Task::Multiclass, 0),
            Targets::Classes { .. } => (Task::Binary, 0),
            Targets::Counts { .. } => (Task::Count, 0),
            Targets::Durations { .. } => (Task::Duration, 1),
        };
        let columns = inputs.columns();
        Dataset {
            inputs,
            input_names: (0..columns).map(|k| format!("x{k}")).collect(),
            input_scaling: vec![Standardization::IDENTITY; columns],
            targets,
            target_scaling: vec![Standardization::IDENTITY; scaled],
            offsets: None,
            groups: None,
            task,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.inputs.rows()
    }

    /// The inputs as predictors take them: followed by a column of [`Dataset::offsets`], if there are
    /// any.
    pub fn inputs_and_offsets(&self) -> Cow<'_, Matrix> {
        with_offsets(&self.inputs, self.offsets.as_deref())
    }

    /// These rows, on the scales of the whole data.
    ///
    /// # Panics
    /// If a row does not exist.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Dataset {
            inputs: pick(&self.inputs, rows),
            targets: self.targets.select(rows),
            groups: self.groups.as_ref().map(|codes| pick_codes(codes, rows)),
            offsets: self.offsets.as_ref().map(|offsets| pick_numbers(offsets, rows)),
            ..self.clone()
        }
    }

    /// The rows `training`, standardised anew so that nothing is known about other rows, and the
    /// rows `held_out` on the same scales. For data that were not to be standardised, use
    /// [`Dataset::select`].
    ///
    /// # Panics
    /// If a row does not exist.
    #[must_use]
    pub fn split(&self, training: &[usize], held_out: &[usize]) -> (Self, Self) {
        let (mut training, mut held_out) = (self.select(training), self.select(held_out));
        for column in 0..self.inputs.columns() {
            let old = self.input_scaling[column];
            let new = refit(old, training.inputs.column(column));
            for part in [&mut training, &mut held_out] {
                rescale(part.inputs.column_mut(column), old, new);
                part.input_scaling[column] = new;
            }
        }
        for column in 0..self.target_scaling.len() {
            let old = self.target_scaling[column];
            let new = match &training.targets {
                Targets::Real { values, .. } => refit(old, values.column(column)),
                Targets::Durations { times, censored, .. } => {
                    scaling_of_durations(times, censored.as_deref()).unwrap_or(old)
                }
                Targets::Classes { .. } | Targets::Counts { .. } => old,
            };
            for part in [&mut training, &mut held_out] {
                if let Targets::Real { values, .. } = &mut part.targets {
                    rescale(values.column_mut(column), old, new);
                }
                part.target_scaling[column] = new;
            }
        }
        (training, held_out)
    }
}

/// The map that standardises values which `old` has brought here.
fn refit(old: Standardization, values: &[f64]) -> Standardization {
    let constant = values.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
    match Standardization::fit(values) {
        Some(next) if constant => Standardization { scale: 1.0, ..old.then(&next) },
        Some(next) => old.then(&next),
        None => old,
    }
}

fn rescale(values: &mut [f64], old: Standardization, new: Standardization) {
    // Differences of centres and ratios of scales stay in range where the values would not.
    let (shift, ratio) = ((old.centre - new.centre) / new.scale, old.scale / new.scale);
    values.iter_mut().for_each(|value| *value = value.mul_add(ratio, shift));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Column;

    #[test]
    fn a_split_knows_nothing_about_the_rows_held_out() {
        let x: Vec<f64> = (0..10).map(|row| f64::from(row * row) * 1e150).collect();
        let y: Vec<f64> = (0..10).map(|row| 5.0 - f64::from(row)).collect();
        let constant: Vec<f64> = (0..10).map(|row| if row < 8 { 3.0 } else { 4.0 }).collect();
        let column = |name: &str, values: &[f64]| (name.into(), Column::numbers(values.to_vec()));
        let columns = vec![column("x", &x), column("c", &constant), column("y", &y)];
        let table = Table::new("memory", columns).unwrap();
        let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
        let (data, cautions) = Dataset::new(&table, &roles).unwrap();
        assert_eq!(cautions, []);
        let (training, held_out) = data.split(&[0, 1, 2, 3, 4, 5, 6, 7], &[8, 9]);
        let expected = Standardization::fit(&x[..8]).unwrap();
        for (part, first) in [(&training, 0), (&held_out, 8)] {
            for row in 0..part.rows() {
                assert!((part.inputs[(row, 0)] - expected.apply(x[first + row])).abs() < 1e-12);
                let Targets::Real { values, .. } = &part.targets else { panic!("real targets") };
                let user = part.target_scaling[0].invert(values[(row, 0)]);
                assert!((user - y[first + row]).abs() < 1e-12);
                let user = part.input_scaling[1].invert(part.inputs[(row, 1)]);
                assert!((user - constant[first + row]).abs() < 1e-12);
            }
        }
        assert!((training.input_scaling[1].scale - 1.0).abs() < 1e-15);
        assert!((held_out.inputs[(0, 1)] - 1.0).abs() < 1e-12);
    }
}
