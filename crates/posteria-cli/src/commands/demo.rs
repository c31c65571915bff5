//! Take a tour, or repeat a published demonstration beside its figures.

mod assess;
mod cost;
mod estimate;
mod evidence;
mod linear;
mod modes;
mod networks;
mod neuron;
mod picture;
mod processes;
mod samplers;
mod selection;
mod study;
mod tour;
mod variational;

use serde::Serialize;

use self::networks::{noise_sensitivity, outliers, relevance, surface, three_class, two_class};
use super::Context;
use crate::args::Demo;
use crate::failure::{Failure, Result};
use crate::output::{Table, heading};
use crate::text;

/// A demonstration by name.
struct Entry {
    name: &'static str,
    title: &'static str,
    run: fn(&Settings) -> Result<Demonstration>,
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "samplers",
        title: "what an independent draw costs: Gibbs, Metropolis, Langevin, hybrid Monte Carlo",
        run: |settings| Ok(samplers::run(settings.context.seed(), settings.context.threads)),
    },
    Entry {
        name: "neuron",
        title: "a single neuron by the Langevin method and by Hamiltonian Monte Carlo",
        run: |settings| Ok(neuron::run(settings.context.seed(), settings.context.threads)),
    },
    Entry {
        name: "surface-mlp",
        title: "a network learns a surface of two inputs",
        run: surface::run,
    },
    Entry {
        name: "two-class-mlp",
        title: "a network tells two overlapping classes apart, nearly as well as can be",
        run: two_class::run,
    },
    Entry {
        name: "three-class-mlp",
        title: "a network tells three classes apart and finds two inputs irrelevant",
        run: three_class::run,
    },
    Entry {
        name: "outliers-mlp",
        title: "Student-t residuals keep outliers from bending the curve",
        run: outliers::run,
    },
    Entry {
        name: NOISE_SENSITIVITY,
        title: "what a wrong residual model costs, beside a committee of early-stopped networks",
        run: noise_sensitivity::run,
    },
    Entry {
        name: "relevance",
        title: "the relevance of an input is its nonlinearity, not its importance",
        run: relevance::run,
    },
    Entry {
        name: "surface-gp",
        title: "a Gaussian process learns the surface of two inputs",
        run: processes::surface::run,
    },
    Entry {
        name: "two-class-gp",
        title: "a Gaussian process tells two overlapping classes apart, nearly as well as can be",
        run: processes::two_class::run,
    },
    Entry {
        name: "outliers-gp",
        title: "Student-t residuals of a Gaussian process keep outliers from bending the curve",
        run: processes::outliers::run,
    },
    Entry {
        name: "input-selection-mlp",
        title: "reversible jumps find which of four inputs a network needs",
        run: selection::network,
    },
    Entry {
        name: "input-selection-gp",
        title: "reversible jumps find which of four inputs a Gaussian process needs",
        run: selection::process,
    },
    Entry {
        name: "input-selection-concrete-like",
        title: "which of 27 inputs that are much alike suffice to predict as well as all",
        run: selection::concrete::run,
    },
    Entry {
        name: "robot-arm",
        title: "a network and a Gaussian process learn where the hand of a robot arm is",
        run: processes::robot_arm::run,
    },
    Entry {
        name: "robot-arm-assess",
        title: "how well they know it: leave-one-out and ten folds beside the truth",
        run: assess::robot_arm::run,
    },
    Entry {
        name: "residual-models",
        title: "four residual models compared in pairs, by three utilities",
        run: assess::residual_models::run,
    },
    Entry {
        name: "grouped-data",
        title: "rows that come in groups must be left out in groups",
        run: assess::grouped_data::run,
    },
    Entry {
        name: "lindley",
        title: "a vague prior turns the Bayes factor around, and cross-validation not",
        run: assess::lindley::run,
    },
    Entry {
        name: "line",
        title: "the posterior of a line after 0, 1, 2 and 20 points",
        run: linear::line::run,
    },
    Entry {
        name: "linear-inputs",
        title: "how many inputs matter: maximum likelihood, a penalty, and the exact evidence",
        run: linear::inputs::run,
    },
    Entry {
        name: "evidence-sinusoid",
        title: "the evidence finds how smooth a curve of basis functions should be",
        run: modes::evidence_sinusoid::run,
    },
    Entry {
        name: "neuron-laplace",
        title: "a normal distribution at the mode in place of the posterior of a neuron",
        run: modes::neuron_laplace::run,
    },
    Entry {
        name: "tempered",
        title: "between the prior and maximum likelihood: a power of the likelihood",
        run: modes::tempered::run,
    },
    Entry {
        name: "normalizing-constant",
        title: "the constant of a normal distribution by importance sampling, from near and far",
        run: evidence::constant::run,
    },
    Entry {
        name: "evidence-linear",
        title: "the evidence of nine linear models by path sampling, beside the exact values",
        run: evidence::inputs::run,
    },
    Entry {
        name: "evidence-robot-arm",
        title: "the evidence of networks with 1 to 19 hidden units (hours)",
        run: evidence::robot_arm::run,
    },
    Entry {
        name: "hysteresis",
        title: "chains that lag behind the temperature, and ladders that do not",
        run: evidence::hysteresis::run,
    },
    Entry {
        name: "mixture-faithful",
        title: "a mixture of six components finds the two kinds of eruptions of Old Faithful",
        run: variational::faithful::run,
    },
    Entry {
        name: "pca",
        title: "Bayesian principal components find how many there are",
        run: variational::principal::run,
    },
    Entry {
        name: "divergences",
        title: "what different divergences take for the best normal approximation",
        run: variational::divergences::run,
    },
];

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
#[derive(Debug, Serialize)]
struct Demonstration {
    name: &'static str,
    results: Vec<Quantity>,
    /// Path of the page about it, if there is one.
    report: Option<String>,
    /// What is shown in place of the list of results.
    #[serde(skip)]
    table: Option<String>,
    #[serde(skip)]
    words: String,
    /// Reasons not to trust the figures.
    #[serde(skip)]
    doubts: usize,
}

impl Demonstration {
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
    let Some(name) = &arguments.name else { return tour::run(arguments.quick, context) };
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
    let settings = Settings { context: *context, tables, quick: arguments.quick };
    let demonstration = (entry.run)(&settings)?;
    context.output.result(&demonstration, || {
        let results = demonstration.table.clone().unwrap_or_else(|| demonstration.list());
        format!("{}{results}\n{}", heading(entry.title), demonstration.words)
    })?;
    context.judge(demonstration.doubts)
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
            text.push_str(&format!("{:<20} {}\n", item.name, item.title));
        }
        text
    })
}
