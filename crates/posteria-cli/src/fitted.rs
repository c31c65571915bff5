//! Get back what a run was fitted to, and its model.

use std::path::Path;

use posteria::fit::Prepared;
use posteria::model::spec::Spec;
use posteria_store::{Run, TrainingData};

use crate::failure::{Classify, Failure, Result};
use crate::prepare::prepare;
use crate::sampling::store_failure;

/// The data and the model of a run, from its folder; from the table `data` if one is given.
pub fn fitted((path, run): (&Path, &Run), spec: &Spec, data: Option<&Path>) -> Result<Prepared> {
    let shown = path.display();
    let fitted = match data {
        Some(table) => prepare(spec.clone(), table)?,
        None => {
            let kept = run.training_data().map_err(store_failure)?;
            let Some(TrainingData { encoder, dataset }) = kept else {
                return Err(Failure::bad_input(format!(
                    "{shown} was made by a posteria that did not keep the data in the run folder; \
                     say which table it was fitted to with --data FILE"
                )));
            };
            // Whatever the test rows were, their error has a place in every draw.
            let test = spec.data.test.as_ref().map(|_| dataset.clone());
            Prepared::of_dataset(spec.clone(), dataset, encoder, test.as_ref()).bad_input()?
        }
    };
    if !fitted.posterior.layout().reads(run.layout()) {
        return Err(Failure::bad_input(format!(
            "the draws of {shown} do not belong to its specification and data"
        )));
    }
    Ok(fitted)
}
