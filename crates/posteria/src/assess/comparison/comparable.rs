//! Refuse to compare models that are not judged by the same rows and targets.

use crate::assess::target_facts::same_classes;
use crate::fit::Fit;

/// Why models are not comparable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotComparable {
    /// A model is there twice.
    #[error("{model} is given twice; give it once")]
    Twice {
        /// The model.
        model: String,
    },
    /// The targets are other columns.
    #[error(
        "{first} and {other} have different targets ({} and {}); compare models of the same targets",
        first_targets.join(", "),
        other_targets.join(", ")
    )]
    Targets {
        /// A model.
        first: String,
        /// Its targets.
        first_targets: Vec<String>,
        /// Another.
        other: String,
        /// Its targets.
        other_targets: Vec<String>,
    },
    /// The targets are numbers for one and classes for the other, or other classes.
    #[error(
        "{first} and {other} take the target for different things; compare models of the same task, or of \
         the same classes with and without their order"
    )]
    Task {
        /// A model.
        first: String,
        /// Another.
        other: String,
    },
    /// Different numbers of rows.
    #[error("{first} has {} and {other} has {}; compare models of the same rows", rows(*first_rows), rows(*other_rows))]
    Rows {
        /// A model.
        first: String,
        /// Its rows.
        first_rows: usize,
        /// Another.
        other: String,
        /// Its rows.
        other_rows: usize,
    },
    /// Different targets in a row.
    #[error("{first} and {other} are of different data: their targets differ first in row {}", row + 1)]
    Data {
        /// A model.
        first: String,
        /// Another.
        other: String,
        /// The first row that differs, from 0.
        row: usize,
    },
    /// Tables without targets are not the same.
    #[error(
        "{first} and {other} are of different tables; compare models of the same rows and columns"
    )]
    Tables {
        /// A model.
        first: String,
        /// Another.
        other: String,
    },
    /// Rows are divided into other folds.
    #[error(
        "{other} divides the rows otherwise than {first}: they were fitted with other groups; say by \
         --group, --block or --fold-column how to divide them"
    )]
    Folds {
        /// A model.
        first: String,
        /// Another.
        other: String,
    },
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".into() } else { format!("{count} rows") }
}

/// A fit that is compared with others.
#[derive(Clone, Copy)]
pub struct ComparedFit<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The fit.
    pub fit: &'a Fit,
    /// The targets of the rows that it is judged by, on the user's scale; its own unless others were
    /// held out.
    pub observed: &'a [Vec<f64>],
}

/// Refuses models of which one is there twice, or that are not judged by the same rows and targets
/// as the first of them.
///
/// # Errors
/// [`NotComparable`] that says why.
pub fn check_comparable(models: &[ComparedFit<'_>]) -> Result<(), NotComparable> {
    for (index, model) in models.iter().enumerate() {
        if models[..index].iter().any(|other| other.name == model.name) {
            return Err(NotComparable::Twice { model: model.name.into() });
        }
    }
    let Some((first, others)) = models.split_first() else { return Ok(()) };
    others.iter().try_for_each(|other| same_rows(first, other))
}

fn same_rows(one: &ComparedFit<'_>, two: &ComparedFit<'_>) -> Result<(), NotComparable> {
    let (first, other) = (one.name.to_string(), two.name.to_string());
    let [encoder, others] = [one, two].map(|model| &model.fit.prepared.encoder);
    // Classes are the same whatever order they have: what is below is by their names.
    let are_classes = encoder.task().is_of_classes() && others.task().is_of_classes();
    let places = are_classes.then(|| same_classes(encoder.labels(), others.labels())).flatten();
    let [first_targets, other_targets] = [encoder, others].map(|it| it.target_names());
    if first_targets != other_targets {
        return Err(NotComparable::Targets { first, first_targets, other, other_targets });
    }
    if places.is_none() && (are_classes || encoder.task() != others.task()) {
        return Err(NotComparable::Task { first, other });
    }
    let [first_rows, other_rows] = [one, two].map(|model| model.observed.len());
    if first_rows != other_rows {
        return Err(NotComparable::Rows { first, first_rows, other, other_rows });
    }
    let differs = |(a, b): (&Vec<f64>, &Vec<f64>)| match &places {
        Some(places) => a.iter().zip(b).any(|(a, b)| places[*b as usize] != *a as usize),
        None => a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-9 * a.abs().max(b.abs())),
    };
    match one.observed.iter().zip(two.observed).position(differs) {
        None => Ok(()),
        Some(row) => Err(NotComparable::Data { first, other, row }),
    }
}

/// Refuses models whose predictions are of classes in another order, which cannot be averaged number by
/// number.
pub(in crate::assess) fn check_averageable(
    models: &[ComparedFit<'_>],
) -> Result<(), NotComparable> {
    check_comparable(models)?;
    let Some((first, others)) = models.split_first() else { return Ok(()) };
    let differs = |other: &&ComparedFit<'_>| {
        let [one, two] = [first, other].map(|model| &model.fit.prepared.encoder);
        one.task() != two.task() || one.labels() != two.labels()
    };
    match others.iter().find(differs) {
        None => Ok(()),
        Some(other) => {
            let (first, other) = (first.name.to_string(), other.name.to_string());
            Err(NotComparable::Task { first, other })
        }
    }
}
