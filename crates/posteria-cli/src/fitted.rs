//! Get back what a run was fitted to, and its model.

use std::path::Path;

use posteria::fit::Prepared;
use posteria::model::spec::Spec;
use posteria_store::{FitFolderError, Run};

use crate::failure::{Failure, Result};
use crate::prepare::prepare;
use crate::sampling::folder_failure;

/// The data and the model of a run, from its folder; from the table `data` if one is given.
pub fn fitted((path, run): (&Path, &Run), spec: &Spec, data: Option<&Path>) -> Result<Prepared> {
    let shown = path.display();
    let others = || {
        Failure::bad_input(format!(
            "the draws of {shown} do not belong to its specification and data"
        ))
    };
    if let Some(table) = data {
        let prepared = prepare(spec.clone(), table)?;
        let is_own = prepared.posterior.layout().reads(run.layout());
        return if is_own { Ok(prepared) } else { Err(others()) };
    }
    run.prepared(spec.clone()).map_err(|error| match error {
        FitFolderError::NoData => Failure::bad_input(format!(
            "{shown} was made by a posteria that did not keep the data in the run folder; say which \
             table it was fitted to with --data FILE"
        )),
        FitFolderError::OtherDraws => others(),
        error => folder_failure(error),
    })
}
