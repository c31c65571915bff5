//! Draw points about a line.
//!
//! [Bishop 2006, §3.3.1 and figure 3.7]: x uniform on (-1, 1), y = -0.3 + 0.5 x plus normal noise
//! of standard deviation 0.2, which is taken as known; both coefficients are N(0, 1/2) before any
//! point is seen. The figure shows their posterior after 0, 1, 2 and 20 points.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Height of the line at x = 0.
pub const INTERCEPT: f64 = -0.3;

/// Its slope.
pub const SLOPE: f64 = 0.5;

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.2;

/// Precision of the prior of both coefficients.
pub const PRIOR_PRECISION: f64 = 2.0;

/// Points of the figure.
pub const POINTS: [usize; 4] = [0, 1, 2, 20];

/// The line.
pub fn mean(x: f64) -> f64 {
    INTERCEPT + SLOPE * x
}

/// Draws `rows` rows with columns `x` and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let at = 2.0 * stream.uniform() - 1.0;
        x.push(at);
        y.push(mean(at) + NOISE_SD * stream.normal());
    }
    table("line", [("x", x), ("y", y)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, stream, z_score};
    use super::*;

    #[test]
    fn points_scatter_about_the_line() {
        let table = draw(4000, &mut stream(71));
        let (x, y) = (column(&table, "x"), column(&table, "y"));
        assert!(x.iter().all(|x| (-1.0..1.0).contains(x)));
        let residuals: Vec<f64> = x.iter().zip(y).map(|(x, y)| y + 0.3 - 0.5 * x).collect();
        let squares: Vec<f64> = residuals.iter().map(|r| r * r).collect();
        // |z| > 4.5 by chance once in 150 000.
        assert!(z_score(&residuals, 0.0).abs() < 4.5 && z_score(&squares, 0.04).abs() < 4.5);
        assert!(z_score(x, 0.0).abs() < 4.5);
    }
}
