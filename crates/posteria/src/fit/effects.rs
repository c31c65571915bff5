//! What each input does to the predictions of a fit, by the names of its columns.

use serde::Serialize;

use super::{Cancelled, PosteriorPredictive};
use crate::data::{Dataset, Encoder};
use crate::predict::{EffectOptions, Family, InputEffect, input_effects};

/// What one input does to one target or class, as `posteria predict --effects --json` has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedEffect {
    /// Name of the column.
    pub input: String,
    /// Name of the target, or the class whose probability it is about.
    pub output: String,
    /// What it does.
    #[serde(flatten)]
    pub effect: InputEffect,
}

impl PosteriorPredictive<'_> {
    /// What the functions of the model are called: by target, or by class.
    pub fn function_names(&self, encoder: &Encoder) -> Vec<String> {
        match self.family {
            Family::Bernoulli => encoder.labels()[1..].to_vec(),
            Family::Categorical { .. } => encoder.labels().to_vec(),
            _ => encoder.target_names(),
        }
    }

    /// The effect of every input over the rows of the fit ([`input_effects`]), column by column.
    ///
    /// # Errors
    /// [`Cancelled`] if the watch stopped the work.
    pub fn effects(
        &self,
        data: &Dataset,
        encoder: &Encoder,
    ) -> Result<Vec<NamedEffect>, Cancelled> {
        let columns = encoder.input_columns();
        let options = EffectOptions { seed: self.seed, ..EffectOptions::default() };
        let all = self.workers.run("effects", columns.len(), |index| {
            let predictor = &mut *self.predictor();
            input_effects(predictor, self.draws, &data.inputs, &columns[index], &options)
        })?;
        let names = self.function_names(encoder);
        let mut effects = Vec::new();
        for (column, of_column) in columns.iter().zip(all) {
            for (output, effect) in names.iter().zip(of_column) {
                let (input, output) = (column.name.clone(), output.clone());
                effects.push(NamedEffect { input, output, effect });
            }
        }
        Ok(effects)
    }
}
