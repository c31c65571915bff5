//! Sample which inputs are in a model, and tell how probable every input and set is.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use posteria::draws::Draws;
use posteria::model::selection::{Candidates, INCLUSION};
use posteria::model::spec::{SelectionSpec, Spec};
use posteria::select::{Visits, visits};
use serde::Serialize;

use super::{Context, fit};
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::job::FitJob;
use crate::output::{Table, heading};
use crate::prepare::prepare;
use crate::sampling::open;
use crate::words::Words;
use crate::{size, text};

/// Posterior probability from which on a size is shown.
const SHOWN: f64 = 5e-4;

#[derive(Serialize)]
struct Report {
    run: String,
    model: &'static str,
    inputs: Vec<Input>,
    sizes: Vec<Size>,
    models: Vec<Set>,
    /// Inputs to go on with.
    chosen: Vec<String>,
    /// How they were chosen.
    chosen_by: &'static str,
    /// Different sets that were visited.
    visited: usize,
    jump_rate: f64,
    between_model_r_hat: f64,
    ks_p: f64,
    chi_square_p: f64,
    autocorrelation_time: f64,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Input {
    name: String,
    probability: f64,
    sd: f64,
    prior: f64,
}

#[derive(Serialize)]
struct Size {
    k: usize,
    probability: f64,
    sd: f64,
    prior: f64,
}

#[derive(Serialize)]
struct Set {
    inputs: Vec<String>,
    probability: f64,
    sd: f64,
}

/// Runs `posteria select`.
pub fn run(arguments: &args::Select, context: &Context) -> Result<()> {
    if let Some(path) = arguments.run() {
        return report(path, &[], context);
    }
    let mut flags = arguments.fit.clone();
    if flags.out.is_none() && !flags.dry_run {
        flags.out = Some(free_folder(flags.data.as_deref().or(flags.spec.as_deref())));
    }
    let mut job = FitJob::new(&flags, context.seed)?;
    let selection = job.spec.selection.get_or_insert_default();
    if let Some(prior) = &arguments.set_prior {
        selection.prior = Some(prior.clone());
    }
    if !arguments.always.is_empty() {
        selection.always = Some(arguments.always.clone());
    }
    job.spec.check().bad_input()?;
    let prepared = prepare(job.spec, &job.data)?;
    size::check(&prepared, &prepared.plan, context)?;
    let words = Words::new(&prepared);
    let Some(out) = job.out else {
        prepared.cautions.iter().for_each(|caution| context.output.warning(&caution.to_string()));
        let words = words.with_prior_functions(&prepared);
        return context.output.result(&words, || words.render());
    };
    context.output.message(words.render().trim_end());
    let fitted = fit::run(&prepared, &out, context)?;
    report(&out, fitted.warnings(), context)
}

/// A folder that is not there yet, named after a file.
fn free_folder(file: Option<&Path>) -> PathBuf {
    let stem = file.and_then(Path::file_stem).map_or("data".into(), |stem| stem.to_string_lossy());
    let first = PathBuf::from(format!("{stem}-select"));
    let others = (2..).map(|number| PathBuf::from(format!("{stem}-select-{number}")));
    std::iter::once(first).chain(others).find(|path| !path.exists()).unwrap_or_default()
}

/// Tells what the draws of a run say about inputs and sets.
fn report(path: &Path, warnings: &[String], context: &Context) -> Result<()> {
    let run = open(path)?;
    let spec = Spec::from_toml(run.spec())
        .with_context(|| format!("{}", path.join("spec.toml").display()))
        .bad_input()?;
    let Some(selection) = &spec.selection else {
        return Err(Failure::bad_input(format!(
            "{} samples no input sets: its specification has no [selection]; run posteria select on \
             its data",
            path.display()
        )));
    };
    let draws = run.draws_of_variables().running()?;
    let found = of_draws(&draws, selection)?;
    let mut all = warnings.to_vec();
    all.extend(found.cautions.iter().map(ToString::to_string));
    let report = Report::new(path, &spec, &found, all);
    report.warnings.iter().for_each(|warning| context.output.warning(warning));
    context.output.result(&report, || report.render())?;
    context.judge(report.warnings.len())
}

/// What draws over input sets say.
pub fn of_draws(draws: &Draws, selection: &SelectionSpec) -> Result<Visits> {
    let inclusion = draws.layout.variable(INCLUSION);
    let names = inclusion.and_then(|variable| variable.dimensions.first());
    let names = names.map_or(&[][..], |dimension| &dimension.labels);
    let candidates = Candidates::new(selection, names).bad_input()?;
    visits(draws, &candidates).bad_input()
}

impl Report {
    fn new(path: &Path, spec: &Spec, found: &Visits, warnings: Vec<String>) -> Self {
        let inputs = found.inputs.iter().map(|input| Input {
            name: input.name.clone(),
            probability: input.probability,
            sd: input.sd,
            prior: input.prior,
        });
        let sizes = found.sizes.iter().map(|size| Size {
            k: size.k,
            probability: size.probability,
            sd: size.sd,
            prior: size.prior,
        });
        let models = found.sets.iter().map(|set| Set {
            inputs: set.inputs.clone(),
            probability: set.probability,
            sd: set.sd,
        });
        Report {
            run: path.display().to_string(),
            model: spec.model.kind.name(),
            inputs: inputs.collect(),
            sizes: sizes.collect(),
            models: models.collect(),
            chosen: found.median_model().into_iter().map(Into::into).collect(),
            chosen_by: "median probability model: inputs more probable than not",
            visited: found.visited,
            jump_rate: found.jump_rate,
            between_model_r_hat: found.between.r_hat,
            ks_p: found.between.ks_p,
            chi_square_p: found.between.chi_square_p,
            autocorrelation_time: found.between.autocorrelation_time,
            warnings,
        }
    }

    fn render(&self) -> String {
        let share = |p: f64| text::fixed(p, 3);
        let mut all = heading("inputs");
        let mut table = Table::new(&["input", "probability", "sd", "prior"]);
        for input in &self.inputs {
            let name = text::printable(&input.name).into_owned();
            table.row([name, share(input.probability), share(input.sd), share(input.prior)]);
        }
        all.push_str(&table.render());
        all.push_str(&heading("numbers of inputs"));
        let mut table = Table::new(&["inputs", "probability", "sd", "prior"]);
        for size in self.sizes.iter().filter(|size| size.probability > SHOWN) {
            let k = size.k.to_string();
            table.row([k, share(size.probability), share(size.sd), share(size.prior)]);
        }
        all.push_str(&table.render());
        all.push_str(&heading("most probable sets"));
        let mut table = Table::new(&["set", "probability", "sd"]);
        for set in &self.models {
            table.row([joined(&set.inputs), share(set.probability), share(set.sd)]);
        }
        all.push_str(&table.render());
        all.push_str(&format!(
            "\n{} visited, another one in {} % of draws; between chains R-hat {}, Kolmogorov-Smirnov p \
             {}\nchosen: {} ({})\n",
            text::count(self.visited, "set"),
            text::fixed(100.0 * self.jump_rate, 0),
            text::fixed(self.between_model_r_hat, 3),
            text::fixed(self.ks_p, 2),
            joined(&self.chosen),
            self.chosen_by,
        ));
        all
    }
}

/// Names of inputs on one line.
fn joined(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { text::printable(&names.join(", ")).into_owned() }
}
