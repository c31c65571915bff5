//! Name the distributions of targets about the model's output.

use serde::{Deserialize, Serialize};

/// Distribution of a real target about the model's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResidualFamily {
    /// Normal.
    Normal,
    /// Student's t.
    StudentT,
    /// Laplace.
    Laplace,
    /// Normal with a variance of its own for every row.
    PerCase,
    /// Of counts: Poisson about exp f.
    Poisson,
    /// Of counts: negative binomial about exp f, with a variance beyond the mean's.
    NegativeBinomial,
    /// Of durations: Weibull with the scale exp f.
    Weibull,
    /// Of durations: log-normal with the median exp f.
    LogNormal,
}

impl ResidualFamily {
    /// Whether it is a distribution of counts.
    pub fn is_of_counts(self) -> bool {
        matches!(self, ResidualFamily::Poisson | ResidualFamily::NegativeBinomial)
    }

    /// Whether it is a distribution of durations.
    pub fn is_of_durations(self) -> bool {
        matches!(self, ResidualFamily::Weibull | ResidualFamily::LogNormal)
    }
}

/// Which targets share a residual scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResidualSharing {
    /// One scale for all targets.
    Common,
    /// One scale per target.
    PerTarget,
    /// A full covariance matrix of the residuals of all targets.
    Covariance,
}
