//! A number that sums up the targets of all rows.

use super::aggregate::Aggregation;
use super::program::{Fact, Facts, Program};
use super::{FormulaError, Scope, compile};
use crate::assess::TargetFacts;

/// A statistic T(y) of the targets of all rows: a formula over functions of all rows.
///
/// ```
/// use posteria::assess::TargetFacts;
/// use posteria::assess::formula::Statistic;
///
/// let target = TargetFacts::Real { names: vec!["y".into()], deviations: vec![1.0] };
/// let spread = Statistic::parse("max(y) - min(y)", &target)?;
/// assert_eq!(spread.of(&[3.0, -1.0, 2.0]), 4.0);
/// let far = Statistic::parse("mean(abs(y - median(y)) > 2)", &target)?;
/// assert_eq!(far.of(&[0.0, 1.0, 2.0, 5.0]), 0.25);
/// # Ok::<(), posteria::assess::formula::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    text: String,
    program: Program,
    aggregations: Vec<Aggregation>,
    /// Targets of a row.
    targets: usize,
    /// Whether a number below 0 is a duration that is censored there.
    signed: bool,
}

impl Statistic {
    /// Compiles a statistic of these targets; see the [module](super) for the language.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, targets: &TargetFacts) -> Result<Self, FormulaError> {
        let (program, aggregations) = compile(text, &Scope::statistic(targets))?;
        let signed = matches!(targets, TargetFacts::Censored { .. });
        let targets = match targets {
            TargetFacts::Real { names, .. } => names.len(),
            _ => 1,
        };
        Ok(Statistic { text: text.to_string(), program, aggregations, targets, signed })
    }

    /// The statistic as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value for the targets of all rows, row after row; classes by their indices, censored durations
    /// below 0. NaN where it
    /// does not exist.
    pub fn of(&self, targets: &[f64]) -> f64 {
        let mut known: Vec<f64> = Vec::with_capacity(self.aggregations.len());
        let mut values = Vec::with_capacity(targets.len() / self.targets.max(1));
        // One that another contains is compiled, and found, before it.
        for Aggregation { how, of } in &self.aggregations {
            values.clear();
            let rows = targets.chunks_exact(self.targets);
            values.extend(
                rows.map(|row| of.run(&Row { targets: row, known: &known, signed: self.signed })),
            );
            known.push(how.of(&mut values));
        }
        self.program.run(&Row { targets: &[], known: &known, signed: self.signed })
    }
}

/// The targets of a row, and what is known of all rows.
struct Row<'a> {
    targets: &'a [f64],
    known: &'a [f64],
    signed: bool,
}

impl Facts for Row<'_> {
    fn fact(&self, fact: Fact) -> f64 {
        match fact {
            Fact::Observed(target) => {
                let value = self.targets.get(target).copied().unwrap_or(f64::NAN);
                if self.signed { value.abs() } else { value }
            }
            Fact::Censored => {
                self.targets.first().map_or(f64::NAN, |y| f64::from(u8::from(*y < 0.0)))
            }
            Fact::Aggregate(index) => self.known[index],
            _ => f64::NAN,
        }
    }
}
