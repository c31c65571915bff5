//! Show the whole way once: a table, fits, diagnostics, a comparison, predictions, a report.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use posteria::data::recipes::outliers::{Noise, TRAINING_ROWS, draw, mean};
use posteria::data::{Missing, Table};
use posteria::fit::Prepared;
use posteria::model::spec::Spec;
use posteria::predict::PredictiveTable;
use posteria::random::Purpose;

use super::super::{Context, compare, dispatch};
use super::folder::{FOLDER, PAGE, make_room};
use super::study::{numbers, outputs, table_of};
use super::{Demonstration, Quantity};
use crate::args::{Cli, Command, Demo};
use crate::failure::{Classify, Result};
use crate::fitted::fitted;
use crate::output::Output;
use crate::sampling::open;

/// The table of the tour.
const TABLE: &str = "curve.csv";
/// Places at which the curves are compared with the truth.
const GRID: usize = 101;

/// The network of the tour, in a file: its functions vary about as much as the targets do, over
/// distances of the order of the spread of x.
const NETWORK: (&str, &str) = (
    "network.toml",
    "[model]\nkind = \"mlp\"\nhidden = 8\n\n[prior.input_weights]\nfixed = 3.0\n\n\
     [prior.hidden_bias]\nfixed = 2.0\n\n[prior.output_weights]\nfixed = 0.7\n\n\
     [sampling]\nchains = 4\nwarmup = 500\n",
);

/// The fits of the tour: a name, whether of the network in the file, further options.
const FITS: [(&str, bool, &[&str]); 4] = [
    ("network-normal", true, &["--draws", "500"]),
    ("network-t", true, &["--residual", "student-t", "--draws", "700"]),
    ("process-normal", false, &["--model", "gp"]),
    ("process-t", false, &["--model", "gp", "--residual", "student-t", "--draws", "1400"]),
];

/// Next to no draws, for a test.
const QUICK: [&str; 6] = ["--chains", "2", "--warmup", "30", "--draws", "30"];

/// Runs the tour: every command that it prints, as it prints it.
pub fn run(arguments: &Demo, context: &Context) -> Result<()> {
    let folder = arguments.out.as_deref().unwrap_or(Path::new(FOLDER));
    let own = FITS.iter().map(|(name, ..)| *name);
    make_room(folder, &own.chain([NETWORK.0, TABLE, PAGE]).collect::<Vec<_>>())?;
    let table = folder.join(TABLE);
    let mut stream = context.seed().stream(Purpose::Data, [0, 0]);
    write(&draw(TRAINING_ROWS, Noise::Contaminated, &mut stream), &table)?;
    let network = folder.join(NETWORK.0);
    fs::write(&network, NETWORK.1).running()?;
    context.output.message(&format!(
        "{TRAINING_ROWS} made-up rows: y is a curve of x plus noise, and one row in twenty is an \
         outlier\n{}",
        table.display()
    ));
    // Where stdout is for one JSON object, nothing else is printed there.
    let is_json = context.output.json;
    let output = Output { json: false, quiet: is_json || context.output.quiet, mute: is_json };
    let aside = Context { output, ..context.clone() };
    let tour = Tour { context: &aside, said: context.output };
    let mut runs = Vec::new();
    for (name, is_network, options) in FITS {
        let run = folder.join(name);
        let [data, spec, out] = [&table, &network, &run].map(|path| shown(path));
        let mut words = vec!["fit", &data, "--target", "y"];
        words.extend(is_network.then_some(["--spec", spec.as_str()]).into_iter().flatten());
        let quick = options.iter().take_while(|word| **word != "--draws");
        match arguments.quick {
            true => words.extend(quick.chain(&QUICK)),
            false => words.extend(options),
        }
        words.extend(["--out", &out]);
        tour.step(&words)?;
        runs.push(run);
    }
    let names: Vec<String> = runs.iter().map(|run| shown(run)).collect();
    let all = || names.iter().map(String::as_str);
    let (best, utilities) = (names[3].as_str(), ["--utility", "elpd", "rmse"]);
    tour.step(&["summary", best])?;
    tour.step(&["assess", best].into_iter().chain(utilities).collect::<Vec<_>>())?;
    let compare: Vec<&str> = ["compare"].into_iter().chain(all()).chain(utilities).collect();
    let compared = tour.step(&compare)?;
    tour.step(&["predict", best, &shown(&table)])?;
    let page = folder.join(PAGE);
    let (command, out) = (["report"], ["--out", &shown(&page)]);
    tour.step(&command.into_iter().chain(all()).chain(out).collect::<Vec<_>>())?;
    if is_json {
        let results = results(&runs, &compared.map(|it| it.0.p_better).unwrap_or_default())?;
        let report = Some(page.display().to_string());
        let tour = Demonstration { name: "tour", results, report, ..Demonstration::default() };
        return context.result(&tour, String::new);
    }
    context.output.message(&format!(
        "\nOpen {} in a browser.\n\nNow your own table:\n  posteria fit YOUR.csv --target COLUMN \
         --model gp --out runs/mine\n  posteria report runs/mine --out mine.html\nMore: posteria \
         demo --list",
        page.display()
    ));
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Who runs the steps of a tour.
struct Tour<'a> {
    context: &'a Context,
    said: Output,
}

impl Tour<'_> {
    /// Prints a command and runs it; what it found if it compares.
    fn step(&self, words: &[&str]) -> Result<Option<compare::Report>> {
        let seed = self.context.seed.map(|seed| format!("--seed={seed}"));
        let typed: Vec<&str> =
            ["posteria"].iter().chain(words).copied().chain(seed.as_deref()).collect();
        let quoted = typed.iter().map(|word| match word.contains(' ') {
            true => format!("'{word}'"),
            false => word.to_string(),
        });
        self.said.message(&format!("\n$ {}", quoted.collect::<Vec<_>>().join(" ")));
        let parsed = Cli::try_parse_from(typed).running()?;
        match &parsed.command {
            Command::Compare(arguments) => {
                let found = compare::find(arguments, self.context)?;
                found.warn(self.context);
                self.context.result(&found, || found.render())?;
                Ok(Some(found))
            }
            other => dispatch(other, self.context).map(|()| None),
        }
    }
}

/// How far every model is from the true curve, and how sure it is that t residuals are better.
fn results(runs: &[PathBuf], p_better: &[Vec<Option<f64>>]) -> Result<Vec<Quantity>> {
    let places: Vec<f64> = (0..GRID).map(|k| -2.0 + 4.0 * k as f64 / (GRID - 1) as f64).collect();
    let truth: Vec<f64> = places.iter().map(|x| mean(*x)).collect();
    let grid = table_of([("x", places)]);
    let mut results = Vec::new();
    for (path, (name, ..)) in runs.iter().zip(FITS) {
        let run = open(path)?;
        let spec = Spec::from_toml(run.spec()).running()?;
        let Prepared { encoder, posterior, .. } = fitted((path, &run), &spec, None)?;
        let rows = encoder.encode(&grid, Missing::Error).running()?;
        let draws = run.draws_of_variables().running()?;
        let mut predictor = posterior.predictor().expect("these models predict");
        let all = 0..draws.chains * draws.draws;
        let predictions = PredictiveTable::new(&mut *predictor, &draws, all, &rows.inputs);
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

/// Writes the table as text.
fn write(table: &Table, path: &Path) -> Result<()> {
    let mut text = String::from("x,y\n");
    for (x, y) in numbers(table, "x").iter().zip(numbers(table, "y")) {
        text.push_str(&format!("{x:.4},{y:.4}\n"));
    }
    fs::write(path, text).running()
}
