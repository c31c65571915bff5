//! Fit lines and planes to simulated tables, beside their exact answers.

pub mod inputs;
pub mod line;

use posteria::data::Task;
use posteria::model::spec::Spec;

use super::study::{Study, numbers};
use super::{Demonstration, Quantity, Settings, estimate, picture};

/// A linear regression of `y`, on the scale of the table.
fn study(text: &str) -> Study {
    let mut spec = Spec::from_toml(text).expect("a specification of this file");
    spec.data.standardize = false;
    Study { targets: vec!["y"], task: Task::Regression, spec }
}
