//! Measure and show what each input does to the prediction.

use posteria::data::{Dataset, Encoder};
use posteria::fit::PosteriorPredictive;
use posteria::predict::{EffectOptions, Estimate, Family, input_effects};
use serde::Serialize;

use crate::failure::Result;
use crate::output::{Table, heading};
use crate::text::{decimals_for, fixed};

/// What one input does to one target or class.
#[derive(Debug, Serialize)]
pub struct Effect {
    input: String,
    output: String,
    comparison: Figure,
    mean_absolute_derivative: Option<Figure>,
    rms_derivative: Option<Figure>,
}

/// Posterior mean and standard deviation.
#[derive(Debug, Clone, Copy, Serialize)]
struct Figure {
    mean: f64,
    sd: f64,
}

impl From<Estimate> for Figure {
    fn from(Estimate { mean, sd }: Estimate) -> Self {
        Figure { mean, sd }
    }
}

/// What the functions of a model are called: by target, or by class.
pub fn function_names(family: Family, encoder: &Encoder) -> Vec<String> {
    match family {
        Family::Bernoulli => encoder.labels()[1..].to_vec(),
        Family::Categorical { .. } => encoder.labels().to_vec(),
        _ => encoder.target_names(),
    }
}

/// Measures the effect of every input over the rows of the fit.
pub fn measure(
    work: &PosteriorPredictive<'_>,
    data: &Dataset,
    encoder: &Encoder,
) -> Result<Vec<Effect>> {
    let columns = encoder.input_columns();
    let options = EffectOptions { seed: work.seed, ..EffectOptions::default() };
    let all = work.workers.run("effects", columns.len(), |index| {
        let predictor = &mut *work.predictor();
        input_effects(predictor, work.draws, &data.inputs, &columns[index], &options)
    })?;
    let names = function_names(work.family, encoder);
    let mut effects = Vec::new();
    for (column, of_column) in columns.iter().zip(all) {
        for (name, effect) in names.iter().zip(of_column) {
            effects.push(Effect {
                input: column.name.clone(),
                output: name.clone(),
                comparison: effect.comparison.into(),
                mean_absolute_derivative: effect.mean_absolute_derivative.map(Into::into),
                rms_derivative: effect.rms_derivative.map(Into::into),
            });
        }
    }
    Ok(effects)
}

/// The effects as text.
pub fn render(effects: &[Effect]) -> String {
    let mut table =
        Table::new(&["", "of", "comparison", "sd", "mean |df/dx|", "sd", "rms df/dx", "sd"]);
    for effect in effects {
        let figures =
            [Some(effect.comparison), effect.mean_absolute_derivative, effect.rms_derivative];
        let cells = figures.into_iter().flat_map(|figure| {
            let Figure { mean, sd } = figure.unwrap_or(Figure { mean: f64::NAN, sd: f64::NAN });
            let decimals = decimals_for(sd, 3);
            [fixed(mean, decimals), fixed(sd, decimals)]
        });
        let names = [effect.input.clone(), effect.output.clone()];
        table.row(names.into_iter().chain(cells));
    }
    format!("{}{}", heading("change per unit of each input"), table.render())
}
