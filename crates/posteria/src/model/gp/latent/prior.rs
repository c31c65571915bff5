//! Draw everything from the prior, as inverse temperature 0 asks for.

use posteria_linalg::Cholesky;

use super::super::marginal::Marginal;
use super::super::observed::Observed;
use super::super::posterior::GpPosterior;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// Hyperparameters and latents, drawn exactly given the inputs that are in. A draw whose covariance cannot be factorised is
/// rejected, as such proposals are at other temperatures.
pub(super) struct PriorUpdate<'p> {
    posterior: &'p GpPosterior,
    marginal: Marginal<'p>,
    factor: Cholesky,
    log_parameters: Vec<f64>,
    drawn: Vec<f64>,
}

impl<'p> PriorUpdate<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        let GpPosterior { covariance, inputs, jitter, .. } = posterior;
        PriorUpdate {
            posterior,
            marginal: Marginal::new(covariance, inputs, *jitter),
            factor: Cholesky::identity(inputs.rows()),
            log_parameters: vec![0.0; covariance.parameters().len()],
            drawn: vec![0.0; posterior.latents.end],
        }
    }

    fn draw(&mut self, state: &[f64], stream: &mut Stream) -> Result<(), Infeasible> {
        if let Some(selection) = &self.posterior.selection {
            self.drawn[selection.slots.clone()].copy_from_slice(&state[selection.slots.clone()]);
        }
        if let Observed::Outcomes(outcomes) = &self.posterior.observed {
            outcomes.draw_prior(&mut self.drawn, stream);
        }
        let hyperparameters = &self.posterior.processes[0].hyperparameters;
        hyperparameters.draw_prior(&mut self.drawn, stream);
        hyperparameters.write_parameters(&self.drawn, &mut self.log_parameters);
        self.marginal.set(&self.log_parameters);
        self.marginal.factorize_prior(&mut self.factor)?;
        let latents = &mut self.drawn[self.posterior.latents.clone()];
        stream.fill_normal(latents);
        for function in latents.chunks_exact_mut(self.posterior.row_count()) {
            self.factor.multiply_lower(function);
        }
        Ok(())
    }
}

impl Update for PriorUpdate<'_> {
    fn name(&self) -> &str {
        "prior"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match self.draw(state, stream) {
            Ok(()) => {
                state.copy_from_slice(&self.drawn);
                Step::default()
            }
            Err(infeasible) => Step::stayed(infeasible),
        }
    }
}
