//! What an approximation found besides its draws, as values that run folders keep.

use serde::{Deserialize, Serialize};

use super::{HyperparameterFindings, LikelihoodFindings};
use crate::approximate::{Criteria, CurvePoint, EnsembleFindings, ScaleEstimate};
use crate::caution::ApproximationDoubt;
use crate::model::VariationalFindings;
use crate::model::spec::InferenceChoice;

/// What an approximation found, and the reasons to doubt it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApproximationResult {
    /// What was found.
    #[serde(flatten)]
    pub findings: ApproximationFindings,
    /// What to be careful about.
    pub doubts: Vec<ApproximationDoubt>,
}

impl ApproximationResult {
    /// The text that run folders keep.
    ///
    /// # Errors
    /// As [`serde_json::to_string_pretty`], which has none for numbers and names.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads the text that run folders keep.
    ///
    /// # Errors
    /// If the text is not of this form.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

impl ApproximationFindings {
    /// What was found alone, as reports for programs have it.
    ///
    /// # Errors
    /// As [`serde_json::to_value`], which has none for numbers and names.
    pub fn report(&self) -> serde_json::Result<serde_json::Value> {
        match self {
            ApproximationFindings::Mode(findings) => serde_json::to_value(findings),
            ApproximationFindings::Likelihood(findings) => serde_json::to_value(findings),
            ApproximationFindings::Hyperparameters(findings) => serde_json::to_value(findings),
            ApproximationFindings::Ensemble { findings, .. } => serde_json::to_value(findings),
            ApproximationFindings::Variational(findings) => serde_json::to_value(findings),
        }
    }
}

/// What an approximation tells besides its draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "approximation", rename_all = "kebab-case")]
pub enum ApproximationFindings {
    /// At a mode.
    Mode(Box<ModeFindings>),
    /// At the maximum of the likelihood.
    Likelihood(Box<LikelihoodFindings>),
    /// Of the hyperparameters of a process.
    Hyperparameters(Box<HyperparameterFindings>),
    /// Of an ensemble of networks.
    Ensemble {
        /// What ensemble learning found.
        #[serde(flatten)]
        findings: EnsembleFindings,
        /// Number of weights.
        weights: usize,
    },
    /// Of a model without targets.
    Variational(VariationalFindings),
}

/// What was found at a mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeFindings {
    /// The inference by its name in specifications.
    pub method: InferenceChoice,
    /// How the second derivatives of the misfit were found.
    pub curvature: String,
    /// Log evidence of one mode, of targets in the user's unit.
    pub log_evidence: f64,
    /// Logarithm of the number of modes that are the same but for names and signs of hidden units;
    /// added to the log evidence it gives that of all of them.
    pub log_symmetries: f64,
    /// Log likelihood at the mode.
    pub log_likelihood: f64,
    /// Log density of the weights at the mode.
    pub log_density: f64,
    /// Effective parameters γ.
    pub effective_parameters: f64,
    /// Number of weights.
    pub weights: usize,
    /// Precisions α, and standard deviations, on the standardised scale.
    pub weight_groups: Vec<ScaleEstimate>,
    /// Precisions β, and standard deviations, on the standardised scale.
    pub residual_groups: Vec<ScaleEstimate>,
    /// Information criteria.
    pub criteria: Criteria,
    /// γ, 2αE_W and the log evidence when all estimated α are multiplied by a factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CurvePoint>,
    /// Starting points of the search.
    pub starts: usize,
    /// Rounds of estimation of the scales.
    pub rounds: usize,
    /// Whether the scales settled.
    pub converged: bool,
}
