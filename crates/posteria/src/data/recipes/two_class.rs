//! Draw Ripley's synthetic two-class mixture.
//!
//! Each class is an equal mixture of two round normals in the plane with variance 0.03, centred
//! at (-0.7, 0.3) and (0.3, 0.3) for class 0 and at (-0.3, 0.7) and (0.4, 0.7) for class 1; half
//! of the rows belong to each class; 250 training and 1000 test rows [Ripley 1996; MCMCstuff
//! §3.3.2]. The best possible rule is right for 91.1 % of new rows.
//!
//! The manual fits an MLP with 10 hidden units, relevance priors and a logistic output, and
//! reports a test accuracy of 90 ± 3 %.

use super::table;
use crate::data::Table;
use crate::density::special::logistic;
use crate::random::Stream;

/// Rows of the published training table.
pub const TRAINING_ROWS: usize = 250;

/// Rows of the published test table.
pub const TEST_ROWS: usize = 1000;

/// Variance of every component in every direction.
const VARIANCE: f64 = 0.03;

/// Centres of the components of both classes.
const CENTRES: [[[f64; 2]; 2]; 2] = [[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]];

/// Probability of class 1 given the inputs.
pub fn probability(x1: f64, x2: f64) -> f64 {
    // Log of the sum over the two components; common factors cancel between classes.
    let log_density = |class: usize| {
        let [a, b] = CENTRES[class]
            .map(|[c1, c2]| -((x1 - c1).powi(2) + (x2 - c2).powi(2)) / (2.0 * VARIANCE));
        a.max(b) + (-(a - b).abs()).exp().ln_1p()
    };
    logistic(log_density(1) - log_density(0))
}

/// Draws `rows` rows with columns `x1`, `x2` and `class` (0 or 1). Classes take turns, so that
/// any division of the rows has both.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let (mut x1, mut x2, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let class = row % 2;
        let [c1, c2] = CENTRES[class][stream.index(2)];
        x1.push(c1 + VARIANCE.sqrt() * stream.normal());
        x2.push(c2 + VARIANCE.sqrt() * stream.normal());
        classes.push(class as f64);
    }
    table("two-class", [("x1", x1), ("x2", x2), ("class", classes)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, stream, z_score};
    use super::*;

    #[test]
    fn classes_are_equally_frequent_and_take_turns() {
        let drawn = draw(TRAINING_ROWS, &mut stream(3));
        let classes = column(&drawn, "class");
        assert!((classes.iter().sum::<f64>() - 125.0).abs() < 1e-12);
        assert!((classes[..125].iter().sum::<f64>() - 62.0).abs() < 1e-12);
    }

    #[test]
    fn both_classes_have_the_moments_of_their_mixture() {
        let drawn = draw(40_000, &mut stream(4));
        let (x1, x2) = (column(&drawn, "x1"), column(&drawn, "x2"));
        // Means and second moments about them: 0.03 plus the square of half the distance of the
        // centres. |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        for (class, m1, v1, m2) in [(0, -0.2, 0.28, 0.3), (1, 0.05, 0.1525, 0.7)] {
            let of = |x: &[f64]| x.iter().skip(class).step_by(2).copied().collect::<Vec<_>>();
            let squares = |x: &[f64], m: f64| x.iter().map(|v| (v - m).powi(2)).collect::<Vec<_>>();
            let (a, b) = (of(x1), of(x2));
            assert!(z_score(&a, m1).abs() < 4.5 && z_score(&b, m2).abs() < 4.5, "class {class}");
            assert!(z_score(&squares(&a, m1), v1).abs() < 4.5, "class {class}");
            assert!(z_score(&squares(&b, m2), VARIANCE).abs() < 4.5, "class {class}");
        }
    }

    #[test]
    fn the_probability_is_calibrated_and_the_best_rule_is_right_for_91_percent() {
        let drawn = draw(40_000, &mut stream(5));
        let rows = column(&drawn, "x1").iter().zip(column(&drawn, "x2"));
        let (mut surplus, mut right) = (Vec::new(), Vec::new());
        for ((x1, x2), class) in rows.zip(column(&drawn, "class")) {
            let probability = probability(*x1, *x2);
            surplus.push((class - probability) * (x1 + 2.0 * x2));
            right.push(f64::from((probability > 0.5) == (*class > 0.5)));
        }
        // Accuracy by quadrature over the plane: 0.910673.
        assert!(z_score(&surplus, 0.0).abs() < 4.5);
        assert!(z_score(&right, 0.910_673).abs() < 4.5);
    }

    #[test]
    fn probabilities_stay_finite_far_away() {
        assert!((probability(0.05, 1e3) - 1.0).abs() < 1e-12);
        assert!(probability(0.05, -1e3) < 1e-12);
        assert!(probability(1e8, 0.5).is_finite());
    }
}
