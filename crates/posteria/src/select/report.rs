//! Tell what is known about inputs and sets, as a value with the names that JSON has.

use serde::{Deserialize, Serialize};

use super::{
    ChoiceRule, InputChoice, InputImportance, SetProbability, SetUtility, SizeProbability,
    UtilitySummary, Visits,
};
use crate::model::spec::{ModelKind, Spec};

/// Relevance is no importance [Vehtari 2001 §2.2.4].
const NOTE: &str = "relevance measures how much the function bends along an input, not how much the input \
                    matters to predictions: an input with a straight effect has a small relevance";

/// What is known about inputs and sets, as `posteria select --json` has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SelectionReport {
    /// The kind of model.
    pub model: String,
    /// Every candidate.
    pub inputs: Vec<InputReport>,
    /// Numbers of candidates.
    pub sizes: Vec<SizeProbability>,
    /// The most probable sets.
    pub models: Vec<SetProbability>,
    /// Inputs that are in every set.
    pub always: Vec<String>,
    /// Inputs to go on with, besides those.
    pub chosen: Vec<String>,
    /// How they were chosen.
    pub chosen_by: String,
    /// What predictions by sets are worth, if one was chosen by that.
    #[serde(flatten)]
    pub choice: Option<ChoiceReport>,
    /// Different sets that were visited.
    pub visited: usize,
    /// Share of draws whose set is another than that of the draw before.
    #[serde(deserialize_with = "crate::json::nan")]
    pub jump_rate: f64,
    /// Largest split R-hat of the number of inputs and of single inputs.
    #[serde(deserialize_with = "crate::json::nan")]
    pub between_model_r_hat: f64,
    /// p value of Kolmogorov–Smirnov tests between chains on the number of inputs.
    #[serde(deserialize_with = "crate::json::nan")]
    pub ks_p: f64,
    /// p value of χ² tests between chains.
    #[serde(deserialize_with = "crate::json::nan")]
    pub chi_square_p: f64,
    /// Integrated autocorrelation time of the number of inputs.
    #[serde(deserialize_with = "crate::json::nan")]
    pub autocorrelation_time: f64,
    /// How relevances are to be read, where they measure how much a function bends.
    pub importance_note: Option<String>,
}

/// What is known about one candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// Posterior probability to be in.
    #[serde(deserialize_with = "crate::json::nan")]
    pub probability: f64,
    /// Its Monte Carlo standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// Prior probability.
    #[serde(deserialize_with = "crate::json::nan")]
    pub prior: f64,
    /// How much it matters.
    pub importance: InputImportance,
}

/// What sets were chosen by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChoiceReport {
    /// What predictions are worth.
    pub utility: String,
    /// Sets of inputs, the smallest first.
    pub utilities: Vec<SetUtility>,
    /// All inputs.
    pub full: UtilitySummary,
    /// The inputs of the set that was chosen.
    #[serde(skip)]
    pub chosen: Vec<String>,
    /// By what rule.
    #[serde(skip)]
    pub chosen_by: String,
    /// How rows were predicted: loo or kfold.
    pub method: String,
    /// Into how many folds rows were divided, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// What search and choice are worth for rows that neither has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<NestedReport>,
    /// What the utility of the chosen set is to be taken with.
    pub note: String,
}

/// What search and choice are worth for rows that neither has seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NestedReport {
    /// Number of folds.
    pub folds: usize,
    /// The expected utility of what search and choice come to.
    #[serde(flatten)]
    pub utility: UtilitySummary,
    /// The utility of the chosen set as the rows that chose it have it.
    pub chosen: UtilitySummary,
    /// By how much the latter is too good: positive if it is.
    pub optimism: UtilitySummary,
    /// Probability that all inputs are better than search and choice.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_full_better: f64,
    /// The sets that were chosen, those that were chosen most often first.
    pub sets: Vec<SetTimes>,
    /// How often each input was chosen.
    pub inputs: Vec<InputTimes>,
}

/// A set and in how many folds it was chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetTimes {
    /// The inputs.
    pub inputs: Vec<String>,
    /// Number of folds.
    pub folds: usize,
}

/// An input and in how many folds it was chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputTimes {
    /// Its name.
    pub name: String,
    /// Number of folds.
    pub folds: usize,
}

impl SelectionReport {
    /// What the draws of a model with this specification say, and how much each candidate matters.
    pub fn new(spec: &Spec, found: &Visits, importance: Vec<InputImportance>) -> Self {
        let inputs = found.inputs.iter().zip(importance).map(|(input, importance)| InputReport {
            name: input.name.clone(),
            probability: input.probability,
            sd: input.sd,
            prior: input.prior,
            importance,
        });
        let always = spec.selection.as_ref().and_then(|selection| selection.always.clone());
        SelectionReport {
            model: spec.model.kind.name().into(),
            inputs: inputs.collect(),
            sizes: found.sizes.clone(),
            models: found.sets.clone(),
            always: always.unwrap_or_default(),
            chosen: found.median_model().into_iter().map(Into::into).collect(),
            chosen_by: "median probability model: inputs more probable than not".into(),
            choice: None,
            visited: found.visited,
            jump_rate: found.jump_rate,
            between_model_r_hat: found.between.r_hat,
            ks_p: found.between.ks_p,
            chi_square_p: found.between.chi_square_p,
            autocorrelation_time: found.between.autocorrelation_time,
            importance_note: (spec.model.kind != ModelKind::Linear).then(|| NOTE.into()),
        }
    }

    /// With a set that was chosen by its predictions.
    pub fn choose(&mut self, choice: ChoiceReport) {
        self.chosen.clone_from(&choice.chosen);
        self.chosen_by.clone_from(&choice.chosen_by);
        self.choice = Some(choice);
    }
}

impl ChoiceReport {
    /// What was chosen by a rule, of sets that were assessed by a method of this name, perhaps with so
    /// many folds.
    pub fn new(
        found: &InputChoice,
        rule: &ChoiceRule,
        (method, folds): (&'static str, Option<usize>),
    ) -> Self {
        ChoiceReport {
            utility: found.full_set.pointwise.name.clone(),
            utilities: found.utilities.clone(),
            full: found.full,
            chosen: found.chosen.clone(),
            chosen_by: words(rule),
            method: method.into(),
            folds,
            nested: None,
            note: "the utility of the chosen set is a little optimistic: the same rows chose it \
                   (--nested K tells how much)"
                .into(),
        }
    }
}

fn words(rule: &ChoiceRule) -> String {
    let better = match rule.tolerance {
        Some(tolerance) => format!("better by more than {tolerance}"),
        None => "better".into(),
    };
    let limit = if rule.tolerance.is_some() { rule.level } else { 1.0 - rule.level };
    format!(
        "the smallest set that predicts as well as all inputs: the probability that all inputs \
         are {better} is below {}",
        three_digits(limit)
    )
}

/// A probability with three significant digits.
fn three_digits(probability: f64) -> String {
    if probability < 1e-3 {
        return format!("{probability:.2e}");
    }
    let decimals = (2.0 - probability.log10().floor()).max(0.0) as usize;
    format!("{probability:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_told_with_its_limit() {
        let usual = ChoiceRule { tolerance: None, level: 0.05 };
        assert!(words(&usual).ends_with("all inputs are better is below 0.950"));
        let by = ChoiceRule { tolerance: Some(0.2), level: 0.05 };
        assert!(words(&by).ends_with("better by more than 0.2 is below 0.0500"));
        assert_eq!(three_digits(2e-4), "2.00e-4");
    }
}
