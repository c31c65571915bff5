//! The eruptions of Old Faithful: real rows, small enough to keep.
//!
//! Durations of 272 eruptions of the geyser in Yellowstone National Park and the waiting times
//! until the next, both in minutes, August 1985 [Härdle 1991, table 3; Azzalini & Bowman 1990], as the
//! package `datasets` of R has them.
//! The rows fall in two groups, short and long eruptions.

use super::table;
use crate::data::Table;

/// Number of rows.
pub const ROWS: usize = 272;

const TEXT: &str = include_str!("old_faithful.csv");

/// The table, with columns `eruptions` and `waiting`.
pub fn rows() -> Table {
    let cells = TEXT.lines().skip(1).filter_map(|line| line.split_once(','));
    let number = |cell: &str| cell.trim().parse::<f64>().unwrap_or(f64::NAN);
    let (eruptions, waiting) = cells.map(|(first, second)| (number(first), number(second))).unzip();
    table("old-faithful", [("eruptions", eruptions), ("waiting", waiting)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, mean};
    use super::*;

    #[test]
    fn the_rows_are_those_of_the_published_table() {
        let table = rows();
        assert_eq!(
            (table.rows(), table.names()),
            (ROWS, &["eruptions", "waiting"].map(String::from)[..])
        );
        // R, summary(faithful): means 3.488 and 70.9, ranges 1.6 to 5.1 and 43 to 96.
        let (eruptions, waiting) = (column(&table, "eruptions"), column(&table, "waiting"));
        assert!((mean(eruptions.iter().copied()) - 3.487_783).abs() < 1e-6);
        assert!((mean(waiting.iter().copied()) - 70.897_06).abs() < 1e-5);
        let range = |values: &[f64]| {
            values.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(*v), b.max(*v)))
        };
        assert_eq!((range(eruptions), range(waiting)), ((1.6, 5.1), (43.0, 96.0)));
    }
}
