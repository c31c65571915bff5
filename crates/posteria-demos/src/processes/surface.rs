//! Fit a Gaussian process to the surface of Paciorek and Schervish [MCMCstuff §4.3.1].

use posteria::data::Task;
use posteria::model::spec::ResidualFamily;

use super::networks::surface::{report, tables};
use super::{Demonstration, PREDICTED, Settings, study};
use crate::Result;

const WORDS: &str = "\
A Gaussian process with a squared exponential covariance and normal residuals on 225 new rows of the
recipe, those of surface-mlp. sd is the standard error over points or rows; of the residual its
posterior standard deviation. The manual of MCMCstuff draws the fitted surface and prints no error;
0.24 is the ten-fold cross-validation error of a Gaussian process on the published table (GPstuff),
and 0.25 the noise it was made with. The manual notes that a few hundred draws are enough, where a
network needs thousands.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (training, new) = tables(settings);
    let study = study("y", Task::Regression, Some(ResidualFamily::Normal));
    let fitted = study.fit(&training, &settings.plan(300, 1), settings)?;
    let fitted = fitted.predicting_from_one_in(PREDICTED);
    report("surface-gp", WORDS, &fitted, (&training, &new), settings)
}
