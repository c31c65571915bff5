//! Draw noisy points of one period of a sine.
//!
//! x is uniform on (0, 1) and y = sin(2πx) plus normal noise of standard deviation 0.3, so that
//! its precision is 11.1, the value that the evidence framework is shown with: nine Gaussian
//! basis functions and a bias, with the precision of the weights estimated.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Rows of the training table.
pub const TRAINING_ROWS: usize = 25;

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.3;

/// The mean of y given x.
pub fn mean(x: f64) -> f64 {
    (std::f64::consts::TAU * x).sin()
}

/// Draws `rows` rows with columns `x` and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x = stream.uniform();
        inputs.push(x);
        targets.push(mean(x) + NOISE_SD * stream.normal());
    }
    table("sinusoid", [("x", inputs), ("y", targets)])
}
