//! What actions cost, and which is best.

use super::Rule;
use super::error::CostError;
use super::grid::{Grid, worse};
use super::matrix;
use crate::assess::TargetFacts;
use crate::assess::formula::{Fact, Facts, Formula, Scope};
use crate::predict::Predictive;

/// What every action costs, given the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    actions: Vec<String>,
    of: Of,
}

#[derive(Clone, Debug, PartialEq)]
enum Of {
    /// Of action a and class k at a · classes + k.
    Classes { classes: usize, costs: Vec<f64> },
    /// A formula, and the value that stands for every action in it.
    Number { formula: Formula, actions: Vec<f64> },
}

/// An action for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Index of the action, the first of equals.
    pub action: usize,
    /// What it costs on average.
    pub expected_cost: f64,
    /// What it costs at worst, where the rule is minimax.
    pub worst_cost: Option<f64>,
}

impl Costs {
    /// Reads a table: a header `action,CLASS,CLASS,…` with the classes in any order, and a line
    /// for every action with its cost for each class. Actions may be classes or anything else,
    /// such as `ask a doctor`. `file` is its name in messages.
    ///
    /// # Errors
    /// What is wrong, with line and column.
    pub fn from_table(file: &str, text: &str, targets: &TargetFacts) -> Result<Self, CostError> {
        let labels = match targets {
            TargetFacts::Classes { labels } | TargetFacts::Ordered { labels, .. } => labels,
            TargetFacts::Real { .. } => return Err(CostError::MatrixOfNumbers),
            TargetFacts::Censored { .. } => return Err(CostError::Censored),
            TargetFacts::Absent => return Err(CostError::Targets { count: 0 }),
        };
        let matrix::Matrix { actions, costs } = matrix::read(file, text, labels)?;
        Ok(Costs { actions, of: Of::Classes { classes: labels.len(), costs } })
    }

    /// A formula over the target `y` and the action `a` (or `action`), each out of `actions`: numbers
    /// (`abs(y - a)`) or words (`if(a == buy, 10 - y, 0)`). For classes, `actions` may
    /// be empty: then each class is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_formula(
        text: &str,
        targets: &TargetFacts,
        actions: &[String],
    ) -> Result<Self, CostError> {
        let labels = targets.labels();
        let actions = if actions.is_empty() { labels } else { actions };
        match targets {
            TargetFacts::Real { names, .. } if names.len() == 1 => {}
            TargetFacts::Classes { .. } | TargetFacts::Ordered { .. } => {}
            TargetFacts::Real { names, .. } => {
                return Err(CostError::Targets { count: names.len() });
            }
            TargetFacts::Censored { .. } => return Err(CostError::Censored),
            TargetFacts::Absent => return Err(CostError::Targets { count: 0 }),
        }
        if actions.is_empty() {
            return Err(CostError::NoChoice);
        }
        let repeated =
            (1..actions.len()).find(|index| actions[..*index].contains(&actions[*index]));
        if let Some(index) = repeated {
            let (file, action) = ("actions".to_string(), actions[index].clone());
            return Err(CostError::RepeatedAction { file, line: index + 1, action });
        }
        let scope = Scope::cost(targets, actions);
        let formula = Formula::parse(text, &scope)?;
        let values = scope.action_values();
        let actions = actions.to_vec();
        if labels.is_empty() {
            return Ok(Costs { actions, of: Of::Number { formula, actions: values } });
        }
        let mut costs = Vec::with_capacity(actions.len() * labels.len());
        for (action, name) in values.iter().zip(&actions) {
            for (class, label) in labels.iter().enumerate() {
                let value = formula.evaluate(&Case { y: class as f64, action: *action });
                if !value.is_finite() {
                    let (action, label) = (name.clone(), label.clone());
                    return Err(CostError::NotFinite { action, label, value });
                }
                costs.push(value);
            }
        }
        Ok(Costs { actions, of: Of::Classes { classes: labels.len(), costs } })
    }

    /// Names of the actions.
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// The cost of an action if the target is `y` (of classes, the index of the class).
    ///
    /// # Panics
    /// If there is no such action or class.
    pub fn cost(&self, action: usize, y: f64) -> f64 {
        match &self.of {
            Of::Classes { classes, costs } => costs[action * classes + y as usize],
            Of::Number { formula, actions } => {
                formula.evaluate(&Case { y, action: actions[action] })
            }
        }
    }

    /// The action for a row, the first of equals. A cost that is not a number (a formula may have
    /// such) makes its action the last choice.
    ///
    /// Expectations over numbers are integrals over 240 cells of the distribution, with an error of
    /// some 1e-4 of smooth costs; beyond a probability of 1e-6 on either side costs count as
    /// there.
    ///
    /// # Panics
    /// If the predictive distribution is of another kind of target.
    pub fn decide(&self, predictive: &Predictive<'_>, rule: Rule) -> Decision {
        let count = self.actions.len();
        let mut expected = Vec::with_capacity(count);
        let mut worst = Vec::new();
        match &self.of {
            Of::Classes { classes, costs } => {
                let mut probabilities = vec![0.0; *classes];
                predictive.probabilities(&mut probabilities);
                for costs in costs.chunks_exact(*classes) {
                    let each = costs.iter().zip(&probabilities);
                    expected.push(each.clone().map(|(cost, p)| cost * p).sum::<f64>());
                    if let Rule::Minimax { negligible } = rule {
                        let may_come = each.filter(|(_, p)| **p >= negligible);
                        worst.push(may_come.map(|(c, _)| *c).fold(f64::NEG_INFINITY, worse));
                    }
                }
            }
            Of::Number { .. } => {
                let grid = Grid::new(predictive);
                for action in 0..count {
                    expected.push(grid.expect(|y| self.cost(action, y)));
                    if let Rule::Minimax { negligible } = rule {
                        worst.push(grid.greatest(negligible, |y| self.cost(action, y)));
                    }
                }
            }
        }
        let judged = if worst.is_empty() { &expected } else { &worst };
        let less = |best: usize, action: usize| {
            let better = judged[action] < judged[best];
            if better || (judged[best].is_nan() && !judged[action].is_nan()) {
                action
            } else {
                best
            }
        };
        let action = (1..count).fold(0, less);
        let worst_cost = worst.get(action).copied();
        Decision { action, expected_cost: expected[action], worst_cost }
    }
}

/// A target and an action.
struct Case {
    y: f64,
    action: f64,
}

impl Facts for Case {
    fn fact(&self, fact: Fact) -> f64 {
        match fact {
            Fact::Observed(_) => self.y,
            Fact::Action => self.action,
            // A cost knows no prediction.
            _ => f64::NAN,
        }
    }
}
