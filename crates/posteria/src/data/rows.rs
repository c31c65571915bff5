//! Choose the rows of a table that are complete, and take numbers and classes from them.

use std::collections::HashMap;

use super::{Cell, CellFault, Cells, Column, DataError, Missing, Standardization, Table};
use crate::caution::Caution;

/// Rows of a table whose used cells are all there.
#[derive(Debug)]
pub(super) struct CompleteRows<'a> {
    pub table: &'a Table,
    pub rows: Vec<usize>,
    /// How many rows were left out.
    pub dropped: usize,
    /// The column with most missing cells, and how many they are.
    emptiest: Option<(usize, usize)>,
}

/// How many cells an error names.
const NAMED: usize = 5;

/// The largest size of a number that can be computed with: the squares of ten thousand of them
/// still have a finite sum.
pub(super) const LARGEST: f64 = 1e152;

/// The largest count: all whole numbers up to it are doubles.
const MOST_COUNTED: f64 = 9e15;

/// The largest size of the logarithm of an exposure or a duration.
const MOST_LOG_EXPOSURE: f64 = 100.0;

impl<'a> CompleteRows<'a> {
    /// Rows without missing cells in the columns `used`, each with whether it holds numbers.
    pub(super) fn new(
        table: &'a Table,
        used: &[(usize, bool)],
        missing: Missing,
    ) -> Result<Self, DataError> {
        let file = || table.file().to_string();
        let mut rows = Vec::with_capacity(table.rows());
        let mut empty = vec![0; used.len()];
        let [mut absent, mut infinite, mut huge] = [(); 3].map(|()| CellList::new(table));
        for row in 0..table.rows() {
            let absent_before = absent.cells.total;
            for (place, &(column, is_number)) in used.iter().enumerate() {
                let cells = &table.columns()[column];
                match if is_number { cells.number_cell(row) } else { cells.cell(row) } {
                    Cell::Missing => {
                        absent.push(row, column);
                        empty[place] += 1;
                    }
                    Cell::Number(value) if value.is_infinite() => infinite.push(row, column),
                    Cell::Number(value) if value.abs() > LARGEST => huge.push(row, column),
                    _ => {}
                }
            }
            if absent.cells.total == absent_before {
                rows.push(row);
            }
        }
        if missing == Missing::Error && absent.cells.total > 0 {
            return Err(DataError::Missing { file: file(), cells: absent.cells });
        }
        if infinite.cells.total > 0 {
            return Err(DataError::Infinite { file: file(), cells: infinite.cells });
        }
        if huge.cells.total > 0 {
            return Err(DataError::Huge { file: file(), cells: huge.cells, limit: LARGEST });
        }
        let dropped = table.rows() - rows.len();
        match (rows.is_empty(), dropped) {
            (true, 0) => Err(DataError::Empty { file: file() }),
            (true, _) => {
                let mut columns: Vec<_> =
                    used.iter().map(|(column, _)| *column).zip(empty).collect();
                columns.sort_by_key(|(_, missing)| std::cmp::Reverse(*missing));
                let name =
                    |(column, missing): (usize, usize)| (table.names()[column].clone(), missing);
                let emptiest = columns.into_iter().take(3).map(name).collect();
                Err(DataError::NoRows { file: file(), dropped, emptiest })
            }
            _ => {
                let most = empty.into_iter().enumerate().max_by_key(|(_, missing)| *missing);
                let emptiest = most.map(|(place, missing)| (used[place].0, missing));
                Ok(CompleteRows { table, rows, dropped, emptiest })
            }
        }
    }

    pub(super) fn column(&self, index: usize) -> &'a Column {
        &self.table.columns()[index]
    }

    pub(super) fn name(&self, index: usize) -> String {
        self.table.names()[index].clone()
    }

    pub(super) fn is_text(&self, index: usize) -> bool {
        matches!(self.column(index), Column::Text(_))
    }

    /// That `text` at a row of a column is at fault.
    pub(super) fn fault(
        &self,
        row: usize,
        index: usize,
        text: String,
        fault: CellFault,
    ) -> DataError {
        let place = self.table.place(row, index);
        DataError::Cell { place, column: self.name(index), text, fault }
    }

    /// The column's numbers; `fault` if one of its cells holds text.
    pub(super) fn numbers(&self, index: usize, fault: CellFault) -> Result<Vec<f64>, DataError> {
        let mut numbers = Vec::with_capacity(self.rows.len());
        for &row in &self.rows {
            match self.column(index).cell(row) {
                Cell::Number(value) => numbers.push(value),
                Cell::Text(text) => match Cell::parse(text) {
                    Cell::Number(value) if value.is_finite() => numbers.push(value),
                    _ => return Err(self.fault(row, index, text.to_string(), fault)),
                },
                Cell::Missing => unreachable!("rows with missing cells were left out"),
            }
        }
        Ok(numbers)
    }

    /// The column's numbers, which must be counts.
    pub(super) fn counts(&self, index: usize) -> Result<Vec<f64>, DataError> {
        self.checked_numbers(index, CellFault::NotCount, |value| {
            (0.0..=MOST_COUNTED).contains(&value) && value.fract() <= 0.0
        })
    }

    /// The column's numbers, which must be durations.
    pub(super) fn durations(&self, index: usize) -> Result<Vec<f64>, DataError> {
        let positive = |value: f64| value > 0.0 && value.ln().abs() < MOST_LOG_EXPOSURE;
        self.checked_numbers(index, CellFault::NotDuration, positive)
    }

    /// The column's texts.
    pub(super) fn texts(&self, index: usize) -> Vec<String> {
        let text = |row: &usize| match self.column(index).cell(*row) {
            Cell::Text(text) => text.to_string(),
            Cell::Number(value) => label(value),
            Cell::Missing => unreachable!("rows with missing cells were left out"),
        };
        self.rows.iter().map(text).collect()
    }

    /// Logarithms of the column's numbers, which must be positive.
    pub(super) fn log_exposures(&self, index: usize) -> Result<Vec<f64>, DataError> {
        let positive = |value: f64| value > 0.0 && value.ln().abs() < MOST_LOG_EXPOSURE;
        let values = self.checked_numbers(index, CellFault::NotExposure, positive)?;
        Ok(values.into_iter().map(f64::ln).collect())
    }

    fn checked_numbers(
        &self,
        index: usize,
        fault: CellFault,
        is_good: impl Fn(f64) -> bool,
    ) -> Result<Vec<f64>, DataError> {
        let values = self.numbers(index, fault.clone())?;
        match values.iter().position(|value| !is_good(*value)) {
            Some(at) => Err(self.fault(self.rows[at], index, label(values[at]), fault)),
            None => Ok(values),
        }
    }

    /// Puts the column's numbers, standardised as those of the fit were, into `entries`.
    pub(super) fn standardized(
        &self,
        index: usize,
        scaling: &Standardization,
        entries: &mut [f64],
    ) -> Result<(), DataError> {
        let values = self.numbers(index, CellFault::NotNumber)?;
        for ((entry, value), row) in entries.iter_mut().zip(values).zip(&self.rows) {
            *entry = scaling.apply(value);
            if !entry.is_finite() || entry.abs() > LARGEST {
                return Err(self.fault(*row, index, label(value), CellFault::TooFar));
            }
        }
        Ok(())
    }

    /// What to say about the rows that were left out.
    /// That rows were dropped; `inputs` are columns that may be left out to keep them.
    pub(super) fn caution(&self, inputs: &[usize]) -> Option<Caution> {
        let (count, rows) = (self.dropped, self.table.rows());
        let may_leave = |(column, missing): &(usize, usize)| {
            inputs.len() > 1 && inputs.contains(column) && 2 * missing > count
        };
        let is_much = 4 * count > rows;
        let emptiest = self.emptiest.filter(|it| is_much && may_leave(it));
        let emptiest = emptiest.map(|(column, missing)| (self.name(column), missing));
        (count > 0).then_some(Caution::RowsDropped { count, rows, emptiest })
    }

    /// The index in `levels` of the value of every row. Numbers match a level that reads as the
    /// same number: the training data may have been text where these are not, or the reverse.
    pub(super) fn codes(&self, index: usize, levels: &[String]) -> Result<Vec<usize>, DataError> {
        let bits = |value: f64| (value + 0.0).to_bits();
        let (mut by_text, mut by_number) = (HashMap::new(), HashMap::new());
        for (code, level) in levels.iter().enumerate() {
            by_text.entry(level.as_str()).or_insert(code);
            if let Cell::Number(value) = Cell::parse(level) {
                by_number.entry(bits(value)).or_insert(code);
            }
        }
        let code = |&row: &usize| {
            let cell = self.column(index).cell(row);
            let (text, value) = match cell {
                Cell::Text(text) => (text.to_string(), Cell::parse(text)),
                Cell::Number(value) => (label(value), cell),
                Cell::Missing => unreachable!("rows with missing cells were left out"),
            };
            let number = |value| match value {
                Cell::Number(value) => by_number.get(&bits(value)),
                _ => None,
            };
            by_text.get(text.as_str()).or_else(|| number(value)).copied().ok_or_else(|| {
                let levels = levels.into();
                self.fault(row, index, text, CellFault::UnknownLevel { levels })
            })
        };
        self.rows.iter().map(code).collect()
    }

    /// The column's different values, in order (numbers by value, text alphabetically), and the
    /// index of the value of every row.
    pub(super) fn classes(&self, index: usize) -> (Vec<String>, Vec<usize>) {
        match self.column(index) {
            Column::Numbers(values) => {
                // Adding zero makes minus zero zero.
                let values: Vec<f64> = self.rows.iter().map(|row| values[*row] + 0.0).collect();
                let mut levels = values.clone();
                levels.sort_unstable_by(f64::total_cmp);
                levels.dedup_by(|a, b| a.total_cmp(b).is_eq());
                let code = |value: &f64| levels.partition_point(|l| l.total_cmp(value).is_lt());
                let codes = values.iter().map(code).collect();
                (levels.iter().map(|level| label(*level)).collect(), codes)
            }
            Column::Text(texts) => {
                let values: Vec<&str> = self.rows.iter().map(|row| texts.get(*row)).collect();
                let mut levels = values.clone();
                levels.sort_unstable();
                levels.dedup();
                let code = |value: &&str| levels.partition_point(|level| level < value);
                let codes = values.iter().map(code).collect();
                (levels.into_iter().map(String::from).collect(), codes)
            }
        }
    }
}

/// A number as the name of a class.
pub(super) fn label(value: f64) -> String {
    // Whole numbers up to here are all exact and short.
    if value.abs() < 1e15 { value.to_string() } else { format!("{value:?}") }
}

struct CellList<'a> {
    table: &'a Table,
    cells: Cells,
}

impl<'a> CellList<'a> {
    fn new(table: &'a Table) -> Self {
        CellList { table, cells: Cells { first: Vec::new(), total: 0 } }
    }

    fn push(&mut self, row: usize, column: usize) {
        self.cells.total += 1;
        if self.cells.first.len() < NAMED {
            let line = self.table.place(row, column).line;
            self.cells.first.push((line, column + 1, self.table.names()[column].clone()));
        }
    }
}
