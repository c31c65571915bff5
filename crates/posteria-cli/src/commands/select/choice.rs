//! Choose the smallest set of inputs whose predictions are as good as those of all inputs.

use std::time::Instant;

use posteria::assess::{Better, Difference, ExpectedUtility, bayesian_bootstrap};
use posteria::model::selection::Candidates;
use posteria::select::{SmallestSize, Visits};
use serde::Serialize;

use super::assessor::{AssessedSet, Assessor, apart};
use super::nested::Nested;
use crate::args;
use crate::failure::{Classify, Result};
use crate::text;

/// Most probable sets that are looked at besides.
const SETS: usize = 3;
/// Probability of error.
const LEVEL: f64 = 0.05;

/// The set to go on with, and what it was chosen by.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// What predictions are worth.
    pub utility: String,
    /// Sets of inputs, the smallest first.
    pub utilities: Vec<SetUtility>,
    /// All inputs.
    pub full: Utility,
    /// The inputs of the set that was chosen.
    #[serde(skip)]
    pub chosen: Vec<String>,
    /// By what rule.
    #[serde(skip)]
    pub chosen_by: String,
    /// How rows were predicted: loo or kfold.
    pub method: &'static str,
    /// Into how many folds rows were divided, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// What search and choice are worth for rows that neither has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<Nested>,
    /// What the utility of the chosen set is to be taken with.
    pub note: String,
}

/// What predictions are worth.
#[derive(Debug, Clone, Serialize)]
pub struct Utility {
    /// Mean of the expected utility.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// Its 5 % quantile.
    pub q05: f64,
    /// Its 95 % quantile.
    pub q95: f64,
}

/// What predictions by a set of inputs are worth.
#[derive(Debug, Clone, Serialize)]
pub struct SetUtility {
    /// Number of inputs.
    pub k: usize,
    /// The inputs.
    pub inputs: Vec<String>,
    /// Whether these are the k most probable inputs; else one of the most probable sets.
    pub most_probable_inputs: bool,
    /// The expected utility.
    #[serde(flatten)]
    pub utility: Utility,
    /// Probability that all inputs are better.
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

impl Choice {
    /// With what nested folds say about it.
    pub fn tell_nested(&mut self, nested: Nested) {
        self.note = format!(
            "the same rows chose the set and say what it is worth; nested folds put this optimism at {} \
             (sd {})",
            text::significant(nested.optimism.mean, 2),
            text::significant(nested.optimism.sd, 2),
        );
        self.nested = Some(nested);
    }
}

/// When a set is as good as all inputs.
#[derive(Debug, Clone, Copy)]
struct Rule {
    tolerance: Option<f64>,
    level: f64,
}

impl Rule {
    /// Whether a set is, of the difference of all inputs and it; never of what is not a number.
    fn is_met(&self, full_minus_set: &Difference) -> bool {
        match self.tolerance {
            Some(tolerance) => full_minus_set.probability_better_by(tolerance) < self.level,
            None => full_minus_set.probability_better() < 1.0 - self.level,
        }
    }

    fn words(&self) -> String {
        let better = match self.tolerance {
            Some(tolerance) => format!("better by more than {tolerance}"),
            None => "better".into(),
        };
        let limit = if self.tolerance.is_some() { self.level } else { 1.0 - self.level };
        format!(
            "the smallest set that predicts as well as all inputs: the probability that all inputs \
             are {better} is below {}",
            text::short(limit)
        )
    }
}

/// What is left of a choice for other comparisons: all inputs, and the set that was chosen.
pub struct Best {
    /// All inputs.
    pub full: AssessedSet,
    /// The set that was chosen.
    pub chosen: AssessedSet,
}

/// The most sets that are assessed: all inputs, the most probable ones and the most probable sets.
pub fn most_sets(asked: &args::Choice, candidates: usize) -> usize {
    1 + largest(asked, candidates).unwrap_or(candidates) + asked.sets.unwrap_or(SETS)
}

/// Most inputs of sets of the most probable ones, if all these sets are asked for.
fn largest(asked: &args::Choice, candidates: usize) -> Option<usize> {
    asked.largest.map(|largest| largest.get().min(candidates))
}

/// Sets that were assessed one after the other, all inputs first.
struct Assessed<'a, 'b> {
    assessor: &'a mut Assessor<'b>,
    rule: Rule,
    /// With how much better all inputs are, and whether they are the most probable inputs.
    sets: Vec<(AssessedSet, Difference, bool)>,
    began: Instant,
}

impl Assessed<'_, '_> {
    /// Assesses a set before about so many others: whether it is as good as all inputs.
    fn add(&mut self, set: &[bool], most_probable: bool, others: usize) -> Result<bool> {
        let done = self.sets.len();
        // The fit to all inputs was made before, so that its time is not known.
        let left = if done < 2 {
            String::new()
        } else {
            let each = self.began.elapsed().as_secs_f64() / (done - 1) as f64;
            format!(", about {} left", text::duration(each * (1 + others) as f64))
        };
        let what = format!("set {} of about {}{left}", done + 1, done + 1 + others);
        let assessed = self.assessor.assess(set, &what)?;
        if done == 0 {
            self.began = Instant::now();
        }
        let full = self.sets.first().map_or(&assessed, |(full, ..)| full);
        let bootstrap = &self.assessor.plan().bootstrap;
        let apart = apart(&full.pointwise, &assessed.pointwise, bootstrap)?;
        let is_good = done == 0 || self.rule.is_met(&apart);
        self.sets.push((assessed, apart, most_probable));
        Ok(is_good)
    }

    /// All sets of the most probable inputs up to `largest`, or as many as it takes to know the
    /// smallest that is as good as all inputs, begun at a `guess`. Gives its number of inputs.
    fn add_sizes(
        &mut self,
        ranked: &[usize],
        guess: usize,
        largest: Option<usize>,
    ) -> Result<usize> {
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

/// Assesses sets of inputs, and chooses one of them.
pub fn choose(
    assessor: &mut Assessor<'_>,
    (candidates, found): (&Candidates, &Visits),
    asked: &args::Choice,
) -> Result<(Choice, Best)> {
    let ranked = ranked(found);
    let rule = Rule { tolerance: asked.tolerance, level: asked.level.unwrap_or(LEVEL) };
    let (guess, largest) = (found.median_model().len(), largest(asked, candidates.len()));
    assessor.announce("choice");
    let mut all = Assessed { assessor, rule, sets: Vec::new(), began: Instant::now() };
    all.add(&all.assessor.all(), false, largest.unwrap_or(2.min(ranked.len().saturating_sub(1))))?;
    let smallest_size = all.add_sizes(&ranked, guess, largest)?;
    let probable = found.sets.iter().take(asked.sets.unwrap_or(SETS)).map(|set| {
        let is_in = |name: &String| set.inputs.contains(name);
        candidates.names().iter().map(is_in).collect::<Vec<bool>>()
    });
    let probable: Vec<Vec<bool>> = probable
        .filter(|set| all.assessor.sets.has_columns(set))
        .filter(|set| all.sets.iter().all(|(other, ..)| other.set != *set))
        // A set of more inputs would not be chosen.
        .filter(|set| asked.sets.is_some() || size_of(set) <= smallest_size)
        .collect();
    for (index, set) in probable.iter().enumerate() {
        all.add(set, false, probable.len() - index - 1)?;
    }
    let Assessed { assessor, sets: assessed, .. } = all;
    let bootstrap = &assessor.plan().bootstrap;
    let full = &assessed[0].0.pointwise;
    let of = |index: usize| -> Result<SetUtility> {
        let (AssessedSet { set, pointwise, .. }, apart, most_probable_inputs) = &assessed[index];
        let expected = bayesian_bootstrap(pointwise, bootstrap).bad_input()?;
        let inputs: Vec<String> = assessor.sets.names(set);
        Ok(SetUtility {
            k: inputs.len(),
            inputs,
            most_probable_inputs: *most_probable_inputs,
            utility: Utility::of(&expected),
            p_full_better: apart.probability_better(),
            p_full_better_by_tolerance: rule.tolerance.map(|it| apart.probability_better_by(it)),
            as_good: index == 0 || rule.is_met(apart),
            index,
        })
    };
    let mut utilities = (0..assessed.len()).map(of).collect::<Result<Vec<_>>>()?;
    let all = utilities.remove(0);
    let chosen = smallest(&utilities, &all, full.better);
    let (index, chosen, utility) = (chosen.index, chosen.inputs.clone(), full.name.clone());
    utilities.sort_by_key(|it| (it.k, !it.most_probable_inputs));
    let best = Best { full: assessed[0].0.clone(), chosen: assessed[index].0.clone() };
    let choice = Choice {
        utility,
        utilities,
        full: all.utility,
        chosen,
        chosen_by: rule.words(),
        method: assessor.plan().method.name(),
        folds: assessor.folds(),
        nested: None,
        note: "the utility of the chosen set is a little optimistic: the same rows chose it \
               (--nested K tells how much)"
            .into(),
    };
    Ok((choice, best))
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

impl Utility {
    /// Of an expected utility.
    pub fn of(expected: &ExpectedUtility) -> Self {
        Utility {
            mean: expected.mean(),
            sd: expected.sd(),
            q05: expected.quantile(0.05),
            q95: expected.quantile(0.95),
        }
    }

    /// A difference turned so that positive is worse, or not.
    pub fn signed(self, sign: f64) -> Self {
        if sign > 0.0 {
            return self;
        }
        Utility { mean: -self.mean, sd: self.sd, q05: -self.q95, q95: -self.q05 }
    }

    /// Of a difference.
    pub fn of_difference(apart: &Difference) -> Self {
        Utility {
            mean: apart.mean(),
            sd: apart.sd(),
            q05: apart.quantile(0.05),
            q95: apart.quantile(0.95),
        }
    }
}

#[cfg(test)]
mod tests {
    use posteria::assess::utility::Elpd;
    use posteria::assess::{Bootstrap, PointwiseUtilities, Terms};
    use posteria::random::Seed;

    use super::*;

    fn set(inputs: &[&str], mean: f64, as_good: bool) -> SetUtility {
        SetUtility {
            k: inputs.len(),
            inputs: inputs.iter().map(ToString::to_string).collect(),
            most_probable_inputs: true,
            utility: Utility { mean, sd: 0.1, q05: mean, q95: mean },
            p_full_better: 0.5,
            p_full_better_by_tolerance: None,
            as_good,
            index: 0,
        }
    }

    #[test]
    fn the_smallest_good_set_is_chosen_and_of_equals_the_best() {
        let full = set(&["a", "b", "c"], -1.0, true);
        let sets =
            [set(&["a"], -3.0, false), set(&["a", "b"], -1.2, true), set(&["b", "c"], -1.1, true)];
        assert_eq!(smallest(&sets, &full, Better::Higher).inputs, ["b", "c"]);
        assert_eq!(smallest(&sets, &full, Better::Lower).inputs, ["a", "b"]);
        assert_eq!(smallest(&sets[..1], &full, Better::Higher).inputs, ["a", "b", "c"]);
    }

    #[test]
    fn a_tolerance_forgives_differences_that_are_sure_but_small() {
        let of = |values: Vec<f64>| PointwiseUtilities::new(&Elpd, Terms::from(values));
        let wave = |row: i32| 0.02 * (f64::from(row) * 0.7).sin();
        let full = of((0..200).map(|_| -1.0).collect());
        let worse = of((0..200).map(|row| -1.03 + wave(row)).collect());
        let sure = apart(&full, &worse, &Bootstrap::new(Seed(1))).expect("comparable");
        let met = |tolerance| Rule { tolerance, level: LEVEL }.is_met(&sure);
        assert!(!met(None), "worse beyond doubt");
        assert!(!met(Some(0.0)) && !met(Some(0.02)) && met(Some(0.04)));
        let equal = apart(&full, &full, &Bootstrap::new(Seed(1))).expect("comparable");
        assert!(Rule { tolerance: None, level: LEVEL }.is_met(&equal));
        assert!(Rule { tolerance: Some(0.0), level: LEVEL }.is_met(&equal));
        // Better with probability 0.8 or so: not beyond doubt, but no proof of equality either.
        let perhaps = of((0..200).map(|row| -1.001 + 0.8 * wave(row * row)).collect());
        let perhaps = apart(&full, &perhaps, &Bootstrap::new(Seed(1))).expect("comparable");
        assert!((0.6..0.95).contains(&perhaps.probability_better()));
        assert!(Rule { tolerance: None, level: LEVEL }.is_met(&perhaps));
        assert!(!Rule { tolerance: Some(0.0), level: LEVEL }.is_met(&perhaps));
    }
}
