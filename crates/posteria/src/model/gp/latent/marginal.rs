//! The density of the hyperparameters of classes and counts, functions integrated out by Laplace's
//! method.

use posteria_linalg::dot;

use super::super::hyperparameters::Hyperparameters;
use super::super::observed::Observed;
use super::super::posterior::GpPosterior;
use super::gaussian::Gaussian;
use super::laplace::approximate;
use super::likelihood::Likelihood;
use super::sites::Sites;
use crate::density::draw_by_log_weights;
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity};

/// Step of differences of curvatures by functions, and of the density by the overdispersion: of
/// numbers of order one, with an error of the order of its square.
const STEP: f64 = 1e-4;
/// Functions that one is chosen from: each costs the square of their number, the mode the cube.
const CANDIDATES: usize = 32;

/// log p(θ) + log q(y | θ), with q by Laplace's method about the mode f̂ of p(y | f) N(f; 0, K),
///
/// log q(y | θ) = log p(y | f̂) - ½ f̂ᵀK⁻¹f̂ - ½ log |B| [Rasmussen & Williams 2006, eq. 3.32 and 3.44],
///
/// and the functions given θ, N(f̂, (K⁻¹ + W)⁻¹).
pub(in crate::model::gp) struct LatentMarginal<'p> {
    posterior: &'p GpPosterior,
    hyperparameters: &'p Hyperparameters,
    /// Entries of the state that are moved; the last is the overdispersion of counts, if it is one.
    slots: Vec<usize>,
    overdispersion: Option<usize>,
    likelihood: Likelihood<'p>,
    gaussian: Gaussian<'p>,
    sites: Sites,
    /// The state up to the functions.
    state: Vec<f64>,
    log_parameters: Vec<f64>,
    of_parameters: Vec<f64>,
    /// f̂, and K⁻¹f̂.
    mode: Vec<f64>,
    solved: Vec<f64>,
}

impl<'p> LatentMarginal<'p> {
    /// Of a process of classes or counts. `template` is a state with all that is not moved.
    pub(in crate::model::gp) fn new(posterior: &'p GpPosterior, template: &[f64]) -> Self {
        let hyperparameters = &posterior.processes[0].hyperparameters;
        let overdispersion = match &posterior.observed {
            Observed::Outcomes(outcomes) => outcomes.slots().next(),
            _ => None,
        };
        let (rows, functions) = (posterior.row_count(), posterior.observed.functions());
        let size = rows * functions;
        LatentMarginal {
            posterior,
            hyperparameters,
            slots: hyperparameters.slots.clone().chain(overdispersion).collect(),
            overdispersion,
            likelihood: Likelihood::new(&posterior.observed, rows),
            gaussian: Gaussian::new(posterior),
            sites: Sites::touching(rows, functions),
            state: template[..posterior.latents.start].to_vec(),
            log_parameters: vec![0.0; hyperparameters.parameters()],
            of_parameters: vec![0.0; hyperparameters.parameters()],
            mode: vec![0.0; size],
            solved: vec![0.0; size],
        }
    }

    /// Entries of the state that are moved.
    pub(in crate::model::gp) fn slots(&self) -> &[usize] {
        &self.slots
    }

    /// Finds f̂ for the state at hand, and log q(y | θ).
    fn find_mode(&mut self) -> Result<f64, Infeasible> {
        self.hyperparameters.write_parameters(&self.state, &mut self.log_parameters);
        self.gaussian.set(&self.log_parameters);
        self.likelihood.condition(&self.state);
        let (gaussian, sites) = (&mut self.gaussian, &mut self.sites);
        approximate(&mut self.likelihood, 1.0, gaussian, sites)?;
        gaussian.factorize(sites)?;
        gaussian.mean(sites, &mut self.mode, Some(&mut self.solved));
        let square = dot(&self.mode, &self.solved);
        let value = self.likelihood.value(&self.mode) - 0.5 * square + gaussian.log_volume();
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// Log prior of what is moved; `add` receives its derivatives but that by the overdispersion.
    fn log_prior(&self, add: impl FnMut(usize, f64)) -> Result<f64, Infeasible> {
        let of_counts = match &self.posterior.observed {
            Observed::Outcomes(outcomes) => outcomes.log_prior(&self.state),
            _ => 0.0,
        };
        let value = self.hyperparameters.log_prior(&self.state, add);
        Ok(value.ok_or(Infeasible::OutsideSupport)? + of_counts)
    }

    fn take(&mut self, position: &[f64]) {
        for (slot, value) in self.slots.iter().zip(position) {
            self.state[*slot] = *value;
        }
    }

    /// Derivatives of -½ log |B| by the functions at the mode, through W: entry j, i is
    /// -½ tr(Σ_i ∂W_i/∂f_ji), after [`Gaussian::gradient`].
    fn slopes_of_volume(&mut self) -> Vec<f64> {
        let (rows, functions) = (self.posterior.row_count(), self.posterior.observed.functions());
        let (size, blocks) = (rows * functions, functions * functions);
        let mut slopes = vec![0.0; size];
        let mut covariances = vec![0.0; rows * blocks];
        for (row, block) in covariances.chunks_exact_mut(blocks).enumerate() {
            self.gaussian.row_covariance(&self.sites, row, block);
        }
        let mut moved = self.mode.clone();
        let mut gradient = vec![0.0; size];
        let [mut above, mut below] = [(); 2].map(|()| vec![0.0; rows * blocks]);
        for j in 0..functions {
            let range = j * rows..(j + 1) * rows;
            moved[range.clone()].iter_mut().for_each(|f| *f += STEP);
            self.likelihood.curvature(&moved, &mut gradient, &mut above);
            moved[range.clone()].iter_mut().for_each(|f| *f -= 2.0 * STEP);
            self.likelihood.curvature(&moved, &mut gradient, &mut below);
            moved[range.clone()].copy_from_slice(&self.mode[range]);
            for row in 0..rows {
                let covariance = &covariances[row * blocks..(row + 1) * blocks];
                let terms = covariance.iter().enumerate();
                let trace: f64 = terms
                    .map(|(entry, c)| c * (above[entry * rows + row] - below[entry * rows + row]))
                    .sum();
                slopes[j * rows + row] = -0.5 * trace / (2.0 * STEP);
            }
        }
        slopes
    }

    /// Draws the functions given the hyperparameters in `state` into it: one of a few from
    /// N(f̂, (K⁻¹ + W)⁻¹), each as probable as its density is greater than it has there, which brings
    /// them nearer to their own distribution [Rubin 1988].
    ///
    /// # Errors
    /// [`Infeasible`] where the hyperparameters have no usable density.
    pub(in crate::model::gp) fn draw(
        &mut self,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<(), Infeasible> {
        let head = self.state.len();
        self.state.copy_from_slice(&state[..head]);
        self.find_mode()?;
        self.gaussian.factorize_prior()?;
        let latents = self.posterior.latents.clone();
        let mut candidates = vec![0.0; CANDIDATES * latents.len()];
        let mut log_ratios = Vec::with_capacity(CANDIDATES);
        for functions in candidates.chunks_exact_mut(latents.len()) {
            self.draw_functions(functions, stream);
            let ratio = self.likelihood.value(functions) - self.sites.log_density(functions);
            log_ratios.push(if ratio.is_nan() { f64::NEG_INFINITY } else { ratio });
        }
        let chosen = draw_by_log_weights(&mut log_ratios, stream).unwrap_or(0);
        let functions = &candidates[chosen * latents.len()..][..latents.len()];
        state[latents].copy_from_slice(functions);
        Ok(())
    }

    /// Draws about the mode that was found; the prior is factorised.
    fn draw_functions(&mut self, functions: &mut [f64], stream: &mut Stream) {
        let mut noise = vec![0.0; functions.len()];
        self.gaussian.draw_deviation(&self.sites, functions, &mut noise, stream);
        functions.iter_mut().zip(&self.mode).for_each(|(f, mode)| *f += mode);
    }

    /// Log ratios p(y | f) N(f; 0, K) / (q(y | θ) q(f)) of draws of the functions at the hyperparameters
    /// θ of a position.
    ///
    /// # Errors
    /// As [`LatentMarginal::draw`].
    pub(in crate::model::gp) fn weigh(
        &mut self,
        position: &[f64],
        count: usize,
        stream: &mut Stream,
    ) -> Result<Vec<f64>, Infeasible> {
        self.take(position);
        self.find_mode()?;
        self.gaussian.factorize_prior()?;
        // The prior of the functions cancels, and of the sites their height at the mode.
        let mode = self.mode.clone();
        let height = self.likelihood.value(&mode) - self.sites.log_density(&mode);
        let mut functions = mode;
        let mut ratio = |_| {
            self.draw_functions(&mut functions, stream);
            self.likelihood.value(&functions) - self.sites.log_density(&functions) - height
        };
        Ok((0..count).map(&mut ratio).collect())
    }
}

impl LogDensity for LatentMarginal<'_> {
    fn dim(&self) -> usize {
        self.slots.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.take(position);
        Ok(self.log_prior(|_, _| {})? + self.find_mode()?)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        gradient.fill(0.0);
        if let Some(slot) = self.overdispersion {
            let last = self.slots.len() - 1;
            debug_assert_eq!(self.slots[last], slot);
            let mut moved = position.to_vec();
            moved[last] = position[last] + STEP;
            let above = self.log_density(&moved)?;
            moved[last] = position[last] - STEP;
            gradient[last] = (above - self.log_density(&moved)?) / (2.0 * STEP);
        }
        self.take(position);
        let first = self.hyperparameters.slots.start;
        let prior = self.log_prior(|slot, slope| gradient[slot - first] += slope)?;
        let value = prior + self.find_mode()?;
        self.gaussian.gradient(&self.sites, None, &mut self.of_parameters);
        let mut slopes = self.slopes_of_volume();
        let pair = (&mut slopes[..], &self.solved[..]);
        self.gaussian.add_gradient_of_mode(&self.sites, pair, &mut self.of_parameters);
        let add = |slot: usize, slope: f64| gradient[slot - first] += slope;
        self.hyperparameters.add_gradient(&self.of_parameters, add);
        Ok(value)
    }
}
