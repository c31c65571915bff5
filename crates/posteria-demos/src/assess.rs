//! Show what expected utilities tell, and what they need.

mod assessor;
pub mod grouped_data;
mod hulls;
pub mod lindley;
mod references;
pub mod residual_models;
pub mod robot_arm;

use posteria::assess::utility::UtilityFunction;
use posteria::assess::{Better, TargetFacts, UtilityError, parse_utility};

pub(super) use self::assessor::Assessor;
use super::estimate::Estimate;
use super::study::{Fitted, Study, numbers};
use super::{Demonstration, Quantity, Settings, mean_and_sd};
use crate::Result;

/// The utilities of these names, for what was fitted.
fn utilities(names: &[&str], fitted: &Fitted) -> Result<Vec<Box<dyn UtilityFunction>>> {
    let targets = TargetFacts::of(&fitted.fit.prepared.data);
    let parse = |name: &&str| parse_utility(name, &targets, Better::Higher);
    Ok(names.iter().map(parse).collect::<Result<_, UtilityError>>()?)
}

/// Something without a published figure.
fn unpublished(quantity: impl Into<String>, here: f64, sd: Option<f64>) -> Quantity {
    Quantity { quantity: quantity.into(), published: None, here, sd }
}
