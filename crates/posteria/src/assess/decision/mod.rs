//! Turn predictions into actions: the one that costs least on average, or at worst.
//!
//! What an action costs depends on what the target turns out to be: a [`Costs`] holds a matrix of
//! actions × classes, or a formula over the target `y` and the action `a`. Under the predictive
//! distribution every action has an expected cost, and [`Costs::decide`] finds the action by a
//! [`Rule`] [Fabricius 1999, §3.2]. As a [`UtilityFunction`], [`ActionCost`] tells what
//! deciding by the model will cost.

mod costs;
mod error;
mod grid;
mod matrix;
#[cfg(test)]
mod tests;

pub use costs::{Costs, Decision};
pub use error::CostError;

use super::utility::{Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// How an action is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The least expected cost.
    Expected,
    /// The least of the greatest costs that may come.
    Minimax {
        /// Classes of a smaller probability do not count, nor do numbers outside the central
        /// interval that leaves out this probability. With 0 the probabilities say nothing, and the
        /// action of the least greatest entry of the matrix is best for every row.
        negligible: f64,
    },
}

impl Rule {
    /// Minimax over all but what has a probability of less than 0.01.
    pub const MINIMAX: Rule = Rule::Minimax { negligible: 0.01 };
}

/// The cost of the action that is chosen by the prediction, at the target itself: its expected
/// utility is what deciding by the model will cost per row.
#[derive(Clone, Debug)]
pub struct ActionCost {
    costs: Costs,
    rule: Rule,
}

impl ActionCost {
    /// Decides by these costs and this rule.
    pub fn new(costs: Costs, rule: Rule) -> Self {
        ActionCost { costs, rule }
    }
}

impl UtilityFunction for ActionCost {
    fn name(&self) -> &str {
        "cost"
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        self.costs.cost(self.costs.decide(predictive, self.rule).action, observed[0])
    }
}
