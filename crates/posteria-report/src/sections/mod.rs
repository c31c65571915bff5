//! The sections of a report: each is a plain struct of results, and says how it is shown.
//!
//! Whoever holds results fills in the structs; a struct without numbers gives an empty section,
//! which [`Part::push`](crate::Part::push) leaves out.

mod checks;
mod comparison;
mod convergence;
mod densities;
mod evidence;
mod model;
mod predictions;
mod prior_draws;
mod results;
mod selection;
mod utilities;
mod verdict;
mod weights;

pub use checks::{CheckedStatistic, Checks};
pub use comparison::{ElpdForest, ElpdOfModel};
pub use convergence::{
    ChainFacts, ChainOnRows, Convergence, Disagreement, Energy, Pair, Trace, VariableFacts,
};
pub use densities::{Densities, DensityGroup, Sample};
pub use evidence::{Evidence, ModelEvidence, PathPoint};
pub use model::{ColumnFacts, Model};
pub use predictions::{
    Band, Basis, ClassifiedRows, Curve, Effect, FittedRows, Pit, PointSet, Predictions, RankedRows,
    Rates, Replicated, Surface,
};
pub use prior_draws::PriorDraws;
pub use results::{Quantity, Results};
pub use selection::{InputFacts, ModelFacts, NestedFacts, Selection, SizeFacts, UtilityOfSize};
pub use utilities::{Comparison, Utilities, Utility};
pub use verdict::{Doubt, Verdict};
pub use weights::{MassOfLargest, WeightReliability};

use crate::number::{fixed, short};

/// `value` as precisely as its `spread` deserves.
fn precise(value: f64, spread: f64) -> String {
    if !(spread > 0.0 && spread.is_finite()) {
        return short(value);
    }
    let decimals = 2 - spread.log10().floor() as i64;
    if (0..=8).contains(&decimals) { fixed(value, decimals as usize) } else { short(value) }
}

/// A count with its noun.
fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
