//! Get back what a run was fitted to, and its model.

use std::path::Path;

use posteria::fit::{Prepared, encode_test};
use posteria::model::spec::Spec;
use posteria_store::{FitFolderError, Run};

use crate::device::tell_of_read;
use crate::failure::{Classify, Failure, Result, folder_failure};
use crate::prepare::{prepare, read_table};

/// The data and the model of a run, from its folder; from the table `data` if one is given.
pub fn fitted(run: &Run, spec: &Spec, data: Option<&Path>) -> Result<Prepared> {
    let shown = run.path().display();
    let others = || {
        Failure::bad_input(format!(
            "the draws of {shown} do not belong to its specification and data"
        ))
    };
    if let Some(table) = data {
        let prepared = prepare(spec.clone(), table)?;
        let is_own = prepared.posterior.layout().reads(run.layout());
        tell_of_read(&prepared);
        return if is_own { Ok(prepared) } else { Err(others()) };
    }
    let prepared = run.prepared(spec.clone()).map_err(|error| match error {
        FitFolderError::NoData => Failure::bad_input(format!(
            "{shown} was made by a posteria that did not keep the data in the run folder; say which \
             table it was fitted to with --data FILE"
        )),
        FitFolderError::OtherDraws => others(),
        error => folder_failure(error),
    })?;
    tell_of_read(&prepared);
    Ok(prepared)
}

/// What a run was begun with, from its own folder: for tables that cannot be read a second time.
pub fn prepare_kept(spec: Spec, run: &Run) -> Result<Prepared> {
    let Prepared { encoder, data: dataset, .. } = fitted(run, &spec, None)?;
    let test = match &spec.data.test {
        None => None,
        Some(test) => {
            let (table, _) = read_table(Path::new(test), spec.data.header)?;
            Some(encode_test(&spec, &table, (&dataset, &encoder)).bad_input()?)
        }
    };
    Prepared::of_dataset(spec, dataset, encoder, test.as_ref()).bad_input()
}
