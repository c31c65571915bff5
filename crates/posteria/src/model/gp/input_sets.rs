//! The density of real targets as a function of the inputs that are in.

use super::posterior::GpPosterior;
use super::regression::RegressionConditional;
use crate::model::residual::Residual;
use crate::model::selection::Masked;
use crate::random::Stream;
use crate::target::Infeasible;

impl GpPosterior {
    /// Draws what belongs to one input from its prior given the rest, in all processes.
    pub(super) fn draw_input(&self, input: usize, state: &mut [f64], stream: &mut Stream) {
        for process in &self.processes {
            process.hyperparameters.draw_input(input, state, stream);
        }
    }

    /// Whether sampled hyperparameters belong to single inputs.
    pub(super) fn has_own(&self) -> bool {
        self.processes.iter().any(|process| process.hyperparameters.has_own())
    }
}

/// Real targets given hyperparameters, κ and residual scales; functions are integrated out, and
/// where a state holds them they are drawn anew before anything else looks at them.
pub(super) struct RegressionSet<'p> {
    posterior: &'p GpPosterior,
    conditional: RegressionConditional<'p>,
}

impl<'p> RegressionSet<'p> {
    pub(super) fn new(posterior: &'p GpPosterior, residual: &'p Residual, beta: f64) -> Self {
        let conditional =
            RegressionConditional::new(posterior, residual, &posterior.processes, beta);
        RegressionSet { posterior, conditional }
    }
}

impl Masked for RegressionSet<'_> {
    fn begin(&mut self, _state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        Ok(())
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let value = self.conditional.log_likelihood(state)?;
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.posterior.draw_input(input, state, stream);
    }

    fn retire(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        for process in &self.posterior.processes {
            process.hyperparameters.retire(input, state, stream);
        }
    }

    fn has_own(&self) -> bool {
        self.posterior.has_own()
    }

    fn conclude(&mut self, _state: &mut [f64], _stream: &mut Stream) {}
}
