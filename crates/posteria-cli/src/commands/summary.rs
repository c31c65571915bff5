//! Show the posterior, and judge convergence.

pub mod sections;
mod shape;

use posteria::caution::Caution;
use posteria::diagnose::{
    Summary, SummaryOptions, VariableSummary, divergences, energy_fractions, summarize,
};
use posteria::draws::{Draws, Statistics};
use posteria::model::spec::{InferenceChoice, ModelKind, Spec};
use posteria_store::Run;
use serde::Serialize;

use self::sections::Sections;
use self::shape::Shapes;
use super::Context;
use super::foreign;
use crate::approximation::{self, draws_words};
use crate::args;
use crate::failure::{Failure, Result};
use crate::output::{Table, heading};
use crate::sampling::open;
use crate::text::{self, decimals_for, fixed};

/// Runs `posteria summary`.
pub fn summary(arguments: &args::Summary, context: &Context) -> Result<()> {
    let run = open(&arguments.run)?;
    let draws = foreign::draws_of(&run, context)?;
    match foreign::inference(&run) {
        InferenceChoice::Committee => show_members(&draws, context),
        _ => show_posterior(&draws, &About::new(&run), arguments.all, context),
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
    report(&summary, &summary, context, || {
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
#[derive(Clone, Debug, Default)]
pub struct About {
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
/// that are not identified and without fitted values and latents.
pub fn show_posterior(draws: &Draws, about: &About, all: bool, context: &Context) -> Result<()> {
    let mut summary = summarize(draws, &SummaryOptions::default());
    if about.inference.is_approximation() {
        // Independent draws converge by themselves, and scales that are estimated stand still.
        summary.cautions.retain(|caution| matches!(caution, Caution::NonFinite { .. }));
    }
    report(&summary, &summary, context, || {
        let names = interval_names(&summary);
        let sections = Sections::new(&summary, &draws.layout, all);
        let shapes = Shapes::new(draws, &summary);
        let mut text = match draws_words(about.inference, draws.draws * draws.chains) {
            Some(words) => format!("{}{}", heading(&words), about.found),
            None => title(draws),
        };
        if sections.is_one_table() {
            let rows: Vec<_> = sections.sections.iter().flat_map(|(_, rows)| rows).collect();
            text.push_str(&posterior_table(rows.into_iter().copied(), &names, &shapes).render());
        } else {
            for (topic, rows) in &sections.sections {
                text.push_str(&format!("\n{}", heading(topic.title(rows, about.kind))));
                let rows = rows.iter().copied();
                let table = match topic.is_of_scales() {
                    true => scale_table(rows, &names, &shapes),
                    false => posterior_table(rows, &names, &shapes),
                };
                text.push_str(&table.render());
                text.extend(topic.note(about.kind).map(|note| format!("{note}\n")));
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
pub fn show_convergence(draws: &Draws, all: bool, context: &Context) -> Result<()> {
    let summary = summarize(draws, &SummaryOptions::default());
    let convergence = Convergence { summary: &summary, chains: chains(draws) };
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

/// What `posteria diagnose` finds.
#[derive(Serialize)]
struct Convergence<'s> {
    #[serde(flatten)]
    summary: &'s Summary,
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

/// Mean, spread and precision of variables.
fn posterior_table<'s>(
    variables: impl Iterator<Item = &'s VariableSummary>,
    [low, high]: &[String; 2],
    shapes: &Shapes<'_>,
) -> Table {
    let mut table = Table::new(&[
        "",
        "mean",
        "sd",
        "median",
        low,
        high,
        "density",
        "mcse_mean",
        "mcse_sd",
        "ess_bulk",
        "ess_tail",
        "r_hat",
    ]);
    for v in variables {
        // All numbers of a row as precisely as its spread deserves.
        let decimals = decimals_for(v.sd, 3);
        let errors = decimals_for(v.mcse_mean, 2);
        table.row([
            v.name.clone(),
            fixed(v.mean, decimals),
            fixed(v.sd, decimals),
            fixed(v.median, decimals),
            fixed(v.low, decimals),
            fixed(v.high, decimals),
            shapes.of(v),
            fixed(v.mcse_mean, errors),
            fixed(v.mcse_sd, errors),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.r_hat, 3),
        ]);
    }
    table
}

/// Median and spread of scales: where the prior is heavy-tailed, a mean of logarithms exists and
/// a mean need not.
fn scale_table<'s>(
    variables: impl Iterator<Item = &'s VariableSummary>,
    [low, high]: &[String; 2],
    shapes: &Shapes<'_>,
) -> Table {
    let mut table = Table::new(&[
        "", "median", low, high, "density", "mean_log", "sd_log", "ess_bulk", "ess_tail", "r_hat",
    ]);
    for v in variables {
        let [mean_log, sd_log] = v.of_log.unwrap_or([f64::NAN; 2]);
        // As precisely as the spread deserves, where it is one.
        let number = |value: f64| match v.sd < 0.5 * v.median.abs() {
            true => fixed(value, decimals_for(v.sd, 3)),
            false => text::short(value),
        };
        table.row([
            v.name.clone(),
            number(v.median),
            number(v.low),
            number(v.high),
            shapes.of(v),
            fixed(mean_log, 2),
            fixed(sd_log, 2),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.r_hat, 3),
        ]);
    }
    table
}

/// The convergence diagnostics of every variable.
fn convergence_table<'s>(variables: impl Iterator<Item = &'s VariableSummary>) -> Table {
    let mut table = Table::new(&[
        "",
        "mean",
        "r_hat",
        "r_hat_classic",
        "ess_bulk",
        "ess_tail",
        "mcse_mean",
        "autocorrelation_time",
        "ks_p",
    ]);
    for v in variables {
        table.row([
            v.name.clone(),
            fixed(v.mean, decimals_for(v.sd, 3)),
            fixed(v.r_hat, 3),
            fixed(v.r_hat_classic, 3),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.mcse_mean, decimals_for(v.mcse_mean, 2)),
            fixed(v.autocorrelation_time, 1),
            fixed(v.ks_p, 3),
        ]);
    }
    table
}

/// Prints a result, the warnings of its summary, and fails if it is doubtful and that is to be
/// strict about.
fn report(
    result: &impl Serialize,
    summary: &Summary,
    context: &Context,
    text: impl FnOnce() -> String,
) -> Result<()> {
    context.output.result(result, text)?;
    for caution in &summary.cautions {
        context.output.warning(&caution.to_string());
    }
    context.judge(summary.cautions.len())
}

fn title(draws: &Draws) -> String {
    let draws_of_chain = text::count(draws.draws, "draw");
    heading(&format!("{} of {draws_of_chain}", text::count(draws.chains, "chain")))
}

fn interval_names(summary: &Summary) -> [String; 2] {
    let interval = |variable: &VariableSummary| variable.interval;
    summary.variables.first().map(interval).unwrap_or_default().names()
}
