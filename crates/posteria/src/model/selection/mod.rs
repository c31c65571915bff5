//! Sample which inputs are in a model.
//!
//! A state has one entry per input, 1 for inputs that are in and 0 for others, and keeps values
//! for everything that belongs to inputs that are out. These have their prior given the rest (or
//! a distribution of their own, which changes nothing but how other moves mix), so that moves of a
//! fixed set can go on as if nothing were missing, and a jump into a set is Green's reversible
//! jump with values from the conditional prior [Green 1995; Vehtari 2001 §4.2.2]. Draws show 0 for
//! them.

mod candidates;
#[cfg(test)]
pub(super) mod checks;
mod heredity;
mod jump;
mod prior;
mod proposal;

pub use candidates::Candidates;
pub(super) use jump::{Jump, Masked};
pub use prior::{InclusionPrior, WrongLength};

use std::ops::Range;

use super::ModelError;
use super::spec::SelectionSpec;
use super::spec::selection::MOST_JUMPS;
use crate::data::Dataset;
use crate::draws::{Dimension, Layout, Role};
use crate::random::Stream;

/// Name of the variable that tells how many candidates are in.
pub const INPUTS_IN_MODEL: &str = "inputs_in_model";

/// Inputs that may leave a model, and where a state says which are in.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    spec: SelectionSpec,
    pub(super) candidates: Candidates,
    jumps: usize,
    tries: usize,
    /// Entries of the state, one per input.
    pub(super) slots: Range<usize>,
}

impl Selection {
    /// The inputs of `data`, whose entries of the state begin at `first`, with a usual number of
    /// candidate values.
    ///
    /// # Errors
    /// As [`Candidates::new`].
    pub(super) fn new(
        spec: &SelectionSpec,
        data: &Dataset,
        first: usize,
        usual_tries: usize,
    ) -> Result<Self, ModelError> {
        let candidates = Candidates::new(spec, &data.input_names)?;
        Ok(Selection {
            jumps: spec.jumps.unwrap_or(candidates.len().min(MOST_JUMPS)),
            tries: spec.tries.unwrap_or(usual_tries),
            slots: first..first + data.input_names.len(),
            spec: spec.clone(),
            candidates,
        })
    }

    /// Whether an input is in.
    pub(super) fn has(&self, state: &[f64], input: usize) -> bool {
        state[self.slots.start + input] > 0.5
    }

    /// Whether each candidate is in.
    fn read(&self, state: &[f64], present: &mut [bool]) {
        self.candidates.present(&state[self.slots.clone()], present);
    }

    /// Writes which candidates are in; other inputs always are.
    fn write(&self, present: &[bool], state: &mut [f64]) {
        state[self.slots.clone()].fill(1.0);
        for (candidate, is_in) in present.iter().enumerate() {
            for input in self.candidates.members(candidate) {
                state[self.slots.start + input] = f64::from(*is_in);
            }
        }
    }

    /// Log prior probability of the present set.
    pub(super) fn log_prior(&self, state: &[f64]) -> f64 {
        let mut present = vec![false; self.candidates.len()];
        self.read(state, &mut present);
        self.candidates.prior().log_probability(&present)
    }

    /// Draws a set from its prior.
    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        let mut present = vec![false; self.candidates.len()];
        self.candidates.prior().draw(&mut present, stream);
        self.write(&present, state);
    }

    /// Names what a draw holds of the set.
    pub(super) fn push_layout(&self, layout: &mut Layout, input_names: &[String]) {
        let inputs = Dimension { name: "input".into(), labels: input_names.to_vec() };
        layout.push_role(Role::Inclusion, vec![inputs]);
        layout.push_scalar(INPUTS_IN_MODEL);
    }

    /// Writes the set in the order of [`Selection::push_layout`].
    pub(super) fn push(&self, state: &[f64], mut push: impl FnMut(f64)) {
        let inclusion = &state[self.slots.clone()];
        inclusion.iter().for_each(|value| push(*value));
        let first = |candidate: usize| inclusion[self.candidates.members(candidate)[0]];
        push((0..self.candidates.len()).map(first).sum());
    }
}
