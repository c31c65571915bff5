//! Tell names of columns from a row of data, and name columns that have no name.

use super::column::Texts;
use super::{Cell, Column};

/// Whether the first cells are names, by the rule of [`super::TextFormat`]; the column and text
/// that leave it open otherwise.
pub(super) fn has_header(columns: &[Texts]) -> Result<bool, (usize, String)> {
    let texts: Vec<usize> = (0..columns.len()).filter(|&index| is_text(&columns[index])).collect();
    let numbers = columns.iter().any(|column| matches!(first(column), Cell::Number(_)));
    if texts.is_empty() {
        return Ok(false);
    }
    if !numbers || texts.iter().any(|&index| numbers_below(&columns[index])) {
        return Ok(true);
    }
    match texts.into_iter().find(|&index| !occurs_again(&columns[index])) {
        Some(index) => Err((index, columns[index].get(0).to_string())),
        None => Ok(false),
    }
}

fn first(column: &Texts) -> Cell<'_> {
    Cell::parse(column.get(0))
}

/// Whether the first cell could be a name: `-` could not, which a column of numbers has where one
/// is missing.
fn is_text(column: &Texts) -> bool {
    let is_name = |text: &str| text.chars().any(char::is_alphanumeric);
    matches!(first(column), Cell::Text(text) if is_name(text) || !numbers_below(column))
}

/// Whether the cells below the first are numbers or missing, and at least one is a number.
fn numbers_below(column: &Texts) -> bool {
    let mut numbers = false;
    for text in column.iter().skip(1) {
        match Cell::parse_number(text) {
            Cell::Missing => {}
            Cell::Number(_) => numbers = true,
            Cell::Text(_) => return false,
        }
    }
    numbers
}

fn occurs_again(column: &Texts) -> bool {
    column.iter().skip(1).any(|text| text == column.get(0))
}

/// The columns with their names: from the first cells if there is a header, else by position.
pub(super) fn name_columns(mut columns: Vec<Texts>, header: bool) -> (Vec<String>, Vec<Column>) {
    let blank = |column: &Texts| column.iter().all(str::is_empty);
    while columns.len() > 1 && columns.last().is_some_and(blank) {
        columns.pop();
    }
    let mut names = Vec::with_capacity(columns.len());
    let mut typed = Vec::with_capacity(columns.len());
    for (index, mut column) in columns.into_iter().enumerate() {
        let name = if header { column.get(0).to_string() } else { String::new() };
        names.push(if name.is_empty() { format!("x{}", index + 1) } else { name });
        if header {
            column.remove_first();
        }
        typed.push(Column::typed(column));
    }
    (names, typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(rows: &[&str]) -> Vec<Texts> {
        let width = rows[0].split(' ').count();
        let mut columns = vec![Texts::default(); width];
        for row in rows {
            for (column, cell) in columns.iter_mut().zip(row.split(' ')) {
                assert!(column.push(cell));
            }
        }
        columns
    }

    #[test]
    fn headers_are_told_from_data() {
        for (rows, expected) in [
            (&["a b", "1 2"][..], Ok(true)),
            (&["1 2", "3 4"], Ok(false)),
            (&["NA 2", "3 4"], Ok(false)),
            (&["- 2", "3 4"], Ok(false)),
            (&["a b", "- 4", "3 5"], Ok(true)),
            (&["a 2010", "- 4", "3 5"], Ok(true)),
            (&["+ 2", "- 4", "+ 5"], Ok(false)),
            (&["a 2010", "1 2"], Ok(true)),
            (&["a 2010", "NA 2"], Err((0, "a".to_string()))),
            (&["5.1 setosa", "4.9 setosa"], Ok(false)),
            (&["5.1 setosa", "4.9 versicolor"], Err((1, "setosa".to_string()))),
            (&["country 2010", "fi 1", "se 2"], Err((0, "country".to_string()))),
            (&["name colour", "fi red", "se blue"], Ok(true)),
            (&["a b"], Ok(true)),
            (&["1 b"], Err((1, "b".to_string()))),
        ] {
            assert_eq!(has_header(&columns(rows)), expected, "{rows:?}");
        }
    }
}
