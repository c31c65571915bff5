//! Draws and inputs become predictive distributions; knows no model.
//!
//! A [`Predictor`] says what the target of a row follows given one draw: a [`Family`] and its
//! parameters. Over all draws that is a mixture, the [`Predictive`] of the row, which has a
//! density, moments, quantiles and class probabilities whatever the model was, and so has the average
//! over several models. A
//! [`PredictiveTable`] holds the mixtures of many rows, and [`input_effects`] measures what
//! each input does to the predictions.

mod average;
mod count;
mod draw_mixture;
mod duration;
mod effects;
mod family;
mod marginal;
mod mixture;
mod normal_location;
mod normal_plus_laplace;
mod normal_plus_student_t;
mod predictive;
mod predictor;
mod quantile;
mod table;
#[cfg(test)]
mod tests;

pub use average::ModelShare;
pub use effects::{EffectOptions, Estimate, InputEffect, input_effects};
pub use family::Family;
pub(crate) use mixture::LogSum;
pub use predictive::Predictive;
pub use predictor::Predictor;
pub(crate) use predictor::split_offsets;
pub use table::PredictiveTable;
