//! The distribution that takes the place of the posterior of a mixture.

use posteria_linalg::{Cholesky, Matrix};

use super::ascent::{Ascent, Prior};
use crate::density::special::{ln_gamma, log_sum_exp};
use crate::density::{Dirichlet, NormalWishart, ParameterError, Wishart};
use crate::random::Stream;

/// q(π) Π_k q(μ_k, Λ_k): a Dirichlet and one normal-Wishart distribution per component, all
/// independent, on the standardised scale. Components are in the order of decreasing weight.
///
/// A state holds log π_k of all components, then for each component μ_k and the lower
/// triangular F_k with Λ_k = F_k F_kᵀ, column by column. Densities are with respect to log ratios
/// of π, μ and Λ.
#[derive(Clone, Debug)]
pub struct MixtureApproximation {
    dirichlet: Dirichlet,
    components: Vec<NormalWishart>,
    precisions: Vec<Wishart>,
    bounds: Vec<f64>,
    climbs: usize,
}

impl MixtureApproximation {
    pub(super) fn new(ascent: Ascent<'_>, climbs: usize) -> Result<Self, ParameterError> {
        let mut order: Vec<usize> = (0..ascent.components.len()).collect();
        let weight = |k: &usize| ascent.concentrations[*k];
        order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let concentrations: Vec<f64> = order.iter().map(weight).collect();
        let components: Vec<NormalWishart> =
            order.iter().map(|k| ascent.components[*k].clone()).collect();
        let precisions: Result<Vec<Wishart>, _> =
            components.iter().map(NormalWishart::precision).collect();
        Ok(MixtureApproximation {
            dirichlet: Dirichlet::new(&concentrations)?,
            components,
            precisions: precisions?,
            bounds: ascent.bounds,
            climbs,
        })
    }

    /// q(π).
    pub fn mixing(&self) -> &Dirichlet {
        &self.dirichlet
    }

    /// q(μ_k, Λ_k) of every component.
    pub fn components(&self) -> &[NormalWishart] {
        &self.components
    }

    /// The lower bound of the log evidence, on the standardised scale, after every round of the
    /// climb that was kept; it never decreases.
    pub fn bounds(&self) -> &[f64] {
        &self.bounds
    }

    /// Climbs among which the best was kept.
    pub fn climbs(&self) -> usize {
        self.climbs
    }

    /// E π of every component.
    pub fn expected_mixing(&self) -> Vec<f64> {
        let concentrations = self.dirichlet.concentrations();
        let total: f64 = concentrations.iter().sum();
        concentrations.iter().map(|concentration| concentration / total).collect()
    }

    /// Writes the log density of a row together with every component, parameters integrated
    /// out: log E π_k plus that of a Student-t distribution [Bishop 2006, eq. 10.81]. `workspace`
    /// has one number per column.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn log_joint(&self, row: &[f64], log_joint: &mut [f64], workspace: &mut [f64]) {
        assert_eq!(log_joint.len(), self.components.len(), "one place per component");
        let concentrations = self.dirichlet.concentrations();
        let total: f64 = concentrations.iter().sum();
        let each = self.components.iter().zip(concentrations);
        for (slot, (component, concentration)) in log_joint.iter_mut().zip(each) {
            let log_weight = (concentration / total).ln();
            *slot = log_weight + component.predictive_log_density(row, workspace);
        }
    }

    /// Log density of a row.
    ///
    /// # Panics
    /// If there is not one number per column.
    pub fn predictive_log_density(&self, row: &[f64]) -> f64 {
        let mut log_joint = vec![0.0; self.components.len()];
        self.log_joint(row, &mut log_joint, &mut vec![0.0; row.len()]);
        log_sum_exp(&log_joint)
    }

    /// Writes an independent state into `state`; `factor` is room for a d × d matrix.
    pub(super) fn draw(&self, stream: &mut Stream, state: &mut [f64], factor: &mut Cholesky) {
        let (logs, rest) = state.split_at_mut(self.components.len());
        self.dirichlet.draw_log(stream, logs);
        let dim = factor.dim();
        let each = rest.chunks_exact_mut(block_len(dim));
        for ((block, component), precision) in each.zip(&self.components).zip(&self.precisions) {
            precision.draw_factor(stream, factor.matrix_mut());
            let (mean, packed) = block.split_at_mut(dim);
            stream.fill_normal(mean);
            // Cov(μ) = (βΛ)⁻¹ = F⁻ᵀF⁻¹/β.
            factor.solve_lower_transposed(mean);
            let root = component.beta().sqrt();
            mean.iter_mut().zip(component.mean()).for_each(|(x, m)| *x = m + *x / root);
            pack(factor.factor(), packed);
        }
    }

    /// log q of a state.
    ///
    /// # Panics
    /// If the state has another length.
    pub fn log_density(&self, state: &[f64]) -> f64 {
        let dim = self.components[0].dim();
        log_density(self.dirichlet.concentrations(), |k| &self.components[k], state, dim)
    }
}

impl Prior {
    /// Log prior density of a state.
    pub(super) fn log_density(&self, state: &[f64]) -> f64 {
        let concentrations = vec![self.concentration; self.components];
        log_density(&concentrations, |_| &self.component, state, self.component.dim())
    }
}

fn log_density<'a>(
    concentrations: &[f64],
    component: impl Fn(usize) -> &'a NormalWishart,
    state: &[f64],
    dim: usize,
) -> f64 {
    let (logs, rest) = state.split_at(concentrations.len());
    let mut value = ln_gamma(concentrations.iter().sum());
    for (concentration, log) in concentrations.iter().zip(logs) {
        // A factor Π π_k for the logarithms, without which a thousandth of concentration would
        // count a weight of e^-1000 as a density of e^999.
        value += concentration * log - ln_gamma(*concentration);
    }
    let (mut factor, mut workspace) = (Matrix::zeros(dim, dim), vec![0.0; dim]);
    for (k, block) in rest.chunks_exact(block_len(dim)).enumerate() {
        let (mean, packed) = block.split_at(dim);
        unpack(packed, &mut factor);
        value += component(k).log_density(mean, &factor, &mut workspace);
    }
    value
}

/// Numbers of a state for one component.
pub(super) fn block_len(dim: usize) -> usize {
    dim + dim * (dim + 1) / 2
}

/// The lower half of a factor, column by column.
fn pack(factor: &Matrix, packed: &mut [f64]) {
    let mut rest = packed;
    for column in 0..factor.columns() {
        let (own, after) = rest.split_at_mut(factor.rows() - column);
        own.copy_from_slice(&factor.column(column)[column..]);
        rest = after;
    }
}

/// The inverse of [`pack`]; the half above stays.
pub(super) fn unpack(packed: &[f64], factor: &mut Matrix) {
    let mut rest = packed;
    for column in 0..factor.columns() {
        let (own, after) = rest.split_at(factor.rows() - column);
        factor.column_mut(column)[column..].copy_from_slice(own);
        rest = after;
    }
}
