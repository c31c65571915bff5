//! A network and the data that it is conditioned on.

use super::hierarchy::Hierarchy;
use super::network::{Rows, Shape};
use super::observed::Observed;
use super::on_device::OnDevice;
use super::spec::Moves;
use crate::data::Standardization;
use crate::draws::Layout;
use crate::model::accelerator::Placement;
use crate::model::judged_rows::TestRows;

/// A network conditioned on a dataset.
///
/// A draw holds the weights on the standardised scale (`input_weights[input, hidden_unit]`,
/// `hidden_bias`, `output_weights`, `output_bias`, `direct_weights`), the sampled scales of
/// their priors (`relevance[input]` or `input_weight_scale`, `hidden_bias_scale`, …), the
/// residual model in the user's unit (`residual_scale`, `residual_covariance`, `residual_dof`,
/// `case_scale`), `fitted`: the mean or the class probabilities at up to 100 training rows,
/// evenly spaced, and `training_error` (and `test_error`): the root mean square error of this
/// draw's outputs, or its share of wrongly classified rows.
///
/// Hidden units may change places and signs, so single weights are not identified; judge
/// convergence by `fitted`, the scales and the log density.
///
/// Log likelihoods are densities of the targets in the user's unit, latent κ of the residual
/// model integrated out; the log prior is that of standardised weights and log scales.
pub struct MlpPosterior {
    pub(super) shape: Shape,
    pub(super) rows: Rows,
    pub(super) hierarchy: Hierarchy,
    pub(super) observed: Observed,
    pub(super) target_scaling: Vec<Standardization>,
    pub(super) input_squares: Vec<f64>,
    pub(super) moves: Moves,
    pub(super) fitted_rows: Vec<usize>,
    /// Standardised targets o·n + i, class codes or counts.
    pub(super) targets: Vec<f64>,
    /// Index of the group of every row, if rows belong together.
    pub(super) row_groups: Option<Vec<usize>>,
    pub(super) test: Option<TestRows<Rows>>,
    pub(super) state_len: usize,
    pub(super) placement: Placement,
    /// What moves chains in place of the processor.
    pub(super) device: Option<OnDevice>,
    pub(super) layout: Layout,
}
