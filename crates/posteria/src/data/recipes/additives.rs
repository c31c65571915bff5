//! Draw a regression whose noise depends on two additives, with occasional outliers.
//!
//! y = sin 1.5 x1 + 0.5 x2 + 0.4 a + 0.8 b + e, with x1 and x2 uniform on [-2, 2], the additives a
//! and b each in half of the rows, and e normal with the standard deviation that [`noise_sd`] says;
//! in one row of twenty it is five times that. In kind the concrete data of [Vehtari 2001, §3.4.2],
//! which are not public.

use super::table;
use crate::data::Table;
use crate::random::Stream;

/// Rows of a training table.
pub const TRAINING_ROWS: usize = 150;

/// Share of rows that are outliers.
const OUTLIERS: f64 = 0.05;
/// How much wider their noise is.
const WIDER: f64 = 5.0;

/// The mean.
pub fn mean(x1: f64, x2: f64, [a, b]: [bool; 2]) -> f64 {
    let value = |additive: bool| f64::from(u8::from(additive));
    (1.5 * x1).sin() + 0.5 * x2 + 0.4 * value(a) + 0.8 * value(b)
}

/// The standard deviation of the noise of a row that is no outlier.
pub fn noise_sd([a, b]: [bool; 2]) -> f64 {
    0.15 * if a { 2.0 } else { 1.0 } * if b { 3.0 } else { 1.0 }
}

/// Draws `rows` rows with columns `x1`, `x2`, `a`, `b` (0 or 1) and `y`.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let [mut x1, mut x2, mut a, mut b, mut y] = [const { Vec::new() }; 5];
    for _ in 0..rows {
        let [first, second] = [0, 1].map(|_| -2.0 + 4.0 * stream.uniform());
        let additives = [0, 1].map(|_| stream.uniform() < 0.5);
        let wider = if stream.uniform() < OUTLIERS { WIDER } else { 1.0 };
        let noise = wider * noise_sd(additives) * stream.normal();
        y.push(mean(first, second, additives) + noise);
        x1.push(first);
        x2.push(second);
        a.push(f64::from(u8::from(additives[0])));
        b.push(f64::from(u8::from(additives[1])));
    }
    table("additives", [("x1", x1), ("x2", x2), ("a", a), ("b", b), ("y", y)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, stream, z_score};
    use super::*;

    #[test]
    fn noise_has_the_variance_of_its_additives() {
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        let drawn = draw(40_000, &mut stream(32));
        let [x1, x2, a, b, y] = ["x1", "x2", "a", "b", "y"].map(|name| column(&drawn, name));
        for additives in [[false, false], [true, false], [false, true], [true, true]] {
            let is = |row: &usize| [a[*row] > 0.5, b[*row] > 0.5] == additives;
            let rows: Vec<usize> = (0..drawn.rows()).filter(is).collect();
            let error = |row: &usize| y[*row] - mean(x1[*row], x2[*row], additives);
            let scaled: Vec<f64> =
                rows.iter().map(|row| (error(row) / noise_sd(additives)).powi(2)).collect();
            let expected = 1.0 - OUTLIERS + OUTLIERS * WIDER * WIDER;
            assert!(z_score(&scaled, expected).abs() < 4.5, "{additives:?}");
            assert!(rows.len() > 9000);
        }
        assert!(z_score(x1, 0.0).abs() < 4.5 && z_score(x2, 0.0).abs() < 4.5);
    }
}
