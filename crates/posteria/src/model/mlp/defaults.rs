//! The values that a specification of a network leaves out [Vehtari 2001, §2.2].

use crate::data::Task;
use crate::model::spec::{Dof, PriorSpec, Sharing, WidthRule};

/// Number of hidden units.
pub(super) const HIDDEN: usize = 10;
/// Most hidden units.
pub(super) const MOST_HIDDEN: usize = 1000;
/// Standard deviation scale of the top level of every hierarchy.
pub(super) const SCALE: f64 = 0.05;
/// Degrees of freedom of the level of the weights' scales.
pub(super) const DOF: f64 = 0.5;
/// Degrees of freedom of the level above the scales of single inputs.
pub(super) const TOP_DOF: f64 = 1.0;
/// Degrees of freedom of weights with Student's t.
pub(super) const WEIGHT_DOF: f64 = 4.0;
/// Standard deviation scale and degrees of freedom of the hidden biases. A unit's centre is at
/// -b/w: over standardised inputs biases of about the size of the weights, 1, put it anywhere
/// among the rows. A scale far below 1 says that all units are centred at the mean of the
/// inputs, and makes the answer depend on where their origin is.
const HIDDEN_BIAS: (f64, f64) = (1.0, 4.0);
/// Standard deviation of the output bias of real targets: large output weights need a bias to
/// balance them, and it is integrated out, so that vagueness costs nothing [Neal 1996].
const OUTPUT_BIAS: f64 = 100.0;
/// Standard deviation of the output bias of classes: vague, as that of a linear model's
/// intercept. Logits beyond ±10 are certainties.
const OUTPUT_BIAS_OF_CLASSES: f64 = 10.0;

/// The groups of weights, in the order of the flat weight vector.
pub(super) const GROUPS: [&str; 5] =
    ["input_weights", "hidden_bias", "output_weights", "output_bias", "direct_weights"];

/// Unknown degrees of freedom of scales: halves and doubles of the usual 0.5 and 1.
pub const GROUP_DOFS: [f64; 11] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0];

/// The prior of a group that the specification does not mention.
pub(super) fn group(index: usize) -> PriorSpec {
    match index {
        0 | 4 => PriorSpec {
            sharing: Some(Sharing::PerInput),
            top_dof: Some(TOP_DOF),
            ..PriorSpec::default()
        },
        1 => PriorSpec {
            scale: Some(HIDDEN_BIAS.0),
            dof: Some(Dof::Known(HIDDEN_BIAS.1)),
            ..PriorSpec::default()
        },
        3 => PriorSpec { fixed: Some(output_bias(Task::Regression)), ..PriorSpec::default() },
        _ => PriorSpec::default(),
    }
}

/// Standard deviation of an output bias that the specification does not mention.
pub(super) fn output_bias(task: Task) -> f64 {
    if task == Task::Regression { OUTPUT_BIAS } else { OUTPUT_BIAS_OF_CLASSES }
}

/// The scaling by fan-in of a group that does not say.
pub(super) fn width(index: usize) -> Option<WidthRule> {
    matches!(index, 0 | 2 | 4).then_some(WidthRule::Fbm)
}
