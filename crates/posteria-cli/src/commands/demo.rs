//! Take a tour, or repeat a published demonstration beside its figures.

mod folder;
mod tour;

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use posteria::fit::LegWatch;
use posteria_demos::{
    Console, Demonstration, ENTRIES, Entry, NOISE_SENSITIVITY, Settings, Shown, page,
};
use serde::Serialize;

use self::folder::FOLDER;
use super::report;
use crate::args::Demo;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{Output, Table, heading};
use crate::sampling::LegProgress;
use crate::text;
use crate::warning::Warning;

/// Runs `posteria demo`; the tour runs other commands by `dispatch`.
pub fn run(arguments: &Demo, context: &Context, dispatch: tour::Dispatch) -> Result<()> {
    if arguments.list {
        return list(context);
    }
    let Some(name) = &arguments.name else {
        return tour::run(arguments, context, dispatch);
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
    if arguments.full {
        let Some(full) = entry.full else {
            let full = ENTRIES.iter().filter(|entry| entry.full.is_some());
            let names: Vec<&str> = full.map(|entry| entry.name).collect();
            return Err(Failure::bad_input(format!(
                "{name} has one size; --full is for {}",
                names.join(", ")
            )));
        };
        context.output.message(&format!("the full study: {full}"));
    }
    let settings = Settings {
        seed: context.seed(),
        threads: context.threads,
        console: Arc::new(context.output),
        tables: arguments.tables.map(usize::from),
        full: arguments.full,
        quick: arguments.quick,
    };
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => {
            folder::make_room(Path::new(FOLDER), &[])?;
            Path::new(FOLDER).join(entry.name)
        }
    };
    folder::make_room(&folder, &[folder::PAGE])?;
    let mut found = (entry.run)(&settings).map_err(failed)?;
    found.doubts.iter().for_each(|it| context.warn(Warning::new("demonstration", it)));
    let path = folder.join(folder::PAGE);
    found.report = Some(report::write_report(&page(entry, &found), &path, context)?);
    context.result(&found, || {
        let results = match &found.shown[..] {
            [] => render(&Shown::Results, &found),
            parts => parts.iter().map(|part| render(part, &found)).collect(),
        };
        let drawn = found.drawn.as_ref().map_or(String::new(), |it| render(it, &found) + "\n");
        format!("{}{results}\n{drawn}{}", heading(entry.title), found.words)
    })
}

/// A demonstration has nothing of the user's: what fails is the work.
fn failed(error: posteria_demos::Error) -> Failure {
    Failure::Running(anyhow!(error))
}

impl Console for Output {
    fn message(&self, text: &str) {
        Output::message(self, text);
    }

    fn chains(&self) -> Box<dyn LegWatch + '_> {
        Box::new(LegProgress { output: *self, followed_by: 0, seen: None })
    }
}

fn render(shown: &Shown, found: &Demonstration) -> String {
    match shown {
        Shown::Lines(lines) => lines.clone(),
        Shown::Listing(listing) => {
            let header: Vec<&str> = listing.header.iter().map(String::as_str).collect();
            let mut table = Table::new(&header);
            listing.rows.iter().for_each(|row| table.row(row.iter().cloned()));
            table.render()
        }
        Shown::Results => results(found),
    }
}

/// The list of all quantities.
fn results(found: &Demonstration) -> String {
    let mut table = Table::new(&["quantity", "published", "here", "sd"]);
    for result in &found.results {
        let published = result.published.map_or("-".into(), |value| text::significant(value, 3));
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
    let item = |entry: &Entry| Item { name: entry.name, title: entry.title, source: entry.source };
    let list = List { demos: ENTRIES.iter().map(item).collect() };
    context.result(&list, || {
        let widest = list.demos.iter().map(|item| item.name.len()).max().unwrap_or(0);
        let line =
            |Item { name, title, source }: &Item| format!("{name:<widest$}  {title} [{source}]\n");
        list.demos.iter().map(line).collect()
    })
}
