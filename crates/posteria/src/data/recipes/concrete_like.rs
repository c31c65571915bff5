//! Draw 27 inputs in groups of three that are much alike, of which nine matter.
//!
//! After the study of the air in concrete of [Vehtari 2001, §4.3.1], whose 215 rows belong to a
//! company: 27 inputs, many of which measure nearly the same, with curved effects and one that
//! depends on another. Here there are nine groups of three inputs, N(0, 1) with correlation 0.7
//! within a group and independent between groups; the first of every group (x1, x4, …, x25)
//! has an effect, the other two only resemble it. Noise is normal with standard deviation 0.5.
//!
//! The thesis samples sets of inputs of a Gaussian process by reversible jumps with a
//! beta-binomial(5, 10) prior: nine inputs are clearly more probable than the others, and after
//! about nine inputs more of them do not improve predictions (figures 4.3 and 4.6).

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Rows of the study.
pub const TRAINING_ROWS: usize = 215;

/// Number of inputs.
pub const INPUTS: usize = 27;

/// Inputs of a group.
pub const GROUP: usize = 3;

/// Number of inputs that matter, one of each group.
pub const RELEVANT: usize = INPUTS / GROUP;

/// Correlation of two inputs of one group.
pub const CORRELATION: f64 = 0.7;

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.5;

/// Names of the inputs.
pub const NAMES: [&str; INPUTS] = [
    "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
];

/// Whether the input with this index, from 0, has an effect.
pub fn is_relevant(input: usize) -> bool {
    input.is_multiple_of(GROUP)
}

/// The noise-free target.
pub fn mean(inputs: &[f64; INPUTS]) -> f64 {
    let x = |group: usize| inputs[GROUP * group];
    0.7 * x(0) - 0.6 * x(1) + 0.5 * x(2) + 0.8 * x(3).tanh() - 0.7 * x(4).tanh()
        + 0.8 * (0.5 * x(5)).exp()
        + 0.45 * x(6)
        - 0.4 * x(7)
        + 0.4 * x(8)
        + 0.25 * x(0) * x(1)
}

/// Draws `rows` rows with columns `x1`, …, `x27` and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let mut columns = NAMES.map(|name| (name, Vec::with_capacity(rows)));
    let mut targets = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut inputs = [0.0; INPUTS];
        for group in inputs.chunks_mut(GROUP) {
            let common = CORRELATION.sqrt() * stream.normal();
            group.iter_mut().for_each(|input| {
                *input = common + (1.0 - CORRELATION).sqrt() * stream.normal();
            });
        }
        targets.push(mean(&inputs) + NOISE_SD * stream.normal());
        columns.iter_mut().zip(inputs).for_each(|((_, column), value)| column.push(value));
    }
    table("concrete-like", columns.into_iter().chain([("y", targets)]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, stream, z_score};
    use super::*;

    #[test]
    fn inputs_of_a_group_are_alike_and_only_the_first_has_an_effect() {
        let drawn = draw(20_000, &mut stream(80));
        let products = |a: &str, b: &str| -> Vec<f64> {
            column(&drawn, a).iter().zip(column(&drawn, b)).map(|(a, b)| a * b).collect()
        };
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        for (a, b, correlation) in [
            ("x1", "x1", 1.0),
            ("x1", "x2", CORRELATION),
            ("x26", "x27", CORRELATION),
            ("x3", "x4", 0.0),
            ("x1", "x25", 0.0),
        ] {
            assert!(z_score(&products(a, b), correlation).abs() < 4.5, "{a} {b}");
        }
        let mut row = [0.3; INPUTS];
        let before = mean(&row);
        for input in 0..INPUTS {
            let old = std::mem::replace(&mut row[input], 1.3);
            assert_eq!((mean(&row) - before).abs() > 0.3, is_relevant(input), "{input}");
            row[input] = old;
        }
        assert_eq!((0..INPUTS).filter(|input| is_relevant(*input)).count(), RELEVANT);
    }

    #[test]
    fn what_is_left_of_the_target_is_the_noise() {
        let drawn = draw(5000, &mut stream(81));
        let inputs = NAMES.map(|name| column(&drawn, name));
        let left = |row: usize| {
            let own = inputs.map(|input| input[row]);
            (column(&drawn, "y")[row] - mean(&own)).powi(2)
        };
        let squares: Vec<f64> = (0..drawn.rows()).map(left).collect();
        assert!(z_score(&squares, NOISE_SD * NOISE_SD).abs() < 4.5);
    }
}
