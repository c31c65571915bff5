//! Draw the parameters of a residual model from their full conditionals.

use posteria_linalg::Matrix;

use super::slopes_conditional::SlopesConditional;
use super::{Noise, Residual, ResidualDof};
use crate::density::special::ln_gamma_half_step;
use crate::density::{Gamma, draw_inverse_gaussian};
use crate::model::prior::{CovarianceConditional, Squares};
use crate::model::spec::ResidualFamily;
use crate::random::Stream;
use crate::sample::slice_sample;

/// The full conditionals of everything in a residual model, given the model's outputs.
pub(in crate::model) struct ResidualConditional {
    residual: Residual,
    inverse_temperature: f64,
    residuals: Vec<f64>,
    /// Residuals in units of their scales.
    ratios: Vec<f64>,
    /// Those of a group of rows with degrees of freedom of its own.
    of_group: Vec<f64>,
    /// Σ κ r² and βn of every scale.
    squares: Vec<Squares>,
    covariance: Option<CovarianceRoom>,
    slopes: Option<SlopesConditional>,
}

struct CovarianceRoom {
    conditional: CovarianceConditional,
    rows: Matrix,
    drawn: Matrix,
}

impl ResidualConditional {
    pub(in crate::model) fn new(residual: &Residual, inverse_temperature: f64) -> Self {
        let (squares, covariance) = match &residual.noise {
            Noise::Scales { counts, .. } => (vec![Squares::default(); counts.len()], None),
            Noise::Covariance { prior, .. } => {
                let dim = residual.outputs;
                let room = CovarianceRoom {
                    conditional: CovarianceConditional::new(prior),
                    rows: Matrix::zeros(residual.rows, dim),
                    drawn: Matrix::zeros(dim, dim),
                };
                (Vec::new(), Some(room))
            }
        };
        ResidualConditional {
            residual: residual.clone(),
            inverse_temperature,
            residuals: vec![0.0; residual.targets.len()],
            ratios: vec![0.0; residual.targets.len()],
            of_group: Vec::new(),
            squares,
            covariance,
            slopes: residual
                .slopes
                .as_ref()
                .map(|slopes| SlopesConditional::new(slopes, inverse_temperature)),
        }
    }

    /// Draws the slopes of the log scales, κ integrated out, and takes the residuals in units of what
    /// they make of the scale: these have the scale of their group.
    fn draw_slopes(&mut self, state: &mut [f64], stream: &mut Stream) {
        let (residual, beta) = (&self.residual, self.inverse_temperature);
        if let (Some(conditional), Some(slopes)) = (&mut self.slopes, &residual.slopes) {
            conditional.draw((residual, slopes), &self.residuals, beta, state, stream);
            for (index, value) in self.residuals.iter_mut().enumerate() {
                *value *= (-residual.offset(state, index)).exp();
            }
        }
    }

    fn find_ratios(&mut self, state: &[f64]) {
        if let Noise::Scales { levels, slot_of, .. } = &self.residual.noise {
            let scales = &state[levels.slots.clone()];
            let pairs = self.residuals.iter().zip(slot_of);
            for (ratio, (residual, slot)) in self.ratios.iter_mut().zip(pairs) {
                *ratio = residual * (-scales[*slot as usize]).exp();
            }
        }
    }

    /// Draws ν of every group of rows given the residuals and their scales.
    fn draw_dof(&mut self, state: &mut [f64], stream: &mut Stream) -> bool {
        (0..self.residual.dof_groups()).all(|group| self.draw_dof_of(group, state, stream))
    }

    fn draw_dof_of(&mut self, group: usize, state: &mut [f64], stream: &mut Stream) -> bool {
        let beta = self.inverse_temperature;
        let room = &mut self.of_group;
        let ratios = match self.residual.dof_by {
            // At β = 0 the data do not count, even where they are infinitely far off.
            _ if beta <= 0.0 => &[],
            None => &self.ratios[..],
            Some(_) => {
                room.clear();
                let own = |index: &usize| self.residual.dof_group(*index) == group;
                room.extend((0..self.ratios.len()).filter(own).map(|index| self.ratios[index]));
                &room[..]
            }
        };
        match &mut self.residual.dof {
            ResidualDof::Fixed(_) => {}
            ResidualDof::Grid { slot, grid } => {
                grid.begin();
                // In units of their scales the residuals of all scales are alike.
                grid.add_student_t(ratios, 1.0, beta);
                let Some(index) = grid.draw(stream) else { return false };
                state[*slot + group] = grid.dofs()[index];
            }
            ResidualDof::Continuous { slot, prior } => {
                let slot = *slot + group;
                let count = ratios.len() as f64;
                let (limit, log_limit) = (prior.limit(), prior.limit().ln());
                // On log ν, Jacobian included. The limit is held on both scales: the rounding of
                // the way there and back must not put ν below it, outside its support for ever.
                let log_density = |log_dof: f64| {
                    if log_dof < log_limit {
                        return f64::NEG_INFINITY;
                    }
                    let dof = log_dof.exp().max(limit);
                    let constant =
                        ln_gamma_half_step(0.5 * dof) - 0.5 * (std::f64::consts::PI * dof).ln();
                    let unit = dof.sqrt().recip();
                    let logs: f64 = ratios.iter().map(|r| (r * unit).powi(2).ln_1p()).sum();
                    let likelihood = count * constant - 0.5 * (dof + 1.0) * logs;
                    prior.log_density(dof) + log_dof + beta * likelihood
                };
                let step = slice_sample(state[slot].ln(), log_density, 1.0, 20, stream);
                state[slot] = step.value.exp().max(limit);
            }
        }
        true
    }

    /// Draws κ of every residual.
    fn draw_cases(&self, state: &mut [f64], stream: &mut Stream) -> bool {
        let Some(cases) = self.residual.cases.clone() else { return true };
        let beta = self.inverse_temperature;
        if beta <= 0.0 {
            // Nothing is observed. The variances of single cases have their prior; κ of the other
            // families is a means to weigh the data, and nobody reads it.
            self.residual.draw_case_variances(state, stream);
            return true;
        }
        let mut fine = true;
        for (index, &ratio) in self.ratios.iter().enumerate() {
            let dof = self.residual.dof_of(state, index);
            let drawn = match self.residual.family {
                ResidualFamily::Laplace => {
                    draw_inverse_gaussian((beta * ratio).abs(), stream).map(|x| beta * beta * x)
                }
                _ => {
                    let shape = 0.5 * beta * (dof + 1.0);
                    // λ ~ Gamma(s, rate 1 + r²/νσ²), κ = 2λ/ν.
                    let rate = 0.5 * (dof + ratio * ratio);
                    Gamma::from_shape_rate(shape, rate).ok().map(|gamma| gamma.draw(stream))
                }
            };
            match drawn {
                // A power of the likelihood near 0 has κ near 0, which must not become 0: draws show
                // variances σ²/κ.
                Some(kappa) if kappa.is_finite() => {
                    state[cases.start + index] = kappa.max(f64::MIN_POSITIVE);
                }
                _ => fine = false,
            }
        }
        fine
    }

    /// Draws the scales given residuals and κ.
    fn draw_scales(&mut self, state: &mut [f64], stream: &mut Stream) -> bool {
        if self.residual.known_scales.is_some() {
            return true;
        }
        let beta = self.inverse_temperature;
        let cases = self.residual.cases.clone();
        let Noise::Scales { levels, slot_of, counts } = &mut self.residual.noise else {
            return self.draw_covariance(state, stream);
        };
        for (squares, count) in self.squares.iter_mut().zip(counts.iter()) {
            *squares = Squares { count: beta * count, sum: 0.0 };
        }
        // At β = 0 the data do not count, even where they are infinitely far off.
        if beta > 0.0 {
            for (index, (residual, slot)) in self.residuals.iter().zip(slot_of).enumerate() {
                let kappa = cases.as_ref().map_or(beta, |cases| state[cases.start + index]);
                self.squares[*slot as usize].sum += kappa * residual * residual;
            }
        }
        let squares = &self.squares;
        levels.gibbs(state, |_, k| squares[k], 1.0, stream)
    }

    /// Draws the scales of normal residuals of which a target has but one, given the sum of the
    /// squares of every target. `false` if something was not finite and stays.
    pub(in crate::model) fn draw_given_squares(
        &mut self,
        state: &mut [f64],
        sums: &[f64],
        stream: &mut Stream,
    ) -> bool {
        let Noise::Scales { levels, counts, .. } = &mut self.residual.noise else { return false };
        if self.residual.known_scales.is_some() {
            return true;
        }
        let beta = self.inverse_temperature;
        // At β = 0 the data do not count, even where they are infinitely far off.
        for (k, (squares, count)) in self.squares.iter_mut().zip(counts.iter()).enumerate() {
            // One scale of all targets, or one of each.
            let sum = if counts.len() == 1 { sums.iter().sum() } else { sums[k] };
            let sum = if beta > 0.0 { beta * sum } else { 0.0 };
            *squares = Squares { count: beta * count, sum };
        }
        let squares = &self.squares;
        levels.gibbs(state, |_, k| squares[k], 1.0, stream)
    }

    fn draw_covariance(&mut self, state: &mut [f64], stream: &mut Stream) -> bool {
        let Noise::Covariance { slots, .. } = &self.residual.noise else { return false };
        let Some(room) = &mut self.covariance else { return false };
        if self.inverse_temperature > 0.0 {
            room.rows.values_mut().copy_from_slice(&self.residuals);
        } else {
            room.rows.values_mut().fill(0.0);
        }
        match room.conditional.given_normal(&room.rows, self.inverse_temperature) {
            Ok(conditional) => {
                conditional.draw(stream, &mut room.drawn);
                state[slots.clone()].copy_from_slice(room.drawn.values());
                true
            }
            Err(_) => false,
        }
    }

    /// Draws slopes and degrees of freedom (κ integrated out), then κ, then the scales, given the
    /// outputs o·n + i that `write_outputs` writes. `false` if something was not finite and stays.
    pub(in crate::model) fn draw(
        &mut self,
        state: &mut [f64],
        write_outputs: impl FnOnce(&[f64], &mut [f64]),
        stream: &mut Stream,
    ) -> bool {
        write_outputs(state, &mut self.residuals);
        for (residual, target) in self.residuals.iter_mut().zip(&self.residual.targets) {
            *residual = target - *residual;
        }
        self.draw_slopes(state, stream);
        if self.residual.cases.is_some() {
            self.find_ratios(state);
        }
        let mut fine = self.draw_dof(state, stream);
        fine &= self.draw_cases(state, stream);
        fine &= self.draw_scales(state, stream);
        fine
    }
}
