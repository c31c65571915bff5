//! Choose the smallest set of inputs whose predictions are as good as those of all inputs.

use serde::{Deserialize, Serialize};

use super::{InputSets, SmallestSize, Visits};
use crate::assess::{
    Better, Bootstrap, BootstrapError, ComparisonError, Difference, ExpectedUtility,
    PointwiseUtilities, bayesian_bootstrap, difference,
};
use crate::model::selection::Candidates;

/// Most probable sets that are looked at besides.
const SETS: usize = 3;
/// Probability of error.
const LEVEL: f64 = 0.05;

/// Why no set can be chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// Expected utilities cannot be found.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// Sets cannot be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
}

/// How a set is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChoiceOptions {
    /// How much worse than all inputs a set may be; none: as long as it is not sure to be worse.
    pub tolerance: Option<f64>,
    /// Probability of error; .05 if absent.
    pub level: Option<f64>,
    /// Assess all sets of the most probable inputs up to this size, in place of as many as it takes to
    /// know the smallest that will do.
    pub largest: Option<usize>,
    /// Most probable sets that are assessed besides; up to three if absent.
    pub sets: Option<usize>,
}

impl ChoiceOptions {
    /// The rule by which a set is as good as all inputs.
    pub fn rule(&self) -> ChoiceRule {
        ChoiceRule { tolerance: self.tolerance, level: self.level.unwrap_or(LEVEL) }
    }

    /// The most sets that are assessed: all inputs, the most probable ones and the most probable sets.
    pub fn most_sets(&self, candidates: usize) -> usize {
        let largest = self.largest.map_or(candidates, |largest| largest.min(candidates));
        1 + largest + self.sets.unwrap_or(SETS)
    }
}

/// When a set is as good as all inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChoiceRule {
    /// How much worse it may be.
    pub tolerance: Option<f64>,
    /// Probability of error.
    pub level: f64,
}

impl ChoiceRule {
    /// Whether a set is, of the difference of all inputs and it; never of what is not a number.
    pub fn is_met(&self, full_minus_set: &Difference) -> bool {
        match self.tolerance {
            Some(tolerance) => full_minus_set.probability_better_by(tolerance) < self.level,
            None => full_minus_set.probability_better() < 1.0 - self.level,
        }
    }
}

/// How far a choice is.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceStep {
    /// Sets that have been assessed.
    pub done: usize,
    /// About how many follow this one.
    pub others: usize,
}

/// Fits and assesses sets of inputs, each once however often it is asked.
pub trait AssessSets {
    /// How it can fail.
    type Error: From<ChoiceError>;

    /// What predictions by a set are worth, row by row, all sets by the same rows.
    ///
    /// # Errors
    /// If the set cannot be fitted or assessed.
    fn assess(&mut self, set: &[bool], step: ChoiceStep)
    -> Result<PointwiseUtilities, Self::Error>;
}

/// A distribution in four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UtilitySummary {
    /// Mean of the expected utility.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Its standard deviation.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// Its 5 % quantile.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q05: f64,
    /// Its 95 % quantile.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q95: f64,
}

/// What predictions by a set of inputs are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetUtility {
    /// Number of inputs.
    pub k: usize,
    /// The inputs.
    pub inputs: Vec<String>,
    /// Whether these are the k most probable inputs; else one of the most probable sets.
    pub most_probable_inputs: bool,
    /// The expected utility.
    #[serde(flatten)]
    pub utility: UtilitySummary,
    /// Probability that all inputs are better.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_full_better: f64,
    /// Probability that all inputs are better by more than the tolerance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_full_better_by_tolerance: Option<f64>,
    /// Whether the set is as good as all inputs.
    pub as_good: bool,
    /// When it was assessed.
    #[serde(skip)]
    index: usize,
}

/// A set that was assessed.
#[derive(Clone, Debug)]
pub struct AssessedSet {
    /// Whether each candidate is in.
    pub set: Vec<bool>,
    /// What its predictions are worth.
    pub pointwise: PointwiseUtilities,
}

/// The set to go on with, and what it was chosen by.
#[derive(Clone, Debug)]
pub struct InputChoice {
    /// Sets of inputs, the smallest first.
    pub utilities: Vec<SetUtility>,
    /// All inputs.
    pub full: UtilitySummary,
    /// The names of the set that was chosen.
    pub chosen: Vec<String>,
    /// All inputs, row by row.
    pub full_set: AssessedSet,
    /// The chosen set, row by row.
    pub chosen_set: AssessedSet,
}

/// Assesses sets of inputs, and chooses one of them: the smallest as good as all inputs, of sets of
/// one size the best. Sets of the most probable inputs are tried by size, from the inputs more
/// probable than not on ([`SmallestSize`]).
///
/// # Errors
/// [`ChoiceError`] if sets cannot be compared, and what assessing them fails with.
pub fn choose<A: AssessSets>(
    assessor: &mut A,
    (sets, candidates, found): (&InputSets<'_>, &Candidates, &Visits),
    options: &ChoiceOptions,
    bootstrap: &Bootstrap,
) -> Result<InputChoice, A::Error> {
    let ranked = ranked(found);
    let rule = options.rule();
    let largest = options.largest.map(|largest| largest.min(candidates.len()));
    let mut all = Assessing { assessor, rule, bootstrap, sets: Vec::new() };
    let others = largest.unwrap_or(2.min(ranked.len().saturating_sub(1)));
    all.add(&sets.all(), false, others)?;
    let smallest_size = all.add_sizes(&ranked, found.median_model().len(), largest)?;
    let probable: Vec<Vec<bool>> = probable_sets((sets, candidates, found), options, smallest_size)
        .filter(|set| all.sets.iter().all(|(other, ..)| other.set != *set))
        .collect();
    for (index, set) in probable.iter().enumerate() {
        all.add(set, false, probable.len() - index - 1)?;
    }
    let assessed = all.sets;
    let of = |(index, one): (usize, &(AssessedSet, Difference, bool))| {
        let (AssessedSet { set, pointwise }, lost, most_probable_inputs) = one;
        let inputs = sets.names(set);
        Ok(SetUtility {
            k: inputs.len(),
            inputs,
            most_probable_inputs: *most_probable_inputs,
            utility: UtilitySummary::of(&bayesian_bootstrap(pointwise, bootstrap)?),
            p_full_better: lost.probability_better(),
            p_full_better_by_tolerance: rule.tolerance.map(|it| lost.probability_better_by(it)),
            as_good: index == 0 || rule.is_met(lost),
            index,
        })
    };
    let utilities = assessed.iter().enumerate().map(of).collect::<Result<Vec<_>, ChoiceError>>();
    let mut utilities = utilities?;
    let full = utilities.remove(0);
    let chosen = smallest(&utilities, &full, assessed[0].0.pointwise.better);
    let (index, chosen) = (chosen.index, chosen.inputs.clone());
    utilities.sort_by_key(|it| (it.k, !it.most_probable_inputs));
    let (full_set, chosen_set) = (assessed[0].0.clone(), assessed[index].0.clone());
    Ok(InputChoice { utilities, full: full.utility, chosen, full_set, chosen_set })
}

/// Sets that were assessed one after the other, all inputs first.
struct Assessing<'a, A> {
    assessor: &'a mut A,
    rule: ChoiceRule,
    bootstrap: &'a Bootstrap,
    /// With how much better all inputs are, and whether they are the most probable inputs.
    sets: Vec<(AssessedSet, Difference, bool)>,
}

impl<A: AssessSets> Assessing<'_, A> {
    /// Assesses a set before about so many others: whether it is as good as all inputs.
    fn add(&mut self, set: &[bool], most_probable: bool, others: usize) -> Result<bool, A::Error> {
        let done = self.sets.len();
        let pointwise = self.assessor.assess(set, ChoiceStep { done, others })?;
        let full = self.sets.first().map_or(&pointwise, |(full, ..)| &full.pointwise);
        let lost = difference(full, &pointwise, self.bootstrap).map_err(ChoiceError::from)?;
        let is_good = done == 0 || self.rule.is_met(&lost);
        self.sets.push((AssessedSet { set: set.to_vec(), pointwise }, lost, most_probable));
        Ok(is_good)
    }

    /// All sets of the most probable inputs up to `largest`, or as many as it takes to know the
    /// smallest that is as good as all inputs, begun at a `guess`. Gives its number of inputs.
    fn add_sizes(
        &mut self,
        ranked: &[usize],
        guess: usize,
        largest: Option<usize>,
    ) -> Result<usize, A::Error> {
        let Some(largest) = largest else {
            let mut search = SmallestSize::new(ranked.len(), guess);
            while let Some(size) = search.next_size() {
                let others = search.left() - 1;
                search.tell(self.add(&first(ranked, size), true, others)?);
            }
            return Ok(search.smallest());
        };
        for size in 1..=largest {
            self.add(&first(ranked, size), true, largest - size)?;
        }
        Ok(ranked.len())
    }
}

/// The sets that a choice looks at whatever it finds, or is likely to: all inputs, the sizes about the
/// first guess and the most probable sets. For whoever fits them before they are asked for.
pub fn likely_sets(
    (sets, candidates, found): (&InputSets<'_>, &Candidates, &Visits),
    options: &ChoiceOptions,
) -> Vec<Vec<bool>> {
    let ranked = ranked(found);
    let sizes: Vec<usize> = match options.largest {
        Some(largest) => (1..=largest.min(candidates.len())).collect(),
        None => {
            let search = SmallestSize::new(ranked.len(), found.median_model().len());
            let after = |does: bool| {
                let mut search = search.clone();
                search.tell(does);
                search.next_size()
            };
            [search.next_size(), after(true), after(false)].into_iter().flatten().collect()
        }
    };
    let most = match options.largest {
        Some(_) => ranked.len(),
        None => sizes.first().copied().unwrap_or(ranked.len()),
    };
    let probable = probable_sets((sets, candidates, found), options, most);
    let mut likely = vec![sets.all()];
    for set in sizes.iter().map(|size| first(&ranked, *size)).chain(probable) {
        if !likely.contains(&set) {
            likely.push(set);
        }
    }
    likely
}

/// The most probable sets, those of more than so many inputs only if they are asked for: they would not
/// be chosen.
fn probable_sets(
    (sets, candidates, found): (&InputSets<'_>, &Candidates, &Visits),
    options: &ChoiceOptions,
    most: usize,
) -> impl Iterator<Item = Vec<bool>> {
    let probable = found.sets.iter().take(options.sets.unwrap_or(SETS)).map(|set| {
        let is_in = |name: &String| set.inputs.contains(name);
        candidates.names().iter().map(is_in).collect::<Vec<bool>>()
    });
    probable
        .filter(|set| sets.has_columns(set))
        .filter(move |set| options.sets.is_some() || size_of(set) <= most)
}

/// Candidates, the most probable first.
pub fn ranked(found: &Visits) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.inputs.len()).collect();
    order.sort_by(|a, b| found.inputs[*b].probability.total_cmp(&found.inputs[*a].probability));
    order
}

fn size_of(set: &[bool]) -> usize {
    set.iter().filter(|is_in| **is_in).count()
}

/// The set of the first k of an order.
fn first(order: &[usize], k: usize) -> Vec<bool> {
    let mut set = vec![false; order.len()];
    order.iter().take(k).for_each(|candidate| set[*candidate] = true);
    set
}

/// The smallest set that is as good as all inputs, of sets of one size the best.
fn smallest<'a>(sets: &'a [SetUtility], full: &'a SetUtility, better: Better) -> &'a SetUtility {
    let good = sets.iter().filter(|it| it.as_good).chain([full]);
    let value = |it: &SetUtility| better.sign() * it.utility.mean;
    good.min_by(|a, b| a.k.cmp(&b.k).then(value(b).total_cmp(&value(a)))).unwrap_or(full)
}

impl UtilitySummary {
    /// Of an expected utility.
    pub fn of(expected: &ExpectedUtility) -> Self {
        UtilitySummary {
            mean: expected.mean(),
            sd: expected.sd(),
            q05: expected.quantile(0.05),
            q95: expected.quantile(0.95),
        }
    }

    /// A difference turned so that positive is worse, or not.
    #[must_use]
    pub fn signed(self, sign: f64) -> Self {
        if sign > 0.0 {
            return self;
        }
        UtilitySummary { mean: -self.mean, sd: self.sd, q05: -self.q95, q95: -self.q05 }
    }

    /// Of a difference.
    pub fn of_difference(apart: &Difference) -> Self {
        UtilitySummary {
            mean: apart.mean(),
            sd: apart.sd(),
            q05: apart.quantile(0.05),
            q95: apart.quantile(0.95),
        }
    }
}

#[cfg(test)]
mod tests;
