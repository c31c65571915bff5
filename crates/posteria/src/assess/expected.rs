//! The distribution of the expected utility of a model.

use super::bootstrap::{Distribution, Units, distributions, mean, variance};
use super::sampled::normal_sd;
use super::{Better, Bootstrap, BootstrapError, PointwiseUtilities, Summary};
use crate::caution::Caution;
use crate::diagnose::quantile;

/// Rows, or groups of rows, below which their weights say little about the future.
const FEWEST_UNITS: usize = 10;
/// Share of an estimate below which its error is one of rounding.
const ROUNDING: f64 = 1e-12;

/// What makes an expected utility uncertain: standard deviations, in its unit
/// [Vehtari 2001, figures 3.4 and 3.8].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Components {
    /// Finitely many rows: which future rows there will be, and how noisy.
    #[serde(deserialize_with = "crate::json::nan")]
    pub data: f64,
    /// Finitely many draws of the Markov chains. `None` if no replicates of the draws were given.
    pub monte_carlo: Option<f64>,
    /// Training sets that differ with the division into folds: what is left of it in the mean over
    /// divisions, less what the draws explain. `None` for a single division.
    pub folds: Option<f64>,
    /// A random sample of the rows in place of all of them. `None` where all are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsampling: Option<f64>,
    /// The bias correction itself, by rows and draws: a part of the others, not one more.
    /// `None` without a correction.
    pub bias: Option<f64>,
}

/// Mean and standard deviation of the expected utility by the central limit theorem.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NormalApproximation {
    /// The estimate.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Its standard error by the rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
}

/// The expected utility of a model for future rows: an estimate, and its distribution as replicates
/// of the Bayesian bootstrap.
#[derive(Clone, Debug)]
pub struct ExpectedUtility {
    /// Name of the utility.
    pub name: String,
    /// Which values are the better ones.
    pub better: Better,
    /// How rows are summarised.
    pub summary: Summary,
    /// Number of rows, those that are not in a sample of them included.
    pub rows: usize,
    /// The summary over all rows, corrected for bias.
    pub estimate: f64,
    /// The correction in it.
    pub bias_correction: Option<f64>,
    /// The distribution.
    pub replicates: Vec<f64>,
    /// For comparison: Var(u) / n [Vehtari 2001, eq. 3.28], for other summaries and for groups
    /// linearised.
    pub normal: NormalApproximation,
    /// What makes it uncertain.
    pub components: Components,
    /// What gives reason to doubt it.
    pub cautions: Vec<Caution>,
}

impl ExpectedUtility {
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
}

/// The distribution of the expected utility [Vehtari 2001, §3.2.4]. In every replicate rows (or
/// their groups) get weights from Dirichlet(1, …, 1), one of the alternatives by reweighted
/// draws is taken, divisions into folds are weighted likewise, and the summary with its correction
/// for bias is computed anew.
///
/// ```
/// use posteria::assess::utility::Elpd;
/// use posteria::assess::{Bootstrap, PointwiseUtilities, Terms, bayesian_bootstrap};
/// use posteria::random::Seed;
///
/// let values: Vec<f64> = (0..200).map(|row| -1.0 - 0.01 * f64::from(row % 50)).collect();
/// let pointwise = PointwiseUtilities::new(&Elpd, Terms::from(values));
/// let expected = bayesian_bootstrap(&pointwise, &Bootstrap::new(Seed(1)))?;
/// assert!((expected.mean() - -1.245).abs() < 0.002);
/// assert!((expected.sd() / expected.normal.sd - 1.0).abs() < 0.1);
/// # Ok::<(), posteria::assess::BootstrapError>(())
/// ```
///
/// # Errors
/// If groups or weights do not fit the rows.
pub fn bayesian_bootstrap(
    pointwise: &PointwiseUtilities,
    bootstrap: &Bootstrap,
) -> Result<ExpectedUtility, BootstrapError> {
    let (_, mut all) = expected_utilities(&[pointwise], bootstrap)?;
    Ok(all.remove(0))
}

/// Those of several models at the same rows, and what they were made of: replicates of the same
/// number share their weights.
pub(super) fn expected_utilities(
    models: &[&PointwiseUtilities],
    bootstrap: &Bootstrap,
) -> Result<(Vec<Distribution>, Vec<ExpectedUtility>), BootstrapError> {
    let (found, units) = distributions(models, bootstrap)?;
    let expected = models.iter().zip(&found).map(|(pointwise, found)| {
        let mut cautions = pointwise.cautions.clone();
        if units.count < FEWEST_UNITS {
            cautions.push(Caution::FewUnits {
                count: units.count,
                grouped: bootstrap.groups.is_some(),
            });
        }
        let by_units = standard_error(pointwise, &units);
        let sd_by_rows = match pointwise.sampled() {
            Some(sampled) if !found.samples_only.is_empty() => {
                normal_sd(pointwise, sampled, by_units)
            }
            _ => by_units,
        };
        // Weights that sum to 1 up to rounding move what all draws agree on by as much.
        let least = ROUNDING * found.estimate.abs();
        let beyond_rounding = |it: f64| if it.abs() > least { it } else { 0.0 };
        ExpectedUtility {
            name: pointwise.name.clone(),
            better: pointwise.better,
            summary: pointwise.summary,
            rows: pointwise.all_rows(),
            components: Components {
                data: variance(&found.rows_only).sqrt(),
                monte_carlo: monte_carlo(&found.monte_carlo).map(f64::sqrt).map(beyond_rounding),
                folds: folds(&found.by_repetition, &found.monte_carlo).map(f64::sqrt),
                subsampling: spread(&found.samples_only),
                bias: found.biases.as_ref().map(|it| variance(it).sqrt()).map(beyond_rounding),
            },
            normal: NormalApproximation { mean: found.estimate, sd: sd_by_rows },
            estimate: found.estimate,
            bias_correction: found.bias.map(beyond_rounding),
            replicates: found.replicates.clone(),
            cautions,
        }
    });
    let expected = expected.collect();
    Ok((found, expected))
}

/// Standard deviation; `None` without values.
pub(super) fn spread(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| variance(values).sqrt())
}

/// Variance by the draws of the mean over divisions, each with draws of its own.
pub(super) fn monte_carlo(variances: &[Option<f64>]) -> Option<f64> {
    let count = variances.len() as f64;
    variances.iter().map(|variance| variance.map(|it| it / (count * count))).sum()
}

/// Variance by the division of the mean over divisions: what they differ, less what
/// their draws explain.
pub(super) fn folds(by_repetition: &[f64], variances: &[Option<f64>]) -> Option<f64> {
    let count = by_repetition.len() as f64;
    let explained = variances.iter().map(|variance| variance.unwrap_or(0.0) / count).sum::<f64>();
    (by_repetition.len() > 1).then(|| (variance(by_repetition) - explained).max(0.0) / count)
}

/// Standard error of the expected utility by its linearisation: of the mean of u_i, of the
/// root by √' = 1 / (2√), of a quantile by the standard error of the distribution function there
/// [Woodruff 1952], of a concordance by the influence of every row. Sums over groups are what is independent. Corrections of other summaries than a
/// mean are left out.
fn standard_error(pointwise: &PointwiseUtilities, units: &Units) -> f64 {
    let values = match pointwise.summary {
        Summary::Mean => corrected(pointwise),
        _ => pointwise.values(),
    };
    let of_sums = |sums: Vec<f64>| {
        let count = units.count as f64;
        let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
        (squares * count / (count - 1.0)).sqrt()
    };
    let of = |residuals: &dyn Fn(f64) -> f64| {
        of_sums(units.sums(values.iter().map(|value| residuals(*value))))
    };
    let mean = Summary::Mean.of(&values, &units.base);
    match pointwise.summary {
        Summary::Mean => of(&|value| value - mean),
        Summary::RootMean => of(&|value| value - mean) / (2.0 * mean.sqrt()),
        Summary::Quantile(alpha) => {
            let at = |p: f64| Summary::Quantile(p.clamp(0.0, 1.0)).of(&values, &units.base);
            let cut = at(alpha);
            let error = of(&|value| f64::from(u8::from(value <= cut)) - alpha);
            0.5 * (at(alpha + error) - at(alpha - error))
        }
        Summary::Concordance { .. } => {
            let count = pointwise.repetitions().len() as f64;
            let mut influences = vec![0.0; values.len()];
            for one in pointwise.repetitions() {
                let prepared = pointwise.prepared(&one.terms.values, &one.folds);
                let Some(own) = prepared.influences(&units.base) else { return f64::NAN };
                influences.iter_mut().zip(own).for_each(|(mean, own)| *mean += own / count);
            }
            of_sums(units.sums(influences))
        }
    }
}

/// Utilities with the correction of every row.
fn corrected(pointwise: &PointwiseUtilities) -> Vec<f64> {
    let mut values = pointwise.values();
    let count = pointwise.repetitions().len() as f64;
    for one in pointwise.repetitions() {
        if let Some(super::BiasTerms::Pointwise(terms)) = &one.terms.bias {
            values.iter_mut().zip(terms).for_each(|(value, term)| *value += term / count);
        }
    }
    values
}
