//! The priors of a specification that does not give its own.

use serde::{Deserialize, Serialize};

use super::{Dof, ModelKind, PriorFamily, PriorSpec, Sharing, WidthRule, WidthScaled};
use crate::data::Task;

/// `priors`: where the priors come from that a specification leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priors {
    /// Chosen by what they say about functions of standardised columns: the standard deviation of
    /// f over the rows is about 1 (2 for the log odds of classes; 1 for the log of the mean of counts,
    /// about that of all rows), nine times in ten within a
    /// factor of 5; residuals have a scale of about 0.3, nine times in ten within a factor of 10.
    #[default]
    WeaklyInformative,
    /// Vague, of the MCMCstuff manual [Vehtari 2004, §3.2, §4.3]: inverse gamma variances about
    /// 0.05² with half a degree of freedom, one scale per input.
    Mcmcstuff,
    /// Vague, of the examples of FBM [Neal 1998]: the same, with one scale for all inputs.
    Fbm,
}

/// Standard deviation of the output bias of a network of ordered classes. It says what the cut points say,
/// whose prior is of the probabilities of the classes where f is 0: a wide one would say that all rows are
/// of the lowest or of the highest class.
const BIAS_BESIDE_CUTS: f64 = 1.0;

impl Priors {
    /// The name as specification files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Priors::WeaklyInformative => "weakly-informative",
            Priors::Mcmcstuff => "mcmcstuff",
            Priors::Fbm => "fbm",
        }
    }

    /// The prior of the group of weights or kind of hyperparameter `group` of a model of this kind
    /// and task, if its section is absent.
    pub(in crate::model) fn usual(self, kind: ModelKind, task: Task, group: &str) -> PriorSpec {
        match self {
            Priors::WeaklyInformative => weakly_informative(kind, task, group),
            Priors::Mcmcstuff => vague(kind, task, group),
            Priors::Fbm => PriorSpec {
                sharing: matches!(group, "input_weights" | "direct_weights" | "relevance")
                    .then_some(Sharing::Common),
                top_dof: None,
                ..match group {
                    // Biases and weights alike.
                    "hidden_bias" => vague(kind, task, "output_weights"),
                    _ => vague(kind, task, group),
                }
            }
            .without_width(group),
        }
    }
}

impl PriorSpec {
    /// The same, with only output weights scaled by their number.
    fn without_width(self, group: &str) -> Self {
        let scaled = group == "output_weights";
        let width_scaled = if scaled { self.width_scaled } else { None };
        PriorSpec { width_scaled, ..self }
    }
}

/// Log-normal scales about `scale`; nine in ten within a factor of exp(1.64 `log_sd`).
fn log_normal(scale: f64, log_sd: f64) -> PriorSpec {
    PriorSpec { scale: Some(scale), log_sd: Some(log_sd), ..PriorSpec::default() }
}

fn fixed(scale: f64) -> PriorSpec {
    PriorSpec { fixed: Some(scale), ..PriorSpec::default() }
}

/// One scale per input about a common one; the sum over all inputs keeps its width.
fn per_input(prior: PriorSpec) -> PriorSpec {
    PriorSpec { sharing: Some(Sharing::PerInput), ..by_root(prior) }
}

/// With the scale divided by the root of the number of feeding units.
fn by_root(prior: PriorSpec) -> PriorSpec {
    PriorSpec { width_scaled: Some(WidthScaled::By(WidthRule::Fbm)), ..prior }
}

fn weakly_informative(kind: ModelKind, task: Task, group: &str) -> PriorSpec {
    // Log odds of ±2 are probabilities of 0.12 and 0.88.
    // Counts are about their mean rate: rates of e and 1/e times it are one unit away.
    let is_class = task.is_of_classes();
    let unit = if is_class { 2.0 } else { 1.0 };
    // Standardised targets are about 0; log odds of ±6 are classes of a quarter of a percent.
    let level = 1.5 * unit;
    let hyperparameter = |family| PriorSpec { family: Some(family), ..log_normal(1.0, 1.0) };
    match (kind, group) {
        // Inputs that do not matter are a factor of exp(-2) or more below the common scale, and
        // one may stand out as far: τ = 1. The common scale has no reason to be so far off.
        (ModelKind::Mlp, "input_weights") => {
            let top_log_sd = Some(0.7);
            per_input(PriorSpec { top_log_sd, ..log_normal(1.0, 1.0) })
        }
        (ModelKind::Mlp, "direct_weights") => {
            let top_log_sd = Some(0.7);
            per_input(PriorSpec { top_log_sd, ..log_normal(unit, 1.0) })
        }
        // A unit's centre is at -b/w: biases of about the size of the weights put it anywhere
        // among the rows.
        (ModelKind::Mlp, "hidden_bias") => log_normal(1.0, 0.7),
        // Of tanh units about half of the output weights' variance is left.
        (ModelKind::Mlp, "output_weights") => by_root(log_normal(1.5 * unit, 1.0)),
        (ModelKind::Mlp, _) if task == Task::Ordinal => fixed(BIAS_BESIDE_CUTS),
        (ModelKind::Mlp, _) => fixed(level),
        // Coefficients of separable classes are as large as the prior lets them be.
        (ModelKind::Linear, "weights") if is_class => log_normal(1.5, 0.5),
        (ModelKind::Linear, "weights") => log_normal(0.5, 1.0),
        (ModelKind::Linear, _) => fixed(level),
        (_, "magnitude") => {
            PriorSpec { scale: Some(unit), ..hyperparameter(PriorFamily::LogNormal) }
        }
        (_, "relevance") => {
            let top_log_sd = Some(0.7);
            per_input(PriorSpec { top_log_sd, ..hyperparameter(PriorFamily::LogNormal) })
        }
        _ => hyperparameter(PriorFamily::LogNormal),
    }
}

/// Standard deviation of the output bias of real targets: large output weights need a bias to
/// balance them, and it is integrated out [Neal 1996]. Logits beyond ±10 are certainties.
fn vague_bias(task: Task) -> f64 {
    if task == Task::Regression { 100.0 } else { 10.0 }
}

fn vague(kind: ModelKind, task: Task, group: &str) -> PriorSpec {
    let inverse_gamma = |scale: f64, dof: f64| PriorSpec {
        scale: Some(scale),
        dof: Some(Dof::Known(dof)),
        ..PriorSpec::default()
    };
    let family = Some(PriorFamily::InverseGamma);
    match (kind, group) {
        (ModelKind::Mlp, "input_weights" | "direct_weights") => {
            per_input(PriorSpec { top_dof: Some(1.0), ..inverse_gamma(0.05, 0.5) })
        }
        // A scale far below 1 would centre all units at the mean of the inputs.
        (ModelKind::Mlp, "hidden_bias") => inverse_gamma(1.0, 4.0),
        (ModelKind::Mlp, "output_weights") => by_root(inverse_gamma(0.05, 0.5)),
        (ModelKind::Mlp, _) if task == Task::Ordinal => fixed(BIAS_BESIDE_CUTS),
        (ModelKind::Mlp, _) => fixed(vague_bias(task)),
        (ModelKind::Linear, "weights") => inverse_gamma(0.5, 1.0),
        (ModelKind::Linear, _) => fixed(10.0),
        (_, "magnitude") => PriorSpec { family, ..inverse_gamma(0.05, 0.5) },
        (_, "relevance") => PriorSpec {
            family,
            sharing: Some(Sharing::PerInput),
            top_dof: Some(1.0),
            ..inverse_gamma(0.05, 0.5)
        },
        _ => PriorSpec { family: Some(PriorFamily::LogNormal), ..log_normal(1.0, 1.0) },
    }
}
