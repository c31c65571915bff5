//! Numbers and names of networks that no specification needs to give.

/// Number of hidden units.
pub(super) const HIDDEN: usize = 10;
/// Most hidden units.
pub(super) const MOST_HIDDEN: usize = 1000;
/// Degrees of freedom of weights with Student's t.
pub(super) const WEIGHT_DOF: f64 = 4.0;

/// The groups of weights, in the order of the flat weight vector.
pub(super) const GROUPS: [&str; 5] =
    ["input_weights", "hidden_bias", "output_weights", "output_bias", "direct_weights"];

/// Unknown degrees of freedom of scales: halves and doubles of the usual 0.5 and 1.
pub const GROUP_DOFS: [f64; 11] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0];
