//! Draw functions, residual parameters and degrees of freedom from their full conditionals.

use std::ops::Range;

use posteria_linalg::Cholesky;

use super::marginal::Marginal;
use super::posterior::GpPosterior;
use super::process::Process;
use crate::model::residual::{Residual, ResidualConditional};
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// The functions at all rows given everything else, where targets are real.
pub(super) struct FunctionsUpdate<'p> {
    posterior: &'p GpPosterior,
    residual: &'p Residual,
    inverse_temperature: f64,
    marginal: Marginal<'p>,
    factor: Cholesky,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    room: Vec<f64>,
}

impl<'p> FunctionsUpdate<'p> {
    pub(super) fn new(
        posterior: &'p GpPosterior,
        residual: &'p Residual,
        inverse_temperature: f64,
    ) -> Self {
        let GpPosterior { covariance, inputs, jitter, .. } = posterior;
        FunctionsUpdate {
            posterior,
            residual,
            inverse_temperature,
            marginal: Marginal::new(covariance, inputs, *jitter),
            factor: Cholesky::identity(inputs.rows()),
            log_parameters: vec![0.0; covariance.parameters().len()],
            precisions: vec![0.0; residual.targets.len()],
            room: vec![0.0; 2 * inputs.rows()],
        }
    }

    fn draw(&mut self, state: &mut [f64], stream: &mut Stream) -> Result<(), Infeasible> {
        let (residual, rows) = (self.residual, self.residual.rows);
        if self.inverse_temperature > 0.0 {
            residual.precisions(state, self.inverse_temperature, &mut self.precisions);
        }
        for process in &self.posterior.processes {
            process.hyperparameters.write_parameters(state, &mut self.log_parameters);
            self.marginal.set(&self.log_parameters);
            self.marginal.factorize_prior(&mut self.factor)?;
            for target in process.targets.clone() {
                let range = target * rows..(target + 1) * rows;
                self.marginal.factorize(&self.precisions[range.clone()])?;
                let first = self.posterior.latents.start + target * rows;
                let function = &mut state[first..first + rows];
                let targets = &residual.targets[range];
                self.marginal.draw_function(
                    &self.factor,
                    targets,
                    function,
                    &mut self.room,
                    stream,
                );
            }
        }
        Ok(())
    }
}

impl Update for FunctionsUpdate<'_> {
    fn name(&self) -> &str {
        "functions"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match self.draw(state, stream) {
            Ok(()) => Step::default(),
            Err(infeasible) => Step::stayed(infeasible),
        }
    }
}

/// The residual model given the functions.
pub(super) struct ResidualUpdate {
    conditional: ResidualConditional,
    latents: Range<usize>,
}

impl ResidualUpdate {
    pub(super) fn new(residual: &Residual, latents: Range<usize>, beta: f64) -> Self {
        ResidualUpdate { conditional: ResidualConditional::new(residual, beta), latents }
    }
}

impl Update for ResidualUpdate {
    fn name(&self) -> &str {
        "residual"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let latents = self.latents.clone();
        let write = |state: &[f64], out: &mut [f64]| out.copy_from_slice(&state[latents]);
        let fine = self.conditional.draw(state, write, stream);
        if fine { Step::default() } else { Step::stayed(Infeasible::NotFinite) }
    }
}

/// Degrees of freedom of the levels above hyperparameters.
pub(super) struct DofsUpdate {
    pub(super) processes: Vec<Process>,
}

impl Update for DofsUpdate {
    fn name(&self) -> &str {
        "degrees of freedom"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let mut fine = true;
        for process in &mut self.processes {
            fine &= process.hyperparameters.gibbs_dofs(state, stream);
        }
        if fine { Step::default() } else { Step::stayed(Infeasible::NotFinite) }
    }
}
