//! Move the magnitudes of classes' latent functions together with the functions.

use posteria_linalg::Cholesky;

use super::super::hyperparameters::Kind;
use super::super::marginal::Marginal;
use super::super::posterior::GpPosterior;
use super::likelihood::Likelihood;
use crate::random::Stream;
use crate::sample::{Coordinates, DirectionWalk, Reparametrized, Update};
use crate::target::{Infeasible, LogDensity};

/// First width of the proposals of log magnitudes.
const WIDTH: f64 = 0.3;
/// Proposals per sweep.
const REPEATS: usize = 2;

/// The density of a common shift s of all sampled log magnitudes at fixed z = L(θ)⁻¹f, K = LLᵀ:
/// f' = L(θ + s) z is about e^s f, and β log p(y|f') + log p(θ + s) is what is left, since z has
/// the same density whatever θ is.
///
/// Where classes are separable the likelihood hardly knows the size of f. Noise about sites pins
/// it: they are normal approximations, and those of rows that are told apart with certainty are
/// poor.
struct ScaledLatents<'p> {
    posterior: &'p GpPosterior,
    likelihood: Likelihood<'p>,
    inverse_temperature: f64,
    marginal: Marginal<'p>,
    factor: Cholesky,
    /// Entries of the state with the log magnitudes.
    slots: Vec<usize>,
    log_parameters: Vec<f64>,
    /// z, and the state with what is proposed.
    whitened: Vec<f64>,
    moved: Vec<f64>,
    /// The magnitudes in the state, and whether its covariance is usable.
    entered: Vec<f64>,
    usable: bool,
}

/// The entries of the state with the sampled log magnitudes.
pub(super) fn slots(posterior: &GpPosterior) -> Vec<usize> {
    let hyperparameters = &posterior.processes[0].hyperparameters;
    let groups = hyperparameters.groups.iter().filter(|group| group.kind == Kind::Magnitude);
    groups.flat_map(|group| group.slots.clone()).collect()
}

/// The update; `None` if all magnitudes are known.
pub(super) fn update(posterior: &GpPosterior, beta: f64) -> Option<Box<dyn Update + '_>> {
    let slots = slots(posterior);
    if slots.is_empty() {
        return None;
    }
    let GpPosterior { covariance, inputs, jitter, .. } = posterior;
    let coordinates = ScaledLatents {
        posterior,
        likelihood: Likelihood::new(&posterior.observed, posterior.row_count()),
        inverse_temperature: beta,
        marginal: Marginal::new(covariance, inputs, *jitter),
        factor: Cholesky::identity(inputs.rows()),
        entered: vec![0.0; slots.len()],
        slots,
        log_parameters: vec![0.0; covariance.parameters().len()],
        whitened: vec![0.0; posterior.latents.len()],
        moved: vec![0.0; posterior.latents.end],
        usable: false,
    };
    let walk = DirectionWalk::along_axes(0..1, WIDTH).repeats(REPEATS);
    Some(Box::new(Reparametrized::new("magnitudes", coordinates, walk)))
}

impl ScaledLatents<'_> {
    /// Factorises the covariance at the hyperparameters of `moved`.
    fn factorize(&mut self) -> Result<(), Infeasible> {
        let hyperparameters = &self.posterior.processes[0].hyperparameters;
        hyperparameters.write_parameters(&self.moved, &mut self.log_parameters);
        self.marginal.set(&self.log_parameters);
        self.marginal.factorize_prior(&mut self.factor)
    }

    /// Puts the magnitudes of this shift and the latents that belong to them into `moved`.
    fn shift(&mut self, shift: f64) -> Result<(), Infeasible> {
        for (slot, entered) in self.slots.iter().zip(&self.entered) {
            self.moved[*slot] = entered + shift;
        }
        self.factorize()?;
        let latents = &mut self.moved[self.posterior.latents.clone()];
        latents.copy_from_slice(&self.whitened);
        for function in latents.chunks_exact_mut(self.posterior.row_count()) {
            self.factor.multiply_lower(function);
        }
        Ok(())
    }
}

impl LogDensity for ScaledLatents<'_> {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        if !self.usable {
            return Err(Infeasible::NotFinite);
        }
        self.shift(position[0])?;
        let hyperparameters = &self.posterior.processes[0].hyperparameters;
        let log_prior = hyperparameters.log_prior(&self.moved, &mut |_, _| {});
        let log_prior = log_prior.ok_or(Infeasible::OutsideSupport)?;
        let latents = &self.moved[self.posterior.latents.clone()];
        Ok(log_prior + self.inverse_temperature * self.likelihood.value(latents))
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        // Walks need none.
        gradient.fill(f64::NAN);
        self.log_density(position)
    }
}

impl Coordinates for ScaledLatents<'_> {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        position[0] = 0.0;
        self.likelihood.condition(state);
        self.moved.copy_from_slice(&state[..self.posterior.latents.end]);
        for (entered, slot) in self.entered.iter_mut().zip(&self.slots) {
            *entered = state[*slot];
        }
        self.usable = self.factorize().is_ok();
        self.whitened.copy_from_slice(&state[self.posterior.latents.clone()]);
        for function in self.whitened.chunks_exact_mut(self.posterior.row_count()) {
            self.factor.solve_lower(function);
        }
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], _stream: &mut Stream) {
        // Where nothing moved, not even rounding.
        if position[0].to_bits() != 0.0_f64.to_bits() && self.shift(position[0]).is_ok() {
            state[..self.moved.len()].copy_from_slice(&self.moved);
        }
    }
}
