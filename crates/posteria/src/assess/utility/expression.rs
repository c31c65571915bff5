//! A utility that a user wrote as a formula.

use super::super::TargetFacts;
use super::super::formula::{Fact, Facts, Formula, FormulaError, Scope};
use super::{Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// A formula over the target and its predictive distribution, averaged over rows; see
/// [`formula`](crate::assess::formula) for the language.
#[derive(Clone, Debug)]
pub struct Expression {
    name: String,
    formula: Formula,
    better: Better,
}

impl Expression {
    /// Compiles a formula.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn new(formula: &str, targets: &TargetFacts, better: Better) -> Result<Self, FormulaError> {
        let formula = Formula::parse(formula, &Scope::prediction(targets))?;
        Ok(Expression { name: format!("expr:{}", formula.text()), formula, better })
    }
}

impl UtilityFunction for Expression {
    fn name(&self) -> &str {
        &self.name
    }
    fn better(&self) -> Better {
        self.better
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        self.formula.evaluate(&Row { predictive, observed })
    }
}

struct Row<'a> {
    predictive: &'a Predictive<'a>,
    observed: &'a [f64],
}

impl Facts for Row<'_> {
    fn fact(&self, fact: Fact) -> f64 {
        match fact {
            Fact::Observed(target) => self.observed[target],
            Fact::Mean(target) => self.predictive.mean(target).unwrap_or(f64::NAN),
            Fact::Sd(target) => self.predictive.sd(target).unwrap_or(f64::NAN),
            Fact::Median(target) => self.predictive.quantile(target, 0.5),
            Fact::LogDensity => self.predictive.log_density(self.observed),
            Fact::MostProbable => self.predictive.most_probable() as f64,
            // The scope of a prediction has none.
            Fact::Action | Fact::Censored | Fact::Aggregate(_) => f64::NAN,
        }
    }

    fn quantile(&self, target: usize, probability: f64) -> f64 {
        self.predictive.quantile(target, probability)
    }

    fn cdf(&self, target: usize, value: f64) -> f64 {
        self.predictive.cdf(target, value)
    }

    fn probability(&self, class: usize) -> f64 {
        match class < self.predictive.family().classes() {
            true => self.predictive.log_probability(class).exp(),
            false => 0.0,
        }
    }
}
