//! What a variational approximation of a model without targets found besides draws.

use serde::{Deserialize, Serialize};

use super::mixture::MixtureFindings;
use super::pca::PcaFindings;

/// What a variational approximation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum VariationalFindings {
    /// Of a mixture.
    Mixture(MixtureFindings),
    /// Of principal components.
    Pca(PcaFindings),
}

impl VariationalFindings {
    /// The lower bound of the log evidence on the user's scale.
    pub fn bound(&self) -> f64 {
        match self {
            VariationalFindings::Mixture(found) => found.bound,
            VariationalFindings::Pca(found) => found.bound,
        }
    }

    /// The bound after every round.
    pub fn bounds(&self) -> &[f64] {
        match self {
            VariationalFindings::Mixture(found) => &found.bounds,
            VariationalFindings::Pca(found) => &found.bounds,
        }
    }
}
