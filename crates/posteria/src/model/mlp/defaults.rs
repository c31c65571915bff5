//! The values that a specification of a network leaves out [Vehtari 2001, §2.2].

use crate::model::spec::{PriorSpec, Sharing, WidthRule};

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
/// Standard deviation of the output bias: vague, as that of a linear model's intercept, because
/// large output weights need a bias to balance them.
pub(super) const OUTPUT_BIAS: f64 = 10.0;

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
        3 => PriorSpec { fixed: Some(OUTPUT_BIAS), ..PriorSpec::default() },
        _ => PriorSpec::default(),
    }
}

/// The scaling by fan-in of a group that does not say.
pub(super) fn width(index: usize) -> Option<WidthRule> {
    matches!(index, 0 | 2 | 4).then_some(WidthRule::Fbm)
}
