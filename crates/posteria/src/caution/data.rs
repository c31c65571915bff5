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
        write!(
            f,
            "target {column} has {different} different values, the whole numbers {smallest} {between} \
             {largest}, and is fitted as a number; for classes fit with --task {task} (--task \
             regression says that numbers are meant)"
        )
    }
}
