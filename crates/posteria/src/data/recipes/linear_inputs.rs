//! Draw ten inputs of which the first three are added up.
//!
//! [Fabricius 1999, §6.2.4]: 20 training and 200 test rows, ten inputs that are independent
//! N(0, 1), the target the sum of the first three plus normal noise, 100 such tables. How many
//! inputs are needed? The text gives the noise a standard deviation of 0.01, its table 6.1 a
//! variance of 0.01, which is what the figures were made with.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Rows of a training table.
pub const TRAINING_ROWS: usize = 20;

/// Rows of a test table.
pub const TEST_ROWS: usize = 200;

/// Number of tables.
pub const TABLES: usize = 100;

/// Number of inputs.
pub const INPUTS: usize = 10;

/// Number of inputs that matter, the first ones.
pub const RELEVANT: usize = 3;

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.1;

/// Names of the inputs.
pub const NAMES: [&str; INPUTS] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"];

/// The noise-free target.
pub fn mean(inputs: &[f64]) -> f64 {
    inputs[..RELEVANT].iter().sum()
}

/// Draws `rows` rows with columns `x1`, …, `x10` and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let mut columns = NAMES.map(|name| (name, Vec::with_capacity(rows)));
    let mut targets = Vec::with_capacity(rows);
    for _ in 0..rows {
        let inputs = [(); INPUTS].map(|()| stream.normal());
        targets.push(mean(&inputs) + NOISE_SD * stream.normal());
        columns.iter_mut().zip(inputs).for_each(|((_, column), value)| column.push(value));
    }
    table("linear-inputs", columns.into_iter().chain([("y", targets)]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, stream, z_score};
    use super::*;

    #[test]
    fn the_noise_is_what_is_left_of_the_sum_of_three() {
        let table = draw(4000, &mut stream(70));
        let inputs = NAMES.map(|name| column(&table, name));
        let left: Vec<f64> = column(&table, "y")
            .iter()
            .enumerate()
            .map(|(row, y)| (y - (inputs[0][row] + inputs[1][row] + inputs[2][row])).powi(2))
            .collect();
        // |z| > 4.5 by chance once in 150 000.
        assert!(z_score(&left, NOISE_SD * NOISE_SD).abs() < 4.5);
        for input in inputs {
            assert!(z_score(input, 0.0).abs() < 4.5);
            let squares: Vec<f64> = input.iter().map(|x| x * x).collect();
            assert!(z_score(&squares, 1.0).abs() < 4.5);
        }
    }
}
