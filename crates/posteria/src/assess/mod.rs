//! How good will predictions be? Leave-one-out, expected utilities and their distributions,
//! comparisons, decisions.
//!
//! From the log likelihood of every row under every draw ([`LogLikelihoods`]), whoever made it:
//! importance weights turn draws of the posterior into draws of the posterior without a row,
//! [`leave_one_out()`] adds up what they predict, moment matching repairs rows whose
//! weights fail, and
//! [`compare_elpds`] puts models side by side. Chains that do not mix are weighed as models are by
//! [`ChainStacking`].
//!
//! For any [`UtilityFunction`]: [`PointwiseUtilities`] hold what the predictions of rows that were left out
//! are worth, [`bayesian_bootstrap`] gives the distribution of what those of new rows will be, and
//! [`compare`] the probability that one model is better than another.

mod affine;
mod assessor;
mod averaged;
mod bootstrap;
pub mod calibration;
mod chain_score;
mod chain_stacking;
mod chains_of_fit;
mod comparison;
pub mod decision;
mod dic;
mod difference;
mod discrimination;
mod draw_blocks;
mod draw_matching;
mod expected;
pub mod formula;
mod k_fold;
mod leave_one_out;
mod leave_out_row;
mod log_likelihoods;
mod model_comparison;
mod model_weights;
mod moment_matching;
mod of_fit;
mod pointwise;
mod predictions;
mod predictive_check;
#[cfg(test)]
mod reference;
mod report;
mod row_prediction;
mod row_utilities;
mod sampled;
mod stacking;
mod subsample;
mod target_facts;
pub mod utility;
mod valuation;
mod waic;
mod watched;

pub(crate) use crate::diagnose::importance::importance_weights;
pub use crate::diagnose::importance::{
    ImportanceError, ImportanceWeights, Smoothing, pareto_shape_limit,
};
pub use assessor::{
    AssessError, Assessed, Assessor, Division, EachFold, FittedFolds, FoldModel, FoldStart,
    FoldsOfFit, HeldOut, HeldOutRows, InMemoryRefit, Information, Method, Note, Refit, Repair,
    Subsample,
};
pub(crate) use averaged::StackedScore;
pub use averaged::{AveragedPredictions, ModelAverage};
pub use bootstrap::{Bootstrap, BootstrapError};
pub use chain_score::ChainScore;
pub use chain_stacking::{ChainStacking, ChainStackingError, WorseChain};
pub use chains_of_fit::{ChainsRefused, FitChains, StackedChains};
pub use comparison::{
    CompareOptions, ComparedFit, ComparedSubgroup, ComparisonAsked, ComparisonReport,
    ComparisonRow, DifferenceReport, ModelUtilities, ModelUtility, NotComparable, SampledRows,
    UtilityComparison, check_comparable, compare_fits,
};
pub use dic::Dic;
pub use difference::{
    Comparison, ComparisonError, Difference, PseudoBayesFactor, compare, difference,
};
pub use discrimination::{Discrimination, Threshold};
pub use draw_blocks::DrawBlocks;
pub use draw_matching::DrawMatchingError;
pub(crate) use draw_matching::{DrawMatching, MatchedDraws};
pub(crate) use expected::NormalApproximation;
pub use expected::{Components, ExpectedUtility, bayesian_bootstrap};
pub use k_fold::{KFoldUtilities, pointwise_utilities};
pub use leave_one_out::{
    EffectiveSizes, LeaveOneOut, LeaveOneOutOptions, PointwiseLoo, RelativeEfficiency, ShapeCounts,
    leave_one_out,
};
pub use leave_out_row::weights_leaving_out;
pub use log_likelihoods::{LogLikelihoodError, LogLikelihoods};
pub(crate) use model_comparison::compare_sampled_elpds;
pub use model_comparison::{ComparedModel, ElpdComparison, Weighting, compare_elpds};
pub use model_weights::{PointwiseError, pseudo_bma, pseudo_bma_plus};
pub use moment_matching::MomentMatchingError;
pub(crate) use moment_matching::{Matched, MomentMatching};
pub use of_fit::{AssessOptions, FitAssessment};
pub use pointwise::{BiasTerms, Evaluation, PointwiseUtilities, Terms};
pub use predictions::Predictions;
pub use predictive_check::{
    PredictiveCheck, ReplicatedStatistic, StatisticCheck, usual_statistics,
};
pub use report::{
    AssessmentAsked, AssessmentReport, EffectiveParameters, InformationCriteria, PointwiseRow,
    RowGroups, Subgroup, SubgroupUtility, SubsampleReport, UtilityReport,
};
pub(crate) use row_prediction::share_right;
pub use row_prediction::{
    PredictOptions, PredictionFigures, RowPrediction, Score, TargetPrediction, mean_cost,
};
pub use row_utilities::{RowUtilities, UtilityEvaluator};
pub use sampled::Sampled;
pub use stacking::stacking_weights;
pub use subsample::{RowSample, SampledTotal};
pub use target_facts::TargetFacts;
pub use utility::{Better, Summary, Utility, UtilityError, UtilityFunction, parse_utility};
pub use valuation::Valuation;
pub use waic::{PointwiseWaic, Waic, waic};
