//! Propose another input set, with the ratio of the probabilities to propose it and back.

use super::prior::InclusionPrior;
use crate::model::spec::{SchemeChoice, SelectionSpec};
use crate::random::Stream;

/// How sets are proposed.
///
/// Let k of n candidates be in. With probability s(k) one that is in and one that is out, each
/// picked uniformly, *switch*: s(k) is `switch` where 0 < k < n, 0 at the ends. Else
///
/// - *flip*: one of the n, picked uniformly, enters or leaves;
/// - *birth-death*: with probability d(k) one of the k leaves, else one of the n - k enters, picked
///   uniformly; d(k) is `death`, but 0 at the smallest and 1 at the largest k that the prior allows.
///
/// Hence J(back)/J(forth) is 1 for a switch, (1 - s(k'))/(1 - s(k)) for a flip to k', and
/// [(1 - s(k+1)) d(k+1) / (k + 1)] / [(1 - s(k)) (1 - d(k)) / (n - k)] for a birth, inverted for a
/// death. (Derived from what is proposed; [MCMCstuff manual eq. 59-64] does not hold at the ends.)
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    choice: SchemeChoice,
    switch: f64,
    death: f64,
    /// Smallest and largest number that the prior allows.
    extremes: [usize; 2],
}

/// What kind of set is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpKind {
    /// A candidate enters.
    Birth,
    /// A candidate leaves.
    Death,
    /// One enters as another leaves.
    Switch,
}

/// Another set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Proposed {
    pub(super) kind: JumpKind,
    pub(super) entering: Option<usize>,
    pub(super) leaving: Option<usize>,
    /// log J(back)/J(forth).
    pub(super) log_ratio: f64,
}

impl Scheme {
    pub(super) fn new(spec: &SelectionSpec, prior: &InclusionPrior) -> Self {
        let extremes = prior.extremes();
        Scheme { choice: spec.scheme(), switch: spec.switch(), death: spec.death(), extremes }
    }

    /// s(k).
    fn switch(&self, k: usize, n: usize) -> f64 {
        match () {
            () if k == 0 || k == n => 0.0,
            // Nothing else keeps the only number there is.
            () if self.extremes[0] == self.extremes[1] => 1.0,
            () => self.switch,
        }
    }

    /// d(k).
    fn death(&self, k: usize) -> f64 {
        match () {
            () if k <= self.extremes[0] => 0.0,
            () if k >= self.extremes[1] => 1.0,
            () => self.death,
        }
    }

    /// log J from a set of `k` to one with one more.
    fn log_birth(&self, k: usize, n: usize) -> f64 {
        let no_switch = (1.0 - self.switch(k, n)).ln();
        no_switch
            + match self.choice {
                SchemeChoice::Flip => -(n as f64).ln(),
                SchemeChoice::BirthDeath => (1.0 - self.death(k)).ln() - ((n - k) as f64).ln(),
            }
    }

    /// log J from a set of `k` to one with one fewer.
    fn log_death(&self, k: usize, n: usize) -> f64 {
        let no_switch = (1.0 - self.switch(k, n)).ln();
        no_switch
            + match self.choice {
                SchemeChoice::Flip => -(n as f64).ln(),
                SchemeChoice::BirthDeath => self.death(k).ln() - (k as f64).ln(),
            }
    }

    /// Proposes another set; `None` if there is no other that the prior allows.
    pub(super) fn propose(&self, present: &[bool], stream: &mut Stream) -> Option<Proposed> {
        let n = present.len();
        if n == 0 {
            return None;
        }
        let k = present.iter().filter(|is_in| **is_in).count();
        // One of those that are in, or out, picked uniformly.
        let pick = |is_in: bool, stream: &mut Stream| {
            let count = if is_in { k } else { n - k };
            let place = stream.index(count);
            present.iter().enumerate().filter(|(_, it)| **it == is_in).nth(place).map(|(i, _)| i)
        };
        let birth = |entering: Option<usize>| Proposed {
            kind: JumpKind::Birth,
            entering,
            leaving: None,
            log_ratio: self.log_death(k + 1, n) - self.log_birth(k, n),
        };
        let death = |leaving: Option<usize>| Proposed {
            kind: JumpKind::Death,
            entering: None,
            leaving,
            log_ratio: self.log_birth(k - 1, n) - self.log_death(k, n),
        };
        if stream.uniform() < self.switch(k, n) {
            let (entering, leaving) = (pick(false, stream), pick(true, stream));
            return Some(Proposed { kind: JumpKind::Switch, entering, leaving, log_ratio: 0.0 });
        }
        match self.choice {
            SchemeChoice::Flip => {
                let candidate = stream.index(n);
                let is_in = present[candidate];
                Some(if is_in { death(Some(candidate)) } else { birth(Some(candidate)) })
            }
            SchemeChoice::BirthDeath => {
                let dies = stream.uniform() < self.death(k);
                if (dies && k == 0) || (!dies && k == n) {
                    // A single set is all that the prior allows.
                    return None;
                }
                Some(if dies { death(pick(true, stream)) } else { birth(pick(false, stream)) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::InclusionPriorSpec;
    use crate::random::{Purpose, Seed};
    use std::collections::HashMap;

    /// Frequencies of all proposals from one set, and the ratio each claims.
    fn frequencies(scheme: &Scheme, set: &[bool]) -> HashMap<Vec<bool>, (f64, f64)> {
        const DRAWS: usize = 40_000;
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let mut all = HashMap::new();
        for _ in 0..DRAWS {
            let Some(proposed) = scheme.propose(set, &mut stream) else { continue };
            let mut other = set.to_vec();
            proposed.entering.into_iter().for_each(|unit| other[unit] = true);
            proposed.leaving.into_iter().for_each(|unit| other[unit] = false);
            let entry = all.entry(other).or_insert((0.0, proposed.log_ratio));
            entry.0 += 1.0 / DRAWS as f64;
        }
        all
    }

    #[test]
    fn ratios_are_those_of_the_frequencies_back_and_forth_at_the_ends_too() {
        for (choice, least) in
            [(SchemeChoice::Flip, 0), (SchemeChoice::BirthDeath, 0), (SchemeChoice::BirthDeath, 1)]
        {
            let spec = SelectionSpec {
                scheme: Some(choice),
                death: Some(0.7).filter(|_| choice == SchemeChoice::BirthDeath),
                ..SelectionSpec::default()
            };
            for n in [1, 2, 4] {
                let weights = InclusionPriorSpec::Sizes(vec![1.0; n + 1 - least]);
                let prior = InclusionPrior::new(&weights, n).unwrap();
                let scheme = Scheme::new(&spec, &prior);
                let sets: Vec<Vec<bool>> = (0..1_usize << n)
                    .map(|bits| (0..n).map(|k| bits >> k & 1 == 1).collect::<Vec<bool>>())
                    .filter(|set| prior.log_probability(set) > f64::NEG_INFINITY)
                    .collect();
                let forth: HashMap<_, _> =
                    sets.iter().map(|set| (set.clone(), frequencies(&scheme, set))).collect();
                for set in &sets {
                    for (other, (p, log_ratio)) in &forth[set] {
                        if prior.log_probability(other) == f64::NEG_INFINITY {
                            continue;
                        }
                        let back = forth[other].get(set).map_or(0.0, |(p, _)| *p);
                        let error = (1.0 / (p * 4e4) + 1.0 / (back * 4e4)).sqrt();
                        // Five standard errors: 6e-7 each, seeds fixed.
                        let distance = (back / p).ln() - log_ratio;
                        assert!(distance.abs() < 5.0 * error, "{choice:?} {set:?} -> {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_number_of_inputs_is_kept_by_switches() {
        let prior = InclusionPrior::new(&InclusionPriorSpec::Sizes(vec![0.0, 0.0, 1.0, 0.0]), 3);
        let scheme = Scheme::new(&SelectionSpec::default(), &prior.unwrap());
        for (_, (p, _)) in frequencies(&scheme, &[true, false, true]) {
            assert!((p - 0.5).abs() < 0.02, "both that are in against the one that is out");
        }
    }
}
