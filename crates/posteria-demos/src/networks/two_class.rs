//! Classify Ripley's synthetic mixture [MCMCstuff §3.3.2].

use posteria::data::recipes::two_class::{TEST_ROWS, TRAINING_ROWS, draw, probability};
use posteria::data::{Table, Task};
use posteria::model::spec::{ResidualFamily, WidthRule};
use posteria::predict::PredictiveTable;
use posteria::random::Purpose;
use posteria_report::figure::Palette;

use super::super::figures::Map;
use super::estimate::Estimate;
use super::picture::{Grid, beside};
use super::{Demonstration, Design, Fitted, Quantity, Settings, numbers};
use crate::Result;

const DRAWN: Grid = Grid { x: (-1.3, 1.0), y: (-0.2, 1.2), columns: 44, rows: 20 };

const DESIGN: Design = Design {
    target: "class",
    task: Task::Binary,
    hidden: 10,
    residual: ResidualFamily::Normal,
    width: WidthRule::Mcmcstuff,
};

const WORDS: &str = "\
A 2-10-1 network with a logistic output on 250 new rows of the recipe, tested on 1000 more. sd is
the standard error over test rows. The manual of MCMCstuff reports 90 ± 3 % on Ripley's own tables;
the best possible rule, which knows how the rows were made, is right for 91.1 % of rows in the long
run.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (training, test) = tables(settings);
    let fitted = DESIGN.fit(&training, &settings.plan(500, 3), settings)?;
    report("two-class-mlp", WORDS, &fitted, (&training, &test), settings)
}

/// Training and test rows.
pub fn tables(settings: &Settings) -> (Table, Table) {
    let mut stream = settings.seed.stream(Purpose::Data, [21, 0]);
    let training = draw(settings.rows(TRAINING_ROWS), &mut stream);
    (training, draw(settings.rows(TEST_ROWS), &mut stream))
}

/// Compares a fit with the best rule, and draws both.
pub fn report(
    name: &'static str,
    words: &str,
    fitted: &Fitted,
    (training, test): (&Table, &Table),
    settings: &Settings,
) -> Result<Demonstration> {
    let predictions = fitted.predict(test)?;
    let best = best_probabilities(test);
    let classes = numbers(test, "class");
    let is_right = |probability: &f64, class: &f64| (*probability > 0.5) == (*class > 0.5);
    let best_right = best.iter().zip(classes).map(|(p, class)| is_right(p, class));
    let log_of = |p: &f64, class: &f64| if *class > 0.5 { p.ln() } else { (-p).ln_1p() };
    let best_logs: Vec<f64> = best.iter().zip(classes).map(|(p, class)| log_of(p, class)).collect();
    let rows = test.rows();
    let results = vec![
        Quantity::of(
            format!("test accuracy, {rows} rows"),
            Some(0.90),
            Estimate::of_share(right(&predictions, classes)),
        ),
        Quantity::of("accuracy of the best rule there", None, Estimate::of_share(best_right)),
        Quantity::of(
            "mean log predictive density",
            None,
            Estimate::of_mean(&log_densities(&predictions, classes)),
        ),
        Quantity::of("mean log density of the best rule", None, Estimate::of_mean(&best_logs)),
    ];
    let grid = fitted.predict(&DRAWN.table(["x1", "x2"]))?;
    let shown: Vec<f64> =
        (0..grid.rows()).map(|row| grid.predictive(row).density(&[1.0])).collect();
    let truth: Vec<f64> =
        DRAWN.points().iter().map(|point| probability(point[0], point[1])).collect();
    let picture = beside(
        ["true probability of class 1", "posterior probability; class 1 from + on"],
        &DRAWN.shade(&truth, (0.0, 1.0)),
        &DRAWN.shade(&shown, (0.0, 1.0)),
    );
    let map = |title, caption, values, points| Map {
        title,
        caption,
        inputs: ["x1", "x2"],
        output: "probability of class 1",
        values,
        range: (0.0, 1.0),
        palette: Palette::Diverging,
        points,
    };
    let of_class = |name, is_first: bool| {
        let codes = numbers(training, "class").iter().map(|code| (*code > 0.5) == is_first);
        let column = |input: &str| -> Vec<f64> {
            let rows = numbers(training, input).iter().zip(codes.clone());
            rows.filter(|(_, is_own)| *is_own).map(|(value, _)| *value).collect()
        };
        (name, column("x1"), column("x2"))
    };
    let true_map = map(
        "The true probability of class 1",
        "What the rows were made with: no rule can do better.",
        &truth,
        Vec::new(),
    );
    let found_map = map(
        "The posterior probability of class 1: points on the side of their colour",
        "The same colours. Points: the rows that were learned from.",
        &shown,
        vec![of_class("class 0", false), of_class("class 1", true)],
    );
    let figures = vec![true_map.figure(&DRAWN), found_map.figure(&DRAWN)];
    Ok(settings.conclude(name, results, words.into(), fitted.r_hat()).picturing(picture, figures))
}

/// Whether the most probable class of every row is its own.
pub(super) fn right(predictions: &PredictiveTable, classes: &[f64]) -> Vec<bool> {
    let row = |(row, class): (usize, &f64)| {
        predictions.predictive(row).most_probable() == class.round() as usize
    };
    classes.iter().enumerate().map(row).collect()
}

/// The log probability of the class of every row.
pub(super) fn log_densities(predictions: &PredictiveTable, classes: &[f64]) -> Vec<f64> {
    let row = |(row, class): (usize, &f64)| predictions.predictive(row).log_density(&[*class]);
    classes.iter().enumerate().map(row).collect()
}

fn best_probabilities(table: &Table) -> Vec<f64> {
    let points = numbers(table, "x1").iter().zip(numbers(table, "x2"));
    points.map(|(x1, x2)| probability(*x1, *x2)).collect()
}
