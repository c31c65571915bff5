//! Measure what each input does, by relevance and by what predictions do.

use serde::{Deserialize, Serialize};

use super::UtilitySummary;
use crate::data::{Dataset, Encoder, InputColumn, Targets};
use crate::draws::{Draws, Role};
use crate::fit::{Cancelled, PosteriorPredictive, Prepared, Workers};
use crate::model::selection::Candidates;
use crate::model::spec::ModelKind;
use crate::predict::{EffectOptions, Estimate, InputEffect, input_effects};
use crate::random::Seed;

/// Rows and draws that suffice to compare inputs; predictions of a process take longer.
const OF_PROCESSES: EffectOptions = EffectOptions { rows: 25, draws: 60, seed: Seed(0) };
const OF_OTHERS: EffectOptions = EffectOptions { rows: 50, draws: 120, seed: Seed(0) };

/// Measures of how much an input matters. Averages are over input sets, with the input in or out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InputImportance {
    /// Relevance while the input is in, the largest of a candidate; none if the model has none.
    pub relevance: Option<Estimate>,
    /// Average predictive comparison: change of the prediction, in standard deviations of the target or
    /// as a probability of a class, per standard deviation of the input (of classes: between them).
    pub comparison: Option<Estimate>,
    /// Mean |∂f/∂x| likewise; of classes, f is the log odds.
    pub mean_absolute_derivative: Option<Estimate>,
    /// What is lost without the input, if that was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leave_out: Option<InputLoss>,
}

/// What is lost without an input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputLoss {
    /// Expected utility of all inputs minus that without this one: positive if it is needed.
    #[serde(flatten)]
    pub utility: UtilitySummary,
    /// Probability that all inputs are better.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_full_better: f64,
}

/// Measures every candidate of a model, by its draws over input sets; `seed` names the streams of
/// functions that draws leave open.
///
/// # Errors
/// [`Cancelled`] if whoever watches the work stops it.
pub fn input_importance(
    prepared: &Prepared,
    (candidates, draws): (&Candidates, &Draws),
    (seed, workers): (Seed, &Workers),
) -> Result<Vec<InputImportance>, Cancelled> {
    let Prepared { spec, encoder, data: dataset, posterior, .. } = prepared;
    let is_process = spec.model.kind == ModelKind::Gp;
    let columns = encoder.input_columns();
    let effects = match PosteriorPredictive::new(&**posterior, draws, is_process, seed, workers) {
        None => vec![Vec::new(); columns.len()],
        Some(work) => {
            let options = if is_process { OF_PROCESSES } else { OF_OTHERS };
            work.workers.run("effects", columns.len(), |index| {
                let predictor = &mut *work.predictor();
                input_effects(predictor, draws, &dataset.inputs, &columns[index], &options)
            })?
        }
    };
    let of_targets = target_deviations(dataset, encoder);
    let of = |candidate: usize| {
        let members = candidates.members(candidate);
        let own = columns
            .iter()
            .zip(&effects)
            .filter(|(column, _)| members.iter().any(|input| column.inputs.contains(input)));
        let (mut comparison, mut derivative) = (None, None);
        for (column, effects) in own {
            let spread = deviation(dataset, column);
            for (index, InputEffect { comparison: change, mean_absolute_derivative: slope, .. }) in
                effects.iter().enumerate()
            {
                let unit = of_targets.get(index).copied().unwrap_or(1.0);
                // Between classes there is no unit of the input.
                let by = if column.is_number { spread / unit } else { 1.0 / unit };
                keep_larger(&mut comparison, Some(scaled(*change, by)));
                keep_larger(&mut derivative, slope.map(|slope| scaled(slope, spread / unit)));
            }
        }
        InputImportance {
            relevance: relevance(draws, members),
            comparison,
            mean_absolute_derivative: derivative,
            leave_out: None,
        }
    };
    Ok((0..candidates.len()).map(of).collect())
}

fn scaled(Estimate { mean, sd }: Estimate, by: f64) -> Estimate {
    Estimate { mean: mean * by, sd: sd * by }
}

/// Keeps what is farther from 0.
fn keep_larger(kept: &mut Option<Estimate>, other: Option<Estimate>) {
    let size = |it: &Option<Estimate>| it.map_or(f64::NEG_INFINITY, |it| it.mean.abs());
    if size(&other) > size(kept) {
        *kept = other;
    }
}

/// Standard deviation of a column of numbers on the user's scale.
fn deviation(data: &Dataset, column: &InputColumn) -> f64 {
    column.scaling[0].scale * spread(data.inputs.column(column.inputs.start))
}

/// Standard deviations of real targets, and of the logarithms of durations, on the user's scale; none of
/// classes.
fn target_deviations(data: &Dataset, encoder: &Encoder) -> Vec<f64> {
    match &data.targets {
        Targets::Classes { .. } => Vec::new(),
        Targets::Counts { values, .. } => vec![spread(values)],
        Targets::Durations { .. } => {
            encoder.target_scaling().iter().map(|scaling| scaling.scale).collect()
        }
        Targets::Real { values, .. } => {
            let each = encoder.target_scaling().into_iter().enumerate();
            each.map(|(target, scaling)| scaling.scale * spread(values.column(target))).collect()
        }
    }
}

fn spread(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// The largest relevance of these inputs, over the draws that have them in; of a draw that has none
/// there is no relevance.
fn relevance(draws: &Draws, members: &[usize]) -> Option<Estimate> {
    let inclusion = draws.layout.of_role(Role::Inclusion)?;
    let labels = &inclusion.dimensions.first()?.labels;
    let slot = inclusion.range().start + members[0];
    let mut largest = None;
    for variable in draws.layout.variables() {
        let is_one = matches!(variable.role, Role::Relevance | Role::TermRelevance);
        let Some(inputs) = variable.dimensions.last().filter(|it| is_one && it.name == "input")
        else {
            continue;
        };
        for entry in variable.range() {
            let input = &inputs.labels[(entry - variable.range().start) % inputs.labels.len()];
            if !members.iter().any(|member| labels[*member] == *input) {
                continue;
            }
            let all = draws.values.chunks_exact(draws.layout.len());
            let values: Vec<f64> =
                all.filter(|draw| draw[slot] > 0.5).map(|draw| draw[entry]).collect();
            if !values.is_empty() {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                keep_larger(&mut largest, Some(Estimate { mean, sd: spread(&values) }));
            }
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::{Dimension, Layout};

    #[test]
    fn relevances_are_those_of_draws_that_have_the_input() {
        let names = ["a", "b"].map(String::from).to_vec();
        let mut layout = Layout::new();
        let input = Dimension { name: "input".into(), labels: vec!["b".into(), "a".into()] };
        layout.push("relevance_1", vec![input]);
        layout.push_scalar("relevance_above");
        layout.push_vector("inclusion", "input", names);
        let mut draws = Draws::empty(layout, 1, 0);
        draws.draws = 3;
        draws.values.extend([0.0, 2.0, 9.0, 1.0, 0.0]);
        draws.values.extend([5.0, 4.0, 9.0, 1.0, 1.0]);
        draws.values.extend([7.0, 0.0, 9.0, 0.0, 1.0]);
        assert_eq!(relevance(&draws, &[0]), Some(Estimate { mean: 3.0, sd: 1.0 }));
        assert_eq!(relevance(&draws, &[1]), Some(Estimate { mean: 6.0, sd: 1.0 }));
        draws.values.iter_mut().for_each(|value| *value = 0.0);
        assert_eq!(relevance(&draws, &[1]), None);
    }

    #[test]
    fn the_farthest_from_nothing_is_kept() {
        let figure = |mean| Some(Estimate { mean, sd: 0.1 });
        let mut kept = None;
        for mean in [0.2, -0.5, 0.4, f64::NAN] {
            keep_larger(&mut kept, figure(mean));
        }
        assert_eq!(kept, figure(-0.5));
        keep_larger(&mut kept, None);
        assert!(kept.is_some());
    }
}
