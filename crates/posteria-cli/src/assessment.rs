//! Find out how well a run predicts rows that it has not seen.

mod information;
mod matching;
mod method;
mod plan;
mod subject;

pub use information::{Information, information};
pub use method::{Assessed, Assessing, Method, Repair};
pub use plan::Plan;
pub use subject::Subject;
