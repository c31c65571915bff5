//! A Gaussian process and the data that it is conditioned on.

use std::ops::Range;
use std::sync::OnceLock;

use posteria_linalg::Matrix;

use super::covariance::Covariance;
use super::neighbours::Neighbours;
use super::observed::Observed;
use super::on_device::OnDevice;
use super::process::Process;
use super::spec::Moves;
use crate::data::Standardization;
use crate::draws::Layout;
use crate::model::accelerator::Placement;
use crate::model::judged_rows::TestRows;
use crate::model::selection::Selection;
use crate::sample::Modes;

/// A Gaussian process conditioned on a dataset.
///
/// A draw holds `magnitude` (in the unit of a real target), `relevance[input]` (inverse length scales on the
/// standardised scale, where those of different inputs can be compared), other hyperparameters of the covariance
/// function, the scales above them, and the residual model as for networks. `fitted` is a draw of the function, or
/// of the class probabilities, at up to 100 training rows, evenly spaced and jointly; `training_error` (and
/// `test_error`) is the root mean square error of this draw's function, or its share of wrongly classified rows.
///
/// With normal residuals the functions are integrated out for good. What a draw of the hyperparameters θ leaves
/// open is drawn for `fitted` alone; `fitted_mean` is E\[f | θ, y\] at the same rows, whose spread over draws is
/// far smaller than that of f, and errors are those of that mean. The log likelihood is log p(y | θ), the log prior
/// that of the log hyperparameters θ, and what is kept for row i is log p(y_i | y_-i, θ), the log density of its
/// target given all others. (So importance sampling from these numbers gives leave-one-out densities without
/// conditioning on the function [Vehtari 2001, §3.2.2].) With neighbours, the log likelihood is
/// Σ log p(y_i | y_N(i), θ), and row i has the log density given the nearest of all others. Residuals that are not
/// normal have a scale each then, `case_scale`, given which the functions are integrated out: the log likelihood
/// is given these, the log prior holds their density, and what is kept of a row is given those of the others.
///
/// Otherwise `latents`, the functions at all rows on the standardised scale, are sampled too: log likelihoods are
/// those given the function at their row, and the log prior holds the density of the latents. Densities are of the
/// targets in the user's unit.
pub struct GpPosterior {
    pub(super) inputs: Matrix,
    pub(super) covariance: Covariance,
    pub(super) jitter: f64,
    pub(super) processes: Vec<Process>,
    pub(super) observed: Observed,
    /// Entries of the state with the functions at all rows, j·n + i.
    pub(super) latents: Range<usize>,
    pub(super) target_scaling: Vec<Standardization>,
    pub(super) input_scaling: Vec<Standardization>,
    pub(super) moves: Moves,
    pub(super) neighbours: Option<Neighbours>,
    pub(super) fitted_rows: Vec<usize>,
    /// Standardised targets o·n + i, class codes or counts.
    pub(super) targets: Vec<f64>,
    pub(super) test: Option<TestRows<Matrix>>,
    pub(super) selection: Option<Selection>,
    pub(super) placement: Placement,
    /// What computes densities in place of the processor.
    pub(super) device: Option<OnDevice>,
    /// The same given some of the rows only, where these are many: modes are looked for there first.
    pub(super) pilot: Option<Box<GpPosterior>>,
    /// Modes of the hyperparameters that move together, functions integrated out: looked for when chains begin.
    pub(super) modes: Vec<OnceLock<Modes>>,
    pub(super) layout: Layout,
}

impl GpPosterior {
    /// Number of rows.
    pub(super) fn row_count(&self) -> usize {
        self.inputs.rows()
    }

    /// Whether states and draws hold functions at all rows, which normal residuals integrate out, and
    /// neighbours given a scale for every residual.
    pub fn keeps_latents(&self) -> bool {
        !self.latents.is_empty()
    }
}
