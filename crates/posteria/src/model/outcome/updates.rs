//! Move what a state has beside f: σ, cut points, and these together with the level of f.

use super::Outcomes;
use super::ordered::{CUT_POINTS, Ordered, log_density};
use super::response::Response;
use crate::model::prior::{LOG_SCALE_LIMIT, ScaleDensity};
use crate::random::Stream;
use crate::sample::{Step, Update, slice_sample};
use crate::target::Infeasible;

/// Width of a slice of log σ or of a cut point.
const WIDTH: f64 = 1.0;
/// Steps out of it at most.
const STEPS_OUT: usize = 20;

/// A slice of log σ given the functions at all rows.
pub(super) struct SigmaUpdate<'p, F> {
    pub(super) outcomes: &'p Outcomes,
    pub(super) slot: usize,
    pub(super) prior: ScaleDensity,
    pub(super) inverse_temperature: f64,
    pub(super) functions: Box<F>,
    pub(super) values: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) + Send> Update for SigmaUpdate<'_, F> {
    fn name(&self) -> &str {
        match &self.outcomes.response {
            Response::Counts { .. } => "overdispersion",
            _ => "residual_scale",
        }
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (outcomes, beta) = (self.outcomes, self.inverse_temperature);
        if beta <= 0.0 {
            outcomes.draw_prior(state, stream);
            return Step::default();
        }
        (self.functions)(state, &mut self.values);
        let (prior, values) = (self.prior, &self.values);
        let log_density = |log_sigma: f64| {
            if log_sigma.abs() > LOG_SCALE_LIMIT {
                return f64::NEG_INFINITY;
            }
            let shape = [outcomes.response.shape_of(log_sigma)];
            let each = values.iter().enumerate();
            let likelihood: f64 = each.map(|(row, f)| outcomes.terms(row, *f, &shape).value).sum();
            prior.log_density_of_log_scale(log_sigma) + beta * likelihood
        };
        let step = slice_sample(state[self.slot], log_density, WIDTH, STEPS_OUT, stream);
        state[self.slot] = step.value;
        Step { evaluations: step.evaluations, ..Step::default() }
    }
}

/// Slices of all cut points together, which shifts f against them, and of each between its neighbours, given
/// f.
pub(super) struct CutUpdate<'p, F> {
    pub(super) ordered: &'p Ordered,
    pub(super) inverse_temperature: f64,
    pub(super) functions: Box<F>,
    pub(super) values: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) + Send> Update for CutUpdate<'_, F> {
    fn name(&self) -> &str {
        CUT_POINTS
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (ordered, beta) = (self.ordered, self.inverse_temperature);
        if beta <= 0.0 {
            ordered.draw_prior(state, stream);
            return Step::default();
        }
        (self.functions)(state, &mut self.values);
        let outputs = &self.values;
        let log_density = |cuts: &[f64]| {
            let prior = log_density(cuts);
            if prior == f64::NEG_INFINITY {
                return prior;
            }
            let each = outputs.iter().enumerate();
            let rows: f64 = each.map(|(row, f)| ordered.terms(row, *f, cuts).value).sum();
            prior + beta * rows
        };
        let mut start = Vec::with_capacity(ordered.slots.len());
        ordered.write_cuts(state, &mut start);
        let moved = |shift: f64| -> Vec<f64> { start.iter().map(|cut| cut + shift).collect() };
        let step = slice_sample(0.0, |shift| log_density(&moved(shift)), WIDTH, STEPS_OUT, stream);
        let mut evaluations = step.evaluations;
        let mut cuts = moved(step.value);
        for k in 0..cuts.len() {
            let mut room = cuts.clone();
            let of_one = |cut: f64| {
                room[k] = cut;
                log_density(&room)
            };
            let step = slice_sample(cuts[k], of_one, WIDTH, STEPS_OUT, stream);
            evaluations += step.evaluations;
            cuts[k] = step.value;
        }
        ordered.set(cuts, state);
        Step { evaluations, ..Step::default() }
    }
}

/// How high f is in a model that can shift it at all rows alike.
pub(in crate::model) trait Level: Send {
    /// Makes ready for shifts of f in this state; whether they have a density.
    fn enter(&mut self, state: &[f64]) -> bool;

    /// The log prior density of all but the cut points where f is higher by so much, up to a constant.
    fn log_prior(&mut self, shift: f64) -> f64;

    /// Shifts f.
    fn shift(&self, shift: f64, state: &mut [f64]);
}

/// A slice along the shift of f and of all cut points, which no class sees: only their priors tell one from
/// the other.
pub(in crate::model) struct LevelUpdate<'p, L> {
    ordered: &'p Ordered,
    level: L,
}

impl<'p, L: Level> LevelUpdate<'p, L> {
    /// `None` unless outcomes are ordered classes.
    pub(in crate::model) fn new(outcomes: &'p Outcomes, level: L) -> Option<Self> {
        match &outcomes.response {
            Response::Ordered(ordered) => Some(LevelUpdate { ordered, level }),
            _ => None,
        }
    }
}

impl<L: Level> Update for LevelUpdate<'_, L> {
    fn name(&self) -> &str {
        "level"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        if !self.level.enter(state) {
            return Step::stayed(Infeasible::NotFinite);
        }
        let mut start = Vec::with_capacity(self.ordered.slots.len());
        self.ordered.write_cuts(state, &mut start);
        let level = &mut self.level;
        let log_prior = |shift: f64| {
            let cuts: Vec<f64> = start.iter().map(|cut| cut + shift).collect();
            log_density(&cuts) + level.log_prior(shift)
        };
        let step = slice_sample(0.0, log_prior, WIDTH, STEPS_OUT, stream);
        // The gaps stay as they are.
        state[self.ordered.slots.start] += step.value;
        self.level.shift(step.value, state);
        Step { evaluations: step.evaluations, ..Step::default() }
    }
}
