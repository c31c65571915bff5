//! Read draws of any origin: a run folder, a table with chains, CmdStan files.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use posteria::draws::{Draws, read_draws};

use crate::failure::{Classify, Failure, Result};
use crate::sampling::{open, store_failure};

/// Reads one run folder, or all files as chains of one run.
pub fn read(paths: &[PathBuf]) -> Result<Draws> {
    if let [folder] = paths
        && folder.is_dir()
    {
        return open(folder)?.draws_of_variables().map_err(store_failure);
    }
    let sources = paths.iter().map(|path| Ok((path.display().to_string(), open_file(path)?)));
    read_draws(sources.collect::<Result<Vec<_>>>()?).bad_input()
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
