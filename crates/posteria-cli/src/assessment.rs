//! Find out how well a run predicts rows that it has not seen.

mod evaluate;
mod information;
mod method;
mod plan;
mod rows;
mod subject;

pub use information::{Information, information};
pub use method::{Assessed, Assessing, Method};
pub use plan::Plan;
pub use rows::{Source, for_rows};
pub use subject::Subject;
