//! Hold what a terminal shows, as values: who prints it aligns columns and knows colours.

/// A part of what is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// Lines as they are.
    Lines(String),
    /// A table.
    Listing(Listing),
    /// The list of all quantities.
    Results,
}

impl From<String> for Shown {
    fn from(lines: String) -> Self {
        Shown::Lines(lines)
    }
}

impl From<Listing> for Shown {
    fn from(listing: Listing) -> Self {
        Shown::Listing(listing)
    }
}

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Listing {
    /// A table with these column names.
    pub fn new<S: ToString>(header: &[S]) -> Self {
        Listing { header: header.iter().map(S::to_string).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}
