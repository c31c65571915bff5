//! From a table of text to inputs, targets and folds.

mod dataset;
mod standardize;

pub use dataset::{Dataset, Targets, Task};
pub use standardize::Standardization;
