//! The density of the coefficients of a model of classes or counts, given their scales.

use super::coefficients::Coefficients;
use super::input_sets::ClassSet;
use super::posterior::LinearPosterior;
use super::scale_moves::scale_moves;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::selection::Jump;
use crate::sample::{Block, Conditional, Update};
use crate::target::{Infeasible, LogDensity};

/// The likelihood of classes or counts as a function of all coefficients.
pub(super) trait ClassLikelihood: Send {
    /// Takes what else it depends on from the state; returns whether that changed.
    fn condition(&mut self, state: &[f64]) -> bool {
        let _ = state;
        false
    }

    /// The log likelihood at `position`.
    fn value(&mut self, position: &[f64]) -> f64;

    /// Writes its gradient where [`ClassLikelihood::value`] was called last.
    fn gradient(&mut self, gradient: &mut [f64]);
}

/// log Π N(w_k; 0, a_k²) + β log p(classes given w).
pub(super) struct ClassConditional<'p, L> {
    likelihood: L,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    precisions: Vec<f64>,
    log_constant: f64,
    /// Whether each coefficient is in, and the coefficients as the likelihood sees them.
    included: Vec<bool>,
    seen: Vec<f64>,
}

impl<'p, L: ClassLikelihood> ClassConditional<'p, L> {
    pub(super) fn new(
        likelihood: L,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let precisions = vec![0.0; coefficients.count];
        ClassConditional {
            likelihood,
            coefficients,
            inverse_temperature,
            precisions,
            log_constant: 0.0,
            included: vec![true; coefficients.count],
            seen: vec![0.0; coefficients.count],
        }
    }

    fn log_prior(&self, position: &[f64]) -> f64 {
        let squares: f64 =
            position.iter().zip(&self.precisions).map(|(w, precision)| precision * w * w).sum();
        self.log_constant - 0.5 * squares
    }
}

impl<L: ClassLikelihood> LogDensity for ClassConditional<'_, L> {
    fn dim(&self) -> usize {
        self.coefficients.count
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let log_prior = self.log_prior(position);
        if self.inverse_temperature > 0.0 {
            let pairs = position.iter().zip(&self.included);
            for (slot, (w, included)) in self.seen.iter_mut().zip(pairs) {
                *slot = if *included { *w } else { 0.0 };
            }
            Ok(log_prior + self.inverse_temperature * self.likelihood.value(&self.seen))
        } else {
            Ok(log_prior)
        }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let log_density = self.log_density(position)?;
        if self.inverse_temperature > 0.0 {
            self.likelihood.gradient(gradient);
            for (slot, included) in gradient.iter_mut().zip(&self.included) {
                *slot *= f64::from(*included);
            }
        } else {
            gradient.fill(0.0);
        }
        for ((gradient, w), precision) in gradient.iter_mut().zip(position).zip(&self.precisions) {
            *gradient = self.inverse_temperature * *gradient - precision * w;
        }
        Ok(log_density)
    }
}

impl<L: ClassLikelihood> Conditional for ClassConditional<'_, L> {
    fn condition(&mut self, state: &[f64]) -> bool {
        let changed = self.coefficients.precisions(state, &mut self.precisions);
        if changed {
            let log_precisions: f64 = self.precisions.iter().map(|p| p.ln()).sum();
            self.log_constant = 0.5 * log_precisions - self.precisions.len() as f64 * LOG_SQRT_2PI;
        }
        let mut jumped = self.likelihood.condition(state);
        for (coefficient, included) in self.included.iter_mut().enumerate() {
            let now = !self.coefficients.excludes(state, coefficient);
            jumped |= now != *included;
            *included = now;
        }
        changed || jumped
    }
}

impl LinearPosterior {
    /// Jumps between input sets, if inputs may leave; what moves all coefficients under this
    /// likelihood of classes; and their scales together with them.
    pub(super) fn class_updates<'p, L: ClassLikelihood + 'p>(
        &'p self,
        likelihood: impl Fn() -> L,
        inverse_temperature: f64,
        updates: &mut Vec<Box<dyn Update + 'p>>,
    ) {
        let (coefficients, beta) = (&self.coefficients, inverse_temperature);
        if let Some(selection) = &coefficients.selection {
            let set = ClassSet::new(likelihood(), coefficients, beta);
            updates.push(Box::new(Jump::new(selection, set)));
        }
        let conditional = ClassConditional::new(likelihood(), coefficients, beta);
        let kernel = (self.kernel)(coefficients.count);
        updates.push(Box::new(Block::new("weights", 0, conditional, kernel)));
        updates.extend(scale_moves(likelihood(), coefficients, beta));
    }
}
