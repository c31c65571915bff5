//! Keep the numbers behind a figure, and write them as CSV.

use crate::number::exact;

/// Columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<(String, Vec<String>)>,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Table::default()
    }

    /// The same with a column of numbers.
    #[must_use]
    pub fn numbers(mut self, name: impl Into<String>, values: &[f64]) -> Self {
        self.columns.push((name.into(), values.iter().map(|value| exact(*value)).collect()));
        self
    }

    /// The same with a column of texts.
    #[must_use]
    pub fn texts<S: AsRef<str>>(mut self, name: impl Into<String>, values: &[S]) -> Self {
        let texts = values.iter().map(|value| value.as_ref().to_string());
        self.columns.push((name.into(), texts.collect()));
        self
    }

    /// Number of rows: that of the longest column.
    pub fn rows(&self) -> usize {
        self.columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The table as CSV with a header; cells that are not there are empty.
    pub fn csv(&self) -> String {
        let header: Vec<String> = self.columns.iter().map(|(name, _)| quoted(name)).collect();
        let mut text = header.join(",");
        text.push('\n');
        for row in 0..self.rows() {
            for (index, (_, cells)) in self.columns.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&quoted(cells.get(row).map_or("", String::as_str)));
            }
            text.push('\n');
        }
        text
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let table = Table::new()
            .numbers("x", &[1.0, 0.1 + 0.2, f64::NAN])
            .texts("a \"name\", long", &["p,q", "r"]);
        assert_eq!(table.csv(), "x,\"a \"\"name\"\", long\"\n1,\"p,q\"\n0.3,r\n,\n");
        assert_eq!((table.rows(), Table::new().csv().as_str()), (3, "\n"));
    }
}
