//! Get back what a run was fitted to, and its model.

use std::path::Path;

use posteria::data::{Dataset, Encoder, Targets};
use posteria::model::spec::Spec;
use posteria_store::{Run, TrainingData};

use crate::failure::{Classify, Failure, Result};
use crate::prepare::prepare;
use crate::sampling::store_failure;
use posteria::fit::Conditioned;

/// What the run was fitted to, and its model.
pub struct Fitted {
    /// How tables become numbers.
    pub encoder: Encoder,
    /// The data.
    pub dataset: Dataset,
    /// The model given the data.
    pub posterior: Conditioned,
}

/// The data and the model of a run, from its folder; from the table `data` if one is given.
pub fn fitted((path, run): (&Path, &Run), spec: &Spec, data: Option<&Path>) -> Result<Fitted> {
    let shown = path.display();
    let fitted = match data {
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
            let posterior = Conditioned::new(spec, &dataset, test).bad_input()?;
            Fitted { encoder, dataset, posterior }
        }
    };
    if !fitted.posterior.layout().reads(run.layout()) {
        return Err(Failure::bad_input(format!(
            "the draws of {shown} do not belong to its specification and data"
        )));
    }
    Ok(fitted)
}

/// The targets of every row on the user's scale, classes as their indices.
pub fn observed(targets: &Targets, encoder: &Encoder) -> Vec<Vec<f64>> {
    match targets {
        Targets::Real { values, .. } => {
            let scaling = encoder.target_scaling();
            let of = |row: usize| {
                let each = scaling.iter().enumerate();
                each.map(|(column, scaling)| scaling.invert(values[(row, column)])).collect()
            };
            (0..values.rows()).map(of).collect()
        }
        Targets::Classes { codes, .. } => codes.iter().map(|code| vec![*code as f64]).collect(),
    }
}
