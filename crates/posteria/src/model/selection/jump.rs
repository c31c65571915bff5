//! Jump between input sets.

use super::proposal::{Proposed, Scheme};
use super::{Candidates, Selection};
use crate::density::special::log_add_exp;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// A model whose inputs may leave, as jumps see it.
///
/// The state holds 0 or 1 for every input and values for everything that belongs to an input, in
/// or out; what belongs to inputs that are out has its prior given the rest, and the density of the
/// data does not depend on it.
pub(in crate::model) trait Masked: Send {
    /// Takes the present state, and draws what jumps hold still.
    ///
    /// # Errors
    /// [`Infeasible`] if nothing can be said about this state.
    fn begin(&mut self, state: &[f64], stream: &mut Stream) -> Result<(), Infeasible>;

    /// β × log density of the data given `state`, with whatever is integrated out.
    ///
    /// # Errors
    /// [`Infeasible`] if there is none.
    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible>;

    /// Draws what belongs to `input` alone from its prior given the rest of `state`.
    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream);

    /// Whether anything that the density depends on belongs to an input alone.
    fn has_own(&self) -> bool;

    /// After an accepted jump: draws what was integrated out, or follows from the new set.
    fn conclude(&mut self, state: &mut [f64], stream: &mut Stream);
}

/// What became of proposals of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JumpCount {
    /// Proposals.
    pub proposed: u64,
    /// Those that were accepted.
    pub accepted: u64,
}

/// Moves between input sets by reversible jumps [Green 1995].
///
/// A candidate that enters brings values along that are drawn from their prior given the rest;
/// hence the priors of parameters cancel and sets are accepted on the density of the data, the
/// prior of sets and the probabilities to propose them. With `tries` = m > 1 there are m such
/// values: one is picked in proportion to the density L of the data, and L is replaced by the mean
/// over all m. Back again, the mean is over the present values and m - 1 others. Then
///
/// α = mean L(entering) / mean L(leaving) × p(set')/p(set) × J(back)/J(forth),
///
/// an importance-sampling estimate of the ratio that would be if values were integrated out, and
/// exact for any m: the joint density of set, values and the other m - 1 has the right marginal
/// [Andrieu, Doucet & Holenstein 2010 §4.1].
pub(in crate::model) struct Jump<'p, M> {
    selection: &'p Selection,
    scheme: Scheme,
    masked: M,
    tries: usize,
    present: Vec<bool>,
    /// A state on trial, and the one picked so far.
    trial: Vec<f64>,
    picked: Vec<f64>,
    counts: [JumpCount; 3],
}

impl<'p, M: Masked> Jump<'p, M> {
    pub(in crate::model) fn new(selection: &'p Selection, masked: M) -> Self {
        Jump {
            selection,
            scheme: Scheme::new(&selection.spec, selection.candidates.prior()),
            tries: if masked.has_own() { selection.tries } else { 1 },
            masked,
            present: vec![false; selection.candidates.len()],
            trial: Vec::new(),
            picked: Vec::new(),
            counts: [JumpCount::default(); 3],
        }
    }

    /// Draws everything that belongs to a candidate.
    fn draw(&mut self, candidate: usize, stream: &mut Stream) {
        for input in self.selection.candidates.members(candidate) {
            self.masked.draw(*input, &mut self.trial, stream);
        }
    }

    /// log mean of L over `count` values of `candidate` in the trial state, and L of the one that
    /// is picked in proportion to it, whose state is `picked`.
    fn enter(&mut self, candidate: usize, stream: &mut Stream) -> (f64, f64) {
        let (mut total, mut density) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for _ in 0..self.tries {
            self.draw(candidate, stream);
            let value = self.masked.log_density(&self.trial).unwrap_or(f64::NEG_INFINITY);
            total = log_add_exp(total, value);
            if value > f64::NEG_INFINITY && stream.uniform().ln() < value - total {
                density = value;
                self.picked.clone_from(&self.trial);
            }
        }
        (total - (self.tries as f64).ln(), density)
    }

    /// log mean of L over the present values of `candidate`, of density `here`, and others.
    fn others(&mut self, candidate: usize, here: f64, stream: &mut Stream) -> f64 {
        let mut total = here;
        for _ in 1..self.tries {
            self.draw(candidate, stream);
            let value = self.masked.log_density(&self.trial).unwrap_or(f64::NEG_INFINITY);
            total = log_add_exp(total, value);
        }
        total - (self.tries as f64).ln()
    }

    /// One proposal from a state of density `here`; returns the acceptance probability.
    fn attempt(&mut self, state: &mut [f64], here: &mut f64, stream: &mut Stream) -> f64 {
        let selection = self.selection;
        selection.read(state, &mut self.present);
        let Some(proposed) = self.scheme.propose(&self.present, stream) else { return 0.0 };
        let Proposed { kind, entering, leaving, log_ratio } = proposed;
        self.counts[kind as usize].proposed += 1;
        let prior = selection.candidates.prior();
        let before = prior.log_probability(&self.present);
        entering.into_iter().for_each(|candidate| self.present[candidate] = true);
        leaving.into_iter().for_each(|candidate| self.present[candidate] = false);
        let after = prior.log_probability(&self.present);
        if after == f64::NEG_INFINITY {
            return 0.0;
        }
        self.trial.clear();
        self.trial.extend_from_slice(state);
        let old = match leaving {
            Some(candidate) => self.others(candidate, *here, stream),
            None => *here,
        };
        // What is out has its prior, whatever the values that were looked at.
        if let Some(candidate) = leaving {
            self.draw(candidate, stream);
        }
        selection.write(&self.present, &mut self.trial);
        let (new, density) = match entering {
            Some(candidate) => self.enter(candidate, stream),
            None => {
                let density = self.masked.log_density(&self.trial).unwrap_or(f64::NEG_INFINITY);
                self.picked.clone_from(&self.trial);
                (density, density)
            }
        };
        let log_acceptance = new - old + after - before + log_ratio;
        if new > f64::NEG_INFINITY && stream.uniform().ln() < log_acceptance {
            state.copy_from_slice(&self.picked);
            *here = density;
            self.counts[kind as usize].accepted += 1;
        }
        if log_acceptance.is_nan() { 0.0 } else { log_acceptance.exp().min(1.0) }
    }
}

impl<M: Masked> Update for Jump<'_, M> {
    fn name(&self) -> &str {
        "jumps"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let begun = self.masked.begin(state, stream).and_then(|()| self.masked.log_density(state));
        let mut here = match begun {
            Ok(here) => here,
            Err(infeasible) => return Step { evaluations: 1, ..Step::stayed(infeasible) },
        };
        let accepted = |counts: &[JumpCount; 3]| counts.iter().map(|c| c.accepted).sum::<u64>();
        let before = accepted(&self.counts);
        // Sometimes one more: if every flip of a sweep were accepted, an even number of them would
        // never change whether the number of inputs is even.
        let jumps = self.selection.jumps + stream.index(2);
        let mut acceptance = 0.0;
        for _ in 0..jumps {
            acceptance += self.attempt(state, &mut here, stream) / jumps as f64;
        }
        let moved = accepted(&self.counts) > before;
        if moved {
            self.masked.conclude(state, stream);
        }
        let evaluations = (jumps * self.tries) as u32;
        Step { accepted: moved, acceptance, evaluations, ..Step::default() }
    }
}

impl Candidates {
    /// Whether each candidate is in, of the inclusion of every input.
    pub(super) fn present(&self, inclusion: &[f64], present: &mut [bool]) {
        for (candidate, is_in) in present.iter_mut().enumerate() {
            *is_in = inclusion[self.members(candidate)[0]] > 0.5;
        }
    }
}
