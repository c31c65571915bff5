//! Take a tour, or repeat a published demonstration beside its figures.

mod cost;
mod neuron;
mod samplers;
mod tour;

use std::num::NonZero;

use posteria::random::Seed;
use serde::Serialize;

use super::Context;
use crate::args::Demo;
use crate::failure::{Failure, Result};
use crate::output::{Table, heading};
use crate::text;

/// A demonstration by name.
struct Entry {
    name: &'static str,
    title: &'static str,
    run: fn(Seed, NonZero<usize>) -> Demonstration,
}

const ENTRIES: [Entry; 2] = [
    Entry {
        name: "samplers",
        title: "what an independent draw costs: Gibbs, Metropolis, Langevin, hybrid Monte Carlo",
        run: samplers::run,
    },
    Entry {
        name: "neuron",
        title: "a single neuron by the Langevin method and by Hamiltonian Monte Carlo",
        run: neuron::run,
    },
];

/// What a demonstration found.
#[derive(Debug, Serialize)]
struct Demonstration {
    name: &'static str,
    results: Vec<Quantity>,
    /// Path of a report; there is none yet.
    report: Option<String>,
    #[serde(skip)]
    words: String,
}

/// One published figure beside ours.
#[derive(Debug, Serialize)]
struct Quantity {
    quantity: String,
    published: Option<f64>,
    here: f64,
    sd: f64,
}

impl Quantity {
    /// The mean and standard deviation over repetitions of the same simulation.
    fn over_runs(quantity: impl Into<String>, published: Option<f64>, runs: &[f64]) -> Self {
        let count = runs.len() as f64;
        let mean = runs.iter().sum::<f64>() / count;
        let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
        Quantity {
            quantity: quantity.into(),
            published,
            here: mean,
            sd: (squares / (count - 1.0)).sqrt(),
        }
    }
}

/// Runs `posteria demo`.
pub fn run(arguments: &Demo, context: &Context) -> Result<()> {
    if arguments.list {
        return list(context);
    }
    let Some(name) = &arguments.name else { return tour::run(context) };
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        return Err(Failure::bad_input(format!(
            "there is no demonstration {name}; there are {}",
            names.join(", ")
        )));
    };
    let demonstration = (entry.run)(context.seed(), context.threads);
    context.output.result(&demonstration, || {
        let mut table = Table::new(&["quantity", "published", "here", "sd"]);
        for result in &demonstration.results {
            let published =
                result.published.map_or("-".into(), |value| text::significant(value, 3));
            let decimals = text::decimals_for(result.sd, 2);
            table.row([
                result.quantity.clone(),
                published,
                text::fixed(result.here, decimals),
                text::fixed(result.sd, decimals),
            ]);
        }
        format!("{}{}\n{}", heading(entry.title), table.render(), demonstration.words)
    })
}

fn list(context: &Context) -> Result<()> {
    #[derive(Serialize)]
    struct Item {
        name: &'static str,
        title: &'static str,
    }
    #[derive(Serialize)]
    struct List {
        demos: Vec<Item>,
    }
    let demos = ENTRIES.iter().map(|entry| Item { name: entry.name, title: entry.title });
    let list = List { demos: demos.collect() };
    context.output.result(&list, || {
        let mut text = String::new();
        for item in &list.demos {
            text.push_str(&format!("{:<10} {}\n", item.name, item.title));
        }
        text
    })
}
