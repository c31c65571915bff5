//! Sample κ of every residual as a parameter, where the functions are integrated out given it.
//!
//! Given functions, κ is integrated out of the likelihood and drawn as a means to weigh the data. Where the
//! functions are integrated out instead, κ is part of the model: the residual has variance σ²/κ, the prior
//! of κ makes residuals Student's t (κ ~ Gamma(ν/2, rate ν/2) [Geweke 1993]) or Laplace (1/κ ~ Exp(½)
//! [Andrews & Mallows 1974]), and only the normal density given κ is raised to the power β.

use super::{Residual, ResidualDof};
use crate::density::InverseGamma;
use crate::density::special::ln_gamma;
use crate::model::prior::limited;
use crate::model::spec::ResidualFamily;
use crate::random::Stream;
use crate::sample::slice_sample;

/// Most that log κ is from 0: what is beyond has no usable precision, and next to no probability.
pub(in crate::model) const LOG_CASE_LIMIT: f64 = 230.0;

impl Residual {
    /// Takes κ of every residual as a parameter, which draws then show as the scale σ/√κ.
    pub(in crate::model) fn sample_cases(&mut self) {
        self.samples_cases = self.cases.is_some();
    }

    /// Whether draws show the scale of every residual.
    pub(super) fn shows_cases(&self) -> bool {
        self.samples_cases || self.family == ResidualFamily::PerCase
    }

    /// Log prior density of x = log κ, up to a constant, given degrees of freedom.
    pub(in crate::model) fn log_case_kernel(&self, dof: f64, x: f64) -> f64 {
        match self.family {
            ResidualFamily::Laplace => -x - 0.5 * (-x).exp(),
            _ => 0.5 * dof * (x - x.exp()),
        }
    }

    /// Log prior density of the logarithms of κ of all residuals, where these are parameters.
    pub(in crate::model) fn log_prior_of_cases(&self, state: &[f64]) -> f64 {
        let Some(cases) = self.cases.clone().filter(|_| self.samples_cases) else { return 0.0 };
        let constant = |dof: f64| match self.family {
            ResidualFamily::Laplace => -std::f64::consts::LN_2,
            _ => log_gamma_constant(dof),
        };
        let groups = 0..self.dof_groups();
        let constants: Vec<f64> =
            groups.map(|group| constant(self.dof.of_group(state, group))).collect();
        let each = state[cases].iter().enumerate().map(|(index, kappa)| {
            let kernel = self.log_case_kernel(self.dof_of(state, index), kappa.ln());
            constants[self.dof_group(index)] + kernel
        });
        each.sum()
    }

    /// Draws κ of every residual from its prior, where draws show it: variance σ²/κ with scale σ.
    pub(in crate::model) fn draw_case_variances(&self, state: &mut [f64], stream: &mut Stream) {
        let Some(cases) = self.cases.clone().filter(|_| self.shows_cases()) else { return };
        for (index, slot) in cases.enumerate() {
            let log_variance = match self.family {
                ResidualFamily::Laplace => (2.0 * stream.exponential()).ln(),
                _ => match InverseGamma::new(1.0, self.dof_of(state, index)) {
                    Ok(prior) => 2.0 * limited(prior.draw_log_scale(stream)),
                    Err(_) => continue,
                },
            };
            state[slot] = (-log_variance).clamp(-LOG_CASE_LIMIT, LOG_CASE_LIMIT).exp();
        }
    }

    /// Draws the degrees of freedom from their prior.
    pub(in crate::model) fn draw_prior_of_dof(&self, state: &mut [f64], stream: &mut Stream) {
        self.dof.draw_prior(state, self.dof_groups(), stream);
    }

    /// Draws the degrees of freedom of every group of rows given κ of its residuals; `false` if
    /// something was not finite and stays.
    pub(in crate::model) fn draw_dof_given_cases(
        &mut self,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> bool {
        let Some(cases) = self.cases.clone() else { return true };
        let mut fine = true;
        for group in 0..self.dof_groups() {
            let own = (0..cases.len()).filter(|index| self.dof_group(*index) == group);
            let logs: Vec<f64> = own.map(|index| state[cases.start + index].ln()).collect();
            match &mut self.dof {
                ResidualDof::Fixed(_) => {}
                ResidualDof::Grid { slot, grid } => {
                    grid.begin();
                    // Variances 1/κ about 1.
                    grid.add_log_scales(logs.iter().map(|x| -0.5 * x), 1.0, 1.0);
                    match grid.draw(stream) {
                        Some(index) => state[*slot + group] = grid.dofs()[index],
                        None => fine = false,
                    }
                }
                ResidualDof::Continuous { slot, prior } => {
                    let slot = *slot + group;
                    let (limit, count) = (prior.limit(), logs.len() as f64);
                    let sum: f64 = logs.iter().map(|x| x - x.exp()).sum();
                    // On log ν, Jacobian included; the limit is held on both scales, as above.
                    let log_density = |log_dof: f64| {
                        if log_dof < limit.ln() {
                            return f64::NEG_INFINITY;
                        }
                        let dof = log_dof.exp().max(limit);
                        let of_cases = count * log_gamma_constant(dof) + 0.5 * dof * sum;
                        prior.log_density(dof) + log_dof + of_cases
                    };
                    let step = slice_sample(state[slot].ln(), log_density, 1.0, 20, stream);
                    state[slot] = step.value.exp().max(limit);
                }
            }
        }
        fine
    }
}

/// What normalises the density of log κ, κ ~ Gamma(ν/2, rate ν/2).
fn log_gamma_constant(dof: f64) -> f64 {
    0.5 * dof * (0.5 * dof).ln() - ln_gamma(0.5 * dof)
}
