//! Carry what may be wrong with the rows that a model is fitted to or predicts.

use std::fmt;

/// A numeric target that has few values, all whole numbers: they may be meant as classes.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeTarget {
    /// Name of the target.
    pub column: String,
    /// How many different values it has.
    pub different: usize,
    /// The smallest of them.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
}

impl fmt::Display for WholeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WholeTarget { column, different, smallest, largest } = self;
        let (between, task) = match different {
            2 => ("and", "binary"),
            _ => ("to", "multiclass"),
        };
        // Events that were counted begin at none or one, and two numbers are rather yes and no.
        let counts = match (*different > 2, (0.0..=1.0).contains(smallest)) {
            (true, true) => ", for counts of events with --task count",
            _ => "",
        };
        write!(
            f,
            "target {column} has {different} different values, the whole numbers {smallest} {between} \
             {largest}, and is fitted as a number; for classes fit with --task {task}{counts} (--task \
             regression says that numbers are meant)"
        )
    }
}

/// How many new rows are not like those of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Extrapolation {
    /// How many rows there are.
    pub rows: usize,
    /// How many are outside the range that the fit has of some column of numbers.
    pub outside: usize,
    /// Those columns, each with the number of rows outside its range.
    pub columns: Vec<(String, usize)>,
    /// The most rows that are expected outside if all are like those of the fit.
    pub by_chance: f64,
    /// How many are farther from every row of the fit than any of these is from its nearest.
    pub far: usize,
}

/// How many columns are named.
const NAMED: usize = 5;

impl Extrapolation {
    /// Whether there are more such rows than chance has among rows like those of the fit.
    pub fn exceeds_chance(&self) -> bool {
        self.far > 0 || self.outside as f64 > self.by_chance
    }
}

impl fmt::Display for Extrapolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extrapolation { rows, outside, columns, by_chance, far } = self;
        if *outside > 0 {
            let named: Vec<String> =
                columns.iter().take(NAMED).map(|(name, count)| format!("{name} {count}")).collect();
            write!(
                f,
                "{outside} of {rows} row(s) are outside the range of the inputs of the fit ({}",
                named.join(", ")
            )?;
            if columns.len() > NAMED {
                write!(f, " and {} more", columns.len() - NAMED)?;
            }
            write!(f, ")")?;
            if *by_chance >= 1.0 {
                write!(f, ", where up to {by_chance:.0} are expected by chance")?;
            }
        }
        match (*outside, *far) {
            (0, _) => write!(f, "{far} of {rows} row(s)")?,
            (_, 0) => {}
            _ => write!(f, ", and {far}")?,
        }
        if *far > 0 {
            write!(f, " are farther from every row of the fit than any of these from its nearest")?;
        }
        write!(
            f,
            ": there predictions rest on the form of the model and its priors, not on data; check \
             these rows, or fit with rows like them"
        )
    }
}
