//! Fit Gaussian processes to simulated tables.

pub mod outliers;
pub mod robot_arm;
pub mod surface;
pub mod two_class;

use posteria::data::Task;
use posteria::model::spec::{ModelKind, Priors, ResidualFamily, ResidualSpec, Spec};

use super::study::{Fitted, Study, numbers, outputs};
use super::{Demonstration, Quantity, Settings, estimate, networks};

/// Draws of which one is predicted from: 200 of 2000 predict as well, and each costs the cube of
/// the number of rows.
const PREDICTED: usize = 10;

/// A Gaussian process of the default specification, whose priors are those of [MCMCstuff §4.3].
fn study(target: &'static str, task: Task, residual: Option<ResidualFamily>) -> Study {
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Gp;
    spec.model.priors = Some(Priors::Mcmcstuff);
    spec.model.task = Some(task);
    spec.residual =
        residual.map(|family| ResidualSpec { family: Some(family), ..ResidualSpec::default() });
    Study { targets: vec![target], task, spec }
}
