//! Show the posterior, and judge convergence.

pub mod chains;
pub mod sections;
mod shape;
mod tables;

use posteria::assess::StackedChains;
use posteria::diagnose::{Summary, SummaryOptions, VariableSummary, summarize};
use posteria::draws::Draws;
use posteria::fit::judged_summary;
use posteria::model::spec::{InferenceChoice, ModelKind, Spec};
use posteria_store::Run;
use serde::Serialize;

use self::chains::{ChainFacts, Looked};
use self::sections::Sections;
use self::shape::Shapes;
use self::tables::{convergence_table, point_table, posterior_table, scale_table};
use super::Context;
use super::foreign;
use crate::approximation::{self, draws_words};
use crate::args;
use crate::failure::{Failure, Result};
use crate::output::{Table, heading};
use crate::sampling::open;
use crate::text::{self, decimals_for, fixed};

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
    let summary = judged_summary(draws, InferenceChoice::Committee);
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
    let summary = judged_summary(draws, about.inference);
    report(&Variables { variables: &summary.variables }, &summary, context, || {
        let names = interval_names(&summary);
        let sections = Sections::new(&summary, &draws.layout, all);
        let shapes = Shapes::new(draws, &summary);
        let mut text = match draws_words(about.inference, about.kind, draws.draws * draws.chains) {
            Some(words) => format!("{}{}", heading(&words), about.found),
            None => title(draws),
        };
        if about.inference == InferenceChoice::Ml {
            // The estimates are in what was found, each with its standard error.
        } else if draws.draws * draws.chains == 1 {
            let rows: Vec<_> = sections.sections.iter().flat_map(|(_, rows)| rows).collect();
            text.push_str(&point_table(rows.into_iter().copied()).render());
        } else if sections.is_one_table() {
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
    let draws = foreign::read(&arguments.paths, context)?;
    let summary = summarize(&draws, &SummaryOptions::default());
    let looked = match &arguments.paths[..] {
        [folder] if folder.is_dir() => {
            chains::look(&open(folder)?, (&draws, &summary), arguments.all, context)?
        }
        _ => None,
    };
    show_convergence((&draws, &summary), looked.as_ref(), arguments.all, context)
}

/// Prints the convergence diagnostics of every variable and every chain; variables as in
/// [`show_posterior`].
fn show_convergence(
    (draws, summary): (&Draws, &Summary),
    looked: Option<&Looked>,
    all: bool,
    context: &Context,
) -> Result<()> {
    let of_rows = looked.and_then(|looked| looked.each.as_deref());
    let convergence = Convergence {
        variables: &summary.variables,
        chains: chains::facts(draws, of_rows),
        cause: looked.and_then(|looked| looked.advice.cause()),
        stacking: looked.and_then(|looked| looked.chains.as_ref()).map(|it| it.stacked()),
    };
    match looked {
        Some(looked) => looked.warnings(summary).into_iter().for_each(|it| context.warn(it)),
        None => summary.cautions.iter().for_each(|caution| context.warn(caution)),
    }
    context.result(&convergence, || {
        let sections = Sections::new(summary, &draws.layout, all);
        let rows = sections.sections.iter().flat_map(|(_, rows)| rows).copied();
        let table = convergence_table(rows).render();
        let hidden = hidden(&sections);
        let chains = chains::sampler_table(&convergence.chains);
        let gap = if hidden.is_empty() || chains.is_empty() { "" } else { "\n" };
        let of_rows = looked.map(Looked::render).unwrap_or_default();
        let apart = if of_rows.is_empty() { "" } else { "\n" };
        format!("{}{table}{hidden}{gap}{chains}{apart}{of_rows}", title(draws))
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
    /// Why the chains have not drawn enough, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    /// The chains weighed by what they predict, where they disagree about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    stacking: Option<StackedChains>,
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
