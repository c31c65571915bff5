//! Take something else in the place of a posterior: methods without Markov chains.

mod committee;
mod ensemble;
mod factorised_normal;

pub use committee::{Members, member};
pub use ensemble::{
    Ensemble, EnsembleFindings, EnsembleOptions, ImportanceSample, LinearisedPrediction,
};
pub use factorised_normal::{FactorisedNormal, NormalGamma};
