//! Find out how well a run predicts rows that it has not seen.

mod rows;
mod subject;

pub use rows::{Source, for_rows};
pub use subject::Subject;
