//! Draw the two-input surface of Paciorek and Schervish.
//!
//! 225 rows, two inputs, noise of standard deviation 0.25 [MCMCstuff §3.3.1; Paciorek &
//! Schervish 2004]. The surface is the "complicated interaction" of [Hwang et al. 1994],
//! f(u1, u2) = 1.9 (1.35 + e^u1 sin(13 (u1 - 0.6)²) e^-u2 sin(7 u2)) with u1 and u2 uniform on
//! (0, 1), scaled there to a standard deviation of 0.994. The published table has standardised
//! inputs, x = √12 (u - 1/2), and outputs about 0; so has this one.
//!
//! The manual fits an MLP with 10 hidden units and relevance priors and shows the fitted
//! surface on the grid -1.8, -1.75, …, 1.8 of both inputs; it prints no error.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Rows of the published table.
pub const TRAINING_ROWS: usize = 225;

/// Standard deviation of the noise.
pub const NOISE_SD: f64 = 0.25;

/// Mean of 1.9 e^u1 sin(13 (u1 - 0.6)²) e^-u2 sin(7 u2) over the unit square.
const AVERAGE: f64 = 0.138_254_592_711_35;

/// The surface at standardised inputs: mean 0 and standard deviation 0.994 over the square
/// |x1|, |x2| < √3, on which inputs are uniform.
pub fn mean(x1: f64, x2: f64) -> f64 {
    let [u1, u2] = [x1, x2].map(|x| 0.5 + x / 12f64.sqrt());
    let bumps = u1.exp() * (13.0 * (u1 - 0.6).powi(2)).sin() * (-u2).exp() * (7.0 * u2).sin();
    1.9 * bumps - AVERAGE
}

/// Draws `rows` rows with columns `x1`, `x2` and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let (mut x1, mut x2, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let [a, b] = [0; 2].map(|_| 12f64.sqrt() * (stream.uniform() - 0.5));
        x1.push(a);
        x2.push(b);
        y.push(mean(a, b) + NOISE_SD * stream.normal());
    }
    table("surface", [("x1", x1), ("x2", x2), ("y", y)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, mean as average, stream, z_score};
    use super::*;

    #[test]
    fn the_surface_has_mean_0_and_nearly_unit_variance() {
        // Midpoints of a 400 × 400 grid integrate to about 1e-5.
        let at = |i: usize| 12f64.sqrt() * ((i as f64 + 0.5) / 400.0 - 0.5);
        let grid = || (0..400 * 400).map(|i| mean(at(i / 400), at(i % 400)));
        assert!(average(grid()).abs() < 1e-5);
        assert!((average(grid().map(|v| v * v)).sqrt() - 0.993_781).abs() < 1e-5);
    }

    #[test]
    fn the_surface_is_the_published_formula() {
        // At u = (0.6, 0.5) the bump vanishes; at u = (1, 0.2) it is e^0.8 sin(2.08) sin(1.4).
        let x = |u: f64| 12f64.sqrt() * (u - 0.5);
        assert!((mean(x(0.6), x(0.5)) + AVERAGE).abs() < 1e-12);
        let bump = 1.9 * 0.8f64.exp() * 2.08f64.sin() * 1.4f64.sin();
        assert!((mean(x(1.0), x(0.2)) - bump + AVERAGE).abs() < 1e-12);
    }

    #[test]
    fn noise_and_inputs_have_the_published_moments() {
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        let drawn = draw(20_000, &mut stream(2));
        let (x1, x2, y) = (column(&drawn, "x1"), column(&drawn, "x2"), column(&drawn, "y"));
        for x in [x1, x2] {
            assert!(x.iter().all(|x| x.abs() < 3f64.sqrt()));
            assert!(z_score(x, 0.0).abs() < 4.5);
            let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
            assert!(z_score(&squares, 1.0).abs() < 4.5);
        }
        let noise = x1.iter().zip(x2).zip(y).map(|((a, b), y)| y - mean(*a, *b));
        let squares: Vec<f64> = noise.map(|e| e * e).collect();
        assert!(z_score(&squares, NOISE_SD * NOISE_SD).abs() < 4.5);
    }
}
