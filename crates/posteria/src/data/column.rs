//! Hold one column of a table: numbers or text, with missing cells.

use std::fmt;

/// Texts that mean "no value here", beside every spelling of NaN.
pub const MISSING: [&str; 10] = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "?", "null", "NULL", "."];

/// Texts, in lower case, that mean "no value here" in a column of numbers. Elsewhere they may well
/// be classes, as `-` is beside `+`.
pub const MISSING_AMONG_NUMBERS: [&str; 12] =
    ["-", "--", "---", "–", "—", "*", "na", "n.a.", "none", "nil", "missing", "unknown"];

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// There is no value.
    Missing,
    /// A number; may be infinite.
    Number(f64),
    /// A text.
    Text(&'a str),
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Missing => write!(f, "missing"),
            Cell::Number(value) => write!(f, "{value}"),
            Cell::Text(text) => write!(f, "{text}"),
        }
    }
}

impl<'a> Cell<'a> {
    /// What a field of text means. Numbers are decimal, with an optional sign, point and
    /// exponent, and are read to the nearest `f64`; missing are an empty cell, `NA`, `N/A`, `?`, `null`, `.` and the like.
    pub fn parse(field: &'a str) -> Self {
        let trimmed = field.trim_ascii();
        if MISSING.contains(&trimmed) {
            return Cell::Missing;
        }
        // `f64::from_str` also takes words: infinity is a number, not a number is missing.
        match trimmed.parse::<f64>() {
            Ok(value) if value.is_nan() => Cell::Missing,
            Ok(value) => Cell::Number(value),
            Err(_) => Cell::Text(field),
        }
    }

    /// What a field of a column of numbers means: as [`Cell::parse`], and missing for
    /// `-`, `none` and the like too.
    pub fn parse_number(field: &'a str) -> Self {
        match Cell::parse(field) {
            Cell::Text(text) if is_missing_number(text) => Cell::Missing,
            cell => cell,
        }
    }
}

fn is_missing_number(text: &str) -> bool {
    let text = text.trim_ascii();
    MISSING_AMONG_NUMBERS.iter().any(|mark| mark.eq_ignore_ascii_case(text))
}

/// `text` without what writers of numbers put between digits: commas, blanks, apostrophes.
pub(super) fn without_separators(text: &str) -> String {
    let separators = [',', ' ', '\'', '’', '\u{a0}', '\u{202f}', '\u{2009}'];
    text.replace(separators, "").replace('\u{2212}', "-")
}

/// Whether `text` is a number, or one but for separators and a decimal comma.
pub(super) fn is_like_number(text: &str) -> bool {
    let is_number = |text: &str| matches!(Cell::parse(text), Cell::Number(_));
    let has_digits = text.bytes().any(|it| it.is_ascii_digit());
    is_number(text) || has_digits && is_number(&without_separators(text))
}

/// The cells of a column, one after the other in one string: 4 bytes beside each text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    text: String,
    ends: Vec<u32>,
    /// Whether they are names of categories even if they look like numbers.
    categories: bool,
}

impl Texts {
    /// Appends a cell; `false` if the column would exceed 4 GiB.
    #[must_use]
    pub(super) fn push(&mut self, cell: &str) -> bool {
        let Ok(end) = u32::try_from(self.text.len() + cell.len()) else { return false };
        self.text.push_str(cell);
        self.ends.push(end);
        true
    }

    /// A column of missing cells.
    #[cfg(feature = "parquet")]
    pub(super) fn of_missing(rows: usize) -> Self {
        Texts { ends: vec![0; rows], ..Texts::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        &self.text[start..self.ends[row] as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Takes the first cell out.
    pub(super) fn remove_first(&mut self) {
        let Some(&first) = self.ends.first() else { return };
        self.text.drain(..first as usize);
        self.ends.remove(0);
        self.ends.iter_mut().for_each(|end| *end -= first);
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN stands for a missing cell and for nothing else.
    Numbers(Vec<f64>),
    /// Text: some cell is not a number, or the source says that the column is text. Whether it
    /// was meant to be numbers is judged where the column gets a role.
    Text(Texts),
}

impl Column {
    /// The column of these numbers; NaN means missing.
    pub fn numbers(values: Vec<f64>) -> Self {
        Column::Numbers(values)
    }

    /// The column of these texts: numbers if every cell is a number or missing and at least one a
    /// number (or all are missing), else text. `None` if the texts exceed 4 GiB.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut column = Texts::default();
        texts.into_iter().all(|text| column.push(text)).then(|| Column::typed(column))
    }

    /// The column of these names of categories, whatever they look like; an empty one is missing. `None`
    /// if the texts exceed 4 GiB.
    pub fn categories<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut column = Texts { categories: true, ..Texts::default() };
        names.into_iter().all(|name| column.push(name)).then_some(Column::Text(column))
    }

    /// As [`Column::from_texts`].
    pub(super) fn typed(texts: Texts) -> Self {
        let mut numbers = Vec::with_capacity(texts.len());
        // Marks of missing numbers are classes where there is no number.
        let (mut found, mut marks) = (false, false);
        for row in 0..texts.len() {
            match Cell::parse(texts.get(row)) {
                Cell::Missing => numbers.push(f64::NAN),
                Cell::Number(value) => {
                    found = true;
                    numbers.push(value);
                }
                Cell::Text(text) if is_missing_number(text) => {
                    marks = true;
                    numbers.push(f64::NAN);
                }
                Cell::Text(_) => return Column::Text(texts),
            }
        }
        if marks && !found { Column::Text(texts) } else { Column::Numbers(numbers) }
    }

    /// Whether the source says that the cells are names of categories.
    pub(super) fn is_categories(&self) -> bool {
        matches!(self, Column::Text(texts) if texts.categories)
    }

    /// Whether more cells are numbers, well written or not, than are something else; missing ones
    /// do not count.
    pub(super) fn is_mostly_numbers(&self) -> bool {
        let Column::Text(texts) = self else { return true };
        if self.is_categories() {
            return false;
        }
        let (mut numbers, mut others) = (0_usize, 0_usize);
        for text in texts.iter() {
            match Cell::parse_number(text) {
                Cell::Missing => {}
                Cell::Number(_) => numbers += 1,
                Cell::Text(text) if is_like_number(text) => numbers += 1,
                Cell::Text(_) => others += 1,
            }
        }
        numbers > others
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Column::Numbers(values) => values.len(),
            Column::Text(texts) => texts.len(),
        }
    }

    /// The cell of a row. A cell of a text column is text even if it looks like a number.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Column::Numbers(values) if values[row].is_nan() => Cell::Missing,
            Column::Numbers(values) => Cell::Number(values[row]),
            Column::Text(texts) => match Cell::parse(texts.get(row)) {
                Cell::Missing => Cell::Missing,
                _ => Cell::Text(texts.get(row)),
            },
        }
    }

    /// The cell of a row of a column that holds numbers, whatever else is in it.
    ///
    /// # Panics
    /// If there is no such row.
    pub(super) fn number_cell(&self, row: usize) -> Cell<'_> {
        match self {
            Column::Numbers(_) => self.cell(row),
            Column::Text(texts) => Cell::parse_number(texts.get(row)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        for (text, bits) in [
            ("1e308", 1e308_f64.to_bits()),
            ("1e-320", 1e-320_f64.to_bits()),
            ("5e-324", 1),
            ("-0.0", 1 << 63),
            ("-.284133", (-0.284133_f64).to_bits()),
            ("+1.", 1.0_f64.to_bits()),
            ("9007199254740993", 9007199254740992.0_f64.to_bits()),
            ("9007199254740995", 9007199254740996.0_f64.to_bits()),
            ("0.1000000000000000055511151231257827", 0.1_f64.to_bits()),
            ("2.2250738585072011e-308", 0x000f_ffff_ffff_ffff),
            ("1e999", f64::INFINITY.to_bits()),
            ("-Inf", f64::NEG_INFINITY.to_bits()),
        ] {
            match Cell::parse(text) {
                Cell::Number(value) => assert_eq!(value.to_bits(), bits, "{text}"),
                other => panic!("{text} gives {other:?}"),
            }
        }
        for text in ["", " ", "NA", "nan", "NaN", "-nan", "?", "null", ".", "n/a", "#N/A"] {
            assert_eq!(Cell::parse(text), Cell::Missing, "{text}");
        }
        for text in ["-", " -- ", "None", "MISSING", "NA", ""] {
            assert_eq!(Cell::parse_number(text), Cell::Missing, "{text}");
        }
        for text in ["+", "-5-", "abc", "0x10"] {
            assert_eq!(Cell::parse_number(text), Cell::Text(text), "{text}");
        }
        for text in ["1,5", "0x10", "1_000", "1 2", "--1", "e5", "١", "NAN0", "none"] {
            assert_eq!(Cell::parse(text), Cell::Text(text), "{text}");
        }
    }

    #[test]
    fn a_header_can_be_taken_off_a_column_of_text() {
        let mut texts = Texts::default();
        assert!(["colour", "red", "", "blue"].iter().all(|cell| texts.push(cell)));
        texts.remove_first();
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["red", "", "blue"]);
        assert_eq!(Column::Text(texts).cell(1), Cell::Missing);
    }

    #[test]
    fn marks_are_missing_beside_numbers_and_classes_elsewhere() {
        let column = |cells: &[&'static str]| Column::from_texts(cells.iter().copied()).unwrap();
        let numbers = column(&["1", "-", "none", "2", ""]);
        assert!(matches!(numbers, Column::Numbers(_)));
        assert_eq!([1, 2, 4].map(|row| numbers.cell(row)), [Cell::Missing; 3]);
        let signs = column(&["+", "-", "-", "NA"]);
        assert_eq!(signs.cell(1), Cell::Text("-"));
        assert!(!signs.is_mostly_numbers());
        assert_eq!(column(&["-", "-"]).cell(0), Cell::Text("-"));
        assert!(column(&["1", "-", "2", "abc", "--", "--"]).is_mostly_numbers());
        assert!(column(&["1,5", "2,25", "-"]).is_mostly_numbers());
        assert!(!column(&["1", "2", "a", "b"]).is_mostly_numbers());
    }
}
