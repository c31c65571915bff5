//! Describe a fit as data: what is in a specification file, with its defaults.
//!
//! A [`Spec`] is unchecked: every key may be absent and any number may stand anywhere. A model
//! checks it ([`Spec::check`]), and [`Spec::complete`] fills in
//! what was left out, so that a saved specification repeats the fit whatever later defaults are.

mod basis;
pub(super) mod checks;
mod data;
mod device;
mod dof;
mod enough;
mod error;
mod file;
mod gp;
mod inference;
mod keys;
mod kinds;
mod link;
mod moves;
mod priors;
mod residual;
mod sampling;
pub(super) mod selection;
mod tempering;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use basis::{BasisError, BasisSpec};
pub use data::{DataSpec, MissingPolicy};
pub use device::{DeviceChoice, DeviceError};
pub use dof::{Dof, DofAbove, DofValues, Unknown};
pub use enough::{TimeBudget, TimeError};
pub use error::SpecError;
pub use gp::{HyperparametersSpec, LatentsChoice, MeanChoice, Processes, Values};
pub use inference::InferenceChoice;
pub use link::Link;
pub use moves::{KernelChoice, StartChoice};
pub use priors::Priors;
pub use residual::{ResidualFamily, ResidualSharing};
pub use sampling::SamplingSpec;
pub use selection::{InclusionPriorSpec, SchemeChoice, SelectionSpec};
pub use tempering::TemperingChoice;

use crate::data::Task;

/// A complete description of a fit; the content of a specification file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Version of posteria that wrote the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `[data]`: where the rows come from and what the columns are.
    pub data: DataSpec,
    /// `[model]`: the kind of model.
    pub model: ModelSpec,
    /// `[prior.GROUP]`: the prior of every group of weights.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prior: BTreeMap<String, PriorSpec>,
    /// `[residual]`: the distribution of a real target about the model's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<ResidualSpec>,
    /// `[hyperparameters]`: hyperparameters of a Gaussian process that are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyperparameters: Option<HyperparametersSpec>,
    /// `[selection]`: which inputs may leave the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionSpec>,
    /// `[sampling]`: chains, draws and seed.
    pub sampling: SamplingSpec,
}

impl Spec {
    /// The prior of a group of weights or kind of hyperparameter whose section is absent.
    pub(super) fn usual_prior(&self, group: &str) -> PriorSpec {
        let task = self.task().unwrap_or(Task::Regression);
        self.model.priors.unwrap_or_default().usual(self.model.kind, task, group)
    }

    /// What the targets set, as far as it is said: a distribution of counts or durations says that they
    /// are such, and so does a column of exposures or of what is censored, an order of classes, or
    /// a link that only two classes have.
    pub fn task(&self) -> Option<Task> {
        let family = self.residual.as_ref().and_then(|residual| residual.family);
        let DataSpec { exposure, censored, event, .. } = &self.data;
        let counts = exposure.is_some() || family.is_some_and(ResidualFamily::is_of_counts);
        let durations = censored.is_some()
            || event.is_some()
            || family.is_some_and(ResidualFamily::is_of_durations);
        let said = match (counts, durations) {
            (true, _) => Some(Task::Count),
            (_, true) => Some(Task::Duration),
            _ if self.data.levels.is_some() => Some(Task::Ordinal),
            _ if self.model.link == Some(Link::Probit) => Some(Task::Binary),
            _ => None,
        };
        self.model.task.or(said)
    }

    /// Checks what no model need be asked.
    pub(super) fn check_sections(&self) -> Result<(), SpecError> {
        self.sampling.plan()?;
        self.check_inference()?;
        self.refuse_other_kinds()?;
        if self.model.kind.is_unsupervised() && self.sampling.inference.is_none() {
            self.sampling.refuse_chains()?;
        }
        self.check_selection()
    }

    /// The same for targets of this task.
    pub(super) fn of_task(&self, task: Task) -> Spec {
        let mut spec = self.clone();
        spec.model.task = Some(task);
        spec
    }
}

/// `[model]`: the kind of model and its shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSpec {
    /// The kind of model.
    pub kind: ModelKind,
    /// The task; set by the targets if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Where priors come from that are not given; weakly informative if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priors: Option<Priors>,
    /// Network: number of hidden units; 0 is a generalised linear model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<usize>,
    /// Network: whether inputs are also connected to outputs directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Linear: whether there is an intercept; there is one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intercept: Option<bool>,
    /// Linear: functions of every real input in place of the input itself.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "basis::short_or_table")]
    pub basis: Option<BasisSpec>,
    /// Gaussian process: the covariance function, a sum of these.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "data::some_or_more")]
    pub covariance: Option<Vec<String>>,
    /// Gaussian process: the mean function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<MeanChoice>,
    /// Gaussian process: standard deviation that is added on the diagonal of the covariance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
    /// Of two classes: the link function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Gaussian process of several targets: whether they share hyperparameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Processes>,
    /// Gaussian process of many rows: number of nearest neighbours that a row depends on, in
    /// place of all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    /// Mixture: number of components, of which the data may leave some empty. Principal
    /// components: their greatest number; one less than there are columns if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<usize>,
}

/// The kind of model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// Linear, logistic and softmax regression.
    #[default]
    Linear,
    /// Multilayer perceptron.
    Mlp,
    /// Gaussian process.
    Gp,
    /// Mixture of normal distributions.
    Mixture,
    /// Principal component analysis.
    Pca,
}

impl ModelKind {
    /// Whether rows have no targets.
    pub fn is_unsupervised(self) -> bool {
        matches!(self, ModelKind::Mixture | ModelKind::Pca)
    }

    /// The kind as specification files spell it.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Linear => "linear",
            ModelKind::Mlp => "mlp",
            ModelKind::Gp => "gp",
            ModelKind::Mixture => "mixture",
            ModelKind::Pca => "pca",
        }
    }
}

/// `[prior.GROUP]`: the prior of a group of weights, on the standardised scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PriorSpec {
    /// Distribution of a weight given its scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<PriorFamily>,
    /// Which weights share a scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Standard deviation of the weights where it is known, in place of `scale` and `dof`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<f64>,
    /// Standard deviation scale s₀ of the inverse gamma prior of the weights' variance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Its degrees of freedom ν.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof: Option<Dof>,
    /// Degrees of freedom of the level above; absent with two levels only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_dof: Option<f64>,
    /// In place of `dof`: standard deviation of the logarithm of a scale about the one above it,
    /// or about `scale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_sd: Option<f64>,
    /// In place of `top_dof`: standard deviation of the logarithm of the level above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_log_sd: Option<f64>,
    /// Whether, and by which convention, `scale` is divided by a power of the fan-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width_scaled: Option<WidthScaled>,
    /// Student-t family: degrees of freedom of a weight given its scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_dof: Option<Dof>,
    /// Conjugate family: precision of a weight in units of the noise precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// Independent and gamma families: shape of the gamma prior.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<f64>,
    /// Independent family: scale of that gamma prior (its mean is shape · scale).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_scale: Option<f64>,
    /// Log-uniform family: the least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Log-uniform family: the greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
}

/// Distribution of a weight given its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorFamily {
    /// Normal about zero.
    Normal,
    /// Laplace about zero.
    Laplace,
    /// Student's t about zero.
    StudentT,
    /// Normal with a precision that is `rho` times the noise precision.
    Conjugate,
    /// Normal with a precision that has a gamma prior.
    Independent,
    /// Hyperparameter: its square is inverse gamma with `scale` and `dof`.
    InverseGamma,
    /// Hyperparameter: Student's t about zero, cut at zero, with `scale` and `dof`.
    HalfStudentT,
    /// Hyperparameter: its logarithm is normal about log `scale` with deviation `log_sd`.
    LogNormal,
    /// Hyperparameter: gamma with `shape` and `scale`; the mean is shape · scale.
    Gamma,
    /// Hyperparameter: its logarithm is uniform between those of `lower` and `upper`.
    LogUniform,
}

/// Which weights of a group share a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// One scale for all weights of the group.
    Common,
    /// One scale per input: automatic relevance determination.
    PerInput,
}

/// `[residual]`: the distribution of a real target about the model's output, on the
/// standardised scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResidualSpec {
    /// The distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<ResidualFamily>,
    /// Degrees of freedom of Student's t.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof: Option<Dof>,
    /// Columns whose values have a residual scale each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Vec<String>>,
    /// Of Student's t: columns whose values have degrees of freedom each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof_by: Option<Vec<String>>,
    /// Columns of numbers along which the log of the residual scale is linear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slopes: Option<Vec<String>>,
    /// Standard deviation of the normal prior of these slopes, per standard deviation of a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope_sd: Option<f64>,
    /// Standard deviation scale s₀ of the inverse gamma prior of the residual variance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Its degrees of freedom ν.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_dof: Option<f64>,
    /// In place of `scale_dof`: standard deviation of log σ about log `scale`; with `by`, of the
    /// common scale above the separate ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_sd: Option<f64>,
    /// With `by`: degrees of freedom of the common scale above the separate ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_dof: Option<f64>,
    /// Several targets: which of them share a residual scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<ResidualSharing>,
    /// Gamma prior of the residual precision, in place of `scale` and `scale_dof`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<GammaSpec>,
}

/// `width_scaled`: a convention of scaling by fan-in, or `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected \"fbm\", \"mcmcstuff\" or false")]
pub enum WidthScaled {
    /// A convention.
    By(WidthRule),
    /// `false`; `true` means FBM's convention.
    Switch(bool),
}

/// A published convention of dividing a scale s by a power of the fan-in K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WidthRule {
    /// s/√K, or s/K^(1/ν) for ν < 2 degrees of freedom below the top level: the sum over
    /// feeding units keeps its width [Neal 1996, §2.2].
    Fbm,
    /// s/K^(1/ν) with the degrees of freedom ν of the top level itself [Vehtari 2004, §3.1.4].
    Mcmcstuff,
}

/// A gamma distribution by shape and scale; its mean is shape · scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GammaSpec {
    /// Shape.
    pub shape: f64,
    /// Scale.
    pub scale: f64,
}
