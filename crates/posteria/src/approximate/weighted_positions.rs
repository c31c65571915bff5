//! Weigh draws of known proposals, so that they stand for draws of a density.

use posteria_linalg::Matrix;

use super::independent::Approximation;
use super::split_student_t::SplitStudentT;
use crate::density::special::log_sum_exp;
use crate::diagnose::importance::{ImportanceWeights, Smoothing, importance_weights};
use crate::model::gp::GpPosterior;
use crate::random::Stream;

/// Positions drawn from one proposal after another, with the log density that is aimed at.
#[derive(Clone, Debug, Default)]
pub struct Proposed {
    /// Proposals, and how many positions are from each.
    proposals: Vec<(SplitStudentT, usize)>,
    positions: Vec<Vec<f64>>,
    /// -∞ where there is no density.
    log_densities: Vec<f64>,
}

/// What [`Proposed`] positions are worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// Weights that make the positions draws of the density, the largest smoothed, with the Pareto
    /// shape of their tail and their effective number.
    pub weights: ImportanceWeights,
    /// Logarithm of the mean ratio: the mass of the density, the evidence if it is prior × likelihood.
    pub log_mass: f64,
    /// Its standard error.
    pub log_mass_error: f64,
}

impl Proposed {
    /// Draws `count` positions from `proposal`, whose densities are to be [added](Self::add).
    pub fn draw(
        &mut self,
        proposal: SplitStudentT,
        count: usize,
        stream: &mut Stream,
    ) -> &[Vec<f64>] {
        let first = self.positions.len();
        for _ in 0..count {
            let mut position = vec![0.0; proposal.dim()];
            proposal.draw(&mut position, stream);
            self.positions.push(position);
        }
        self.proposals.push((proposal, count));
        &self.positions[first..]
    }

    /// Adds the log densities of the positions that were drawn last.
    pub fn add(&mut self, log_densities: impl IntoIterator<Item = f64>) {
        let usable = |value: f64| if value.is_finite() { value } else { f64::NEG_INFINITY };
        self.log_densities.extend(log_densities.into_iter().map(usable));
    }

    /// All positions.
    pub fn positions(&self) -> &[Vec<f64>] {
        &self.positions
    }

    /// What they are worth, each with the ratio of the density to that of the mixture of all
    /// proposals [Owen & Zhou 2000]: whichever of them serves a region best decides there. `None` if no
    /// position has a density.
    pub fn worth(&self) -> Option<Worth> {
        let count = self.positions.len() as f64;
        let ratio = |(position, log_density): (&Vec<f64>, &f64)| {
            let mixture = self.proposals.iter().map(|(proposal, drawn)| {
                (*drawn as f64 / count).ln() + proposal.log_density(position)
            });
            log_density - log_sum_exp(&mixture.collect::<Vec<f64>>())
        };
        let ratios: Vec<f64> = self.positions.iter().zip(&self.log_densities).map(ratio).collect();
        let weights = importance_weights(&ratios, Smoothing::Pareto, 1.0).ok()?;
        let log_mass = log_sum_exp(&ratios) - count.ln();
        let doubled: Vec<f64> = ratios.iter().map(|ratio| 2.0 * (ratio - log_mass)).collect();
        // Relative variance of the mean ratio.
        let variance = (log_sum_exp(&doubled) - 2.0 * count.ln()).exp() - count.recip();
        Some(Worth { weights, log_mass, log_mass_error: variance.max(0.0).sqrt() })
    }

    /// A proposal with the weighted mean and covariance of all positions, the latter drawn towards
    /// `usual` as if by twice as many draws as there are dimensions. `None` if that is not
    /// positive definite.
    pub fn refined(&self, worth: &Worth, usual: &Matrix) -> Option<SplitStudentT> {
        let dim = usual.rows();
        let weights: Vec<f64> = worth.weights.log_weights.iter().map(|log| log.exp()).collect();
        let mut mean = vec![0.0; dim];
        for (position, weight) in self.positions.iter().zip(&weights) {
            mean.iter_mut().zip(position).for_each(|(mean, x)| *mean += weight * x);
        }
        let prior = 2.0 * dim as f64;
        let size = worth.weights.effective_size;
        let mut covariance = Matrix::from_fn(dim, dim, |i, j| prior * usual[(i, j)]);
        for (position, weight) in self.positions.iter().zip(&weights) {
            for i in 0..dim {
                for j in 0..dim {
                    covariance[(i, j)] +=
                        size * weight * (position[i] - mean[i]) * (position[j] - mean[j]);
                }
            }
        }
        let scaled = Matrix::from_fn(dim, dim, |i, j| covariance[(i, j)] / (prior + size));
        SplitStudentT::with_covariance(mean, &scaled)
    }
}

/// Draws of weighted positions, each with the probability that its weight says.
pub struct WeightedStates<'p> {
    /// Whose functions are drawn given each position.
    process: &'p GpPosterior,
    /// Entries of the state that a position holds; all others are those of `template`.
    slots: Vec<usize>,
    template: Vec<f64>,
    positions: Vec<Vec<f64>>,
    /// Sums of the weights up to each position.
    cumulative: Vec<f64>,
    /// Log densities of the positions under what is aimed at, normalised.
    log_densities: Vec<f64>,
}

impl<'p> WeightedStates<'p> {
    /// Of what was proposed. `template` has all entries of a state but the `slots`.
    pub fn new(
        process: &'p GpPosterior,
        (proposed, worth): (Proposed, &Worth),
        (slots, template): (Vec<usize>, Vec<f64>),
    ) -> Self {
        let Proposed { positions, mut log_densities, .. } = proposed;
        log_densities.iter_mut().for_each(|value| *value -= worth.log_mass);
        let mut sum = 0.0;
        let mut cumulative = Vec::with_capacity(positions.len());
        for log_weight in &worth.weights.log_weights {
            sum += log_weight.exp();
            cumulative.push(sum);
        }
        WeightedStates { process, slots, template, positions, cumulative, log_densities }
    }

    /// One position.
    pub fn point(
        process: &'p GpPosterior,
        position: Vec<f64>,
        (slots, template): (Vec<usize>, Vec<f64>),
    ) -> Self {
        let (cumulative, log_densities) = (vec![1.0], vec![0.0]);
        let positions = vec![position];
        WeightedStates { process, slots, template, positions, cumulative, log_densities }
    }

    fn position_of(&self, state: &[f64]) -> Option<usize> {
        let is_at = |position: &Vec<f64>| {
            let pairs = position.iter().zip(&self.slots);
            pairs.into_iter().all(|(x, slot)| x.to_bits() == state[*slot].to_bits())
        };
        self.positions.iter().position(is_at)
    }
}

impl Approximation for WeightedStates<'_> {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        state.copy_from_slice(&self.template);
        let all = self.cumulative.last().copied().unwrap_or(0.0);
        let at = stream.uniform() * all;
        let index = self.cumulative.partition_point(|sum| *sum <= at);
        let position = &self.positions[index.min(self.positions.len() - 1)];
        self.slots.iter().zip(position).for_each(|(slot, x)| state[*slot] = *x);
        if self.process.keeps_latents() {
            let drawn =
                self.process.hyperparameters().map(|mut it| it.draw_functions(state, stream));
            // Who evaluates the state sees that it is none.
            if !matches!(drawn, Ok(Ok(()))) {
                state.fill(f64::NAN);
            }
        }
    }

    /// That of the hyperparameters under the density aimed at, which weighted draws follow.
    fn log_density(&self, state: &[f64]) -> f64 {
        self.position_of(state).map_or(f64::NEG_INFINITY, |index| self.log_densities[index])
    }
}
