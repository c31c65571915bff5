//! Which inputs? What chains over input sets say about inputs, sizes and sets.

mod between_models;
mod smallest;
mod visits;

pub use between_models::{BetweenModels, between_models};
pub use smallest::SmallestSize;
pub use visits::{InputProbability, SelectError, SetProbability, SizeProbability, Visits, visits};
