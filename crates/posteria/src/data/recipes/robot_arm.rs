//! Draw the positions of MacKay's robot arm.
//!
//! Two joint angles, x1 uniform on [-1.932, -0.453] and [0.453, 1.932], x2 uniform on
//! [0.534, 3.142], and the position of the hand of an arm of lengths 2.0 and 1.3,
//! y1 = 2.0 cos x1 + 1.3 cos(x1 + x2), y2 = 2.0 sin x1 + 1.3 sin(x1 + x2), both with normal noise
//! of standard deviation 0.05. 200 training rows [Vehtari 2001, §3.4.1, after MacKay 1992b].
//!
//! The thesis fits an MLP with 8 hidden units and a Gaussian process of four parameters, both with
//! normal residuals, and draws their expected root mean square errors, which it prints no numbers
//! of: about the noise.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Rows of each published training table.
pub const TRAINING_ROWS: usize = 200;

/// Standard deviation of the noise of either target.
pub const NOISE_SD: f64 = 0.05;

/// Range of |x1|.
const FIRST: [f64; 2] = [0.453, 1.932];
/// Range of x2; its end is printed as 3.142.
const SECOND: [f64; 2] = [0.534, std::f64::consts::PI];

/// Where the hand is, given the angles of the joints.
pub fn position(x1: f64, x2: f64) -> [f64; 2] {
    [2.0 * x1.cos() + 1.3 * (x1 + x2).cos(), 2.0 * x1.sin() + 1.3 * (x1 + x2).sin()]
}

/// Draws `rows` rows with columns `x1`, `x2`, `y1` and `y2`, with noise of this standard
/// deviation. From equal streams the inputs are the same whatever the noise.
pub fn draw(rows: usize, noise_sd: f64, stream: &mut Stream) -> Table {
    let [mut x1, mut x2, mut y1, mut y2] = [const { Vec::new() }; 4];
    for _ in 0..rows {
        let mut between = |[low, high]: [f64; 2]| low + (high - low) * stream.uniform();
        let [size, second] = [FIRST, SECOND].map(&mut between);
        let first = if stream.uniform() < 0.5 { -size } else { size };
        let [a, b] = position(first, second);
        x1.push(first);
        x2.push(second);
        y1.push(a + noise_sd * stream.normal());
        y2.push(b + noise_sd * stream.normal());
    }
    table("robot-arm", [("x1", x1), ("x2", x2), ("y1", y1), ("y2", y2)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, stream, z_score};
    use super::*;

    #[test]
    fn the_position_is_the_published_formula() {
        use std::f64::consts::{FRAC_PI_2, PI};
        // Stretched out, folded back, and at a right angle.
        for (x1, x2, expected) in [
            (0.0, 0.0, [3.3, 0.0]),
            (FRAC_PI_2, PI, [0.0, 0.7]),
            (FRAC_PI_2, -FRAC_PI_2, [1.3, 2.0]),
        ] {
            let found = position(x1, x2);
            let apart = |k: usize| (found[k] - expected[k]).abs();
            assert!(apart(0) < 1e-12 && apart(1) < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn inputs_fill_the_published_ranges_and_noise_has_its_variance() {
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        let drawn = draw(20_000, NOISE_SD, &mut stream(30));
        let [x1, x2, y1, y2] = ["x1", "x2", "y1", "y2"].map(|name| column(&drawn, name));
        assert!(x1.iter().all(|x| (FIRST[0]..FIRST[1]).contains(&x.abs())));
        assert!(x2.iter().all(|x| (SECOND[0]..SECOND[1]).contains(x)));
        assert!(z_score(x1, 0.0).abs() < 4.5);
        let sizes: Vec<f64> = x1.iter().map(|x| x.abs()).collect();
        assert!(z_score(&sizes, 0.5 * (FIRST[0] + FIRST[1])).abs() < 4.5);
        assert!(z_score(x2, 0.5 * (SECOND[0] + SECOND[1])).abs() < 4.5);
        for (target, y) in [y1, y2].into_iter().enumerate() {
            let rows = x1.iter().zip(x2).zip(y);
            let noise = rows.map(|((a, b), y)| y - position(*a, *b)[target]);
            let squares: Vec<f64> = noise.map(|e| e * e).collect();
            assert!(z_score(&squares, NOISE_SD * NOISE_SD).abs() < 4.5);
        }
        let clean = draw(20, 0.0, &mut stream(30));
        assert_eq!(column(&clean, "x1"), &x1[..20], "the same inputs");
    }
}
