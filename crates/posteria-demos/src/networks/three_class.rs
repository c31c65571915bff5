//! Classify Neal's three classes with two irrelevant inputs [MCMCstuff §3.3.3].

use posteria::data::recipes::three_class::{NOISE_SD, TEST_ROWS, TRAINING_ROWS, draw, rule};
use posteria::data::{Table, Task};
use posteria::model::spec::{ResidualFamily, WidthRule};
use posteria::random::Purpose;

use super::estimate::Estimate;
use super::two_class::{log_densities, right};
use super::{Demonstration, Design, Quantity, Settings, numbers};
use crate::Result;

/// Cells per side of the unit square, over which the best rule integrates.
const CELLS: usize = 200;

const DESIGN: Design = Design {
    target: "class",
    task: Task::Multiclass,
    hidden: 8,
    residual: ResidualFamily::Normal,
    width: WidthRule::Mcmcstuff,
};

const WORDS: &str = "\
A 4-8-3 network with softmax outputs on 400 new rows of the recipe, tested on 600 more. sd is the
standard error over test rows; a relevance is given by its posterior median and half the width of
its central 68 %. The manual of MCMCstuff reports an accuracy of 87 ± 3 % and Neal an error of 0.1400
± 0.0142, both on Neal's own table, which is kind: over new tables even the best possible rule is
right for 81.6 % of rows, so compare with the best rule on the same rows. The published relevances of
x3 and x4, which tell nothing about the class, are near 0.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [22, 0]);
    let training = draw(settings.rows(TRAINING_ROWS), &mut stream);
    let test = draw(settings.rows(TEST_ROWS), &mut stream);
    let fitted = DESIGN.fit(&training, &settings.plan(500, 2), settings)?;

    let predictions = fitted.predict(&test)?;
    let classes = numbers(&test, "class");
    let hits = right(&predictions, classes);
    let best = best_classes(&test);
    let best_hits = best.iter().zip(classes).map(|(best, class)| (best - class).abs() < 0.5);
    let rows = test.rows();
    let mut results = vec![
        Quantity::of(
            format!("test accuracy, {rows} rows (published: MCMCstuff)"),
            Some(0.87),
            Estimate::of_share(hits.iter().copied()),
        ),
        Quantity::of(
            format!("test error, {rows} rows (published: Neal)"),
            Some(0.14),
            Estimate::of_share(hits.iter().map(|hit| !hit)),
        ),
        Quantity::of("accuracy of the best rule there", None, Estimate::of_share(best_hits)),
        Quantity::of(
            "mean log predictive density",
            None,
            Estimate::of_mean(&log_densities(&predictions, classes)),
        ),
    ];
    for input in 0..4 {
        let relevance = Estimate::of_bulk(fitted.values("relevance", input));
        results.push(Quantity::of(format!("relevance of x{}", input + 1), None, relevance));
    }
    Ok(settings.conclude("three-class-mlp", results, WORDS.into(), fitted.r_hat()))
}

/// The most probable class of every row given its two useful inputs, by the midpoint rule over
/// where they were before noise was added.
fn best_classes(table: &Table) -> Vec<f64> {
    let middle = |cell: usize| (cell as f64 + 0.5) / CELLS as f64;
    let rules: Vec<usize> = (0..CELLS * CELLS)
        .map(|cell| usize::from(rule(middle(cell / CELLS), middle(cell % CELLS))))
        .collect();
    let weights = |observed: f64| -> Vec<f64> {
        let weight = |cell| (-0.5 * ((observed - middle(cell)) / NOISE_SD).powi(2)).exp();
        (0..CELLS).map(weight).collect()
    };
    let best = |(x1, x2): (&f64, &f64)| {
        let (first, second) = (weights(*x1), weights(*x2));
        let mut sums = [0.0; 3];
        for (left, rules) in first.iter().zip(rules.chunks(CELLS)) {
            for (right, class) in second.iter().zip(rules) {
                sums[*class] += left * right;
            }
        }
        (0..3).fold(0, |best, class| if sums[class] > sums[best] { class } else { best }) as f64
    };
    numbers(table, "x1").iter().zip(numbers(table, "x2")).map(best).collect()
}

#[cfg(test)]
mod tests {
    use posteria::random::Seed;

    use super::*;

    #[test]
    fn the_best_rule_is_right_for_the_published_share() {
        // 81.6 % ± 0.6 % with 4000 rows; |z| < 4 has a false-alarm rate of 6e-5; seed fixed.
        let rows = draw(4000, &mut Seed(3).stream(Purpose::Data, [0, 0]));
        let best = best_classes(&rows);
        let classes = numbers(&rows, "class");
        let share = Estimate::of_share(best.iter().zip(classes).map(|(b, c)| (b - c).abs() < 0.5));
        assert!((share.value - 0.816).abs() < 4.0 * share.sd, "{share:?}");
    }
}
