//! Fit the surface of Paciorek and Schervish [MCMCstuff §3.3.1].

use posteria::data::recipes::surface::{NOISE_SD, TRAINING_ROWS, draw, mean};
use posteria::data::{Table, Task};
use posteria::model::spec::{ResidualFamily, WidthRule};
use posteria::random::Purpose;
use posteria_report::figure::Palette;

use super::super::figures::Map;
use super::estimate::Estimate;
use super::picture::{Grid, beside};
use super::{Demonstration, Design, Fitted, Quantity, Settings, numbers, squared_differences};
use crate::Result;

/// Inputs fill the square from -√3 to √3.
const EDGE: (f64, f64) = (-1.732, 1.732);
/// Where the fitted surface is compared with the true one.
const COMPARED: Grid = Grid { x: EDGE, y: EDGE, columns: 40, rows: 40 };
const DRAWN: Grid = Grid { x: EDGE, y: EDGE, columns: 44, rows: 20 };
const NEW_ROWS: usize = 1000;

const DESIGN: Design = Design {
    target: "y",
    task: Task::Regression,
    hidden: 10,
    residual: ResidualFamily::Normal,
    width: WidthRule::Mcmcstuff,
};

const WORDS: &str = "\
A 2-10-1 network with normal residuals on 225 new rows of the recipe. sd is the standard error over
points or rows; of the residual its posterior standard deviation. The manual of MCMCstuff draws the
fitted surface and prints no error; 0.24 is the ten-fold cross-validation error of a Gaussian process
on the published table (GPstuff), and 0.25 the noise it was made with. No model can be closer to new
rows than the noise on average.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (training, new) = tables(settings);
    let fitted = DESIGN.fit(&training, &settings.plan(400, 1), settings)?;
    report("surface-mlp", WORDS, &fitted, (&training, &new), settings)
}

/// Training rows and new rows.
pub fn tables(settings: &Settings) -> (Table, Table) {
    let mut stream = settings.seed.stream(Purpose::Data, [20, 0]);
    let training = draw(settings.rows(TRAINING_ROWS), &mut stream);
    (training, draw(settings.rows(NEW_ROWS), &mut stream))
}

/// Compares a fit with the truth, and draws both.
pub fn report(
    name: &'static str,
    words: &str,
    fitted: &Fitted,
    (training, new): (&Table, &Table),
    settings: &Settings,
) -> Result<Demonstration> {
    let truth = |grid: &Grid| -> Vec<f64> {
        grid.points().iter().map(|point| mean(point[0], point[1])).collect()
    };
    let surface = fitted.outputs(&COMPARED.table(["x1", "x2"]))?;
    let from_truth = squared_differences(&surface, &truth(&COMPARED));
    let targets = numbers(new, "y");
    let from_rows = squared_differences(&fitted.outputs(new)?, targets);
    let predictions = fitted.predict(new)?;
    let covered = targets.iter().enumerate().map(|(row, y)| {
        // Inside the central 90 %.
        (0.05..=0.95).contains(&predictions.predictive(row).cdf(0, *y))
    });
    let rows = new.rows();
    let results = vec![
        Quantity::of(
            format!("RMSE to the true surface, {} points", from_truth.len()),
            None,
            Estimate::of_root_mean(&from_truth),
        ),
        Quantity::of(
            format!("RMSE of {rows} new rows (published: Gaussian process)"),
            Some(0.24),
            Estimate::of_root_mean(&from_rows),
        ),
        Quantity::of(
            "residual standard deviation",
            Some(NOISE_SD),
            Estimate::of_draws(&fitted.values("residual_scale", 0)),
        ),
        Quantity::of(
            format!("share of {rows} new rows in their 90 % intervals"),
            None,
            Estimate::of_share(covered),
        ),
    ];
    let shown = fitted.outputs(&DRAWN.table(["x1", "x2"]))?;
    let true_shown = truth(&DRAWN);
    let ends = |fold: fn(f64, f64) -> f64| true_shown.iter().copied().fold(f64::NAN, fold);
    let range = (ends(f64::min), ends(f64::max));
    let picture = beside(
        ["true surface, x1 to the right, x2 upwards", "posterior mean"],
        &DRAWN.shade(&true_shown, range),
        &DRAWN.shade(&shown, range),
    );
    let map = |title, caption, values, points| Map {
        title,
        caption,
        inputs: ["x1", "x2"],
        output: "y",
        values,
        range,
        palette: Palette::Sequential,
        points,
    };
    let truth_map =
        map("The true surface", "What the rows were made with.", &true_shown, Vec::new());
    let rows = ["x1", "x2"].map(|name| numbers(training, name).to_vec());
    let [x, y] = rows;
    let found_map = map(
        "The posterior mean: as the true surface where there are rows",
        "The same colours. Points: the rows that were learned from.",
        &shown,
        vec![("rows", x, y)],
    );
    let figures = vec![truth_map.figure(&DRAWN), found_map.figure(&DRAWN)];
    Ok(settings.conclude(name, results, words.into(), fitted.r_hat()).picturing(picture, figures))
}
