//! Keep the training data of a run with it, so that it can predict without its table.

use posteria::data::{DataError, Dataset, Encoder, Table, Targets};

use crate::disk::DRAWS;
use crate::error::StoreError;
use crate::run::Run;
use crate::statics::{Axis, Labels, StaticArray};

/// The attribute that holds the encoder.
const ENCODER: &str = "encoder";
/// The constant data that hold the inputs and, if rows belong together, their groups.
const INPUTS: &str = "inputs";
const GROUP: &str = "group";
/// Of counts: the exposure of every row.
const EXPOSURE: &str = "exposure";
/// Of durations: 1 where all that is known is that it is longer.
const CENSORED: &str = "censored";

/// Training data as a new run folder takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingArrays {
    /// One array per target on the user's scale; classes as their indices.
    pub observed: Vec<StaticArray>,
    /// `inputs` on the user's scale, rows × inputs, `group` if there are groups, and `exposure` of
    /// counts if there is one.
    pub constant: Vec<StaticArray>,
    /// How tables become numbers, as JSON: `encoder`.
    pub attribute: (String, String),
}

/// Training data as a run folder gives them back.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingData {
    /// How tables become numbers, exactly as it was.
    pub encoder: Encoder,
    /// The data that the model was conditioned on, to rounding.
    pub dataset: Dataset,
}

impl TrainingArrays {
    /// What a run folder keeps of the data that `encoder` made.
    pub fn new(data: &Dataset, encoder: &Encoder) -> Self {
        let column = |name: &str, values| StaticArray {
            name: name.to_string(),
            axes: vec![Axis::rows(data.rows())],
            values,
        };
        let numbers = |codes: &[usize]| codes.iter().map(|code| *code as f64).collect();
        let observed = match &data.targets {
            Targets::Real { names, values } => names
                .iter()
                .zip(&data.target_scaling)
                .enumerate()
                .map(|(index, (name, scaling))| {
                    let values = values.column(index).iter().map(|value| scaling.invert(*value));
                    column(name, values.collect())
                })
                .collect(),
            Targets::Classes { name, codes, .. } => vec![column(name, numbers(codes))],
            Targets::Counts { name, values } => vec![column(name, values.clone())],
            Targets::Durations { name, times, .. } => vec![column(name, times.clone())],
        };
        let mut constant = vec![inputs(data)];
        constant.extend(data.groups.as_ref().map(|groups| column(GROUP, numbers(groups))));
        let exposures = |offsets: &Vec<f64>| offsets.iter().map(|offset| offset.exp()).collect();
        constant.extend(data.offsets.as_ref().map(|it| column(EXPOSURE, exposures(it))));
        if let Targets::Durations { censored: Some(censored), .. } = &data.targets {
            let cells = censored.iter().map(|is_censored| f64::from(*is_censored)).collect();
            constant.push(column(CENSORED, cells));
        }
        let attribute = (ENCODER.to_string(), encoder.to_json());
        TrainingArrays { observed, constant, attribute }
    }
}

fn inputs(data: &Dataset) -> StaticArray {
    let names = Labels::Named(data.input_names.clone());
    let mut values = Vec::with_capacity(data.rows() * data.input_names.len());
    for row in 0..data.rows() {
        for (column, scaling) in data.input_scaling.iter().enumerate() {
            values.push(scaling.invert(data.inputs[(row, column)]));
        }
    }
    StaticArray {
        name: INPUTS.to_string(),
        axes: vec![Axis::rows(data.rows()), Axis { name: "input".into(), labels: names }],
        values,
    }
}

/// That the data in a run folder are not what was written.
fn damaged(error: DataError) -> StoreError {
    StoreError::damaged(DRAWS, error.to_string())
}

impl Run {
    /// The table that the run began with: the columns that it uses, to rounding, with groups
    /// numbered in the column `group`; `None` in a folder of a version that did not keep them.
    ///
    /// # Errors
    /// As [`Run::training_data`].
    pub fn table(&self, group: Option<&str>) -> Result<Option<Table>, StoreError> {
        let decode = |kept: TrainingData| kept.encoder.decode(&kept.dataset, group);
        self.training_data()?.map(decode).transpose().map_err(damaged)
    }

    /// The data that the run began with; `None` in a folder of a version that did not keep them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if they are not what was written, or do not fit together.
    pub fn training_data(&self) -> Result<Option<TrainingData>, StoreError> {
        let Some(json) = self.attribute(ENCODER) else { return Ok(None) };
        let encoder = Encoder::from_json(json).map_err(damaged)?;
        let targets: Vec<Vec<f64>> =
            self.observed()?.into_iter().map(|array| array.values).collect();
        let constant = self.constant()?;
        let values = |name: &str| {
            constant.iter().find(|array| array.name == name).map(|array| &array.values[..])
        };
        let inputs = values(INPUTS).unwrap_or_default();
        let beside = values(EXPOSURE).or_else(|| values(CENSORED));
        let dataset = encoder.restore(inputs, &targets, values(GROUP), beside).map_err(damaged)?;
        Ok(Some(TrainingData { encoder, dataset }))
    }
}
