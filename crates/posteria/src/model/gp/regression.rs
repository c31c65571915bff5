//! The density of hyperparameters and residual scales, functions integrated out.

use std::collections::BTreeSet;

use super::marginal::Marginal;
use super::neighbours::{Derivatives, NeighbourMarginal};
use super::posterior::GpPosterior;
use super::process::Process;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::residual::{Noise, Residual};
use crate::sample::Conditional;
use crate::target::{Infeasible, LogDensity};

/// The density of the hyperparameters of some processes and of the residual scales of their
/// targets, given κ and degrees of freedom.
pub(super) struct RegressionConditional<'p> {
    residual: &'p Residual,
    inverse_temperature: f64,
    /// Whether functions are integrated out for good.
    integrated: bool,
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
    density: Density<'p>,
    log_parameters: Vec<f64>,
    of_parameters: Vec<f64>,
    /// b of every target.
    solved: Vec<f64>,
}

enum Density<'p> {
    Exact(Marginal<'p>),
    Neighbours { marginal: NeighbourMarginal<'p>, variances: Vec<f64>, by_row: Vec<f64> },
}

impl<'p> Density<'p> {
    fn new(posterior: &'p GpPosterior) -> Self {
        let GpPosterior { covariance, inputs, jitter, neighbours, .. } = posterior;
        let zeros = || vec![0.0; inputs.rows()];
        match neighbours {
            None => Density::Exact(Marginal::of_posterior(posterior)),
            Some(neighbours) => Density::Neighbours {
                marginal: NeighbourMarginal::new(neighbours, covariance, inputs, *jitter),
                variances: zeros(),
                by_row: zeros(),
            },
        }
    }
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
        if let Some(slopes) = &residual.slopes {
            let targets = processes.iter().flat_map(|process| process.targets.clone());
            let own: BTreeSet<usize> =
                targets.flat_map(|target| slopes.of_target(target)).collect();
            slots.extend(own);
        }
        let mut index_of = vec![None; posterior.latents.start];
        for (index, slot) in slots.iter().enumerate() {
            index_of[*slot] = Some(index);
        }
        let part = |process: &'p Process| Part {
            process,
            density: Density::new(posterior),
            log_parameters: vec![0.0; process.hyperparameters.parameters()],
            of_parameters: vec![0.0; process.hyperparameters.parameters()],
            solved: vec![0.0; rows * process.targets.len()],
        };
        RegressionConditional {
            residual,
            inverse_temperature,
            integrated: !posterior.keeps_latents(),
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

    /// Log density of the targets given `state`, likelihood to the power β, up to a factor of κ.
    pub(super) fn log_likelihood(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let head = self.state.len();
        self.state.copy_from_slice(&state[..head]);
        self.log_density_of_targets(None)
    }

    fn evaluate(
        &mut self,
        position: &[f64],
        mut gradient: Option<&mut [f64]>,
    ) -> Result<f64, Infeasible> {
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
        let Noise::Scales { levels, .. } = &residual.noise else {
            unreachable!("checked with the specification")
        };
        if self.moves_scales {
            value += levels.centred_log_density(state, &mut add).ok_or(outside)?;
        }
        if let Some(slopes) = &residual.slopes {
            value += slopes.log_prior(state, &mut add);
        }
        let of_targets = self.log_density_of_targets(gradient)?;
        Ok(value + of_targets)
    }

    /// Log density of the targets given the state at hand; adds its derivatives.
    fn log_density_of_targets(
        &mut self,
        mut gradient: Option<&mut [f64]>,
    ) -> Result<f64, Infeasible> {
        let beta = self.inverse_temperature;
        if beta <= 0.0 {
            return Ok(0.0);
        }
        let (state, residual, index_of) = (&self.state[..], self.residual, &self.index_of);
        let mut value = 0.0;
        // Of functions that are integrated out for good, p(y | θ) is raised to β; else the
        // likelihood given the functions.
        let (power, beta) = if self.integrated { (beta, 1.0) } else { (1.0, beta) };
        residual.precisions(state, beta, &mut self.precisions);
        let given = Given {
            state,
            residual,
            precisions: &self.precisions,
            beta,
            moves_scales: self.moves_scales,
        };
        for part in &mut self.parts {
            let mut add = gradient.as_deref_mut().map(|gradient| {
                |slot: usize, derivative: f64| {
                    if let Some(index) = index_of[slot] {
                        gradient[index] += power * derivative;
                    }
                }
            });
            let add = add.as_mut().map(|add| add as &mut dyn FnMut(usize, f64));
            value += power * part.log_likelihood(&given, add)?;
        }
        if self.integrated {
            let targets: usize = self.parts.iter().map(|part| part.process.targets.len()).sum();
            value -= power * LOG_SQRT_2PI * (targets * residual.rows) as f64;
        }
        Ok(value)
    }
}

/// What the likelihood of every part depends on.
struct Given<'a> {
    state: &'a [f64],
    residual: &'a Residual,
    precisions: &'a [f64],
    beta: f64,
    moves_scales: bool,
}

impl Given<'_> {
    /// Hands the derivative with respect to log σ of a row of a target to everything that it is
    /// the sum of.
    fn add_of_scale(
        &self,
        (target, row): (usize, usize),
        derivative: f64,
        add: &mut dyn FnMut(usize, f64),
    ) {
        let Noise::Scales { levels, slot_of, .. } = &self.residual.noise else {
            unreachable!("checked with the specification")
        };
        let index = target * self.residual.rows + row;
        add(levels.slots.start + slot_of[index] as usize, derivative);
        if let Some(slopes) = &self.residual.slopes {
            slopes.add_gradient((target, row), derivative, add);
        }
    }
}

impl Part<'_> {
    /// Log likelihood of the targets, up to (2π)^(-β/2) each; hands its derivatives to `add`.
    fn log_likelihood(
        &mut self,
        given: &Given<'_>,
        add: Option<&mut dyn FnMut(usize, f64)>,
    ) -> Result<f64, Infeasible> {
        self.process.hyperparameters.write_parameters(given.state, &mut self.log_parameters);
        let mut value = match self.density {
            Density::Exact(_) => self.exact(given, add)?,
            Density::Neighbours { .. } => self.of_neighbours(given, add)?,
        };
        for target in self.process.targets.clone() {
            let (residual, rows) = (given.residual, given.residual.rows);
            let all = target * rows..(target + 1) * rows;
            value -=
                all.map(|index| given.beta * residual.log_scale(given.state, index)).sum::<f64>();
        }
        Ok(value)
    }

    fn exact(
        &mut self,
        given: &Given<'_>,
        mut add: Option<&mut dyn FnMut(usize, f64)>,
    ) -> Result<f64, Infeasible> {
        let Part { process, density: Density::Exact(marginal), solved, .. } = self else {
            return Ok(0.0);
        };
        let rows = given.residual.rows;
        let of = |target: usize| &given.precisions[target * rows..(target + 1) * rows];
        marginal.set(&self.log_parameters);
        let mut value = 0.0;
        // Targets with the same precisions share one factor and one pass of derivatives.
        let mut first = process.targets.start;
        for target in process.targets.clone() {
            let place = target - process.targets.start;
            marginal.factorize(of(target))?;
            let targets = &given.residual.targets[target * rows..(target + 1) * rows];
            let square = marginal.solve(targets, &mut solved[place * rows..(place + 1) * rows]);
            value += marginal.log_volume() - 0.5 * square;
            let Some(add) = &mut add else { continue };
            let alike = |next: usize| {
                let mut pairs = of(target).iter().zip(of(next));
                pairs.all(|(a, b)| a.to_bits() == b.to_bits())
            };
            if target + 1 < process.targets.end && alike(target + 1) {
                continue;
            }
            marginal.invert();
            let range = first - process.targets.start..place + 1;
            marginal
                .gradient(&solved[range.start * rows..range.end * rows], &mut self.of_parameters);
            process.hyperparameters.add_gradient(&self.of_parameters, &mut *add);
            for target in (first..=target).filter(|_| given.moves_scales) {
                let solved = &solved[(target - process.targets.start) * rows..][..rows];
                for (row, b) in solved.iter().enumerate() {
                    // d/d log σ of w = κ/σ² and of -β log σ.
                    let derivative = b * b - marginal.inverse_diagonal(row) + 1.0 - given.beta;
                    given.add_of_scale((target, row), derivative, &mut *add);
                }
            }
            first = target + 1;
        }
        Ok(value)
    }

    /// exp(-½ w r²) is the density of a residual with variance 1/w times √(2π/w).
    fn of_neighbours(
        &mut self,
        given: &Given<'_>,
        mut add: Option<&mut dyn FnMut(usize, f64)>,
    ) -> Result<f64, Infeasible> {
        let Part { process, density: Density::Neighbours { marginal, variances, by_row }, .. } =
            self
        else {
            return Ok(0.0);
        };
        let (rows, log_scales) = (given.residual.rows, &mut self.solved);
        marginal.set(&self.log_parameters);
        let mut value = 0.0;
        for target in process.targets.clone() {
            let range = target * rows..(target + 1) * rows;
            for (variance, precision) in variances.iter_mut().zip(&given.precisions[range.clone()])
            {
                *variance = precision.recip();
                value += 0.5 * variance.ln() + LOG_SQRT_2PI;
            }
            self.of_parameters.fill(0.0);
            log_scales[..rows].fill(0.0);
            let derivatives = add.is_some().then_some(Derivatives {
                parameters: &mut self.of_parameters,
                log_scales: &mut log_scales[..rows],
            });
            let targets = &given.residual.targets[range];
            value += marginal.log_density(targets, variances, by_row, derivatives)?;
            let Some(add) = &mut add else { continue };
            process.hyperparameters.add_gradient(&self.of_parameters, &mut *add);
            if given.moves_scales {
                for (row, derivative) in log_scales[..rows].iter().enumerate() {
                    let derivative = derivative + 1.0 - given.beta;
                    given.add_of_scale((target, row), derivative, &mut *add);
                }
            }
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
