//! Read draws of any origin: a run folder, a table with chains, CmdStan files.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use posteria::draws::{Draws, read_draws};
use posteria::model::spec::{InferenceChoice, Spec};
use posteria_store::Run;

use super::Context;
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::sampling::open;
use crate::text;

/// Reads one run folder, or all files as chains of one run.
pub fn read(paths: &[PathBuf], context: &Context) -> Result<Draws> {
    if let [folder] = paths
        && folder.is_dir()
    {
        return read_run(folder, context);
    }
    let sources = paths.iter().map(|path| Ok((path.display().to_string(), open_file(path)?)));
    read_draws(sources.collect::<Result<Vec<_>>>()?).bad_input()
}

/// Reads the draws of a run folder, and says so if there will be more.
pub fn read_run(folder: &Path, context: &Context) -> Result<Draws> {
    draws_of(&open(folder)?, context)
}

/// Reads the draws of a run, and says so if there will be more.
pub fn draws_of(run: &Run, context: &Context) -> Result<Draws> {
    let draws = run.draws_of_variables().map_err(store_failure)?;
    let status = run.status().map_err(store_failure)?;
    if !status.complete {
        let going_on = if status.locked { "still being written" } else { "not complete" };
        context.output.message(&format!(
            "this run is {going_on}: {} of {} per chain so far",
            draws.draws,
            text::count(run.extent().draws, "draw")
        ));
    }
    Ok(draws)
}

/// How the draws of a run were made.
pub fn inference(run: &Run) -> InferenceChoice {
    // A specification that cannot be read is another command's trouble.
    Spec::from_toml(run.spec()).map(|spec| spec.sampling.inference()).unwrap_or_default()
}

fn open_file(path: &Path) -> Result<File> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::bad_input(format!(
            "{shown}: this is a folder; give one run folder, or files of draws"
        )));
    }
    File::open(path).map_err(|error| anyhow!("{shown}: cannot be opened: {error}")).bad_input()
}
