//! The whole way once: a table, fits, diagnostics, a comparison, predictions, a report. Here is what the
//! tour does; the command line runs its commands as they are typed.

use std::path::PathBuf;

use posteria::data::recipes::outliers::{Noise, TRAINING_ROWS, draw, mean};
use posteria::model::spec::Spec;
use posteria::random::{Purpose, Seed};
use posteria_store::Run;

use super::study::{numbers, outputs, predictions, table_of};
use super::{Quantity, Result};

/// The name of the table of the tour.
pub const TABLE: &str = "curve.csv";
/// Rows of the table.
pub const ROWS: usize = TRAINING_ROWS;
/// Places at which the curves are compared with the truth.
const GRID: usize = 101;

/// The network of the tour, the name and the text of its file: its functions vary about as much as the
/// targets do, over distances of the order of the spread of x.
pub const NETWORK: (&str, &str) = (
    "network.toml",
    "[model]\nkind = \"mlp\"\nhidden = 8\n\n[prior.input_weights]\nfixed = 3.0\n\n\
     [prior.hidden_bias]\nfixed = 2.0\n\n[prior.output_weights]\nfixed = 0.7\n\n\
     [sampling]\nchains = 4\nwarmup = 500\n",
);

/// The fits of the tour: a name, whether of the network in the file, further options.
pub const FITS: [(&str, bool, &[&str]); 4] = [
    ("network-normal", true, &["--draws", "500"]),
    ("network-t", true, &["--residual", "student-t", "--draws", "700"]),
    ("process-normal", false, &["--model", "gp"]),
    ("process-t", false, &["--model", "gp", "--residual", "student-t", "--draws", "1400"]),
];

/// Next to no draws, for a test.
const QUICK: [&str; 6] = ["--chains", "2", "--warmup", "30", "--draws", "30"];

/// The text of the table.
pub fn table(seed: Seed) -> String {
    let mut stream = seed.stream(Purpose::Data, [0, 0]);
    let table = draw(TRAINING_ROWS, Noise::Contaminated, &mut stream);
    let mut text = String::from("x,y\n");
    for (x, y) in numbers(&table, "x").iter().zip(numbers(&table, "y")) {
        text.push_str(&format!("{x:.4},{y:.4}\n"));
    }
    text
}

/// The commands of the tour in order, for a table, the file of the network, the folders of the fits
/// and a page at these paths.
pub fn commands(
    [table, network, page]: [&str; 3],
    runs: &[String; FITS.len()],
    quick: bool,
) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for ((_, is_network, options), run) in FITS.iter().zip(runs) {
        let mut words = vec!["fit", table, "--target", "y"];
        words.extend(is_network.then_some(["--spec", network]).into_iter().flatten());
        match quick {
            true => {
                words.extend(options.iter().take_while(|word| **word != "--draws").chain(&QUICK))
            }
            false => words.extend(*options),
        }
        words.extend(["--out", run]);
        commands.push(words);
    }
    let all = || runs.iter().map(String::as_str);
    let (best, utilities) = (runs[FITS.len() - 1].as_str(), ["--utility", "elpd", "rmse"]);
    commands.push(vec!["summary", best]);
    commands.push(["assess", best].into_iter().chain(utilities).collect());
    commands.push(["compare"].into_iter().chain(all()).chain(utilities).collect());
    commands.push(vec!["predict", best, table]);
    commands.push(["report"].into_iter().chain(all()).chain(["--out", page]).collect());
    let typed = |words: Vec<&str>| words.into_iter().map(str::to_string).collect();
    commands.into_iter().map(typed).collect()
}

/// How far every model is from the true curve, and how sure it is that t residuals are better:
/// `p_better` of one run (row) than another (column), in the order of [`FITS`].
///
/// # Errors
/// If a run cannot be read.
pub fn results(runs: &[PathBuf], p_better: &[Vec<Option<f64>>]) -> Result<Vec<Quantity>> {
    let places: Vec<f64> = (0..GRID).map(|k| -2.0 + 4.0 * k as f64 / (GRID - 1) as f64).collect();
    let truth: Vec<f64> = places.iter().map(|x| mean(*x)).collect();
    let grid = table_of([("x", places)]);
    let mut results = Vec::new();
    for (path, (name, ..)) in runs.iter().zip(FITS) {
        let run = Run::open(path)?;
        let prepared = run.prepared(Spec::from_toml(run.spec())?)?;
        let predictions = predictions(&prepared, &run.draws_of_variables()?, &grid)?;
        let squares = outputs(&predictions, 0).into_iter().zip(&truth);
        let squares: f64 = squares.map(|(found, truth)| (found - truth).powi(2)).sum();
        results.push(Quantity {
            quantity: format!("{name}: RMSE to the true curve"),
            published: None,
            here: (squares / GRID as f64).sqrt(),
            sd: None,
        });
    }
    for (name, pair) in [("network", [1, 0]), ("process", [3, 2])] {
        results.push(Quantity {
            quantity: format!("{name}: P(t residuals predict better than normal ones)"),
            published: None,
            here: p_better.get(pair[0]).and_then(|row| row[pair[1]]).unwrap_or(f64::NAN),
            sd: None,
        });
    }
    Ok(results)
}
