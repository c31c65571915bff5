//! Show the whole way once: a table, a fit, its summary, its diagnostics, a report.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use posteria::diagnose::{SummaryOptions, summarize};
use posteria::model::spec::Spec;
use posteria::random::{Purpose, Seed};

use super::super::{Context, fit, report, summary};
use super::{Demonstration, Quantity};
use crate::failure::{Classify, Failure, Result};
use crate::prepare::prepare;
use crate::sampling::open;

/// Where the tour works.
const FOLDER: &str = "posteria-demo";
/// The file that marks the folder as the tour's own.
const MARK: &str = "made-by-posteria-demo";
const MARK_TEXT: &str = "posteria demo made this folder and replaces it when it runs again.\n";

const ROWS: usize = 200;
/// The truth behind the table: intercept, slopes of temperature, sugar and age, noise.
const INTERCEPT: f64 = 12.0;
const SLOPES: [(&str, f64, f64, f64); 3] =
    // name, mean, standard deviation, slope
    [("temperature", 21.0, 4.0, 0.8), ("sugar", 110.0, 15.0, -0.15), ("age", 30.0, 9.0, 0.0)];
const NOISE: f64 = 2.0;

/// Runs the tour.
pub fn run(context: &Context) -> Result<()> {
    let folder = Path::new(FOLDER);
    make_room(folder)?;
    let table = folder.join("fermentation.csv");
    fs::write(&table, data(context.seed())).running()?;
    let say = |text: &str| context.output.message(text);
    say(&format!(
        "1. {} rows of made-up data: activity = {INTERCEPT} + 0.8 temperature - 0.15 sugar + \
         0 age + noise of deviation {NOISE}\n   {}\n",
        ROWS,
        table.display()
    ));
    say(&format!("2. posteria fit {} --target activity --out {FOLDER}/run", table.display()));
    let mut spec = Spec::default();
    spec.data.target = vec!["activity".into()];
    spec.sampling.seed = context.seed().0;
    let prepared = prepare(spec, &table)?;
    let run_folder = folder.join("run");
    let fitted = fit::run(&prepared, &run_folder, context)?;
    let draws = open(&run_folder)?.draws_of_variables().running()?;
    let found = summarize(&draws, &SummaryOptions::default());
    let truths = SLOPES
        .iter()
        .map(|(name, _, _, slope)| (format!("weights[{name}]"), *slope))
        .chain([("intercept".to_string(), INTERCEPT), ("residual_scale".to_string(), NOISE)]);
    let results = truths
        .filter_map(|(name, truth)| {
            let variable = found.variables.iter().find(|variable| variable.name == name)?;
            Some(Quantity {
                quantity: name,
                published: Some(truth),
                here: variable.mean,
                sd: Some(variable.sd),
            })
        })
        .collect();
    let page = folder.join("report.html");
    let write = || report::write_page(std::slice::from_ref(&run_folder), &page, context);
    if context.output.json {
        let demonstration = Demonstration {
            name: "tour",
            results,
            report: Some(write()?),
            table: None,
            words: String::new(),
            doubts: 0,
        };
        return context.output.result(&demonstration, String::new);
    }
    fitted.print(context)?;
    say(&format!("\n3. posteria summary {FOLDER}/run"));
    summary::show_posterior(&draws, &summary::About::default(), false, context)?;
    say(&format!("\n4. posteria diagnose {FOLDER}/run"));
    summary::show_convergence(&draws, false, context)?;
    say(&format!("\n5. posteria report {FOLDER}/run --out {}", page.display()));
    write()?;
    say("\nNow your own table:\n  posteria fit YOUR.csv --target COLUMN --out runs/mine\n  \
         posteria report runs/mine --out mine.html\nMore: posteria demo --list");
    Ok(())
}

/// Makes an empty folder; one that is there must be a former tour's.
fn make_room(folder: &Path) -> Result<()> {
    if folder.exists() {
        let ours = fs::read_to_string(folder.join(MARK)).is_ok_and(|text| text == MARK_TEXT);
        if !ours {
            return Err(Failure::bad_input(format!(
                "there is a {FOLDER} here that the demo did not make; go to another folder, or \
                 rename it"
            )));
        }
        fs::remove_dir_all(folder).running()?;
    }
    fs::create_dir(folder).bad_input()?;
    fs::write(folder.join(MARK), MARK_TEXT).running()
}

fn data(seed: Seed) -> String {
    let mut stream = seed.stream(Purpose::Data, [0, 0]);
    let mut text = String::from("temperature,sugar,age,activity\n");
    for _ in 0..ROWS {
        let mut activity = INTERCEPT + NOISE * stream.normal();
        for (_, mean, sd, slope) in SLOPES {
            let value = ((mean + sd * stream.normal()) * 10.0).round() / 10.0;
            activity += slope * value;
            let _ = write!(text, "{value},");
        }
        let _ = writeln!(text, "{activity:.3}");
    }
    text
}
