//! Train a network on half of the rows for as long as the other half profits.

use super::hierarchy::Scale;
use super::network::{Likelihood, Network, Rows};
use super::observed::Observed;
use super::posterior::MlpPosterior;
use super::start::dispersed;
use crate::data::Folds;
use crate::density::StudentT;
use crate::model::outcome::Outcomes;
use crate::model::prior::{Above, Levels};
use crate::model::residual::{Noise, Residual};
use crate::model::spec::ResidualFamily;
use crate::optimise::{EarlyStopping, early_stopped};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity};

/// Standard deviation of the weights that training begins with [MCMCstuff manual §3.3.2].
const FIRST_WEIGHT: f64 = 0.01;
/// Scales of weights start no lower than the weights themselves.
const LEAST_SCALE: f64 = FIRST_WEIGHT;
/// Scales of residuals start no lower, in standard deviations of the targets.
const LEAST_RESIDUAL: f64 = 1e-3;

/// A network trained with early stopping.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStoppedNetwork {
    /// A state of the posterior with these weights, and scales estimated from them.
    pub state: Vec<f64>,
    /// Gradients that the training took.
    pub evaluations: usize,
}

impl MlpPosterior {
    /// Trains a network with early stopping, for the start of a chain or as the member of a
    /// committee [Vehtari et al. 2000; MCMCstuff manual §3.2.4].
    ///
    /// The rows are divided at random into halves: classes evenly or, where rows belong together
    /// in groups, whole groups, so that what stops the training is new to it. From weights 0.01 N(0, 1),
    /// scaled conjugate gradients climb the log likelihood of one half (of residuals with a
    /// standard deviation of 1 where targets are real), and the position that is best for the
    /// other half is kept. Priors take no part.
    ///
    /// What else a state holds is estimated from the weights: the scale of each part of a group
    /// is the root mean square of its weights, the scale above the geometric mean of these,
    /// residual scales and covariances come from the residuals of the stopping half (their
    /// root mean square, or for Student's t and Laplace their median absolute value, which
    /// outliers do not move), and degrees of freedom stand in the middle.
    ///
    /// Another `stream` gives another division, other first weights and hence another network.
    ///
    /// # Errors
    /// [`Infeasible`] if the targets are too large to be squared.
    pub fn early_stopped(&self, stream: &mut Stream) -> Result<EarlyStoppedNetwork, Infeasible> {
        let [training, stopping] = self.halves(stream);
        let (training, stopping) = (Half::new(self, training), Half::new(self, stopping));
        let mut first = vec![0.0; self.shape.len()];
        stream.fill_normal(&mut first);
        first.iter_mut().for_each(|weight| *weight *= FIRST_WEIGHT);
        let mut held_back = stopping.log_likelihood(self);
        let trained = early_stopped(
            &mut training.log_likelihood(self),
            &mut |weights| held_back.log_density(weights),
            first,
            &EarlyStopping::default(),
        )?;
        // For what is not estimated: multipliers, latent κ, degrees of freedom.
        let mut state = dispersed(self, stream);
        state[..self.shape.len()].copy_from_slice(&trained.position);
        self.set_weight_scales(&mut state);
        if let Observed::Real(residual) = &self.observed {
            let mut residuals = vec![0.0; stopping.rows.len() * self.shape.outputs];
            held_back.network.outputs(&trained.position, &mut residuals);
            if let HalfTargets::Real { targets, .. } = &stopping.targets {
                residuals.iter_mut().zip(targets).for_each(|(slot, target)| *slot = target - *slot);
            }
            set_residual(residual, &stopping.indices, &residuals, &mut state);
        }
        Ok(EarlyStoppedNetwork { state, evaluations: trained.evaluations })
    }

    /// Rows to train on and rows to stop by: halves at random, each with its share of every
    /// class. A group of rows is never divided.
    fn halves(&self, stream: &mut Stream) -> [Vec<usize>; 2] {
        let rows = self.rows.len();
        let folds = match &self.row_groups {
            Some(groups) => Folds::grouped(groups, 2, stream),
            None => Folds::stratified(&self.observed.classes(rows), 2, stream),
        };
        match folds {
            Ok(folds) => {
                // Which of them gets the odd row of a class is not random; this is.
                let training = stream.index(2);
                [training, 1 - training].map(|fold| folds.held_out(fold).to_vec())
            }
            // One row, or one group, cannot be divided.
            Err(_) => [(0..rows).collect(), (0..rows).collect()],
        }
    }

    /// Sets the scale of every part of a group to the size of its weights.
    fn set_weight_scales(&self, state: &mut [f64]) {
        for group in &self.hierarchy.groups {
            let Scale::Sampled(levels) = &group.scale else { continue };
            for (part, slot) in levels.slots.clone().enumerate() {
                let size = root_mean_square(&state[group.part_range(part)]);
                state[slot] = size.max(LEAST_SCALE).ln();
            }
            set_above(levels, state);
        }
    }
}

/// Half of the rows.
struct Half {
    indices: Vec<usize>,
    rows: Rows,
    targets: HalfTargets,
}

enum HalfTargets {
    Real { targets: Vec<f64>, precisions: Vec<f64> },
    Binary { signs: Vec<f64> },
    Multiclass { codes: Vec<u32> },
    Outcomes { outcomes: Box<Outcomes>, given: Vec<f64> },
}

impl Half {
    fn new(posterior: &MlpPosterior, indices: Vec<usize>) -> Self {
        let targets = match &posterior.observed {
            Observed::Real(residual) => {
                let of_target = |all: &[f64]| indices.iter().map(|row| all[*row]).collect();
                let targets: Vec<Vec<f64>> =
                    residual.targets.chunks(residual.rows).map(of_target).collect();
                let targets = targets.concat();
                HalfTargets::Real { precisions: vec![1.0; targets.len()], targets }
            }
            Observed::Binary { signs } => {
                HalfTargets::Binary { signs: indices.iter().map(|row| signs[*row]).collect() }
            }
            Observed::Multiclass { codes } => {
                HalfTargets::Multiclass { codes: indices.iter().map(|row| codes[*row]).collect() }
            }
            Observed::Outcomes(outcomes) => {
                let outcomes = Box::new(outcomes.subset(&indices));
                // As if counts were Poisson, durations varied as their prior says, and cut points gave the
                // shares of the classes: nothing beside weights is estimated here.
                HalfTargets::Outcomes { given: outcomes.usual(), outcomes }
            }
        };
        Half { rows: posterior.rows.subset(&indices), indices, targets }
    }

    fn log_likelihood(&self, posterior: &MlpPosterior) -> HalfLikelihood<'_> {
        HalfLikelihood { network: Network::new(posterior.shape, &self.rows), half: self }
    }
}

/// The log likelihood of half of the rows as a function of the weights.
struct HalfLikelihood<'h> {
    network: Network<'h>,
    half: &'h Half,
}

impl<'h> HalfLikelihood<'h> {
    fn likelihood(&self) -> Likelihood<'h> {
        match &self.half.targets {
            HalfTargets::Real { targets, precisions } => {
                Likelihood::Squares { targets, precisions }
            }
            HalfTargets::Binary { signs } => Likelihood::Logistic { signs },
            HalfTargets::Multiclass { codes } => Likelihood::Softmax { codes },
            HalfTargets::Outcomes { outcomes, given } => Likelihood::Outcomes { outcomes, given },
        }
    }
}

impl LogDensity for HalfLikelihood<'_> {
    fn dim(&self) -> usize {
        self.network.shape().len()
    }

    fn log_density(&mut self, weights: &[f64]) -> Result<f64, Infeasible> {
        let likelihood = self.likelihood();
        let value = self.network.log_likelihood(weights, &likelihood);
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn log_density_gradient(
        &mut self,
        weights: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let likelihood = self.likelihood();
        let value = self.network.log_likelihood_gradient(weights, &likelihood, gradient);
        let usable = value.is_finite() && gradient.iter().all(|slope| slope.is_finite());
        if usable { Ok(value) } else { Err(Infeasible::NotFinite) }
    }
}

/// Sets the parameters of the residual model by `residuals` (o·m + i) of the rows `indices`.
fn set_residual(residual: &Residual, indices: &[usize], residuals: &[f64], state: &mut [f64]) {
    let count = indices.len();
    if let Some(slopes) = &residual.slopes {
        // Not estimated: scales are those of all values of the inputs.
        state[slopes.slots.clone()].fill(0.0);
    }
    match &residual.noise {
        Noise::Scales { levels, slot_of, .. } => {
            let dof = residual.dof.value(state);
            for (which, slot) in levels.slots.clone().enumerate() {
                let own = residuals.iter().enumerate().filter(|(at, _)| {
                    let (output, row) = (at / count, indices[at % count]);
                    slot_of[output * residual.rows + row] as usize == which
                });
                let own: Vec<f64> = own.map(|(_, value)| *value).collect();
                // A group of rows that are all in the other half has the scale of all.
                let these = if own.is_empty() { residuals } else { &own };
                let scale = residual_scale(residual.family, dof, these);
                state[slot] = scale.max(LEAST_RESIDUAL).ln();
            }
            set_above(levels, state);
        }
        Noise::Covariance { slots, .. } => {
            let dim = residual.outputs;
            for (at, slot) in slots.clone().enumerate() {
                let (a, b) = (at / dim, at % dim);
                let [a_values, b_values] =
                    [a, b].map(|output| &residuals[output * count..(output + 1) * count]);
                let products: f64 = a_values.iter().zip(b_values).map(|(x, y)| x * y).sum();
                // A sum of squares and a positive diagonal: positive definite.
                let least = if a == b { LEAST_RESIDUAL * LEAST_RESIDUAL } else { 0.0 };
                state[slot] = products / count as f64 + least;
            }
        }
    }
}

/// The scale of residuals of a family: by their root mean square for the normal distribution,
/// else by the median of |r|, which is σ t_{0.75} for Student's t and s log 2 for Laplace.
fn residual_scale(family: ResidualFamily, dof: f64, residuals: &[f64]) -> f64 {
    match family {
        ResidualFamily::Normal => root_mean_square(residuals),
        ResidualFamily::Laplace => median_absolute(residuals) / std::f64::consts::LN_2,
        ResidualFamily::StudentT | ResidualFamily::PerCase => {
            let quartile = StudentT::new(0.0, 1.0, dof).map_or(1.0, |t| t.quantile(0.75));
            median_absolute(residuals) / quartile
        }
        ResidualFamily::Poisson
        | ResidualFamily::NegativeBinomial
        | ResidualFamily::Weibull
        | ResidualFamily::LogNormal => {
            unreachable!("counts and durations are no real targets")
        }
    }
}

/// Puts a sampled level above at the mean of the log scales below it.
fn set_above(levels: &Levels, state: &mut [f64]) {
    if let Above::Sampled { slot, .. } = levels.above {
        let logs = &state[levels.slots.clone()];
        state[slot] = logs.iter().sum::<f64>() / logs.len() as f64;
    }
}

fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

fn median_absolute(values: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let middle = sizes.len() / 2;
    *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests;
