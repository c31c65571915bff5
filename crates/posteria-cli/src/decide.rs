//! Read what actions cost.

use std::fs;
use std::path::Path;

use posteria::assess::TargetFacts;
use posteria::assess::decision::{CostError, Costs, Rule};

use crate::args::{Choosing, DecisionRule};
use crate::failure::{Classify, Failure, Result};

/// Endings of a name that is meant as a file, also if it is not there.
const ENDINGS: [&str; 3] = ["csv", "tsv", "txt"];

/// Costs, and how to choose by them.
#[derive(Debug)]
pub struct Decide {
    /// What actions cost.
    pub costs: Costs,
    /// How one is chosen.
    pub rule: Rule,
}

impl Decide {
    /// What `--cost`, `--actions` and `--rule` ask for.
    pub fn new(
        cost: Option<&str>,
        choosing: &Choosing,
        targets: &TargetFacts,
    ) -> Result<Option<Self>> {
        let Some(given) = cost else { return Ok(None) };
        let Choosing { actions, rule } = choosing;
        let path = Path::new(given);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_file = path.is_file() || ending.is_some_and(|ending| ENDINGS.contains(&ending));
        let costs = match is_file {
            true => {
                if !actions.is_empty() {
                    return Err(Failure::bad_input(
                        "the actions are the lines of the table of costs; omit --actions",
                    ));
                }
                let text = fs::read_to_string(path);
                let text = text.map_err(|error| {
                    Failure::bad_input(format!("{given}: cannot be read: {error}"))
                })?;
                Costs::from_table(given, &text, targets).bad_input()?
            }
            false => {
                let actions: Vec<String> =
                    actions.iter().map(|action| action.trim().to_string()).collect();
                Costs::from_formula(given, targets, &actions).map_err(refused)?
            }
        };
        let rule = match rule {
            DecisionRule::Expected => Rule::Expected,
            DecisionRule::Minimax => Rule::MINIMAX,
        };
        Ok(Some(Decide { costs, rule }))
    }
}

/// An error of a formula goes on one line.
fn refused(error: CostError) -> Failure {
    Failure::bad_input(match error {
        CostError::Formula(error) => format!("--cost: {} of {}", error.message(), error.formula),
        CostError::NoChoice => format!("--cost: {error}, by --actions"),
        error => format!("--cost: {error}"),
    })
}
