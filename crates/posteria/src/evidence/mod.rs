//! Log evidence (the log marginal likelihood log p(D | M)) of any model, with errors that hold.
//!
//! A [`Ladder`] run samples prior × likelihood^β at all inverse temperatures β from 0 to 1 at
//! once, with exchanges of states between neighbours, in several independent ladders. Its
//! [`Energies`] (log likelihoods U at every rung) are all that [`path_sampling`],
//! [`stepping_stone()`] and [`bridge()`] need; the tuned kernels it leaves are what single sweeps in
//! both directions and [`annealed_importance`] use. [`importance()`], [`warp_bridge`],
//! [`reciprocal_importance`] and [`harmonic_mean`] work from densities of states. Closed forms are
//! told by [`exact_log_evidence`](crate::model::StateDensity::exact_log_evidence).
//!
//! Every prior of a specification is proper, so every evidence exists; a density of one's own must
//! have a normalised prior.

mod annealed;
mod bridge;
mod directions;
mod doubts;
mod energies;
mod estimate;
mod findings;
mod harmonic;
mod importance;
mod joint;
mod ladder;
mod laplace;
mod memory;
mod methods;
mod of_fit;
mod of_fits;
mod options;
mod parts;
mod path;
mod placed;
mod probabilities;
mod proposal;
mod reciprocal;
mod replica;
mod report;
mod schedule;
mod single_sweep;
mod stepping_stone;
#[cfg(test)]
mod tests;
mod warp;

pub use annealed::annealed_importance;
pub use bridge::{Bridging, bridge};
pub use directions::{Directions, both_directions};
pub use doubts::{disagreement, judge};
pub use energies::{Energies, RungSummary};
pub use estimate::{LogEvidence, Method};
pub use findings::{CurveRung, EvidenceFindings};
pub use harmonic::harmonic_mean;
pub use importance::{importance, importance_from_prior};
pub use joint::Joint;
pub use ladder::{Ladder, LadderError, LadderOptions, Observer, Phase, Silent};
pub use laplace::laplace;
pub use memory::LadderMemory;
pub use methods::estimate;
pub use of_fit::posterior_alone;
pub use of_fits::{EvidenceComparisonError, compare_evidence, compare_evidence_from};
pub use options::{EstimateError, EvidenceOptions, Proposal};
pub use parts::LaddersAsked;
pub use path::path_sampling;
pub use placed::PlacedLadders;
pub use probabilities::{ModelEvidence, ModelProbabilities, model_probabilities};
pub use proposal::MultivariateT;
pub use reciprocal::reciprocal_importance;
pub use report::{
    EvidenceComparison, EvidenceReport, MethodReport, ModelReport, NamedEvidence, SensitivityPoint,
};
pub use schedule::{Schedule, ScheduleError};
pub(crate) use single_sweep::{SingleSweep, single_sweep};
pub use stepping_stone::stepping_stone;
pub use warp::warp_bridge;
