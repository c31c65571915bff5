//! How good are the predictions? Leave-one-out by importance sampling, criteria, model weights.
//!
//! Everything here begins with the log likelihood of every row under every draw
//! ([`LogLikelihoods`]), whoever made it. Row by row: [`importance_weights`] turn draws of the
//! posterior into draws of the posterior without that row, [`leave_one_out()`] adds up what they
//! predict, [`match_moments`] mends rows whose weights fail. [`compare`] then puts models side by
//! side.

mod affine;
mod dic;
mod importance;
mod leave_one_out;
mod log_likelihoods;
mod model_comparison;
mod model_weights;
mod moment_matching;
mod pareto;
#[cfg(test)]
mod reference;
mod stacking;
mod waic;

pub use dic::Dic;
pub use importance::{
    ImportanceError, ImportanceWeights, Smoothing, importance_weights, pareto_shape_limit,
    tail_length,
};
pub use leave_one_out::{
    LeaveOneOut, LeaveOneOutOptions, PointwiseLoo, RelativeEfficiency, ShapeCounts, leave_one_out,
};
pub use log_likelihoods::{LogLikelihoodError, LogLikelihoods};
pub use model_comparison::{ComparedModel, Comparison, Weighting, compare};
pub use model_weights::{PointwiseError, pseudo_bma, pseudo_bma_plus};
pub use moment_matching::{
    Evaluated, Matched, MomentMatching, MomentMatchingError, MomentMove, match_moments,
};
pub use pareto::ParetoTail;
pub use stacking::stacking_weights;
pub use waic::{PointwiseWaic, Waic, waic};
