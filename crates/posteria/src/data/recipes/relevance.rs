//! Draw an additive function of eight inputs of equal predictive importance.
//!
//! In [Vehtari 2001, §2.2.4, figures 2.1-2.3] the target is a sum of eight functions of one
//! input each, scaled to equal variance over inputs that are uniform on (-3, 3), so that leaving
//! any of them out costs the same; some are linear, others are not. An MLP with relevance priors
//! is fitted (there by the evidence framework). Figure 2.2 draws the weights out of every input:
//! those of linear inputs are smallest. Figure 2.3 compares, input by input, four measures: the
//! error due to leaving the input out, the means of the absolute first and second derivative of
//! the output, and the relevance (posterior standard deviation of the weights out of the input).
//! No numbers are printed; the finding is that relevances resemble the *second* derivatives, not
//! the first ones and not the predictive importance. Relevance measures nonlinearity.
//!
//! The thesis draws its eight functions but prints no formulas, number of rows or noise level.
//! Here f_k(x) = A_k sin(ω_k x) with 3 ω_k = (k - 1) π / 7: exactly linear for k = 1, a full wave
//! for k = 8, and A_k such that the variance is 1. 300 rows and noise of standard deviation 0.3
//! are ours as well.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Number of inputs.
pub const INPUTS: usize = 8;

/// Rows of the training table.
pub const TRAINING_ROWS: usize = 300;

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.3;

/// Inputs are uniform on (-`HALF_WIDTH`, `HALF_WIDTH`).
pub const HALF_WIDTH: f64 = 3.0;

const NAMES: [&str; INPUTS] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"];

/// The contribution of one input, with its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// f_k(x): mean 0 and variance 1 over the inputs' distribution.
    pub value: f64,
    /// f_k'(x)
    pub first_derivative: f64,
    /// f_k''(x)
    pub second_derivative: f64,
}

/// The contribution of the input with index `input`, from 0, at `x`.
///
/// # Panics
/// If there is no such input.
#[track_caller]
pub fn effect(input: usize, x: f64) -> Effect {
    assert!(input < INPUTS, "there are {INPUTS} inputs, no input {input}");
    if input == 0 {
        // The limit ω → 0; a uniform on (-3, 3) has variance 3.
        let slope = 3f64.sqrt() / HALF_WIDTH;
        return Effect { value: slope * x, first_derivative: slope, second_derivative: 0.0 };
    }
    let phase = input as f64 / (INPUTS - 1) as f64 * std::f64::consts::PI;
    let frequency = phase / HALF_WIDTH;
    // E sin²(ωx) = 1/2 - sin(2 φ) / (4 φ) with φ = 3 ω.
    let amplitude = (0.5 - (2.0 * phase).sin() / (4.0 * phase)).sqrt().recip();
    let (sine, cosine) = (frequency * x).sin_cos();
    Effect {
        value: amplitude * sine,
        first_derivative: amplitude * frequency * cosine,
        second_derivative: -amplitude * frequency * frequency * sine,
    }
}

/// The mean of y: the sum of the contributions of all inputs.
pub fn mean(inputs: &[f64; INPUTS]) -> f64 {
    inputs.iter().enumerate().map(|(input, x)| effect(input, *x).value).sum()
}

/// Draws `rows` rows with columns `x1` to `x8` and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let mut columns = NAMES.map(|_| Vec::new());
    let mut targets = Vec::new();
    for _ in 0..rows {
        let inputs = NAMES.map(|_| HALF_WIDTH * (2.0 * stream.uniform() - 1.0));
        targets.push(mean(&inputs) + NOISE_SD * stream.normal());
        for (column, x) in columns.iter_mut().zip(inputs) {
            column.push(x);
        }
    }
    table("relevance", NAMES.into_iter().zip(columns).chain([("y", targets)]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, mean as average, stream, z_score};
    use super::*;

    /// Midpoints of 30000 cells of (-3, 3).
    fn grid() -> impl Iterator<Item = f64> {
        (0..30_000).map(|i| HALF_WIDTH * ((f64::from(i) + 0.5) / 15_000.0 - 1.0))
    }

    #[test]
    fn all_inputs_are_equally_important() {
        for input in 0..INPUTS {
            assert!(average(grid().map(|x| effect(input, x).value)).abs() < 1e-9);
            let variance = average(grid().map(|x| effect(input, x).value.powi(2)));
            assert!((variance - 1.0).abs() < 1e-7, "input {input}: {variance}");
        }
    }

    #[test]
    fn derivatives_belong_to_the_effects() {
        let step = 1e-5;
        for input in 0..INPUTS {
            for x in [-2.9, -1.1, 0.0, 0.7, 2.3] {
                let (before, after) = (effect(input, x - step), effect(input, x + step));
                let Effect { first_derivative, second_derivative, .. } = effect(input, x);
                let first = (after.value - before.value) / (2.0 * step);
                let second = (after.first_derivative - before.first_derivative) / (2.0 * step);
                assert!((first - first_derivative).abs() < 1e-8, "input {input} at {x}");
                assert!((second - second_derivative).abs() < 1e-8, "input {input} at {x}");
            }
        }
    }

    #[test]
    fn nonlinearity_grows_from_input_to_input() {
        let curvature = |input| average(grid().map(|x| effect(input, x).second_derivative.abs()));
        assert!(curvature(0) < 1e-12);
        for input in 1..INPUTS {
            assert!(curvature(input) > curvature(input - 1), "input {input}");
        }
    }

    #[test]
    fn targets_are_the_sum_plus_noise() {
        let drawn = draw(20_000, &mut stream(11));
        let mut squares = Vec::new();
        for (row, y) in column(&drawn, "y").iter().enumerate() {
            let inputs = NAMES.map(|name| column(&drawn, name)[row]);
            squares.push((y - mean(&inputs)).powi(2));
        }
        // |z| < 4.5 has a false-alarm rate of 7e-6; seed fixed.
        assert!(z_score(&squares, NOISE_SD * NOISE_SD).abs() < 4.5);
        let total: Vec<f64> = column(&drawn, "y").iter().map(|y| y * y).collect();
        assert!(z_score(&total, 8.0 + NOISE_SD * NOISE_SD).abs() < 4.5);
    }
}
