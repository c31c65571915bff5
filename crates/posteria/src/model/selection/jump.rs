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
/// or out. What belongs to inputs that are out has its prior given the rest, or any other
/// distribution that the model likes ([`Masked::retire`]); the density of the data does not depend
/// on it.
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

    /// Draws what belongs to `input` alone from the distribution that it has while it is out.
    fn retire(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.draw(input, state, stream);
    }

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
        // Whatever the values that were looked at, those of what is out are drawn anew.
        if let Some(candidate) = leaving {
            for input in selection.candidates.members(candidate) {
                self.masked.retire(*input, &mut self.trial, stream);
            }
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

#[cfg(test)]
mod tests {
    use super::super::proposal::JumpKind;
    use super::*;
    use crate::model::spec::Spec;
    use crate::random::{Purpose, Seed};

    /// Three inputs with a number θ ~ N(0, 1) each, and data of density exp(Σ a θ) over those that
    /// are in: given the set θ ~ N(a, 1), and the sets have odds exp(½ Σ a²) on top of their prior.
    struct Toy;

    const SLOPES: [f64; 3] = [0.2, 0.9, 1.5];

    impl Masked for Toy {
        fn begin(&mut self, _state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
            Ok(())
        }

        fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
            Ok((0..3).map(|k| SLOPES[k] * state[k] * state[3 + k]).sum())
        }

        fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
            state[input] = stream.normal();
        }

        fn has_own(&self) -> bool {
            true
        }

        fn conclude(&mut self, _state: &mut [f64], _stream: &mut Stream) {}
    }

    fn selection(text: &str) -> Selection {
        let spec = Spec::from_toml(&format!("[selection]\n{text}")).unwrap().selection.unwrap();
        let names = ["a", "b", "c"].map(String::from);
        let candidates = Candidates::new(&spec, &names).unwrap();
        let tries = spec.tries.unwrap();
        Selection { candidates, jumps: 2, tries, slots: 3..6, spec }
    }

    #[test]
    fn sets_and_values_have_their_exact_distribution_whatever_the_number_of_tries() {
        const UPDATES: usize = 20_000;
        for text in [
            "scheme = 'flip'\ntries = 1\n",
            "scheme = 'flip'\nprior = 'uniform-sizes'\ntries = 3\n",
            "scheme = 'birth-death'\ndeath = 0.6\ntries = 4\n",
            "scheme = 'birth-death'\nprior = { sizes = [1, 2, 1] }\ntries = 2\n",
        ] {
            let selection = selection(text);
            let mut jump = Jump::new(&selection, Toy);
            let mut stream = Seed(12).stream(Purpose::Chain, [0, 0]);
            let mut state = [0.3, -0.2, 0.1, 1.0, 0.0, 1.0];
            let mut rows = Vec::with_capacity(UPDATES);
            for _ in 0..UPDATES {
                jump.update(&mut state, &mut stream);
                let bits = (0..3).fold(0, |bits, k| bits | usize::from(state[3 + k] > 0.5) << k);
                let mut row = vec![0.0; 14];
                row[bits] = 1.0;
                for k in 0..3 {
                    // Zero on average, of those that are in and of those that are out.
                    row[8 + k] = state[3 + k] * (state[k] - SLOPES[k]);
                    row[11 + k] = (1.0 - state[3 + k]) * state[k];
                    // Values of the present set move by themselves, as in a sweep.
                    state[k] = stream.normal() + state[3 + k] * SLOPES[k];
                }
                rows.push(row);
            }
            let weight = |bits: usize| {
                let set: Vec<bool> = (0..3).map(|k| bits >> k & 1 == 1).collect();
                let odds: f64 = (0..3).filter(|k| set[*k]).map(|k| 0.5 * SLOPES[k].powi(2)).sum();
                (selection.candidates.prior().log_probability(&set) + odds).exp()
            };
            let total: f64 = (0..8).map(weight).sum();
            for index in 0..14 {
                let expected = if index < 8 { weight(index) / total } else { 0.0 };
                let batch = |b: &[Vec<f64>]| b.iter().map(|r| r[index]).sum::<f64>() / 400.0;
                let means: Vec<f64> = rows.chunks_exact(400).map(batch).collect();
                let mean = means.iter().sum::<f64>() / 50.0;
                let squares: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
                let z = (mean - expected) / (squares / (49.0 * 50.0)).sqrt().max(1e-9);
                // t with 49 degrees of freedom: 1e-5 each, seeds fixed.
                assert!(z.abs() < 4.9, "{text}: quantity {index} is {z} errors from {expected}");
            }
            for kind in [JumpKind::Birth, JumpKind::Death, JumpKind::Switch] {
                let JumpCount { proposed, accepted } = jump.counts[kind as usize];
                assert!(accepted > proposed / 5 && accepted <= proposed, "{text}: {kind:?}");
            }
        }
    }
}
