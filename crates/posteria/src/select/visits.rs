//! Count how often chains visited inputs, sizes and sets.

use std::collections::BTreeMap;

use super::between_models::{BetweenModels, between_models};
use crate::caution::Caution;
use crate::diagnose::{DOUBTFUL_COUNTS, mcse_mean, mean_effective_size};
use crate::draws::{Draws, Role};
use crate::model::ModelError;
use crate::model::selection::Candidates;
use crate::model::spec::SelectionSpec;

/// Most probable sets that are listed.
const LISTED: usize = 10;
/// p values of a Kolmogorov–Smirnov test below this are a reason for doubt.
const DOUBTFUL_P: f64 = 0.01;
/// Smallest number of draws that a probability of 0 or 1 is taken to rest on.
const LEAST_SIZE: f64 = 4.0;

/// What draws over input sets say.
#[derive(Clone, Debug, PartialEq)]
pub struct Visits {
    /// Every candidate, in the order of the columns.
    pub inputs: Vec<InputProbability>,
    /// Numbers 0, …, K of candidates.
    pub sizes: Vec<SizeProbability>,
    /// The ten most probable sets.
    pub sets: Vec<SetProbability>,
    /// Number of different sets that were visited.
    pub visited: usize,
    /// Share of draws whose set is another than that of the draw before.
    pub jump_rate: f64,
    /// Whether chains agree.
    pub between: BetweenModels,
    /// What to be careful about.
    pub cautions: Vec<Caution>,
}

/// The probability of an input, or of inputs that enter together.
#[derive(Clone, Debug, PartialEq)]
pub struct InputProbability {
    /// Name of the candidate.
    pub name: String,
    /// Posterior probability to be in.
    pub probability: f64,
    /// Its Monte Carlo standard error.
    pub sd: f64,
    /// Prior probability.
    pub prior: f64,
}

/// The probability of a number of candidates.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SizeProbability {
    /// The number.
    pub k: usize,
    /// Posterior probability.
    #[serde(deserialize_with = "crate::json::nan")]
    pub probability: f64,
    /// Its Monte Carlo standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// Prior probability.
    #[serde(deserialize_with = "crate::json::nan")]
    pub prior: f64,
}

/// The probability of one set.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SetProbability {
    /// Names of the candidates that are in.
    pub inputs: Vec<String>,
    /// Posterior probability.
    #[serde(deserialize_with = "crate::json::nan")]
    pub probability: f64,
    /// Its Monte Carlo standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// Prior probability; not in JSON.
    #[serde(skip)]
    pub prior: f64,
}

/// Why draws say nothing about input sets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// There is no variable that tells which inputs are in.
    #[error(
        "the draws do not tell which inputs are in; fit with a [selection] section in the \
         specification"
    )]
    NoInclusion,
    /// The variable is of other inputs.
    #[error("the draws tell of {found} inputs, the specification of {expected}")]
    OtherInputs {
        /// Inputs of the candidates.
        expected: usize,
        /// Inputs of the draws.
        found: usize,
    },
    /// There are no draws.
    #[error("there are no draws yet; draw some first")]
    NoDraws,
}

/// What may leave the model of these draws.
///
/// # Errors
/// [`ModelError`] if `selection` does not fit the inputs that draws name.
pub fn candidates_of(draws: &Draws, selection: &SelectionSpec) -> Result<Candidates, ModelError> {
    let inclusion = draws.layout.of_role(Role::Inclusion);
    let names = inclusion.and_then(|variable| variable.dimensions.first());
    Candidates::new(selection, names.map_or(&[][..], |dimension| &dimension.labels))
}

/// Counts the visits of `draws` to sets of `candidates`.
///
/// Monte Carlo errors are those of means of 0/1 variables, by their effective size. What is never,
/// or always, seen gets the error of a Beta(½, ½) prior, as if it rested on as many independent draws as
/// the number of inputs does: one cannot tell from visits how much less than never it is.
///
/// # Errors
/// [`SelectError`].
pub fn visits(draws: &Draws, candidates: &Candidates) -> Result<Visits, SelectError> {
    let inclusion = draws.layout.of_role(Role::Inclusion).ok_or(SelectError::NoInclusion)?.range();
    if inclusion.len() != candidates.inputs() {
        let (expected, found) = (candidates.inputs(), inclusion.len());
        return Err(SelectError::OtherInputs { expected, found });
    }
    if draws.draws == 0 || draws.chains == 0 {
        return Err(SelectError::NoDraws);
    }
    let count = candidates.len();
    let sets: Vec<Vec<Vec<bool>>> = (0..draws.chains)
        .map(|chain| {
            let set = |draw: usize| {
                let values = &draws.draw(chain, draw)[inclusion.clone()];
                (0..count).map(|c| values[candidates.members(c)[0]] > 0.5).collect()
            };
            (0..draws.draws).map(set).collect()
        })
        .collect();
    let size_of = |set: &[bool]| set.iter().filter(|is_in| **is_in).count();
    let series = |value: &dyn Fn(&[bool]) -> f64| -> Vec<Vec<f64>> {
        sets.iter().map(|chain| chain.iter().map(|set| value(set)).collect()).collect()
    };
    let sizes = series(&|set| size_of(set) as f64);
    let effective = mean_effective_size(&sizes);
    let total = (draws.chains * draws.draws) as f64;
    let estimate = |inside: &dyn Fn(&[bool]) -> bool| {
        let chains = series(&|set| f64::from(inside(set)));
        let probability = chains.iter().flatten().sum::<f64>() / total;
        (probability, error(&chains, probability, effective))
    };
    let prior = candidates.prior();
    let inclusions: Vec<Vec<Vec<f64>>> =
        (0..count).map(|c| series(&|set| f64::from(set[c]))).collect();
    let of_inputs = prior.inclusion_probabilities();
    let inputs = (0..count)
        .map(|c| {
            let (probability, sd) = estimate(&|set| set[c]);
            let name = candidates.names()[c].clone();
            InputProbability { name, probability, sd, prior: of_inputs[c] }
        })
        .collect();
    let of_sizes = prior.sizes();
    let all_sizes = (0..=count)
        .map(|k| {
            let (probability, sd) = estimate(&|set| size_of(set) == k);
            SizeProbability { k, probability, sd, prior: of_sizes[k] }
        })
        .collect();
    let mut counts: BTreeMap<&Vec<bool>, usize> = BTreeMap::new();
    sets.iter().flatten().for_each(|set| *counts.entry(set).or_insert(0) += 1);
    let mut ranked: Vec<(&Vec<bool>, usize)> = counts.iter().map(|(set, n)| (*set, *n)).collect();
    // The most visited first; ties in the order of the sets, so that the list is always the same.
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(size_of(a.0).cmp(&size_of(b.0))).then(b.0.cmp(a.0)));
    let listed = ranked.iter().take(LISTED).map(|(set, _)| {
        let (probability, sd) = estimate(&|other| other == &set[..]);
        let inputs = (0..count).filter(|c| set[*c]).map(|c| candidates.names()[c].clone());
        let prior = prior.log_probability(set).exp();
        SetProbability { inputs: inputs.collect(), probability, sd, prior }
    });
    let moved: usize =
        sets.iter().map(|chain| chain.windows(2).filter(|w| w[0] != w[1]).count()).sum();
    let steps = draws.chains * (draws.draws - 1);
    let between = between_models(&sizes, &inclusions);
    let mut cautions = Vec::new();
    if moved == 0 {
        cautions.push(Caution::NoJumps { draws: total as usize });
    } else if between.ks_p < DOUBTFUL_P || between.r_hat > DOUBTFUL_COUNTS {
        cautions.push(Caution::InputSets { r_hat: between.r_hat, ks_p: between.ks_p });
    }
    Ok(Visits {
        inputs,
        sizes: all_sizes,
        sets: listed.collect(),
        visited: ranked.len(),
        jump_rate: moved as f64 / (steps as f64).max(1.0),
        between,
        cautions,
    })
}

impl Visits {
    /// The median probability model: candidates more probable than not, which of all single sets
    /// predicts best under squared error where inputs are orthogonal [Barbieri & Berger 2004].
    pub fn median_model(&self) -> Vec<&str> {
        let probable = self.inputs.iter().filter(|input| input.probability > 0.5);
        probable.map(|input| input.name.as_str()).collect()
    }
}

/// Monte Carlo standard error of a probability.
fn error(chains: &[Vec<f64>], probability: f64, effective: f64) -> f64 {
    let found = mcse_mean(chains);
    if found > 0.0 {
        return found;
    }
    let draws = (chains.len() * chains[0].len()) as f64;
    let size = if effective.is_nan() { LEAST_SIZE } else { effective.clamp(LEAST_SIZE, draws) };
    let share = (probability * size + 0.5) / (size + 1.0);
    (share * (1.0 - share) / (size + 2.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Layout;
    use crate::model::spec::SelectionSpec;
    use crate::random::{Purpose, Seed};

    /// Four chains of sets of three inputs, a always in, b in half of the draws, c never.
    fn draws(stuck: bool) -> (Draws, Candidates) {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let mut layout = Layout::new();
        layout.push_scalar("residual_scale");
        layout.push_vector("inclusion", "input", names.clone());
        let mut draws = Draws::empty(layout, 4, 0);
        draws.draws = 500;
        for chain in 0..4 {
            let mut stream = Seed(8).stream(Purpose::Chain, [chain, 0]);
            for _ in 0..500 {
                let b = if stuck { chain > 1 } else { stream.uniform() < 0.5 };
                draws.values.extend([0.3, 1.0, f64::from(b), 0.0]);
            }
        }
        (draws, Candidates::new(&SelectionSpec::default(), &names).unwrap())
    }

    #[test]
    fn probabilities_are_shares_of_draws_with_their_error() {
        let (draws, candidates) = draws(false);
        let found = visits(&draws, &candidates).unwrap();
        let of = |index: usize| (&found.inputs[index].probability, &found.inputs[index].sd);
        // 2000 independent draws: 0.011.
        assert!((of(1).0 - 0.5).abs() < 0.05 && (of(1).1 - 0.0112).abs() < 0.002);
        // About 2000: Beta(½, ½) has an error of 1/(n + 2) · √½.
        assert!((of(0).0 - 1.0).abs() < 1e-12 && *of(0).1 > 1e-4 && *of(0).1 < 1e-3);
        assert!(*of(2).0 < 1e-12 && (of(2).1 - of(0).1).abs() < 1e-9);
        assert_eq!(found.visited, 2);
        assert_eq!(found.sizes.len(), 4);
        assert!((found.sizes.iter().map(|size| size.probability).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found.sets.iter().map(|set| set.probability).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(
            found.sets.iter().all(|set| set.inputs[0] == "a" && (set.prior - 0.125).abs() < 1e-9)
        );
        assert!((found.jump_rate - 0.5).abs() < 0.05);
        assert!(found.cautions.is_empty() && found.between.ks_p > 0.01);
        assert!(found.median_model().starts_with(&["a"]));
    }

    #[test]
    fn chains_that_never_jump_are_a_reason_for_doubt() {
        let (draws, candidates) = draws(true);
        let found = visits(&draws, &candidates).unwrap();
        assert!(matches!(found.cautions[..], [Caution::NoJumps { draws: 2000 }]));
        assert!(found.between.ks_p <= 0.0);
    }

    #[test]
    fn draws_without_sets_are_refused() {
        let (mut draws, candidates) = draws(false);
        let two = ["a", "b"].map(String::from);
        let fewer = Candidates::new(&SelectionSpec::default(), &two).unwrap();
        let other = SelectError::OtherInputs { expected: 2, found: 3 };
        assert_eq!(visits(&draws, &fewer), Err(other));
        draws.draws = 0;
        assert_eq!(visits(&draws, &candidates), Err(SelectError::NoDraws));
        draws.layout = Layout::new();
        assert_eq!(visits(&draws, &candidates), Err(SelectError::NoInclusion));
    }
}
