//! Say what is wrong with a file of draws, where, and what to do.

use std::io;

/// Draws that cannot be read. Lines and columns are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be read.
    #[error("{file}: cannot be read: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// No file was given.
    #[error("no file of draws was given")]
    NoFile,
    /// There is no header, or nothing at all.
    #[error("{file}: there is no header; the first line must name the columns")]
    NoHeader {
        /// The file.
        file: String,
    },
    /// The header is not text.
    #[error("{file}:{line}: this is not text; draws are read from CSV (unpack it first if needed)")]
    NotText {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// A line is too long to be a row of draws.
    #[error("{file}:{line}: this line is longer than {limit} bytes; is it a table of draws?")]
    LongLine {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The longest line that is read.
        limit: usize,
    },
    /// A column has no name.
    #[error("{file}:{line}:{column}: this column has no name; name it or remove it")]
    NoName {
        /// The file.
        file: String,
        /// The line of the header.
        line: u64,
        /// The column.
        column: usize,
    },
    /// Two columns have the same name.
    #[error("{file}: two columns are called {name:?}; rename one")]
    NamedTwice {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
    /// No column holds a variable.
    #[error("{file}: no column holds a variable, only the numbers of chains and draws")]
    NoVariable {
        /// The file.
        file: String,
    },
    /// There are too many variables.
    #[error("{file}: there are {count} variables, at most {limit} can be read; select some")]
    ManyVariables {
        /// The file.
        file: String,
        /// How many there are; the elements of an array count once.
        count: usize,
        /// How many can be read.
        limit: usize,
    },
    /// A row has another number of cells than the header.
    #[error("{file}:{line}: there are {found} cells where the header names {expected} columns")]
    Ragged {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// Columns of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
    },
    /// A cell is empty.
    #[error("{file}:{line}:{column}: a draw of {name:?} is missing; remove the row or the column")]
    Missing {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: usize,
        /// Its name.
        name: String,
    },
    /// A cell is not a number.
    #[error("{file}:{line}:{column}: {cell:?} in column {name:?} is not a number")]
    NotANumber {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: usize,
        /// Its name.
        name: String,
        /// The beginning of the cell.
        cell: String,
    },
    /// The number of a chain or a draw is not an integer.
    #[error("{file}:{line}:{column}: {cell:?} in column {name:?} is not an integer")]
    NotAnIndex {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: usize,
        /// Its name.
        name: String,
        /// The beginning of the cell.
        cell: String,
    },
    /// Two rows are the same draw.
    #[error("{file}:{line}: draw {draw} of chain {chain} was there before, in line {before}")]
    DrawnTwice {
        /// The file.
        file: String,
        /// The line of the second.
        line: u64,
        /// The line of the first.
        before: u64,
        /// The chain.
        chain: i64,
        /// The draw.
        draw: i64,
    },
    /// There is no row, or only warm-up.
    #[error("{file}: there is no draw{}", warmup_words(*warmup))]
    NoDraws {
        /// The file.
        file: String,
        /// Warm-up draws that were left out.
        warmup: usize,
    },
    /// Chains have different lengths.
    #[error(
        "{file}: chains have different numbers of draws ({}); cut them to the same length",
        counted(counts)
    )]
    UnequalChains {
        /// The file, or the last of several.
        file: String,
        /// Draws of the first chains, each with the chain's number or file.
        counts: Vec<(String, usize)>,
    },
    /// A file names other columns than the first.
    #[error(
        "{file}: column {name:?} stands where the first file has {expected:?}; files of one run \
         must have the same columns"
    )]
    OtherVariables {
        /// The file.
        file: String,
        /// The component in this file; empty if it ends here.
        name: String,
        /// The component in the first file; empty if it ends here.
        expected: String,
    },
}

fn warmup_words(warmup: usize) -> String {
    match warmup {
        0 => String::new(),
        _ => format!(", only {warmup} of warm-up"),
    }
}

fn counted(counts: &[(String, usize)]) -> String {
    let words = counts.iter().map(|(chain, draws)| format!("{chain}: {draws}"));
    words.collect::<Vec<_>>().join(", ")
}

/// Draws that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused.
    #[error("draws cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A component has the name of another column.
    #[error("a component called {name:?} cannot be told from another column; rename it")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no such chain.
    #[error("there is no chain {chain}: they are numbered from 0 to below {chains}")]
    NoSuchChain {
        /// The chain asked for.
        chain: usize,
        /// How many there are.
        chains: usize,
    },
}
