//! Show the whole way once: a table, fits, diagnostics, a comparison, predictions, a report.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use posteria::data::recipes::outliers::{Noise, TRAINING_ROWS, draw, mean};
use posteria::data::{Missing, Table};
use posteria::model::spec::{ModelKind, ResidualFamily, ResidualSpec, SamplingSpec, Spec};
use posteria::predict::PredictiveTable;
use posteria::random::Purpose;

use super::super::{Context, assess, compare, fit, report, summary};
use super::folder::{FOLDER, PAGE, make_room};
use super::study::{numbers, outputs, table_of};
use super::{Demonstration, Quantity};
use crate::args::{Assess, Cli, Command, Compare, Demo, How};
use crate::failure::{Classify, Result};
use crate::fitted::{Fitted, fitted};
use crate::output::Output;
use crate::prepare::prepare;
use crate::sampling::open;

/// The table of the tour.
const TABLE: &str = "curve.csv";
/// Hidden units of the networks.
const HIDDEN: usize = 8;
/// Sweeps of warm-up, and draws, of every chain; next to none in a test.
const EFFORT: [usize; 2] = [600, 30];
/// Places at which the curves are compared with the truth.
const GRID: usize = 101;

/// The fits of the tour: a name, the kind of model, the residuals.
const FITS: [(&str, ModelKind, ResidualFamily); 4] = [
    ("network-normal", ModelKind::Mlp, ResidualFamily::Normal),
    ("network-t", ModelKind::Mlp, ResidualFamily::StudentT),
    ("process-normal", ModelKind::Gp, ResidualFamily::Normal),
    ("process-t", ModelKind::Gp, ResidualFamily::StudentT),
];

/// Runs the tour.
pub fn run(arguments: &Demo, context: &Context) -> Result<()> {
    let quick = arguments.quick;
    let folder = arguments.out.as_deref().unwrap_or(Path::new(FOLDER));
    let own = FITS.iter().map(|(name, ..)| *name).chain([TABLE, PAGE]);
    make_room(folder, &own.collect::<Vec<_>>())?;
    let say = |text: &str| context.output.message(text);
    let table = folder.join(TABLE);
    let mut stream = context.seed().stream(Purpose::Data, [0, 0]);
    let data = draw(TRAINING_ROWS, Noise::Contaminated, &mut stream);
    write(&data, &table)?;
    say(&format!(
        "1. {TRAINING_ROWS} made-up rows: y is a curve of x plus noise, and one row in twenty is an \
         outlier\n   {}\n",
        table.display()
    ));
    // Where stdout is for one JSON object, nothing else is printed there.
    let aside = Context { output: Output { quiet: true, ..context.output }, ..*context };
    let mut runs = Vec::new();
    for (number, (name, kind, residual)) in FITS.into_iter().enumerate() {
        let words = match residual {
            ResidualFamily::StudentT => " --residual student-t",
            _ => "",
        };
        let run = folder.join(name);
        say(&format!(
            "{}. posteria fit {} --target y --model {}{words} --out {}",
            number + 2,
            table.display(),
            kind.name(),
            run.display()
        ));
        let prepared = prepare(spec(kind, residual, quick, context), &table)?;
        let fitted = fit::run(&prepared, &run, &aside)?;
        if !context.output.json {
            fitted.print(context)?;
        }
        runs.push(run);
    }
    let best = &runs[3];
    say(&format!("\n6. posteria summary {}", best.display()));
    if !context.output.json {
        let draws = open(best)?.draws_of_variables().running()?;
        summary::show_posterior(&draws, &summary::About::default(), false, context)?;
    }
    let shown: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    say(&format!("\n7. posteria compare {} --utility elpd rmse", shown.join(" ")));
    let utility = vec!["elpd".to_string(), "rmse".to_string()];
    let how = How { utility: utility.clone(), ..How::default() };
    let compared = compare::find(&Compare { runs: runs.clone(), how, difference: None }, &aside)?;
    if !context.output.json {
        context.output.result(&compared, || compared.render())?;
    }
    for run in &runs {
        let how = How { utility: utility.clone(), ..How::default() };
        assess::find(run, &Assess { how, ..Assess::default() }, &aside)?;
    }
    say(&format!("\n8. posteria predict {} {}", best.display(), table.display()));
    if !context.output.json {
        predict(best, &table, context)?;
    }
    let page = folder.join(PAGE);
    say(&format!("\n9. posteria report {} -o {}", shown.join(" "), page.display()));
    let written = report::write_page(&runs, &page, context)?;
    if context.output.json {
        let results = results(&runs, &compared.p_better)?;
        let report = Some(written);
        let tour = Demonstration { name: "tour", results, report, ..Demonstration::default() };
        return context.output.result(&tour, String::new);
    }
    say(&format!(
        "\nOpen {} in a browser.\n\nNow your own table:\n  posteria fit YOUR.csv --target COLUMN \
         --model gp --out runs/mine\n  posteria report runs/mine -o mine.html\nMore: posteria demo \
         --list",
        page.display()
    ));
    Ok(())
}

fn spec(kind: ModelKind, family: ResidualFamily, quick: bool, context: &Context) -> Spec {
    let mut spec = Spec::default();
    spec.data.target = vec!["y".into()];
    spec.model.kind = kind;
    spec.model.hidden = (kind == ModelKind::Mlp).then_some(HIDDEN);
    spec.residual = Some(ResidualSpec { family: Some(family), ..ResidualSpec::default() });
    let effort = EFFORT[usize::from(quick)];
    let seed = context.seed().0;
    spec.sampling = SamplingSpec { warmup: effort, draws: effort, seed, ..spec.sampling };
    spec
}

/// Prints predictions of the first rows.
fn predict(run: &Path, table: &Path, context: &Context) -> Result<()> {
    let line = ["posteria".as_ref(), "predict".as_ref(), run.as_os_str(), table.as_os_str()];
    let Ok(Cli { command: Command::Predict(arguments), .. }) = Cli::try_parse_from(line) else {
        unreachable!("a command line that the tests run")
    };
    super::super::predict::run(&arguments, context)
}

/// How far every model is from the true curve, and how sure it is that t residuals are better.
fn results(runs: &[PathBuf], p_better: &[Vec<f64>]) -> Result<Vec<Quantity>> {
    let places: Vec<f64> = (0..GRID).map(|k| -2.0 + 4.0 * k as f64 / (GRID - 1) as f64).collect();
    let truth: Vec<f64> = places.iter().map(|x| mean(*x)).collect();
    let grid = table_of([("x", places)]);
    let mut results = Vec::new();
    for (path, (name, ..)) in runs.iter().zip(FITS) {
        let run = open(path)?;
        let spec = Spec::from_toml(run.spec()).running()?;
        let Fitted { encoder, posterior, .. } = fitted((path, &run), &spec, None)?;
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
            here: p_better[pair[0]][pair[1]],
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
