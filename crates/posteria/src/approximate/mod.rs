//! Take something else in the place of a posterior: methods without Markov chains.

mod committee;

pub use committee::{Members, member};
