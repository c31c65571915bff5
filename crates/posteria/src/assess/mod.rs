//! How good will predictions be? Expected utilities, their distributions, differences, decisions.

mod bootstrap;
pub mod calibration;
pub mod decision;
mod difference;
mod draw_replicates;
mod expected;
pub mod formula;
mod pointwise;
mod target_facts;
pub mod utility;

pub use bootstrap::{Bootstrap, BootstrapError};
pub use difference::{
    Comparison, ComparisonError, Difference, PseudoBayesFactor, compare, difference,
};
pub use draw_replicates::{DrawBlocks, draw_replicates, log_density_replicates};
pub use expected::{Components, ExpectedUtility, NormalApproximation, bayesian_bootstrap};
pub use pointwise::{BiasTerms, Evaluation, PointwiseUtilities, Terms};
pub use target_facts::TargetFacts;
pub use utility::{Better, Summary, Utility, UtilityError, parse_utility};
