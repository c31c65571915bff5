//! Compare models by paired differences of their expected utilities.

#[cfg(test)]
mod tests;

use super::bootstrap::{Distribution, mean, variance};
use super::expected::{expected_utilities, folds, monte_carlo, spread};
use super::model_comparison::best_of_many;
use super::utility::ELPD;
use super::{Better, Bootstrap, BootstrapError, Components, ExpectedUtility, PointwiseUtilities};
use crate::caution::Caution;
use crate::diagnose::quantile;

/// Why models cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ComparisonError {
    /// Fewer than two.
    #[error("a comparison needs at least two models")]
    TooFew,
    /// Different numbers of rows.
    #[error(
        "{first} has {first_rows} rows and {second} has {second_rows}; compare models of the same rows"
    )]
    Rows {
        /// A model.
        first: String,
        /// Its rows.
        first_rows: usize,
        /// Another.
        second: String,
        /// Its rows.
        second_rows: usize,
    },
    /// Judged by different random samples of the rows.
    #[error("{first} and {second} are judged by different rows; use one sample of rows for all")]
    Samples {
        /// A model.
        first: String,
        /// Another.
        second: String,
    },
    /// Different utilities.
    #[error(
        "{first} is judged by {first_utility} and {second} by {second_utility}; use one utility for all"
    )]
    Utilities {
        /// A model.
        first: String,
        /// Its utility.
        first_utility: String,
        /// Another.
        second: String,
        /// Its utility.
        second_utility: String,
    },
    /// Rows cannot be weighted.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
}

/// The difference of two expected utilities, first minus second, under common weights of the rows
/// [Vehtari 2001, §3.2.5]: what both models find hard cancels.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Name of the utility.
    pub name: String,
    /// Which values are the better ones.
    pub better: Better,
    /// Number of rows.
    pub rows: usize,
    /// The difference of the estimates.
    pub estimate: f64,
    /// Its distribution.
    pub replicates: Vec<f64>,
    /// What makes it uncertain.
    pub components: Components,
    /// Rows, or groups of rows, of which the models' utilities differ.
    differing: usize,
}

/// The pseudo-Bayes factor Π_i p(y_i given x_i, D without i, A) / p(… B) = exp(n ū_A-B)
/// [Vehtari 2001, eq. 3.32].
#[derive(Clone, Debug)]
pub struct PseudoBayesFactor {
    /// Its logarithm.
    pub log: f64,
    /// The distribution of its logarithm.
    pub log_replicates: Vec<f64>,
    /// Its n-th root: the ratio of the "mean" predictive likelihoods of a row, whatever the number
    /// of rows.
    pub per_row: f64,
}

impl Difference {
    fn of(first: &Side<'_>, second: &Side<'_>) -> Self {
        let minus =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let of = first.of;
        let (a, b) = (first.found, second.found);
        let sum = |what: &dyn Fn(&Side<'_>) -> Option<f64>| Some(what(first)? + what(second)?);
        // Models that were judged by the same divisions are compared division by division.
        let folds = match a.by_repetition.len() == b.by_repetition.len() {
            true => {
                let both = a.monte_carlo.iter().zip(&b.monte_carlo);
                let variances: Vec<_> = both.map(|(a, b)| Some((*a)? + (*b)?)).collect();
                folds(&minus(&a.by_repetition, &b.by_repetition), &variances)
            }
            false => sum(&|side| folds(&side.found.by_repetition, &side.found.monte_carlo)),
        };
        let bias = match (&a.biases, &b.biases) {
            (Some(a), Some(b)) => Some(variance(&minus(a, b)).sqrt()),
            (one, other) => one.as_ref().or(other.as_ref()).map(|it| variance(it).sqrt()),
        };
        Difference {
            name: of.name.clone(),
            better: of.better,
            rows: of.rows,
            estimate: a.estimate - b.estimate,
            replicates: minus(&a.replicates, &b.replicates),
            components: Components {
                data: variance(&minus(&a.rows_only, &b.rows_only)).sqrt(),
                monte_carlo: sum(&|side| monte_carlo(&side.found.monte_carlo)).map(f64::sqrt),
                folds: folds.map(f64::sqrt),
                subsampling: spread(&minus(&a.samples_only, &b.samples_only)),
                bias,
            },
            differing: differing(a, b),
        }
    }

    /// Mean of the distribution.
    pub fn mean(&self) -> f64 {
        mean(&self.replicates)
    }

    /// Standard deviation of the distribution.
    pub fn sd(&self) -> f64 {
        variance(&self.replicates).sqrt()
    }

    /// A quantile of the distribution; NaN if a replicate is not finite.
    pub fn quantile(&self, probability: f64) -> f64 {
        quantile(&self.replicates, probability)
    }

    /// P(the first model is better); of equals each is better with probability ½, so that this
    /// and the same of the models exchanged sum to 1. NaN if a replicate is not a number.
    ///
    /// Weights of the observed rows know of no rows but those: if the models differ in two rows, both for
    /// the first model, it is better in every replicate. So P is no more than 1 - 2^-(m + 1) if m rows
    /// differ: that more than half of such rows are for a model if m of m are, under a uniform prior of
    /// their share [Gelman et al. 2013, §2.1].
    pub fn probability_better(&self) -> f64 {
        probability_better(&self.replicates, self.better, self.differing)
    }

    /// P(the first model is better by more than `margin`): whether the difference matters
    /// in practice. It is bounded above as [`Difference::probability_better`] is.
    pub fn probability_better_by(&self, margin: f64) -> f64 {
        if self.replicates.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        let sign = self.better.sign();
        let more = self.replicates.iter().filter(|value| sign * **value > margin).count();
        (more as f64 / self.replicates.len() as f64).min(1.0 - unseen(self.differing))
    }

    /// How many standard deviations the first model is better: positive if it is; 0 for equals.
    pub fn effect_size(&self) -> f64 {
        let mean = self.mean();
        if mean.abs() <= 0.0 { 0.0 } else { self.better.sign() * mean / self.sd() }
    }

    /// The pseudo-Bayes factor; `None` for other utilities than `elpd`.
    pub fn pseudo_bayes_factor(&self) -> Option<PseudoBayesFactor> {
        let rows = self.rows as f64;
        (self.name == ELPD).then(|| PseudoBayesFactor {
            log: rows * self.estimate,
            log_replicates: self.replicates.iter().map(|value| rows * value).collect(),
            per_row: self.estimate.exp(),
        })
    }
}

struct Side<'a> {
    of: &'a ExpectedUtility,
    found: &'a Distribution,
}

/// In how many units the utilities of two models differ.
fn differing(first: &Distribution, second: &Distribution) -> usize {
    let both = first.by_unit.iter().zip(&second.by_unit);
    both.filter(|(a, b)| a.to_bits() != b.to_bits()).count()
}

/// P(at most half of the units that differ are for a model if all `differing` ones that were seen are).
fn unseen(differing: usize) -> f64 {
    0.5_f64.powf(differing as f64 + 1.0)
}

fn probability_better(differences: &[f64], better: Better, differing: usize) -> f64 {
    let mut sum = 0.0;
    for value in differences {
        let advantage = better.sign() * value;
        if advantage.is_nan() {
            return f64::NAN;
        }
        sum += match advantage.abs() > 0.0 {
            true => f64::from(u8::from(advantage > 0.0)),
            false => 0.5,
        };
    }
    let unseen = unseen(differing);
    (sum / differences.len() as f64).clamp(unseen, 1.0 - unseen)
}

/// The difference of two models at the same rows.
///
/// # Errors
/// If rows or utilities differ, or rows cannot be weighted.
pub fn difference(
    first: &PointwiseUtilities,
    second: &PointwiseUtilities,
    bootstrap: &Bootstrap,
) -> Result<Difference, ComparisonError> {
    check(&[("the first", first), ("the second", second)])?;
    let (found, expected) = expected_utilities(&[first, second], bootstrap)?;
    let side = |index: usize| Side { of: &expected[index], found: &found[index] };
    Ok(Difference::of(&side(0), &side(1)))
}

/// Models beside each other, as tables 3.1–3.3 of [Vehtari 2001].
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the models.
    pub models: Vec<String>,
    /// The expected utility of each; replicates of the same number share their weights.
    pub expected: Vec<ExpectedUtility>,
    /// P(the model of the row is better than that of the column); ½ on the diagonal.
    pub probability_better: Vec<Vec<f64>>,
    /// What gives reason to doubt it.
    pub cautions: Vec<Caution>,
    found: Vec<Distribution>,
}

impl Comparison {
    /// The difference of two of the models, first minus second; `None` if there are not as many.
    /// It takes no new replicates.
    pub fn difference(&self, first: usize, second: usize) -> Option<Difference> {
        let side = |index: usize| {
            Some(Side { of: self.expected.get(index)?, found: self.found.get(index)? })
        };
        Some(Difference::of(&side(first)?, &side(second)?))
    }
}

/// Compares any number of models at the same rows, all with the same weights.
///
/// # Errors
/// If there are fewer than two, rows or utilities differ, or rows cannot be weighted.
pub fn compare(
    models: &[(&str, &PointwiseUtilities)],
    bootstrap: &Bootstrap,
) -> Result<Comparison, ComparisonError> {
    check(models)?;
    let pointwise: Vec<&PointwiseUtilities> = models.iter().map(|(_, model)| *model).collect();
    let (found, expected) = expected_utilities(&pointwise, bootstrap)?;
    let better = pointwise[0].better;
    let entry = |first: &Distribution, second: &Distribution| {
        let both = first.replicates.iter().zip(&second.replicates);
        let differences: Vec<f64> = both.map(|(a, b)| a - b).collect();
        probability_better(&differences, better, differing(first, second))
    };
    let mut probabilities = vec![vec![0.5; models.len()]; models.len()];
    for (row, first) in found.iter().enumerate() {
        for (column, second) in found.iter().enumerate().skip(row + 1) {
            let probability = entry(first, second);
            probabilities[row][column] = probability;
            probabilities[column][row] = 1.0 - probability;
        }
    }
    let mut ranked: Vec<f64> = expected.iter().map(|it| better.sign() * it.estimate).collect();
    ranked.sort_by(|a, b| b.total_cmp(a));
    Ok(Comparison {
        models: models.iter().map(|(name, _)| name.to_string()).collect(),
        probability_better: probabilities,
        cautions: best_of_many(&pointwise[0].name, &ranked).into_iter().collect(),
        expected,
        found,
    })
}

fn check(models: &[(&str, &PointwiseUtilities)]) -> Result<(), ComparisonError> {
    let [(first, one), others @ ..] = models else { return Err(ComparisonError::TooFew) };
    if others.is_empty() {
        return Err(ComparisonError::TooFew);
    }
    for (second, other) in others {
        if one.rows() != other.rows() {
            return Err(ComparisonError::Rows {
                first: first.to_string(),
                first_rows: one.rows(),
                second: second.to_string(),
                second_rows: other.rows(),
            });
        }
        let sample = |model: &PointwiseUtilities| model.sampled().map(|it| it.sample.clone());
        if sample(one) != sample(other) {
            let (first, second) = (first.to_string(), second.to_string());
            return Err(ComparisonError::Samples { first, second });
        }
        if (&one.name, one.better) != (&other.name, other.better) {
            return Err(ComparisonError::Utilities {
                first: first.to_string(),
                first_utility: one.name.clone(),
                second: second.to_string(),
                second_utility: other.name.clone(),
            });
        }
    }
    Ok(())
}
