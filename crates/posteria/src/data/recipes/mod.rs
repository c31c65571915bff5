//! Draw the simulated tables on which the methods of this library were first published.
//!
//! Every recipe has a `draw` that takes the number of rows and a stream, constants for the
//! numbers of rows that were published, and the truth behind the data (a mean, a class rule or
//! a class probability), so that a fit can be compared with it. Draw training and test rows one
//! after the other from one stream, or from streams of their own.

pub mod additives;
pub mod concrete_like;
pub mod images;
pub mod line;
pub mod linear_inputs;
pub mod noise_sensitivity;
pub mod old_faithful;
pub mod outliers;
pub mod principal;
pub mod relevance;
pub mod robot_arm;
pub mod sinusoid;
pub mod surface;
pub mod three_class;
pub mod two_class;

use super::{Column, Table};

/// The table of these columns, which are built side by side and have names of their own.
fn table<'a>(recipe: &str, columns: impl IntoIterator<Item = (&'a str, Vec<f64>)>) -> Table {
    let column = |(name, values): (&str, _)| (name.to_string(), Column::numbers(values));
    let columns = columns.into_iter().map(column).collect();
    Table::new(recipe, columns).expect("columns of equal length with names of their own")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed, Stream};

    /// Numbers of a column.
    pub(super) fn column<'a>(table: &'a Table, name: &str) -> &'a [f64] {
        match table.column(name).expect("the column is there") {
            Column::Numbers(values) => values,
            Column::Text(_) => panic!("{name} is text"),
        }
    }

    pub(super) fn stream(index: u64) -> Stream {
        Seed(2025).stream(Purpose::Data, [index, 0])
    }

    pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
        sum / count
    }

    /// How many standard errors the mean of independent values is away from `truth`.
    pub(super) fn z_score(values: &[f64], truth: f64) -> f64 {
        let average = mean(values.iter().copied());
        let variance = mean(values.iter().map(|v| (v - average).powi(2)));
        (average - truth) / (variance / values.len() as f64).sqrt()
    }

    #[test]
    fn tables_are_functions_of_the_stream() {
        type Draw = fn(usize, &mut Stream) -> Table;
        let with_target = [&concrete_like::NAMES[..], &["y"]].concat();
        let recipes: [(Draw, &[&str]); 15] = [
            (concrete_like::draw, &with_target),
            (additives::draw, &["x1", "x2", "a", "b", "y"]),
            (
                images::draw,
                &["lighting1", "lighting2", "lighting3", "lighting4", "x1", "x2", "class", "image"],
            ),
            (line::draw, &["x", "y"]),
            (
                linear_inputs::draw,
                &["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "y"],
            ),
            (sinusoid::draw, &["x", "y"]),
            (surface::draw, &["x1", "x2", "y"]),
            (two_class::draw, &["x1", "x2", "class"]),
            (three_class::draw, &["x1", "x2", "x3", "x4", "class"]),
            (|n, s| outliers::draw(n, outliers::Noise::Contaminated, s), &["x", "y"]),
            (|n, s| outliers::draw(n, outliers::Noise::Normal, s), &["x", "y"]),
            (|n, s| noise_sensitivity::draw(n, noise_sensitivity::Noise::Normal, s), &["x", "y"]),
            (|n, s| noise_sensitivity::draw(n, noise_sensitivity::Noise::Laplace, s), &["x", "y"]),
            (relevance::draw, &["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "y"]),
            (|n, s| robot_arm::draw(n, robot_arm::NOISE_SD, s), &["x1", "x2", "y1", "y2"]),
        ];
        for (draw, names) in recipes {
            let first = draw(31, &mut stream(0));
            assert_eq!(first.names(), names);
            assert_eq!(first.rows(), 31);
            assert_eq!(first, draw(31, &mut stream(0)));
            assert_ne!(first, draw(31, &mut stream(1)));
            assert_eq!(draw(0, &mut stream(0)).rows(), 0);
        }
    }
}
