//! Show the posterior, and judge convergence.

pub mod sections;
mod shape;
mod tables;

use posteria::diagnose::{
    Summary, SummaryOptions, VariableSummary, divergences, energy_fractions, summarize,
};
use posteria::draws::{Draws, Statistics};
use posteria::model::spec::{InferenceChoice, ModelKind, Spec};
use posteria_store::Run;
use serde::Serialize;

use self::sections::Sections;
use self::shape::Shapes;
use self::tables::{convergence_table, posterior_table, scale_table};
use super::Context;
use super::foreign;
use crate::approximation::{self, draws_words};
use crate::args;
use crate::failure::{Failure, Result};
use crate::output::{Table, heading};
use crate::sampling::open;
use crate::text::{self, decimals_for, fixed};
use crate::verdict::judged;

/// Characters of a line.
const WIDTH: usize = 80;

/// Runs `posteria summary`.
pub fn summary(arguments: &args::Summary, context: &Context) -> Result<()> {
    let run = open(&arguments.run)?;
    let draws = foreign::draws_of(&run, context)?;
    match foreign::inference(&run) {
        InferenceChoice::Committee => show_members(&draws, context),
        _ => {
            let shown = (arguments.all, arguments.wide);
            show_posterior(&draws, &About::new(&run), shown, context)
        }
    }
}

/// Prints mean and spread of every variable over the members of a committee. They are no draws
/// of a chain: what judges chains is not defined.
fn show_members(draws: &Draws, context: &Context) -> Result<()> {
    let mut summary = summarize(draws, &SummaryOptions::default());
    summary.cautions.clear();
    for v in &mut summary.variables {
        let judged = [
            &mut v.mcse_mean,
            &mut v.mcse_sd,
            &mut v.ess_bulk,
            &mut v.ess_tail,
            &mut v.r_hat,
            &mut v.r_hat_classic,
            &mut v.autocorrelation_time,
            &mut v.ks_p,
        ];
        judged.into_iter().for_each(|slot| *slot = f64::NAN);
    }
    report(&Variables { variables: &summary.variables }, &summary, context, || {
        let [low, high] = interval_names(&summary);
        let mut table = Table::new(&["", "mean", "sd", &low, &high]);
        for v in &summary.variables {
            let decimals = decimals_for(v.sd, 3);
            let numbers = [v.mean, v.sd, v.low, v.high].map(|value| fixed(value, decimals));
            table.row([v.name.clone()].into_iter().chain(numbers));
        }
        format!("{}{}", heading(&text::committee(draws.draws)), table.render())
    })
}

/// What draws are of.
struct About {
    kind: ModelKind,
    inference: InferenceChoice,
    /// What an approximation found, in lines of text.
    found: String,
    /// Of a Gaussian process.
    jitter: Option<f64>,
}

impl About {
    fn new(run: &Run) -> Self {
        // A specification that cannot be read is another command's trouble.
        let model = Spec::from_toml(run.spec()).map(|spec| spec.model).unwrap_or_default();
        let found = approximation::words(run.approximation());
        let inference = foreign::inference(run);
        About { kind: model.kind, inference, found, jitter: model.jitter }
    }
}

/// Prints mean, spread and precision of every variable, by topic; unless `all`, without those
/// that are not identified and without fitted values and latents. Unless `wide`, without the columns
/// for which 80 characters are too few.
fn show_posterior(
    draws: &Draws,
    about: &About,
    (all, wide): (bool, bool),
    context: &Context,
) -> Result<()> {
    let summary = judged(draws, about.inference);
    report(&Variables { variables: &summary.variables }, &summary, context, || {
        let names = interval_names(&summary);
        let sections = Sections::new(&summary, &draws.layout, all);
        let shapes = Shapes::new(draws, &summary);
        let mut text = match draws_words(about.inference, draws.draws * draws.chains) {
            Some(words) => format!("{}{}", heading(&words), about.found),
            None => title(draws),
        };
        if sections.is_one_table() {
            let rows: Vec<_> = sections.sections.iter().flat_map(|(_, rows)| rows).collect();
            text.push_str(
                &posterior_table(rows.into_iter().copied(), &names, &shapes, wide).render(),
            );
        } else {
            for (topic, rows) in &sections.sections {
                text.push_str(&format!("\n{}", heading(topic.title(rows, about.kind))));
                let rows = rows.iter().copied();
                let table = match topic.is_of_scales() {
                    true => scale_table(rows, &names, &shapes, wide),
                    false => posterior_table(rows, &names, &shapes, wide),
                };
                text.push_str(&table.render());
                let note = topic.note(about.kind).map(|note| text::wrapped(note, 0, WIDTH));
                text.extend(note.map(|note| format!("{note}\n")));
            }
        }
        text.extend(about.jitter.map(|jitter| {
            format!(
                "\njitter {jitter} on the diagonal of the covariance, standardised scale, fixed\n"
            )
        }));
        text.push_str(&hidden(&sections));
        text
    })
}

/// A line for each block that is not shown.
fn hidden(sections: &Sections<'_>) -> String {
    if sections.hidden.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = sections.hidden.iter().map(|line| text::printable(line)).collect();
    format!("\n{}\n--all shows them\n", lines.join("\n"))
}

/// Runs `posteria diagnose`.
pub fn diagnose(arguments: &args::Diagnose, context: &Context) -> Result<()> {
    if let [folder] = &arguments.paths[..]
        && folder.is_dir()
    {
        let what = match foreign::inference(&open(folder)?) {
            InferenceChoice::Mcmc => None,
            InferenceChoice::Committee => Some("a committee, whose members are trained one by one"),
            _ => Some("independent draws of an approximation"),
        };
        if let Some(what) = what {
            return Err(Failure::bad_input(format!(
                "{} holds {what}: there is no convergence to judge; see posteria summary",
                folder.display()
            )));
        }
    }
    show_convergence(&foreign::read(&arguments.paths, context)?, arguments.all, context)
}

/// Prints the convergence diagnostics of every variable and every chain; variables as in
/// [`show_posterior`].
fn show_convergence(draws: &Draws, all: bool, context: &Context) -> Result<()> {
    let summary = summarize(draws, &SummaryOptions::default());
    let convergence = Convergence { variables: &summary.variables, chains: chains(draws) };
    report(&convergence, &summary, context, || {
        let sections = Sections::new(&summary, &draws.layout, all);
        let rows = sections.sections.iter().flat_map(|(_, rows)| rows).copied();
        let table = convergence_table(rows).render();
        let hidden = hidden(&sections);
        let chains = chain_table(&convergence.chains).map(|t| t.render()).unwrap_or_default();
        let gap = if hidden.is_empty() || chains.is_empty() { "" } else { "\n" };
        format!("{}{table}{hidden}{gap}{chains}", title(draws))
    })
}

/// What `posteria summary` finds.
#[derive(Serialize)]
struct Variables<'s> {
    variables: &'s [VariableSummary],
}

/// What `posteria diagnose` finds.
#[derive(Serialize)]
struct Convergence<'s> {
    variables: &'s [VariableSummary],
    chains: Vec<ChainFacts>,
}

/// How the sampler fared in one chain; a statistic that does not apply is NaN.
#[derive(Serialize)]
struct ChainFacts {
    chain: usize,
    divergences: usize,
    bfmi: f64,
    acceptance_rate: f64,
    step_size: f64,
    n_steps: f64,
}

/// The facts of every chain; none if the draws came without statistics.
fn chains(draws: &Draws) -> Vec<ChainFacts> {
    if draws.statistics.is_empty() {
        return Vec::new();
    }
    let (fractions, divergences) = (energy_fractions(draws), divergences(draws));
    let chunks = draws.statistics.chunks_exact(draws.draws.max(1));
    chunks
        .enumerate()
        .map(|(chain, statistics)| {
            let mean = |value: fn(&Statistics) -> f64| {
                statistics.iter().map(value).sum::<f64>() / statistics.len() as f64
            };
            ChainFacts {
                chain,
                divergences: divergences[chain],
                bfmi: fractions[chain],
                acceptance_rate: mean(|s| s.acceptance_rate),
                step_size: mean(|s| s.step_size),
                n_steps: mean(|s| s.n_steps),
            }
        })
        .collect()
}

fn chain_table(chains: &[ChainFacts]) -> Option<Table> {
    if chains.is_empty() {
        return None;
    }
    let names = ["chain", "divergences", "bfmi", "acceptance_rate", "step_size", "n_steps"];
    let mut table = Table::new(&names);
    for chain in chains {
        table.row([
            chain.chain.to_string(),
            chain.divergences.to_string(),
            fixed(chain.bfmi, 2),
            fixed(chain.acceptance_rate, 3),
            fixed(chain.step_size, decimals_for(chain.step_size, 3)),
            fixed(chain.n_steps, 1),
        ]);
    }
    Some(table)
}

/// Prints a result and the warnings of its summary.
fn report(
    result: &impl Serialize,
    summary: &Summary,
    context: &Context,
    text: impl FnOnce() -> String,
) -> Result<()> {
    summary.cautions.iter().for_each(|caution| context.warn(caution));
    context.result(result, text)
}

fn title(draws: &Draws) -> String {
    let draws_of_chain = text::count(draws.draws, "draw");
    heading(&format!("{} of {draws_of_chain}", text::count(draws.chains, "chain")))
}

fn interval_names(summary: &Summary) -> [String; 2] {
    let interval = |variable: &VariableSummary| variable.interval;
    summary.variables.first().map(interval).unwrap_or_default().names()
}
