//! Take a tour, or repeat a published demonstration beside its figures.

mod assess;
mod cost;
mod entries;
mod estimate;
mod evidence;
mod figures;
mod folder;
mod linear;
mod modes;
mod networks;
mod neuron;
mod page;
mod picture;
mod processes;
mod samplers;
mod selection;
mod study;
mod tour;
mod variational;

use posteria_report::figure::Figure;
use serde::Serialize;

use self::entries::ENTRIES;
use self::folder::FOLDER;
use std::path::Path;

use super::Context;
use crate::args::Demo;
use crate::failure::{Failure, Result};
use crate::output::{Table, heading};
use crate::text;
use crate::warning::Warning;

/// The demonstration that repeats a study on several tables.
const NOISE_SENSITIVITY: &str = "noise-sensitivity";

/// What a demonstration is run with.
struct Settings {
    context: Context,
    /// Tables of a repeated study, if their number was given.
    tables: Option<usize>,
    /// Next to no draws, for tests: everything runs, and no figure means anything.
    quick: bool,
}

/// What a demonstration found.
#[derive(Debug, Default, Serialize)]
struct Demonstration {
    name: &'static str,
    results: Vec<Quantity>,
    /// Path of the page about it, if there is one.
    report: Option<String>,
    /// What is shown in place of the list of results.
    #[serde(skip)]
    table: Option<String>,
    /// Pictures made of characters, for the terminal.
    #[serde(skip)]
    drawn: String,
    /// The same and others, for the page.
    #[serde(skip)]
    figures: Vec<Figure>,
    #[serde(skip)]
    words: String,
    /// Reasons not to trust the figures.
    #[serde(skip)]
    doubts: Vec<String>,
}

impl Demonstration {
    /// The same with pictures: of characters, and for the page.
    #[must_use]
    fn picturing(self, drawn: String, figures: Vec<Figure>) -> Self {
        Demonstration { drawn, figures, ..self }
    }

    /// The list of results.
    fn list(&self) -> String {
        let mut table = Table::new(&["quantity", "published", "here", "sd"]);
        for result in &self.results {
            let published =
                result.published.map_or("-".into(), |value| text::significant(value, 3));
            let (here, sd) = match result.sd {
                Some(sd) => {
                    let decimals = text::decimals_for(sd, 2);
                    (text::fixed(result.here, decimals), text::fixed(sd, decimals))
                }
                None => (text::fixed(result.here, 3), "-".into()),
            };
            table.row([result.quantity.clone(), published, here, sd]);
        }
        table.render()
    }
}

/// One published figure beside ours.
#[derive(Debug, Serialize)]
struct Quantity {
    quantity: String,
    published: Option<f64>,
    here: f64,
    /// How far the figure may be off, where that is known.
    sd: Option<f64>,
}

impl Quantity {
    /// The mean and standard deviation over repetitions of the same simulation.
    fn over_runs(quantity: impl Into<String>, published: Option<f64>, runs: &[f64]) -> Self {
        let (here, sd) = mean_and_sd(runs);
        Quantity { quantity: quantity.into(), published, here, sd: Some(sd) }
    }
}

/// The mean and standard deviation of some numbers.
fn mean_and_sd(runs: &[f64]) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Runs `posteria demo`.
pub fn run(arguments: &Demo, context: &Context) -> Result<()> {
    if arguments.list {
        return list(context);
    }
    let Some(name) = &arguments.name else {
        return tour::run(arguments, context);
    };
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        return Err(Failure::bad_input(format!(
            "there is no demonstration {name}; there are {}",
            names.join(", ")
        )));
    };
    if arguments.tables.is_some() && *name != NOISE_SENSITIVITY {
        return Err(Failure::bad_input(format!(
            "--tables is for the demonstration {NOISE_SENSITIVITY}; omit it"
        )));
    }
    let tables = arguments.tables.map(usize::from);
    let settings = Settings { context: context.clone(), tables, quick: arguments.quick };
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => {
            folder::make_room(Path::new(FOLDER), &[])?;
            Path::new(FOLDER).join(entry.name)
        }
    };
    folder::make_room(&folder, &[folder::PAGE])?;
    let mut demonstration = (entry.run)(&settings)?;
    demonstration.doubts.iter().for_each(|it| context.warn(Warning::new("demonstration", it)));
    demonstration.report = Some(page::write(entry, &demonstration, &folder, context)?);
    context.result(&demonstration, || {
        let Demonstration { table, drawn, words, .. } = &demonstration;
        let results = table.clone().unwrap_or_else(|| demonstration.list());
        let gap = if drawn.is_empty() { "" } else { "\n" };
        format!("{}{results}\n{drawn}{gap}{words}", heading(entry.title))
    })
}

fn list(context: &Context) -> Result<()> {
    #[derive(Serialize)]
    struct Item {
        name: &'static str,
        title: &'static str,
        source: &'static str,
    }
    #[derive(Serialize)]
    struct List {
        demos: Vec<Item>,
    }
    let item = |entry: &entries::Entry| Item {
        name: entry.name,
        title: entry.title,
        source: entry.source,
    };
    let list = List { demos: ENTRIES.iter().map(item).collect() };
    context.result(&list, || {
        let widest = list.demos.iter().map(|item| item.name.len()).max().unwrap_or(0);
        let line =
            |Item { name, title, source }: &Item| format!("{name:<widest$}  {title} [{source}]\n");
        list.demos.iter().map(line).collect()
    })
}
