//! Write draws in another format, thinned or batched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use posteria::assess::TargetFacts;
use posteria::assess::formula::Statistic;
use posteria::draws::{BatchCentre, Draws, WriteError, write_csv, write_json, write_stan_csv};
use posteria_store::{Axis, Export, Pointwise, Run, TrainingArrays, write_zarr};
use serde::Serialize;

use super::Context;
use crate::args::{self, ExportFormat};
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::file::write_whole;
use crate::fitted::fitted;
use crate::interrupt::Interrupt;
use crate::predictive::{posterior_predictive, prior};
use crate::sampling::{open, spec_of};
use crate::{text, verdict};

#[derive(Serialize)]
struct Report {
    path: String,
    files: Vec<String>,
    chains: usize,
    draws: usize,
}

/// Runs `posteria export`.
pub fn run(arguments: &args::Export, context: &Context) -> Result<()> {
    if arguments.prior.is_some() && arguments.format != ExportFormat::Zarr {
        return Err(Failure::bad_input(
            "draws from the prior are a group of a Zarr store: --prior needs --format zarr",
        ));
    }
    let run = open(&arguments.run)?;
    let draws = match arguments.format {
        ExportFormat::Json | ExportFormat::Zarr => run.draws(),
        // These formats have no place for the log likelihoods of rows.
        ExportFormat::Csv | ExportFormat::StanCsv => run.draws_of_variables(),
    };
    let draws = draws.map_err(store_failure)?;
    if draws.draws > 0 {
        let inference = spec_of(&run)?.sampling.inference();
        verdict::repeat(&arguments.run, &draws, inference, run.approximation(), &context.warnings);
    }
    let draws = chosen(draws, arguments)?;
    let out = place(arguments)?;
    let files = match arguments.format {
        ExportFormat::Csv => vec![write(&out, |writer| write_csv(&draws, writer))?],
        ExportFormat::Json => vec![write(&out, |writer| write_json(&draws, writer))?],
        ExportFormat::StanCsv => (0..draws.chains)
            .map(|chain| {
                let file = with_ending(&out, &format!("_{}.csv", chain + 1));
                write(&file, |writer| write_stan_csv(&draws, chain, writer))
            })
            .collect::<Result<_>>()?,
        ExportFormat::Zarr => {
            let beside = beside_the_draws(&run, &draws, arguments, context)?;
            write_zarr(&out, &draws, &beside).map_err(store_failure)?;
            vec![out.clone()]
        }
    };
    let shown = |path: &PathBuf| path.display().to_string();
    let report = Report {
        path: shown(&out),
        files: files.iter().map(shown).collect(),
        chains: draws.chains,
        draws: draws.draws,
    };
    context.result(&report, || {
        let files: Vec<_> = report.files.iter().map(|file| text::printable(file)).collect();
        format!(
            "{}: {} of {}\n",
            files.join(", "),
            text::count(report.chains, "chain"),
            text::count(report.draws, "draw")
        )
    })
}

/// What a Zarr store says besides the draws: the data, what they might have been, the prior.
fn beside_the_draws(
    run: &Run,
    draws: &Draws,
    flags: &args::Export,
    context: &Context,
) -> Result<Export> {
    let spec = spec_of(run)?;
    let name = spec.data.target.first().cloned().unwrap_or_else(|| "y".into());
    let mut export = Export {
        pointwise: (draws.rows > 0).then(|| Pointwise { name, rows: Axis::rows(draws.rows) }),
        warmup: run.extent().warmup,
        ..Export::default()
    };
    // Folders of early versions have no data.
    if run.training_data().map_err(store_failure)?.is_none() && flags.prior.is_none() {
        return Ok(export);
    }
    let prepared = fitted(run, &spec, None)?;
    let training = TrainingArrays::new(&prepared.data, &prepared.encoder);
    (export.observed, export.constant) = (training.observed, training.constant);
    let interrupt = Interrupt::listen().running()?;
    let workers = context.workers(&interrupt);
    // What stands for several draws is not a draw: nothing follows from it.
    if flags.batch.is_none() {
        export.added.extend(posterior_predictive(&prepared, draws, &workers)?);
    }
    if let Some(count) = flags.prior {
        export.added.extend(prior(&prepared, count.get(), &workers)?);
    }
    Ok(export)
}

/// The draws that the flags ask for.
fn chosen(draws: Draws, flags: &args::Export) -> Result<Draws> {
    let last = flags.last.map(|last| last.get());
    let (mut draws, mut range) = (draws, (flags.burn, last));
    if flags.thin.is_some() || flags.batch.is_none() {
        let thin = flags.thin.map_or(1, |thin| thin.get());
        draws = draws.thin(flags.burn, thin, last).bad_input()?;
        range = (0, None);
    }
    let Some(size) = flags.batch else { return Ok(draws) };
    let batched = match flags.batch_by.as_str() {
        "mean" => draws.batch(range.0, size.get(), range.1, |batch| BatchCentre::Mean.of(batch)),
        "median" => {
            draws.batch(range.0, size.get(), range.1, |batch| BatchCentre::Median.of(batch))
        }
        formula => {
            let draw = TargetFacts::Real { names: vec!["y".into()], deviations: vec![1.0] };
            let statistic = Statistic::parse(formula, &draw).map_err(|error| {
                Failure::bad_input(format!("--batch-by: {} of {}", error.message(), error.formula))
            })?;
            draws.batch(range.0, size.get(), range.1, |batch| statistic.of(batch))
        }
    };
    batched.bad_input()
}

/// Where the result goes: as said, or beside the user under the run's name, if that is free.
fn place(flags: &args::Export) -> Result<PathBuf> {
    if let Some(out) = &flags.out {
        let is_stan = flags.format == ExportFormat::StanCsv;
        let without_ending = is_stan && out.extension().is_some_and(|ending| ending == "csv");
        return Ok(if without_ending { out.with_extension("") } else { out.clone() });
    }
    let absolute = std::path::absolute(&flags.run).bad_input()?;
    let name = absolute.file_name().map_or_else(|| "run".into(), PathBuf::from);
    let out = with_ending(
        &name,
        match flags.format {
            ExportFormat::Csv => "-draws.csv",
            ExportFormat::Zarr => "-draws.zarr",
            ExportFormat::Json => "-draws.json",
            ExportFormat::StanCsv => "-draws",
        },
    );
    let first = if flags.format == ExportFormat::StanCsv {
        with_ending(&out, "_1.csv")
    } else {
        out.clone()
    };
    if first.exists() {
        let shown = first.display();
        return Err(Failure::bad_input(format!("{shown} is there already; say --out {shown}")));
    }
    Ok(out)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn std::io::Write) -> Result<(), WriteError>,
) -> Result<PathBuf> {
    write_whole(path, |writer| {
        content(writer).map_err(|error| match error {
            WriteError::Io(error) => Failure::Running(error.into()),
            other => Failure::BadInput(other.into()),
        })
    })?;
    Ok(path.to_path_buf())
}
