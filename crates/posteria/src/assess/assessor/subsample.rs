//! Say how many of the rows are left out.

use std::num::NonZero;
use std::str::FromStr;

use crate::assess::RowSample;
use crate::random::Seed;

/// Rows above which a sample of them is left out unless it is said otherwise.
const MANY_ROWS: usize = 10_000;
/// Rows of that sample.
const SAMPLE: usize = 2000;

/// How many of the rows are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subsample {
    /// All of up to 10 000 rows, 2000 of more.
    #[default]
    Usual,
    /// All of them.
    All,
    /// So many, chosen at random.
    Rows(NonZero<usize>),
}

impl Subsample {
    /// The rows that are left out of `all` rows.
    pub fn of(self, all: usize, seed: Seed) -> RowSample {
        let size = match self {
            Subsample::Usual if all > MANY_ROWS => SAMPLE,
            Subsample::Usual | Subsample::All => all,
            Subsample::Rows(rows) => rows.get(),
        };
        RowSample::draw(all, size, seed)
    }
}

impl FromStr for Subsample {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Subsample::All),
            _ => match text.parse::<NonZero<usize>>() {
                Ok(rows) if rows.get() > 1 => Ok(Subsample::Rows(rows)),
                _ => Err("a number of rows, at least 2, or all".into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_all_left_out_and_many_are_not() {
        let size = |text: &str, all| {
            let asked: Subsample = text.parse().expect("a number or all");
            asked.of(all, Seed(1)).rows().len()
        };
        assert_eq!(Subsample::Usual.of(10_000, Seed(1)).rows().len(), 10_000);
        assert_eq!(Subsample::Usual.of(10_001, Seed(1)).rows().len(), 2000);
        assert_eq!([size("all", 10_001), size("50", 300), size("50", 30)], [10_001, 50, 30]);
        for text in ["0", "1", "-3", "some", ""] {
            assert!(text.parse::<Subsample>().is_err(), "{text}");
        }
    }
}
