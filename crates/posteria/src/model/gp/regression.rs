//! The density of hyperparameters and residual scales, functions integrated out.

use super::marginal::Marginal;
use super::posterior::GpPosterior;
use super::process::Process;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::residual::{Noise, Residual};
use crate::model::spec::ResidualFamily;
use crate::sample::Conditional;
use crate::target::{Infeasible, LogDensity};

/// The density of the hyperparameters of some processes and of the residual scales of their
/// targets, given κ and degrees of freedom.
pub(super) struct RegressionConditional<'p> {
    residual: &'p Residual,
    inverse_temperature: f64,
    parts: Vec<Part<'p>>,
    /// Entries of the state that are moved.
    slots: Vec<usize>,
    /// Position of an entry of the state among `slots`, if it is moved.
    index_of: Vec<Option<usize>>,
    /// Whether residual scales are among them.
    moves_scales: bool,
    state: Vec<f64>,
    precisions: Vec<f64>,
}

struct Part<'p> {
    process: &'p Process,
    marginal: Marginal<'p>,
    log_parameters: Vec<f64>,
    of_parameters: Vec<f64>,
    /// b of every target.
    solved: Vec<f64>,
}

impl<'p> RegressionConditional<'p> {
    /// Of `processes`, with the residual scales of their targets.
    pub(super) fn new(
        posterior: &'p GpPosterior,
        residual: &'p Residual,
        processes: &'p [Process],
        inverse_temperature: f64,
    ) -> Self {
        let rows = posterior.inputs.rows();
        let mut slots: Vec<usize> =
            processes.iter().flat_map(|process| process.hyperparameters.slots.clone()).collect();
        let moves_scales = residual.known_scales.is_none();
        if let (Noise::Scales { levels, slot_of, .. }, true) = (&residual.noise, moves_scales) {
            let whole = processes.len() == posterior.processes.len();
            let own = |slot: &usize| {
                let mut targets = processes.iter().flat_map(|process| process.targets.clone());
                targets.any(|target| {
                    let these = &slot_of[target * rows..(target + 1) * rows];
                    these.iter().any(|which| levels.slots.start + *which as usize == *slot)
                })
            };
            slots.extend(levels.slots.clone().filter(|slot| whole || own(slot)));
            if let crate::model::prior::Above::Sampled { slot, .. } = levels.above {
                slots.push(slot);
            }
        }
        let mut index_of = vec![None; posterior.latents.start];
        for (index, slot) in slots.iter().enumerate() {
            index_of[*slot] = Some(index);
        }
        let part = |process: &'p Process| Part {
            process,
            marginal: Marginal::new(&posterior.covariance, &posterior.inputs, posterior.jitter),
            log_parameters: vec![0.0; process.hyperparameters.parameters()],
            of_parameters: vec![0.0; process.hyperparameters.parameters()],
            solved: vec![0.0; rows * process.targets.len()],
        };
        RegressionConditional {
            residual,
            inverse_temperature,
            parts: processes.iter().map(part).collect(),
            slots,
            index_of,
            moves_scales,
            state: vec![f64::NAN; posterior.latents.start],
            precisions: vec![0.0; residual.targets.len()],
        }
    }

    /// Entries of the state that are moved.
    pub(super) fn slots(&self) -> &[usize] {
        &self.slots
    }

    fn evaluate(
        &mut self,
        position: &[f64],
        mut gradient: Option<&mut [f64]>,
    ) -> Result<f64, Infeasible> {
        let beta = self.inverse_temperature;
        for (slot, value) in self.slots.iter().zip(position) {
            self.state[*slot] = *value;
        }
        let (state, residual, index_of) = (&self.state[..], self.residual, &self.index_of);
        if let Some(gradient) = gradient.as_deref_mut() {
            gradient.fill(0.0);
        }
        let mut add = |slot: usize, derivative: f64| {
            if let (Some(gradient), Some(index)) = (gradient.as_deref_mut(), index_of[slot]) {
                gradient[index] += derivative;
            }
        };
        let outside = Infeasible::OutsideSupport;
        let mut value = 0.0;
        for part in &self.parts {
            value += part.process.hyperparameters.log_prior(state, &mut add).ok_or(outside)?;
        }
        let Noise::Scales { levels, slot_of, .. } = &residual.noise else {
            unreachable!("checked with the specification")
        };
        if self.moves_scales {
            value += levels.centred_log_density(state, &mut add).ok_or(outside)?;
        }
        if beta <= 0.0 {
            return Ok(value);
        }
        residual.precisions(state, beta, &mut self.precisions);
        let wants_gradient = gradient.is_some();
        for part in &mut self.parts {
            let Part { process, marginal, log_parameters, of_parameters, solved } = part;
            let rows = residual.rows;
            process.hyperparameters.write_parameters(state, log_parameters);
            marginal.set(log_parameters);
            // Targets with the same precisions share one factor and one pass of derivatives.
            let mut first = 0;
            for (place, target) in process.targets.clone().enumerate() {
                let range = target * rows..(target + 1) * rows;
                marginal.factorize(&self.precisions[range.clone()])?;
                let solved_here = &mut solved[place * rows..(place + 1) * rows];
                let square = marginal.solve(&residual.targets[range.clone()], solved_here);
                value += marginal.log_volume() - 0.5 * square;
                for which in &slot_of[range.clone()] {
                    value -= beta * state[levels.slots.start + *which as usize];
                }
                let last = target + 1 == process.targets.end;
                let alike = !last && {
                    let next = range.end..range.end + rows;
                    let pairs = self.precisions[range.clone()].iter().zip(&self.precisions[next]);
                    pairs.into_iter().all(|(a, b)| a.to_bits() == b.to_bits())
                };
                if alike || !wants_gradient {
                    continue;
                }
                marginal.invert();
                let mut add = |slot: usize, derivative: f64| {
                    if let (Some(gradient), Some(index)) = (gradient.as_deref_mut(), index_of[slot])
                    {
                        gradient[index] += derivative;
                    }
                };
                marginal.gradient(&solved[first * rows..(place + 1) * rows], of_parameters);
                process.hyperparameters.add_gradient(of_parameters, &mut add);
                if self.moves_scales {
                    for target in process.targets.start + first..=target {
                        let place = target - process.targets.start;
                        for row in 0..rows {
                            let slot = levels.slots.start + slot_of[target * rows + row] as usize;
                            // d/d log σ of w = κ/σ² and of -β log σ.
                            let b = solved[place * rows + row];
                            add(slot, b * b - marginal.inverse_diagonal(row) + 1.0 - beta);
                        }
                    }
                }
                first = place + 1;
            }
        }
        if residual.family == ResidualFamily::Normal {
            let targets: usize = self.parts.iter().map(|part| part.process.targets.len()).sum();
            value -= beta * LOG_SQRT_2PI * (targets * residual.rows) as f64;
        }
        Ok(value)
    }
}

impl LogDensity for RegressionConditional<'_> {
    fn dim(&self) -> usize {
        self.slots.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.evaluate(position, None)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        self.evaluate(position, Some(gradient))
    }
}

impl Conditional for RegressionConditional<'_> {
    fn condition(&mut self, state: &[f64]) -> bool {
        let mut changed = false;
        let pairs = self.state.iter_mut().zip(state).zip(&self.index_of);
        for ((own, given), moved) in pairs {
            changed |= moved.is_none() && own.to_bits() != given.to_bits();
            *own = *given;
        }
        changed
    }
}
