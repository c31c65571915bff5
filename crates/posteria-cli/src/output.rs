//! Print results on stdout and messages on stderr, as text or as JSON.

use std::io::{self, Write};

use anstream::{stderr, stdout};
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::text::{one_line, printable};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HEADING: Style = Style::new().bold();

/// How results and messages appear.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Results as one JSON object.
    pub json: bool,
    /// No messages.
    pub quiet: bool,
    /// No results either: they are part of another command's.
    pub mute: bool,
}

impl Output {
    /// Prints the object if JSON was asked for, else the text.
    pub fn object(&self, object: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        if self.mute {
            return Ok(());
        }
        let line = if self.json {
            // serde_json writes NaN and infinities as null.
            let mut line = serde_json::to_string(object).map_err(|e| Failure::Print(e.into()))?;
            line.push('\n');
            line
        } else {
            text()
        };
        print(line.as_bytes())
    }

    /// Prints lines of news on stderr.
    pub fn message(&self, text: &str) {
        if !self.quiet {
            text.split('\n').for_each(|line| note(&printable(line)));
        }
    }

    /// Prints a warning on stderr, also when quiet.
    pub fn warning(&self, text: &str) {
        note(&format!("{WARNING}warning:{WARNING:#} {}", one_line(text)));
    }
}

/// Prints one line of news on stderr, also when quiet.
pub fn news(text: &str) {
    note(&one_line(text));
}

/// Prints one line about an error on stderr.
pub fn error(text: &str) {
    note(&format!("{ERROR}error:{ERROR:#} {}", one_line(text)));
}

fn note(line: &str) {
    // A closed stderr is no reason to stop the work.
    let _ = writeln!(stderr().lock(), "{line}");
}

/// Prints bytes on stdout.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Print)
}

/// A heading, bold on a terminal.
pub fn heading(text: &str) -> String {
    format!("{HEADING}{}{HEADING:#}\n", printable(text))
}

/// A table of aligned columns: the first to the left, the others to the right.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column names.
    pub fn new(header: &[&str]) -> Self {
        Table { rows: vec![header.iter().map(|name| printable(name).into_owned()).collect()] }
    }

    /// Appends a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell).into_owned()).collect());
    }

    /// The table as lines of text, the header in bold.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |text: &str| text.chars().count();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|c| width(c))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[column] - width(cell));
                match column {
                    0 => line.extend([cell.as_str(), &padding]),
                    _ => line.extend(["  ", &padding, cell]),
                }
            }
            let line = line.trim_end();
            match index {
                0 => text.push_str(&format!("{HEADING}{line}{HEADING:#}\n")),
                _ => text.extend([line, "\n"]),
            }
        }
        text
    }
}

/// Whether stderr is a terminal that a person looks at.
pub fn stderr_is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stderr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_names_are_escaped() {
        let mut table = Table::new(&["", "mean"]);
        table.row(["long name".into(), "1.0".into()]);
        table.row(["a\u{1b}".into(), "-12.5".into()]);
        let text = anstream::adapter::strip_str(&table.render()).to_string();
        assert_eq!(text, "            mean\nlong name    1.0\na\\u{1b}    -12.5\n");
    }
}
