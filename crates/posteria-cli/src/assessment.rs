//! Find out how well a run predicts rows that it has not seen.

mod evaluate;
mod information;
mod matching;
mod method;
mod plan;
mod pointwise;
mod subject;

pub use evaluate::{Answers, Questions};
pub use information::{Information, information};
pub use method::{Assessed, Assessing, Method, Repair};
pub use plan::Plan;
pub use pointwise::{Divided, pointwise};
pub use subject::Subject;
