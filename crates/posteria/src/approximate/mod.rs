//! Take something else in the place of a posterior: methods without Markov chains.

mod committee;
mod independent;
mod tempered;

pub use committee::{Members, member};
pub use independent::{Approximation, Independent};
pub use tempered::TemperedPosterior;
