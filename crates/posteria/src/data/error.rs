//! Say what is wrong with data, where, and what cures it.

use std::fmt;

use super::error_words::{
    cells_at, explaining, leave_out, listed, meant, missing_in, shown, without_targets,
};
use super::{CellFault, LevelKind, TextFault};

/// Where in a file: `FILE:LINE:COLUMN`, counted from 1. The column is the number of the field
/// in its line, so that the third field of line 17 is `data.csv:17:3`. In a file without lines
/// (Parquet, a table made in memory) the number of the row stands for the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Field in the line, from 1, if one field is meant.
    pub column: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// A few cells by place, out of many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The first five: line and field of each, from 1, and the name of its column.
    pub first: Vec<(usize, usize, String)>,
    /// How many there are.
    pub total: usize,
}

/// Why data cannot be used. `Display` begins with the place, `FILE:LINE:COLUMN:`, as far as
/// there is one, then says what was found and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The source failed while it was read.
    #[error("{file}: cannot be read: {message}")]
    Read {
        /// Name of the file.
        file: String,
        /// What the operating system says.
        message: String,
    },
    /// The bytes are of another kind of file.
    #[error("{file}: this is {kind}, not a table of text; {cure}")]
    NotText {
        /// Name of the file.
        file: String,
        /// What it looks like.
        kind: &'static str,
        /// What to do.
        cure: &'static str,
    },
    /// The text is not a table.
    #[error("{place}: {fault}")]
    Text {
        /// Where.
        place: Place,
        /// What is wrong there.
        fault: TextFault,
    },
    /// There is nothing to read.
    #[error("{file}: the file holds no rows of data; give it at least one line")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// There is a header and nothing else.
    #[error("{file}: there is a header on line {line} but no row of data below it")]
    HeaderOnly {
        /// Name of the file.
        file: String,
        /// Where the header stands.
        line: usize,
    },
    /// The input is larger than the reader may hold.
    #[error("{file}: there is more than the {limit} bytes of text that may be read; split it")]
    TooLarge {
        /// Name of the file.
        file: String,
        /// The greatest number of bytes.
        limit: u64,
    },
    /// A name is not that of a column.
    #[error("{file}: there is no column {}{}; the columns are {}", shown(.name),
            meant(.name, .suggestion.as_deref(), .columns), listed(.columns))]
    UnknownColumn {
        /// Name of the file.
        file: String,
        /// The name asked for.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
        /// All names that exist.
        columns: Vec<String>,
    },
    /// Two columns have one name.
    #[error("{file}: columns {first} and {second} are both called {}; rename one", shown(.name))]
    DuplicateColumn {
        /// Name of the file.
        file: String,
        /// The name.
        name: String,
        /// Number of the first column with it, from 1.
        first: usize,
        /// Number of the second.
        second: usize,
    },
    /// Columns of a table differ in length.
    #[error("{file}: column {} has {found} rows, but the first column has {expected}",
            shown(.name))]
    UnequalColumns {
        /// Name of the file.
        file: String,
        /// The column.
        name: String,
        /// Its length.
        found: usize,
        /// The length of the first column.
        expected: usize,
    },
    /// Cells that are needed are missing.
    #[error("{}; fill them in, or leave their rows out with --missing drop",
            cells_at(.file, .cells, "missing"))]
    Missing {
        /// Name of the file.
        file: String,
        /// Which.
        cells: Cells,
    },
    /// Cells are infinite.
    #[error("{}; write finite numbers, at most 1e152 in size",
            cells_at(.file, .cells, "infinite"))]
    Infinite {
        /// Name of the file.
        file: String,
        /// Which.
        cells: Cells,
    },
    /// Cells are too large for their squares to be computed with.
    #[error("{}; at most {limit:e} can be used: correct them, or change the unit of the column",
            cells_at(.file, .cells, "too large"))]
    Huge {
        /// Name of the file.
        file: String,
        /// Which.
        cells: Cells,
        /// The largest size that can be used.
        limit: f64,
    },
    /// One cell does not serve its column.
    #[error("{place}: {} in column {} {fault}", shown(.text), shown(.column))]
    Cell {
        /// Where.
        place: Place,
        /// Name of the column.
        column: String,
        /// What the cell holds.
        text: String,
        /// What is wrong with it.
        fault: CellFault,
    },
    /// A column has too many classes to be of use.
    #[error("{file}: column {} has {found} different values in {rows} row(s), more than the {limit} \
             that are taken for classes, and looks like {kind} (such as {}); {}{}, or if they are \
             classes allow so many with --max-levels {found}", shown(&.columns[0]), shown(.first),
            .kind.cure(), leave_out(.columns, *.is_target, *.kind))]
    TooManyLevels {
        /// Name of the file.
        file: String,
        /// The column, and other input columns of which the same is true.
        columns: Vec<String>,
        /// How many values.
        found: usize,
        /// In how many rows.
        rows: usize,
        /// How many are allowed.
        limit: usize,
        /// What they look like.
        kind: LevelKind,
        /// The value of the first row.
        first: String,
        /// Whether the column is a target.
        is_target: bool,
    },
    /// A binary target has more than two classes.
    #[error("{file}: target {} has {found} classes ({}), but the task is binary; choose \
             multiclass", shown(.column), listed(.labels))]
    NotBinary {
        /// Name of the file.
        file: String,
        /// The target.
        column: String,
        /// How many classes.
        found: usize,
        /// The classes.
        labels: Vec<String>,
    },
    /// Ordered classes whose order is not known.
    #[error("{file}: the order of the classes of {} ({}) is not known; name all, from the lowest on, by \
             --levels, such as --levels low,mid,high", shown(.column), listed(.labels))]
    NoOrder {
        /// Name of the file.
        file: String,
        /// The target.
        column: String,
        /// The classes.
        labels: Vec<String>,
    },
    /// Ordered classes that are not two different ones at least.
    #[error("{file}: the ordered classes of {} must be two or more, and different", shown(.column))]
    FewLevels {
        /// Name of the file.
        file: String,
        /// The target.
        column: String,
    },
    /// A target of classes is not the only target.
    #[error("{file}: {targets} targets were given, but classification takes exactly one")]
    ClassTargets {
        /// Name of the file.
        file: String,
        /// How many targets.
        targets: usize,
    },
    /// Counts were asked for of several targets.
    #[error("{file}: {targets} targets were given, but counts are fitted one at a time; name one")]
    CountTargets {
        /// Name of the file.
        file: String,
        /// How many targets.
        targets: usize,
    },
    /// A column cannot be the exposure.
    #[error("{file}: column {} is given as the exposure of counts, but {fault}", shown(.column))]
    Exposure {
        /// Name of the file.
        file: String,
        /// The column.
        column: String,
        /// Why not, and what to do.
        fault: &'static str,
    },
    /// Durations were asked for of several targets.
    #[error(
        "{file}: {targets} targets were given, but durations are fitted one at a time; name one"
    )]
    DurationTargets {
        /// Name of the file.
        file: String,
        /// How many targets.
        targets: usize,
    },
    /// A column cannot say which durations are censored.
    #[error("{file}: column {} is given by --{option} to say which durations are censored, but {fault}", shown(.column))]
    Censoring {
        /// Name of the file.
        file: String,
        /// The column.
        column: String,
        /// The option that names it.
        option: &'static str,
        /// Why not, and what to do.
        fault: &'static str,
    },
    /// No duration is known.
    #[error(
        "{file}: each of the {rows} durations is censored by column {}, so that nothing is known of how long \
         they are; did you mean --{other}?", shown(.column)
    )]
    AllCensored {
        /// Name of the file.
        file: String,
        /// The column.
        column: String,
        /// How many rows.
        rows: usize,
        /// The option with the other meaning.
        other: &'static str,
    },
    /// A column was given twice, or two roles that exclude each other.
    #[error("{file}: column {} was given twice among targets and inputs; name it once",
            shown(.column))]
    RoleTwice {
        /// Name of the file.
        file: String,
        /// The column.
        column: String,
    },
    /// No column is left to be an input.
    #[error("{file}: no column is left{}; give the table more columns", explaining(.targets))]
    NoInputs {
        /// Name of the file.
        file: String,
        /// The targets.
        targets: Vec<String>,
    },
    /// Every row has a missing cell.
    #[error("{file}: each of the {dropped} rows has a missing cell, so none is left; leave columns \
             out with --exclude: most cells are missing in {}", missing_in(.emptiest))]
    NoRows {
        /// Name of the file.
        file: String,
        /// How many rows were dropped.
        dropped: usize,
        /// The columns with most missing cells, and how many those are.
        emptiest: Vec<(String, usize)>,
    },
    /// The scale of a column, or that of a target beside it, cannot be computed with.
    #[error("{file}: the values of column {} are too large or too small to be computed with; \
             change their unit", shown(.column))]
    Magnitude {
        /// Name of the file.
        file: String,
        /// The column.
        column: String,
    },
    /// Indicators of classes would make the inputs too large.
    #[error(
        "{file}: {rows} rows × {inputs} inputs are more than {limit} numbers; use fewer \
             columns of text"
    )]
    TooManyInputs {
        /// Name of the file.
        file: String,
        /// Rows.
        rows: usize,
        /// Inputs, indicators included.
        inputs: usize,
        /// The greatest product.
        limit: usize,
    },
    /// A table without names has another number of columns than the training table.
    #[error(
        "{file}: there are no names of columns, and {found} columns cannot be matched by position \
         to the {expected} of the training table{}; name the columns in the first line",
        without_targets(*.expected, *.targets)
    )]
    Positions {
        /// Name of the file.
        file: String,
        /// How many columns it has.
        found: usize,
        /// How many columns the training table had.
        expected: usize,
        /// How many of them were targets.
        targets: usize,
    },
    /// What was kept of the training data does not fit together.
    #[error("the data that were kept cannot be used: {what}")]
    Stored {
        /// What is wrong.
        what: String,
    },
    /// A column has a type that cannot be used.
    #[error("{file}: column {} holds {kind}, which is neither number nor text; convert it",
            shown(.column))]
    ColumnType {
        /// Name of the file.
        file: String,
        /// The column.
        column: String,
        /// What it holds.
        kind: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_control_characters_and_cut() {
        assert_eq!(shown("a\u{1b}[31m\"b"), "\"a\\u{1b}[31m\\\"b\"");
        assert_eq!(shown(&"å".repeat(61)), format!("\"{}…\"", "å".repeat(60)));
    }

    #[test]
    fn five_cells_are_named_and_all_are_counted() {
        let first = (1..=5).map(|line| (line, 2, "age".to_string())).collect();
        let error = DataError::Missing { file: "d.csv".into(), cells: Cells { first, total: 17 } };
        assert_eq!(
            error.to_string(),
            "d.csv:1:2: 17 missing cells: 1:2 (column \"age\"), 2:2, 3:2, 4:2, 5:2, …; fill them in, or leave their rows out with --missing drop"
        );
    }
}
