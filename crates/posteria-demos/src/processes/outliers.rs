//! Fit Gaussian processes to Neal's regression with outliers [MCMCstuff §4.3.4].

use posteria::data::{Table, Task};
use posteria::model::spec::ResidualFamily;

use super::networks::outliers::{Published, report};
use super::{Demonstration, PREDICTED, Settings, study};
use crate::Result;

const WORDS: &str = "\
Gaussian processes with a squared exponential covariance on 100 new rows of the recipe, those of
outliers-mlp, tested on 100 more. One row in twenty is an outlier; the clean table is the same without
them. sd is the standard error over test rows; the degrees of freedom are given by their posterior
median and half the width of their central 68 %. The RMSE of 0.019 is that of the manual of MCMCstuff;
the mean square errors, 0.0194 ± 0.0113 with outliers and 0.0100 ± 0.0014 without, are those of Neal's
software, on Neal's own tables, where the true curve scores 0.0194 and 0.0081. With outliers the error
of any curve is mostly theirs: look at the distance from the true curve.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let plan = settings.plan(300, 1);
    let fit = |residual: ResidualFamily, training: &Table| {
        let fitted = study("y", Task::Regression, Some(residual)).fit(training, &plan, settings)?;
        Ok(fitted.predicting_from_one_in(PREDICTED))
    };
    let published = Published { t: (0.019, 0.019_39), clean: 0.009_99 };
    report("outliers-gp", WORDS, &published, &fit, settings)
}
