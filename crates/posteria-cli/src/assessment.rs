//! Find out how well a run predicts rows that it has not seen.

mod information;
mod leave_one_out;
mod left_out;
mod matching;
mod method;
mod plan;
mod subject;
mod subsample;

pub use information::Information;
pub use left_out::{log_densities, usable};
pub use method::{Assessed, Assessing, Method, Repair};
pub use plan::Plan;
pub use subject::Subject;
pub use subsample::Subsample;
