//! Models that are compared: runs, and specifications that are fitted where that has not been done.

use std::path::{Path, PathBuf};

use crate::args;
use crate::commands::{Context, fit, select};
use crate::elsewhere::unless_elsewhere;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::job::FitJob;
use crate::prepare::{Source, prepare};
use crate::sampling::open;

/// Whether a model is given by a specification file.
fn is_specification(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml") && !path.is_dir()
}

/// Whether models are given by specification files.
pub fn has_specifications(arguments: &args::Compare) -> bool {
    arguments.runs.iter().any(|path| is_specification(path))
}

/// The folder of the run of a model.
pub fn folder_of(path: &Path) -> PathBuf {
    if is_specification(path) { path.with_extension("") } else { path.to_path_buf() }
}

/// The folders of the runs of these models, which are there then.
pub fn runs(models: &[PathBuf], context: &Context) -> Result<Vec<PathBuf>> {
    let mut missing = false;
    for path in models.iter().filter(|path| is_specification(path)) {
        missing |= unless_elsewhere(fit_specification(path, context))?.is_none();
    }
    match missing {
        true => Err(Failure::Elsewhere),
        false => Ok(models.iter().map(|path| folder_of(path)).collect()),
    }
}

/// Fits what a specification file says, as far as that has not been done.
fn fit_specification(path: &Path, context: &Context) -> Result<()> {
    let out = folder_of(path);
    let flags = args::Fit {
        spec: Some(path.to_path_buf()),
        out: Some(out.clone()),
        ..args::Fit::default()
    };
    // The seed of a comparison divides rows; that of a fit is in its specification.
    let job = FitJob::new(&flags, None)?;
    let source = Source::File(job.data.clone());
    let is_there = out.join("spec.toml").exists();
    if !is_there && context.elsewhere.is_none() {
        fit::sampled(job, context)?;
        return Ok(());
    }
    let interrupt = Interrupt::listen().running()?;
    if !is_there {
        return select::finish((job.spec, &source), &out, &interrupt, context);
    }
    let prepared = prepare(job.spec.clone(), &job.data)?;
    if prepared.spec.to_toml().bad_input()? != open(&out)?.spec() {
        return Err(Failure::bad_input(format!(
            "{} is a run of another specification than {}; give one of them another name",
            out.display(),
            path.display()
        )));
    }
    select::finish((job.spec, &source), &out, &interrupt, context)?;
    fit::add_missing_predictive(&prepared, &out, &interrupt, context)
}
