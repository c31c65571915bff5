//! Predict the targets of new rows.

mod effects;
mod functions;
mod report;
mod rows;
pub mod work;

use std::path::Path;

use anyhow::Context as _;
use posteria::data::{Dataset, EncodedRows, Encoder, Missing, Targets};
use posteria::model::spec::{ModelKind, Spec};
use posteria_store::{Run, TrainingData};

use self::report::Report;
use self::rows::{linearised_rows, predict_rows};
use self::work::{Work, spread_evenly};
use super::{Context, foreign};
use crate::approximation;
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::prepare::{Conditioned, condition, prepare, read_table};
use crate::sampling::{open, store_failure};

/// Runs `posteria predict`.
pub fn run(arguments: &args::Predict, context: &Context) -> Result<()> {
    let quantiles = &arguments.quantiles;
    for (index, quantile) in quantiles.iter().enumerate() {
        if quantiles[..index].contains(quantile) {
            let given = quantile.probability;
            return Err(Failure::bad_input(format!("--quantiles has {given} twice; give it once")));
        }
    }
    let interrupt = Interrupt::listen().running()?;
    let run = open(&arguments.run)?;
    let spec = Spec::from_toml(run.spec())
        .with_context(|| format!("{}", arguments.run.join("spec.toml").display()))
        .bad_input()?;
    let flag = if arguments.effects { "--effects" } else { "--draws-out" };
    if spec.model.kind.is_unsupervised() && (arguments.effects || arguments.draws_out.is_some()) {
        let kind = spec.model.kind.name();
        return Err(Failure::bad_input(format!(
            "{flag} is about the function behind a target, and a {kind} model has none; omit it"
        )));
    }
    let table = arguments.data.as_deref();
    let Fitted { encoder, dataset, posterior } = fitted(&run, &spec, &arguments.run, table)?;
    let draws = spread_evenly(foreign::draws_of(&run, context)?, arguments.draws);
    if draws.draws == 0 {
        return Err(Failure::bad_input(format!(
            "{} has no draws yet; wait for some, or go on with posteria resume",
            arguments.run.display()
        )));
    }
    let new = new_rows(&encoder, &spec, arguments)?;
    let is_open = spec.model.kind == ModelKind::Gp;
    let work = Work::new(&*posterior, &draws, is_open, context, &interrupt).ok_or_else(|| {
        let kind = spec.model.kind.name();
        Failure::bad_input(format!("a {kind} model has no targets to predict"))
    })?;
    let observed = observed(&new, &encoder);
    let linearised = match arguments.by {
        Some(args::By::Draws) => None,
        by => {
            let found = approximation::linearised(&posterior, &spec, context)?;
            if found.is_none() && by.is_some() {
                return Err(Failure::bad_input(
                    "--by linearised is for networks of --inference laplace or variational, with \
                     real targets of one residual scale each, or two classes; omit it",
                ));
            }
            found
        }
    };
    let rows = match linearised {
        Some(linearised) => linearised_rows(&linearised, &new, observed.as_deref(), quantiles),
        None => predict_rows(&work, &new, observed.as_deref(), quantiles)?,
    };
    let effects = match arguments.effects {
        true => Some(effects::measure(&work, &dataset, &encoder)?),
        false => None,
    };
    if let Some(path) = &arguments.draws_out {
        functions::write(&work, &new, &encoder, path, arguments.function_draws)?;
    }
    let numbers = new.rows.iter().map(|row| row + 1).collect();
    let report = Report::new(arguments, &encoder, numbers, rows, effects);
    if let Some(path) = &arguments.out {
        report.write_csv(path)?;
    }
    new.cautions.iter().for_each(|caution| context.output.warning(&caution.to_string()));
    context.output.result(&report, || report.render())
}

/// What a run was fitted to, and its model.
pub struct Fitted {
    /// How the table became the data.
    pub encoder: Encoder,
    /// The data.
    pub dataset: Dataset,
    /// The model conditioned on them.
    pub posterior: Conditioned,
}

/// What the run in `folder` was fitted to: by `table`, or by what the run keeps of it.
pub fn fitted(run: &Run, spec: &Spec, folder: &Path, table: Option<&Path>) -> Result<Fitted> {
    let shown = folder.display();
    let fitted = match table {
        Some(table) => {
            let prepared = prepare(spec.clone(), table)?;
            let (encoder, dataset) = (prepared.encoder, prepared.data);
            Fitted { encoder, dataset, posterior: prepared.posterior }
        }
        None => {
            let kept = run.training_data().map_err(store_failure)?;
            let Some(TrainingData { encoder, dataset }) = kept else {
                return Err(Failure::bad_input(format!(
                    "{shown} was made by a posteria that did not keep the data in the run folder; \
                     say which table it was fitted to with --data FILE"
                )));
            };
            // Whatever the test rows were, their error has a place in every draw.
            let test = spec.data.test.as_ref().map(|_| &dataset);
            let posterior = condition(spec, &dataset, test)?;
            Fitted { encoder, dataset, posterior }
        }
    };
    if fitted.posterior.layout() != run.layout() {
        return Err(Failure::bad_input(format!(
            "the draws of {shown} do not belong to its specification and data"
        )));
    }
    Ok(fitted)
}

/// The rows of NEW, encoded as those of the fit were.
fn new_rows(encoder: &Encoder, spec: &Spec, arguments: &args::Predict) -> Result<EncodedRows> {
    let given = (arguments.header || arguments.no_header).then_some(arguments.header);
    let (table, _) = read_table(&arguments.new, given.or(spec.data.header))?;
    let table = encoder.name_by_position(table).bad_input()?;
    let missing = match arguments.missing {
        Some(args::Missing::Drop) => Missing::Drop,
        _ => Missing::Error,
    };
    encoder.encode(&table, missing).bad_input()
}

/// The targets of every new row on the user's scale, classes as their indices, if they are there.
fn observed(new: &EncodedRows, encoder: &Encoder) -> Option<Vec<Vec<f64>>> {
    let targets = match new.targets.as_ref()? {
        Targets::Real { values, .. } => {
            let scaling = encoder.target_scaling();
            let of = |row: usize| {
                let each = scaling.iter().enumerate();
                each.map(|(column, scaling)| scaling.invert(values[(row, column)])).collect()
            };
            (0..values.rows()).map(of).collect()
        }
        Targets::Classes { codes, .. } => codes.iter().map(|code| vec![*code as f64]).collect(),
    };
    Some(targets)
}
