//! Turn tables into numbers the way the training table was turned into numbers.

use std::borrow::Cow;
use std::ops::Range;

use posteria_linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::dataset::{pick, pick_numbers, with_offsets};
use super::learner::Learner;
use super::rows::CompleteRows;
use super::target_encoding::TargetEncoding;
use super::{Cell, Censoring, DataError, Dataset, Missing, Roles, Standardization, Table};
use super::{Targets, Task};
use crate::caution::Caution;

/// The memory of how training data became numbers: it encodes new tables the same way, finding
/// columns by name in any order.
///
/// A column of text becomes indicators that are 1 where the row has the class and 0 elsewhere:
/// one indicator for two classes (that of the second in alphabetical order), else one for every
/// class. The indicators of three or more classes sum to 1, which priors resolve, and no class
/// is singled out, unless [`Roles::reference_classes`] asks for it. Indicators are standardised like
/// any other input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// Names of all columns of the training table, used or not, in order.
    pub(super) columns: Vec<String>,
    pub(super) inputs: Vec<InputEncoding>,
    pub(super) targets: TargetEncoding,
    pub(super) task: Task,
    /// The column with the exposure of counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) exposure: Option<String>,
    /// The column that says which durations are censored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) censoring: Option<Censoring>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InputEncoding {
    pub column: String,
    pub content: InputContent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum InputContent {
    Number(Standardization),
    Classes { baseline: Option<String>, indicators: Vec<Indicator> },
}

impl InputContent {
    /// Number of inputs that the column became.
    pub(super) fn width(&self) -> usize {
        match self {
            InputContent::Number(_) => 1,
            InputContent::Classes { indicators, .. } => indicators.len(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Indicator {
    pub class: String,
    pub scaling: Standardization,
}

/// Training data as numbers, and all that was learnt on the way.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// The data.
    pub dataset: Dataset,
    /// How to encode new tables alike.
    pub encoder: Encoder,
    /// The row of the table behind every row of the data.
    pub rows: Vec<usize>,
    /// Index of the fold in which every row is held out, if a column says so.
    pub folds: Option<Vec<usize>>,
    /// What to be careful about.
    pub cautions: Vec<Caution>,
}

/// New rows, encoded like the training data.
#[derive(Clone, Debug)]
pub struct EncodedRows {
    /// Rows × inputs, standardised like the training data.
    pub inputs: Matrix,
    /// The responses, if every target column is there and not empty, standardised likewise.
    pub targets: Option<Targets>,
    /// Logarithm of the exposure of every row, if the data have a column for it.
    pub offsets: Option<Vec<f64>>,
    /// The row of the table behind every row of the data.
    pub rows: Vec<usize>,
    /// What to be careful about.
    pub cautions: Vec<Caution>,
}

impl EncodedRows {
    /// The rows at these places.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        EncodedRows {
            inputs: pick(&self.inputs, places),
            targets: self.targets.as_ref().map(|targets| targets.select(places)),
            offsets: self.offsets.as_ref().map(|offsets| pick_numbers(offsets, places)),
            rows: places.iter().map(|place| self.rows[*place]).collect(),
            cautions: self.cautions.clone(),
        }
    }

    /// The inputs as predictors take them: followed by a column of [`EncodedRows::offsets`], if there
    /// are any.
    pub fn inputs_and_offsets(&self) -> Cow<'_, Matrix> {
        with_offsets(&self.inputs, self.offsets.as_deref())
    }
}

/// The inputs that one column of the table became.
#[derive(Clone, Debug, PartialEq)]
pub struct InputColumn {
    /// Name of the column; of a column of two classes, that of its indicator.
    pub name: String,
    /// Which inputs: one for a column of numbers or of two classes, one per class for more, except
    /// for a class that is the reference.
    pub inputs: Range<usize>,
    /// How each of them was standardised.
    pub scaling: Vec<Standardization>,
    /// Whether the column holds numbers; else classes.
    pub is_number: bool,
}

/// The most numbers that the matrix of inputs may hold: 2 GiB.
const MAX_NUMBERS: usize = 1 << 28;

impl Encoder {
    /// Learns from a table how to encode it, and encodes it.
    ///
    /// # Errors
    /// [`DataError`] if the roles do not fit the table or a cell does not fit its role.
    pub fn fit(table: &Table, roles: &Roles) -> Result<Encoding, DataError> {
        let indices = roles.indices(table)?;
        let rows = CompleteRows::new(table, &indices.used(table), roles.missing)?;
        let mut learner = Learner::new(&rows, roles);
        let inputs = learner.inputs(&indices.inputs)?;
        let (targets, task) = learner.targets((&indices.targets, indices.censoring))?;
        learner.check_slopes(&inputs, &targets)?;
        let columns = table.names().to_vec();
        let exposure = roles.exposure.clone();
        if let Some(column) = exposure.clone().filter(|_| task != Task::Count) {
            let fault = "the targets are none; choose --task count, or make it an input";
            return Err(DataError::Exposure { file: table.file().into(), column, fault });
        }
        let censoring = roles.censoring.clone();
        if let Some(it) = censoring.as_ref().filter(|_| task != Task::Duration) {
            let (column, option) = (it.column.clone(), it.option());
            let fault = "the targets are none; choose --task duration, or make it an input";
            return Err(DataError::Censoring { file: table.file().into(), column, option, fault });
        }
        let encoder = Encoder { columns, inputs, targets, task, exposure, censoring };
        let codes = |index: usize| rows.classes(index).1;
        let mut input_scaling = Vec::new();
        encoder.for_each_input(|_, scaling| input_scaling.push(*scaling));
        let dataset = Dataset {
            inputs: encoder.inputs(&rows, &indices.inputs)?,
            input_names: encoder.input_names(),
            input_scaling,
            targets: encoder.targets(&rows, &indices.targets, indices.censoring)?,
            target_scaling: encoder.target_scaling(),
            offsets: indices.exposure.map(|index| rows.log_exposures(index)).transpose()?,
            groups: indices.group.map(codes),
            task,
        };
        let folds = indices.fold.map(codes);
        let cautions = rows.caution(&indices.inputs).into_iter().chain(learner.cautions).collect();
        Ok(Encoding { dataset, encoder, rows: rows.rows, folds, cautions })
    }

    /// Encodes a new table. Its columns may stand in any order and be more than are needed; the
    /// targets may be absent, or have no value in any row.
    ///
    /// # Errors
    /// [`DataError`] naming an input that is not there, a class or a text that the training
    /// data do not have, or missing cells.
    pub fn encode(&self, table: &Table, missing: Missing) -> Result<EncodedRows, DataError> {
        let inputs = self
            .inputs
            .iter()
            .map(|input| table.index(&input.column))
            .collect::<Result<Vec<_>, _>>()?;
        let exposure = self.exposure.as_ref().map(|name| table.index(name)).transpose()?;
        let is_real = !matches!(self.targets, TargetEncoding::Classes { .. });
        let has_value = |index: &usize| {
            let column = &table.columns()[*index];
            let cell = |row| if is_real { column.number_cell(row) } else { column.cell(row) };
            (0..table.rows()).any(|row| cell(row) != Cell::Missing)
        };
        let names = self.target_names();
        let targets: Option<Vec<usize>> =
            names.iter().map(|name| table.find(name).filter(has_value)).collect();
        let targets = targets.filter(|targets| !targets.is_empty());
        let censoring = match (&self.censoring, &targets) {
            (Some(it), Some(_)) => Some(self.censoring_of(it, table)?),
            _ => None,
        };
        let is_number = |input: &InputEncoding| matches!(input.content, InputContent::Number(_));
        let mut used: Vec<(usize, bool)> =
            inputs.iter().copied().zip(self.inputs.iter().map(is_number)).collect();
        used.extend(targets.iter().flatten().map(|index| (*index, is_real)));
        used.extend(exposure.map(|index| (index, true)));
        used.extend(censoring.map(|index| (index, table.columns()[index].is_mostly_numbers())));
        used.sort_unstable();
        let rows = CompleteRows::new(table, &used, missing)?;
        let cautions = rows.caution(&[]).into_iter().collect();
        Ok(EncodedRows {
            inputs: self.inputs(&rows, &inputs)?,
            targets: targets.map(|it| self.targets(&rows, &it, censoring)).transpose()?,
            offsets: exposure.map(|index| rows.log_exposures(index)).transpose()?,
            rows: rows.rows,
            cautions,
        })
    }

    /// The encoder of a part of the same data that was standardised anew ([`Dataset::split`]).
    ///
    /// # Panics
    /// If `data` has other inputs or targets.
    #[must_use]
    pub fn rescaled(&self, data: &Dataset) -> Self {
        let mut encoder = self.clone();
        let mut scalings = data.input_scaling.iter();
        let mut next = || *scalings.next().expect("one scaling per input");
        for input in &mut encoder.inputs {
            match &mut input.content {
                InputContent::Number(scaling) => *scaling = next(),
                InputContent::Classes { indicators, .. } => {
                    indicators.iter_mut().for_each(|indicator| indicator.scaling = next());
                }
            }
        }
        if let TargetEncoding::Real(targets) = &mut encoder.targets {
            assert_eq!(targets.len(), data.target_scaling.len(), "the same targets");
            for ((_, old), new) in targets.iter_mut().zip(&data.target_scaling) {
                *old = *new;
            }
        }
        if let TargetEncoding::Durations { scaling, .. } = &mut encoder.targets {
            *scaling = data.target_scaling[0];
        }
        encoder
    }

    /// The names of the inputs, indicators included.
    pub fn input_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.for_each_input(|name, _| names.push(name));
        names
    }

    /// The columns of the table that became inputs, in the order of the inputs.
    pub fn input_columns(&self) -> Vec<InputColumn> {
        let mut next = 0;
        let each = self.inputs.iter().map(|InputEncoding { column, content }| {
            let (scaling, is_number) = match content {
                InputContent::Number(scaling) => (vec![*scaling], true),
                InputContent::Classes { indicators, .. } => {
                    (indicators.iter().map(|indicator| indicator.scaling).collect(), false)
                }
            };
            let inputs = next..next + scaling.len();
            next = inputs.end;
            let name = match content {
                InputContent::Classes { indicators, .. } if indicators.len() == 1 => {
                    format!("{column}[{}]", indicators[0].class)
                }
                _ => column.clone(),
            };
            InputColumn { name, inputs, scaling, is_number }
        });
        each.collect()
    }

    /// The columns of three or more classes whose first class has no indicator, each with that class:
    /// weights of the other ones are differences from it ([`Roles::reference_classes`]).
    pub fn reference_classes(&self) -> Vec<(String, String)> {
        let each = self.inputs.iter().filter_map(|input| match &input.content {
            InputContent::Classes { baseline: Some(class), indicators } if indicators.len() > 1 => {
                Some((input.column.clone(), class.clone()))
            }
            _ => None,
        });
        each.collect()
    }

    /// The column with the exposure of counts, if there is one.
    pub fn exposure(&self) -> Option<&str> {
        self.exposure.as_deref()
    }

    /// The column that says which durations are censored, if there is one.
    pub fn censoring(&self) -> Option<&Censoring> {
        self.censoring.as_ref()
    }

    /// What the targets set.
    pub fn task(&self) -> Task {
        self.task
    }

    pub(super) fn for_each_input(&self, mut visit: impl FnMut(String, &Standardization)) {
        for InputEncoding { column, content } in &self.inputs {
            match content {
                InputContent::Number(scaling) => visit(column.clone(), scaling),
                InputContent::Classes { indicators, .. } => {
                    for Indicator { class, scaling } in indicators {
                        visit(format!("{column}[{class}]"), scaling);
                    }
                }
            }
        }
    }

    fn inputs(&self, rows: &CompleteRows, indices: &[usize]) -> Result<Matrix, DataError> {
        let (count, mut columns) = (rows.rows.len(), 0);
        self.for_each_input(|_, _| columns += 1);
        if count.checked_mul(columns).is_none_or(|numbers| numbers > MAX_NUMBERS) {
            let (file, inputs) = (rows.table.file().to_string(), columns);
            return Err(DataError::TooManyInputs { file, rows: count, inputs, limit: MAX_NUMBERS });
        }
        let mut matrix = Matrix::zeros(count, columns);
        let mut column = 0;
        for (input, &index) in self.inputs.iter().zip(indices) {
            match &input.content {
                InputContent::Number(scaling) => {
                    rows.standardized(index, scaling, matrix.column_mut(column))?;
                    column += 1;
                }
                InputContent::Classes { baseline, indicators } => {
                    let classes = indicators.iter().map(|indicator| &indicator.class);
                    let levels: Vec<String> = baseline.iter().chain(classes).cloned().collect();
                    let first = usize::from(baseline.is_some());
                    let codes = rows.codes(index, &levels)?;
                    for (offset, indicator) in indicators.iter().enumerate() {
                        for (entry, code) in matrix.column_mut(column).iter_mut().zip(&codes) {
                            let inside = if *code == first + offset { 1.0 } else { 0.0 };
                            *entry = indicator.scaling.apply(inside);
                        }
                        column += 1;
                    }
                }
            }
        }
        Ok(matrix)
    }
}
