//! Classify Ripley's synthetic mixture by a Gaussian process [MCMCstuff §4.3.2].

use posteria::data::Task;

use super::networks::two_class::{report, tables};
use super::{Demonstration, PREDICTED, Settings, study};
use crate::Result;

const WORDS: &str = "\
A Gaussian process with a squared exponential covariance as the log odds of two classes on 250 new
rows of the recipe, those of two-class-mlp, tested on 1000 more. sd is the standard error over test
rows. The manual of MCMCstuff reports 90 ± 3 % on Ripley's own tables; the best possible rule, which
knows how the rows were made, is right for 91.1 % of rows in the long run.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (training, test) = tables(settings);
    let fitted = study("class", Task::Binary, None);
    let fitted = fitted.fit(&training, &settings.plan(300, 1), settings)?;
    let fitted = fitted.predicting_from_one_in(PREDICTED);
    report("two-class-gp", WORDS, &fitted, (&training, &test), settings)
}
