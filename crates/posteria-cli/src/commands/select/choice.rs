//! Choose the smallest set of inputs whose predictions are as good as those of all inputs.

use std::num::NonZero;
use std::path::Path;

use posteria::assess::{
    Better, Bootstrap, Difference, ExpectedUtility, PointwiseUtilities, bayesian_bootstrap,
    difference,
};
use posteria::model::selection::Candidates;
use posteria::model::spec::Spec;
use posteria::select::Visits;
use serde::Serialize;

use super::super::Context;
use super::sets::Sets;
use crate::args;
use crate::assessment::{Assessing, Plan, Subject};
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::text;

/// Most inputs of sets of the most probable ones, unless it is said otherwise.
const LARGEST: usize = 12;
/// Most probable sets that are looked at besides.
const SETS: usize = 3;
/// Draws of every chain of a set: its utility is blurred by the rows far more than by the draws.
const DRAWS: usize = 250;
/// Probability of error.
const LEVEL: f64 = 0.05;
/// R-hat of a set from which on its utility is doubtful.
const FAR_OFF: f64 = 1.1;

/// The set to go on with, and what it was chosen by.
#[derive(Debug, Serialize)]
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
    /// How rows were predicted.
    pub folds: usize,
    /// What the utility of the chosen set is to be taken with.
    pub note: &'static str,
    /// What to be careful about.
    #[serde(skip)]
    pub warnings: Vec<String>,
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

/// Assesses sets of inputs of the run in `path`, and chooses one of them.
pub fn choose(
    (path, spec): (&Path, &Spec),
    (candidates, found): (&Candidates, &Visits),
    asked: &args::Choice,
    context: &Context,
) -> Result<Choice> {
    let interrupt = Interrupt::listen().running()?;
    // The folds of a run are the same whenever it is asked for.
    let context = &Context { seed: context.seed.or(Some(spec.sampling.seed)), ..*context };
    let usual = NonZero::new(DRAWS.min(spec.sampling.draws)).unwrap_or(NonZero::<usize>::MIN);
    let draws = asked.fold_draws.unwrap_or(usual);
    let how = asked.how(draws);
    let sets = Sets::new((path, spec), candidates, draws.get())?;
    let ranked = ranked(found);
    let largest = asked.largest.map_or(LARGEST, NonZero::get).min(candidates.len());
    let mut wanted: Vec<(Vec<bool>, bool)> = vec![(vec![true; candidates.len()], false)];
    wanted.extend((1..=largest).map(|k| (first(&ranked, k), true)));
    for set in found.sets.iter().take(asked.sets.unwrap_or(SETS)) {
        let is_in = |name: &String| set.inputs.contains(name);
        let set: Vec<bool> = candidates.names().iter().map(is_in).collect();
        if sets.has_columns(&set) && wanted.iter().all(|(other, _)| *other != set) {
            wanted.push((set, false));
        }
    }
    context.output.message(&format!(
        "choice: {}, each fitted to all rows and to those of every fold, {} of {}",
        text::count(wanted.len(), "set"),
        text::count(spec.sampling.chains, "chain"),
        text::count(draws.get(), "draw"),
    ));
    let mut all: Option<(Plan, Vec<Vec<f64>>)> = None;
    let mut assessed: Vec<(usize, PointwiseUtilities)> = Vec::new();
    let (mut folds, mut unsettled) = (0, Vec::new());
    for (index, (set, _)) in wanted.iter().enumerate() {
        // The k most probable inputs may be all of them.
        if let Some((_, same)) =
            assessed.iter().find(|(other, _)| wanted[*other].0 == *set).cloned()
        {
            assessed.push((index, same));
            continue;
        }
        context.output.message(&format!(
            "set {} of {}: {}",
            index + 1,
            wanted.len(),
            if index == 0 { "all inputs".into() } else { sets.words(set) }
        ));
        let (folder, r_hat) = sets.fit(set, &interrupt, context)?;
        if r_hat > FAR_OFF {
            unsettled.push(folder.display().to_string());
        }
        let subject = Subject::open(&folder)?;
        if all.is_none() {
            all = Some((Plan::new(&how, &subject, context)?, subject.observed.clone()));
        }
        let Some((plan, observed)) = &all else { unreachable!("it was just set") };
        if *observed != subject.observed {
            return Err(Failure::bad_input(format!(
                "{} has other rows than the model with all inputs, since rows with empty cells are \
                 dropped; take them out of the table, or use --no-choice",
                folder.display()
            )));
        }
        let assessing = Assessing { utilities: &plan.utilities, interrupt: &interrupt, context };
        let found = assessing.assess(&subject, &plan.method).map_err(|it| sets.go_on(it))?;
        folds = found.folds.iter().flatten().max().map_or(0, |last| last + 1);
        assessed.extend(found.utilities.into_iter().next_back().map(|it| (index, it)));
    }
    let Some((plan, _)) = all else { unreachable!("all inputs are one of the sets") };
    let rule = Rule { tolerance: asked.tolerance, level: asked.level.unwrap_or(LEVEL) };
    let mut warnings = Vec::new();
    if !unsettled.is_empty() {
        warnings.push(format!(
            "the chains of {} have not mixed (R-hat above {FAR_OFF}): {}; their utilities may be \
             off, draw more with --fold-draws",
            text::count(unsettled.len(), "set"),
            unsettled.join(", ")
        ));
    }
    let pointwise: Vec<PointwiseUtilities> = assessed.into_iter().map(|(_, it)| it).collect();
    let of = |index: usize| -> Result<SetUtility> {
        let expected = bayesian_bootstrap(&pointwise[index], &plan.bootstrap).bad_input()?;
        let apart = apart(&pointwise[0], &pointwise[index], &plan.bootstrap)?;
        let inputs: Vec<String> = sets.names(&wanted[index].0);
        Ok(SetUtility {
            k: inputs.len(),
            inputs,
            most_probable_inputs: wanted[index].1,
            utility: Utility::of(&expected),
            p_full_better: apart.probability_better(),
            p_full_better_by_tolerance: rule.tolerance.map(|it| apart.probability_better_by(it)),
            as_good: index == 0 || rule.is_met(&apart),
        })
    };
    let mut utilities = (0..wanted.len()).map(of).collect::<Result<Vec<_>>>()?;
    let full = utilities.remove(0);
    let chosen = smallest(&utilities, &full, pointwise[0].better);
    let (chosen, utility) = (chosen.inputs.clone(), pointwise[0].name.clone());
    utilities.sort_by_key(|it| (it.k, !it.most_probable_inputs));
    Ok(Choice {
        utility,
        utilities,
        full: full.utility,
        chosen,
        chosen_by: rule.words(),
        folds,
        note: "the utility of the chosen set is a little optimistic: the same rows chose it",
        warnings,
    })
}

/// All inputs minus a set.
fn apart(
    full: &PointwiseUtilities,
    set: &PointwiseUtilities,
    bootstrap: &Bootstrap,
) -> Result<Difference> {
    difference(full, set, bootstrap).bad_input()
}

/// Candidates, the most probable first.
pub fn ranked(found: &Visits) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.inputs.len()).collect();
    order.sort_by(|a, b| found.inputs[*b].probability.total_cmp(&found.inputs[*a].probability));
    order
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
    fn of(expected: &ExpectedUtility) -> Self {
        Utility {
            mean: expected.mean(),
            sd: expected.sd(),
            q05: expected.quantile(0.05),
            q95: expected.quantile(0.95),
        }
    }
}

#[cfg(test)]
mod tests {
    use posteria::assess::Terms;
    use posteria::assess::utility::Elpd;
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
