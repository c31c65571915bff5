//! Keep named columns as they were read, before any of them has a role.

use std::collections::HashMap;
use std::io;

use super::{Cell, Cells, Column, DataError, Place};

/// Named columns of equal length, and where they came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    file: String,
    names: Vec<String>,
    columns: Vec<Column>,
    /// Line of the file where each row begins; none for files without lines.
    lines: Option<Vec<u32>>,
    rows: usize,
    /// Whether the columns have names of their own.
    named: bool,
}

impl Table {
    /// A table of these columns. `file` names the source in errors.
    ///
    /// # Errors
    /// If two names are equal or the columns differ in length.
    pub fn new(file: &str, columns: Vec<(String, Column)>) -> Result<Self, DataError> {
        let (names, columns) = columns.into_iter().unzip();
        Table::with_lines(file, names, columns, None)
    }

    pub(super) fn with_lines(
        file: &str,
        names: Vec<String>,
        columns: Vec<Column>,
        lines: Option<Vec<u32>>,
    ) -> Result<Self, DataError> {
        let rows = columns.first().map_or(0, Column::rows);
        let mut known = HashMap::new();
        for (index, (name, column)) in names.iter().zip(&columns).enumerate() {
            if let Some(first) = known.insert(name.as_str(), index) {
                return Err(DataError::DuplicateColumn {
                    file: file.to_string(),
                    name: name.clone(),
                    first: first + 1,
                    second: index + 1,
                });
            }
            if column.rows() != rows {
                return Err(DataError::UnequalColumns {
                    file: file.to_string(),
                    name: name.clone(),
                    found: column.rows(),
                    expected: rows,
                });
            }
        }
        Ok(Table { file: file.to_string(), names, columns, lines, rows, named: true })
    }

    /// What the source is called in errors.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The same table, whose names only count the columns if `named` is false.
    pub(super) fn with_names_of_its_own(self, named: bool) -> Self {
        Table { named, ..self }
    }

    /// Whether the columns have names of their own; otherwise they are called after their
    /// positions, `x1`, `x2`, ….
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// The same columns under these names.
    ///
    /// # Errors
    /// [`DataError::DuplicateColumn`].
    pub(super) fn renamed(self, names: Vec<String>) -> Result<Self, DataError> {
        assert_eq!(names.len(), self.columns.len(), "one name per column");
        Table::with_lines(&self.file, names, self.columns, self.lines)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column called `name`.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`], with the nearest name that exists.
    pub fn column(&self, name: &str) -> Result<&Column, DataError> {
        self.index(name).map(|index| &self.columns[index])
    }

    /// The number of the column called `name`, from 0.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`], with the nearest name that exists.
    pub fn index(&self, name: &str) -> Result<usize, DataError> {
        self.find(name).ok_or_else(|| DataError::UnknownColumn {
            file: self.file.clone(),
            name: name.to_string(),
            suggestion: nearest(name, &self.names),
            columns: self.names.clone(),
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|candidate| candidate == name)
    }

    /// For each of `rows` a number that is the same where the cells of a column are, counted in
    /// the order in which values first appear.
    ///
    /// # Errors
    /// [`DataError`] if there is no such column, or one of the cells is missing.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn labels(&self, name: &str, rows: &[usize]) -> Result<Vec<usize>, DataError> {
        let index = self.index(name)?;
        let mut known = HashMap::new();
        let mut labels = Vec::with_capacity(rows.len());
        for &row in rows {
            let value = match self.columns[index].cell(row) {
                Cell::Missing => {
                    let place = self.place(row, index);
                    let first = vec![(place.line, index + 1, name.to_string())];
                    let cells = Cells { first, total: 1 };
                    return Err(DataError::Missing { file: self.file.clone(), cells });
                }
                Cell::Number(value) => format!("{}", value + 0.0),
                Cell::Text(text) => text.to_string(),
            };
            let next = known.len();
            labels.push(*known.entry(value).or_insert(next));
        }
        Ok(labels)
    }

    /// Where the cell of a row and a column (both from 0) stands in the file.
    pub fn place(&self, row: usize, column: usize) -> Place {
        let line = self.lines.as_ref().map_or(row + 1, |lines| lines[row] as usize);
        Place { file: self.file.clone(), line, column: Some(column + 1) }
    }

    /// Writes the table as comma-separated text with a header. Text is quoted, missing cells are
    /// empty, and numbers have the fewest digits that read back to the same value.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write_csv(&self, output: impl io::Write) -> io::Result<()> {
        let mut writer =
            csv::WriterBuilder::new().quote_style(csv::QuoteStyle::NonNumeric).from_writer(output);
        writer.write_record(&self.names)?;
        for row in 0..self.rows {
            for column in &self.columns {
                let number: String;
                let field = match column.cell(row) {
                    Cell::Missing => "",
                    Cell::Text(text) => text,
                    Cell::Number(value) => {
                        number = format!("{value:?}");
                        &number
                    }
                };
                writer.write_field(field)?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }
}

/// The name most like `name`, if one is alike: equal but for case, or at most a third of its
/// letters away.
pub(crate) fn nearest(name: &str, names: &[String]) -> Option<String> {
    // Comparing costs the product of the lengths; nobody mistypes a longer name by hand.
    const LONGEST: usize = 100;
    let lower = name.to_lowercase();
    let length = lower.chars().count();
    let candidates = names.iter().filter(|other| other.len() <= LONGEST && name.len() <= LONGEST);
    let (away, other) = candidates
        .map(|other| (edits(&lower, &other.to_lowercase()), other))
        .min_by_key(|(away, _)| *away)?;
    (away <= length / 3).then(|| other.clone())
}

/// Insertions, deletions, replacements and swaps of neighbours from one word to the other.
fn edits(from: &str, to: &str) -> usize {
    let [from, to] = [from, to].map(|word| word.chars().collect::<Vec<char>>());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut fewest = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *other {
                fewest = fewest.min(before[column - 1] + 1);
            }
            current.push(fewest);
        }
        before = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names: Vec<String> = ["age", "Strength", "water"].map(String::from).to_vec();
        assert_eq!(nearest("strenght", &names).as_deref(), Some("Strength"));
        assert_eq!(nearest("AGE", &names).as_deref(), Some("age"));
        assert_eq!(nearest("slag", &names), None);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("maen", "mean"), 1);
    }

    #[test]
    fn columns_must_be_equally_long_and_have_names_of_their_own() {
        let column = |length| Column::numbers(vec![1.0; length]);
        let unequal = Table::new("memory", vec![("a".into(), column(2)), ("b".into(), column(3))]);
        assert_eq!(
            unequal.unwrap_err().to_string(),
            "memory: column \"b\" has 3 rows, but the first column has 2"
        );
        let twice = Table::new("memory", vec![("a".into(), column(2)), ("a".into(), column(2))]);
        assert_eq!(
            twice.unwrap_err().to_string(),
            "memory: columns 1 and 2 are both called \"a\"; rename one"
        );
    }
}
