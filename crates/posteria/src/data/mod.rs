//! From a table of text to inputs, targets and folds.

mod column;
mod dataset;
mod duration;
mod encoder;
#[cfg(test)]
mod encoding;
mod error;
mod error_words;
mod extrapolation;
mod fault;
#[cfg(test)]
mod fixtures;
mod fold_error;
mod fold_scheme;
mod folds;
mod header;
mod learner;
mod levels;
#[cfg(test)]
mod odd_columns;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod properties;
mod reader;
pub mod recipes;
mod roles;
mod rows;
mod standardize;
mod stored;
mod table;
mod target_encoding;
mod text;

pub use column::{Cell, Column};
pub use dataset::{Dataset, Targets, Task};
pub use duration::{Censoring, Ending};
pub use encoder::{EncodedRows, Encoder, Encoding, InputColumn};
pub use error::{Cells, DataError, Place};
pub use fault::{CellFault, TextFault};
pub use fold_error::FoldError;
pub use fold_scheme::{FoldBy, FoldScheme, FoldSpec};
pub use folds::Folds;
pub(crate) use levels::LevelKind;
pub use reader::{Delimiter, Limits};
pub use roles::{Missing, Roles};
pub use standardize::Standardization;
pub use table::Table;
pub(crate) use table::nearest;
pub use text::TextFormat;
