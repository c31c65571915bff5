//! Judge whether the different values of a column can be classes.

use std::fmt;

use super::column::is_like_number;
use super::rows::{CompleteRows, label};
use super::{Cell, CellFault, Column, DataError};

/// A text column that also holds numbers is one of classes if it has at most this many different
/// values and most of its cells are text; otherwise its texts are taken for mistakes.
const MIXED_LEVELS: usize = 20;

/// The most classes that a column may have unless more are asked for.
const MAX_LEVELS: usize = 256;

/// So many classes are plausible whatever the number of rows.
const FEW_LEVELS: usize = 10;

/// With so many rows at most, each may have a class of its own.
const FEW_ROWS: usize = 4;

/// What the values of a column that cannot be classes look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelKind {
    /// Names or numbers of single rows, or free text.
    Text,
    /// Dates, with or without the time of day.
    Dates,
    /// Hexadecimal numbers.
    Hexadecimal,
    /// Numbers with a percent sign or a currency.
    Amounts,
    /// Decimal numbers, which are classes only because that was asked for.
    Numbers,
}

impl fmt::Display for LevelKind {
    /// What the column seems to hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LevelKind::Text => "ids or free text",
            LevelKind::Dates => "dates",
            LevelKind::Hexadecimal => "hexadecimal numbers",
            LevelKind::Amounts => "numbers with a unit",
            LevelKind::Numbers => "numbers",
        })
    }
}

impl LevelKind {
    fn of(levels: &[String], column: &Column) -> Self {
        let most =
            |is: fn(&str) -> bool| 2 * levels.iter().filter(|it| is(it)).count() > levels.len();
        match column {
            Column::Numbers(_) => LevelKind::Numbers,
            Column::Text(_) if most(is_date) => LevelKind::Dates,
            Column::Text(_) if most(is_hexadecimal) => LevelKind::Hexadecimal,
            Column::Text(_) if most(is_amount) => LevelKind::Amounts,
            Column::Text(_) => LevelKind::Text,
        }
    }

    /// What makes inputs of them.
    pub(super) fn cure(self) -> &'static str {
        match self {
            LevelKind::Text | LevelKind::Numbers => "",
            LevelKind::Dates => {
                "turn them into numbers (days since the first, or year and month in columns of \
                 their own), or "
            }
            LevelKind::Hexadecimal => "write them as decimal numbers, or ",
            LevelKind::Amounts => "write the numbers alone, or ",
        }
    }

    /// The most values of a column of so many rows that are taken for classes: every row a value
    /// of its own says nothing about other rows, and neither does nearly every row. Dates and
    /// numbers in another notation are quantities unless they are few.
    fn limit(self, rows: usize) -> usize {
        let shared = match self {
            LevelKind::Dates | LevelKind::Hexadecimal | LevelKind::Amounts => FEW_LEVELS,
            LevelKind::Text | LevelKind::Numbers => FEW_LEVELS.max(rows - rows / 3),
        };
        if rows <= FEW_ROWS { FEW_ROWS } else { shared.min(rows - 1).min(MAX_LEVELS) }
    }
}

/// Which part the column of classes plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Input,
    Target,
}

impl CompleteRows<'_> {
    /// The classes of an input or target column and the index of that of every row, after checking
    /// that they are plausible: at most `most` of them, if that is given.
    pub(super) fn checked_classes(
        &self,
        index: usize,
        part: Part,
        most: Option<usize>,
    ) -> Result<(Vec<String>, Vec<usize>), DataError> {
        let (labels, codes) = self.classes(index);
        let column = self.column(index);
        match column {
            Column::Text(_) => self.check_texts(index, &labels, &codes)?,
            Column::Numbers(values) => {
                if let Some(&row) = self.rows.iter().find(|row| values[**row].fract().abs() > 0.0) {
                    let text = label(values[row]);
                    return Err(self.fault(row, index, text, CellFault::NotClass));
                }
            }
        }
        let kind = LevelKind::of(&labels, column);
        let limit = most.unwrap_or_else(|| kind.limit(self.rows.len()));
        if labels.len() > limit {
            let first = codes.first().map_or_else(String::new, |code| labels[*code].clone());
            return Err(DataError::TooManyLevels {
                file: self.table.file().to_string(),
                columns: vec![self.name(index)],
                found: labels.len(),
                rows: self.rows.len(),
                limit,
                kind,
                first,
                is_target: part == Part::Target,
            });
        }
        Ok((labels, codes))
    }

    /// Refuses texts that are numbers gone wrong, lest they silently become classes.
    pub(super) fn check_texts(
        &self,
        index: usize,
        labels: &[String],
        codes: &[usize],
    ) -> Result<(), DataError> {
        let is_number = |text: &str| matches!(Cell::parse(text), Cell::Number(_));
        let numbers = labels.iter().filter(|label| is_number(label)).count();
        if numbers == labels.len() || self.column(index).is_categories() {
            // Strings by the word of the source.
            return Ok(());
        }
        let like_numbers = labels.iter().filter(|label| is_like_number(label)).count();
        let mixed = labels.len() > MIXED_LEVELS && 2 * like_numbers > labels.len();
        if !mixed && !self.column(index).is_mostly_numbers() {
            return Ok(());
        }
        let Some(row) = codes.iter().position(|code| !is_number(&labels[*code])) else {
            return Ok(());
        };
        let text = labels[codes[row]].clone();
        let fault = if is_like_number(&text) { CellFault::Separators } else { CellFault::Stray };
        Err(self.fault(self.rows[row], index, text, fault))
    }
}

/// Whether `text` is a date: year, month and day (or year and month) divided by `-` or `/`, or day
/// and month, which may have its English name, before the year divided by `.`, `/` or `-`; a time of
/// day may follow.
fn is_date(text: &str) -> bool {
    let text = text.trim_ascii();
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let is_time = |c: char| c.is_ascii_digit() || ":.+-Z APM".contains(c);
    if !time.chars().all(is_time) {
        return false;
    }
    let Some(divider) = date.chars().find(|c| "-/.".contains(*c)) else { return false };
    let fields: Vec<&str> = date.split(divider).collect();
    let number = |field: &str, digits: &[usize]| -> Option<u32> {
        let sound = digits.contains(&field.len()) && field.bytes().all(|it| it.is_ascii_digit());
        sound.then(|| field.parse().ok()).flatten()
    };
    let year = |field: &str| number(field, &[4]).is_some();
    let day = |field: &str| number(field, &[1, 2]).is_some_and(|day| (1..=31).contains(&day));
    let month = |field: &str| number(field, &[1, 2]).is_some_and(|month| (1..=12).contains(&month));
    match fields[..] {
        [y, m] => divider != '.' && year(y) && m.len() == 2 && month(m),
        [y, m, d] if y.len() == 4 => year(y) && month(m) && day(d),
        [d, m, y] if is_month_name(m) => day(d) && number(y, &[2, 4]).is_some(),
        [d, m, y] => year(y) && (day(d) && month(m) || month(d) && day(m)),
        _ => false,
    }
}

fn is_month_name(text: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let is_word = text.bytes().all(|it| it.is_ascii_alphabetic());
    let start = text.get(..3).unwrap_or_default();
    is_word && MONTHS.iter().any(|month| month.eq_ignore_ascii_case(start))
}

fn is_hexadecimal(text: &str) -> bool {
    let text = text.trim_ascii();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

fn is_amount(text: &str) -> bool {
    let text = text.trim_ascii();
    let number = text.strip_suffix('%').or_else(|| text.strip_prefix(['$', '€', '£']));
    let number = number.or_else(|| text.strip_suffix(['$', '€', '£']));
    number.is_some_and(is_like_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_other_text() {
        for text in [
            "2020-01-05",
            "2020/1/5",
            "2020-01",
            "2020-01-05T10:30:00Z",
            "2020-01-05 10:30:00.25+02:00",
            "5.1.2020",
            "12/31/1999",
            "31-12-1999",
            "12/31/1999 4:05 PM",
            "19-Sep-03",
            "1/March/2004",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "2020",
            "2020-13",
            "2020.5",
            "1-2-3",
            "10.0.0.1",
            "2019-20",
            "18-25",
            "a-b",
            "2020-01-05 Monday",
            "",
            "-",
            "555-1234",
            "5/40/2020",
            "a-Sep-b",
            "19-Sea-03",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn amounts_are_numbers_with_a_sign() {
        assert!(["45%", "3.5 %", "$1,200", "12 €"].iter().all(|text| is_amount(text)));
        assert!(!["45", "%", "a%", "$x", "5kg"].iter().any(|text| is_amount(text)));
    }

    #[test]
    fn hexadecimal_numbers_have_a_prefix() {
        assert!(["0x1F", "0Xff", " 0x0 "].iter().all(|text| is_hexadecimal(text)));
        assert!(!["1F", "0x", "0xg", "x1", "10"].iter().any(|text| is_hexadecimal(text)));
    }

    #[test]
    fn limits_leave_room_for_classes_of_small_tables() {
        let text: Vec<usize> =
            [1, 4, 5, 8, 12, 20, 100, 1000].map(|rows| LevelKind::Text.limit(rows)).to_vec();
        assert_eq!(text, [4, 4, 4, 7, 10, 14, 67, 256]);
        assert_eq!([8, 12, 1000].map(|rows| LevelKind::Dates.limit(rows)), [7, 10, 10]);
    }
}
