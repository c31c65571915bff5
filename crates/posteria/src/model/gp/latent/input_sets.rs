//! The density of classes at fixed noise, as a function of the inputs that are in.

use super::super::posterior::GpPosterior;
use super::shared::{Handle, Shared};
use crate::model::selection::Masked;
use crate::random::Stream;
use crate::target::Infeasible;

/// Classes given the noise (z, ε) that hyperparameters and set turn into latents, as in
/// [`HyperparameterUpdate`](super::noise::HyperparameterUpdate): Z Π p(y_i|f_i)^β / site_i(f_i).
pub(super) struct LatentSet<'p> {
    shared: Handle<'p>,
    z: Vec<f64>,
    noise: Vec<f64>,
    latents: Vec<f64>,
}

impl<'p> LatentSet<'p> {
    pub(super) fn new(shared: Handle<'p>) -> Self {
        let size = shared.get().latents.len();
        LatentSet { shared, z: vec![0.0; size], noise: vec![0.0; size], latents: vec![0.0; size] }
    }

    /// Goes to the covariance of `state` and turns the noise into latents.
    fn turn(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let mut shared = self.shared.get();
        let Shared { hyperparameters, log_parameters, there, sites, .. } = &mut *shared;
        hyperparameters.write_parameters(state, log_parameters);
        there.set(log_parameters);
        there.factorize(sites)?;
        there.factorize_prior()?;
        self.latents.copy_from_slice(&self.z);
        there.transform_noise(sites, &mut self.latents, &self.noise, true);
        let evidence = there.log_evidence(sites);
        Ok(evidence + shared.log_ratio(&self.latents)?)
    }
}

impl Masked for LatentSet<'_> {
    fn begin(&mut self, state: &[f64], stream: &mut Stream) -> Result<(), Infeasible> {
        let mut shared = self.shared.get();
        shared.prepare(state)?;
        let latents = shared.latents.clone();
        let Shared { here, sites, .. } = &mut *shared;
        here.draw_noise(sites, &state[latents], &mut self.z, &mut self.noise, stream);
        Ok(())
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.turn(state)
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.shared.get().hyperparameters.draw_input(input, state, stream);
    }

    fn retire(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.shared.get().hyperparameters.retire(input, state, stream);
    }

    fn has_own(&self) -> bool {
        self.shared.get().hyperparameters.has_own()
    }

    fn conclude(&mut self, state: &mut [f64], _stream: &mut Stream) {
        // It had a density when it was accepted.
        if self.turn(state).is_ok() {
            let latents = self.shared.get().latents.clone();
            state[latents].copy_from_slice(&self.latents);
        }
    }
}

/// No targets at all: inverse temperature 0.
pub(super) struct PriorSet<'p> {
    pub(super) posterior: &'p GpPosterior,
}

impl Masked for PriorSet<'_> {
    fn begin(&mut self, _state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        Ok(())
    }

    fn log_density(&mut self, _state: &[f64]) -> Result<f64, Infeasible> {
        Ok(0.0)
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.posterior.draw_input(input, state, stream);
    }

    fn has_own(&self) -> bool {
        false
    }

    fn conclude(&mut self, _state: &mut [f64], _stream: &mut Stream) {}
}
