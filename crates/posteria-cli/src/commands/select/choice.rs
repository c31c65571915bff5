//! Tell which set of inputs was chosen.

use posteria::select::{ChoiceRule, InputChoice, SetUtility, UtilitySummary};
use serde::Serialize;

use super::assessor::Assessor;
use super::nested::Nested;
use crate::text;

/// The set to go on with, and what it was chosen by.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
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
    pub method: &'static str,
    /// Into how many folds rows were divided, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// What search and choice are worth for rows that neither has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<Nested>,
    /// What the utility of the chosen set is to be taken with.
    pub note: String,
}

impl Choice {
    /// What was chosen by a rule.
    pub fn new(found: &InputChoice, rule: &ChoiceRule, assessor: &Assessor<'_>) -> Self {
        Choice {
            utility: found.full_set.pointwise.name.clone(),
            utilities: found.utilities.clone(),
            full: found.full,
            chosen: found.chosen.clone(),
            chosen_by: words(rule),
            method: assessor.plan().method.name(),
            folds: assessor.folds(),
            nested: None,
            note: "the utility of the chosen set is a little optimistic: the same rows chose it \
                   (--nested K tells how much)"
                .into(),
        }
    }

    /// With what nested folds say about it.
    pub fn tell_nested(&mut self, nested: Nested) {
        self.note = format!(
            "the same rows chose the set and say what it is worth; nested folds put this optimism at {} \
             (sd {})",
            text::significant(nested.optimism.mean, 2),
            text::significant(nested.optimism.sd, 2),
        );
        self.nested = Some(nested);
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
        text::short(limit)
    )
}
