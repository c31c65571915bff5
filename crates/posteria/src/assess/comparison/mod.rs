//! Tell which model predicts better, as a value with the names that JSON has.

mod comparable;
mod of_fits;

use serde::{Deserialize, Serialize};

pub(super) use comparable::check_averageable;
pub use comparable::{ComparedFit, NotComparable, check_comparable};
pub use of_fits::{CompareOptions, compare_fits};

use super::{
    AssessError, Assessed, Bootstrap, Comparison, Difference, ElpdComparison, Method,
    PointwiseUtilities, RowGroups, RowSample, StackedScore, Weighting, compare, compare_elpds,
    compare_sampled_elpds,
};
use crate::caution::Caution;

/// Which model predicts better, as `posteria compare --json` has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparisonReport {
    /// Names of the models.
    pub models: Vec<String>,
    /// How rows were predicted, see [`Method::name`].
    pub method: String,
    /// If rows were left out by a sample of them, the same for all models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsample: Option<SampledRows>,
    /// The utility behind `p_better`.
    pub utility: String,
    /// The models by their log predictive densities, the best first.
    pub table: Vec<ComparisonRow>,
    /// P(the model of the row is better than that of the column); none where importance weights
    /// that cannot be trusted are part of it.
    pub p_better: Vec<Vec<Option<f64>>>,
    /// The same for every utility that was asked for.
    pub utilities: Vec<UtilityComparison>,
    /// Pseudo-BMA weights of the models, in their order.
    #[serde(deserialize_with = "crate::json::nan")]
    pub pseudo_bma: Vec<f64>,
    /// The margin of `p_better_by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The same of rows with the same value in a column, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subgroups: Option<Vec<ComparedSubgroup>>,
    /// What the average of all models with stacking weights is worth; of all rows, not a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacked: Option<StackedScore>,
    /// What to be careful about, with the index of the model where it is about one; whoever shows
    /// the comparison shows these too.
    #[serde(skip)]
    pub cautions: Vec<(Option<usize>, Caution)>,
}

/// A random sample of the rows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SampledRows {
    /// Number of rows in it.
    pub rows: usize,
    /// Of how many.
    pub of: usize,
}

/// A model by its log predictive density.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// Its name.
    pub model: String,
    /// Sum over rows of the log predictive density of rows left out.
    #[serde(deserialize_with = "crate::json::nan")]
    pub elpd: f64,
    /// Its standard error over rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub se: f64,
    /// By how much the best model exceeds it.
    #[serde(deserialize_with = "crate::json::nan")]
    pub elpd_diff: f64,
    /// Standard error of that difference over rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub dse: f64,
    /// Standard error of the sum by the choice of a sample of the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsampling_se: Option<f64>,
    /// Standard error of the difference by that choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsampling_dse: Option<f64>,
    /// Stacking weight.
    #[serde(deserialize_with = "crate::json::nan")]
    pub weight: f64,
}

/// The models by one utility.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UtilityComparison {
    /// Its name.
    pub name: String,
    /// What predictions of each model will be worth.
    pub expected: Vec<ModelUtility>,
    /// P(the model of the row is better than that of the column).
    pub p_better: Vec<Vec<Option<f64>>>,
    /// The probability that the model of the row is better than that of the column by more than
    /// the difference that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_better_by: Option<Vec<Vec<Option<f64>>>>,
    /// Differences of the expected utilities, row minus column.
    pub differences: Vec<Vec<DifferenceReport>>,
    /// Logarithms of pseudo-Bayes factors, row against column.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::json::nan"
    )]
    pub log_pseudo_bayes_factors: Option<Vec<Vec<f64>>>,
}

/// The models by the rows of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparedSubgroup {
    /// The column and its value in these rows.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// By every utility that was asked for.
    pub utilities: Vec<UtilityComparison>,
}

/// What predictions of a model will be worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelUtility {
    /// Name of the model.
    pub model: String,
    /// The estimate, per row.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Standard deviation of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// The 5 % quantile of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q05: f64,
    /// The 95 % quantile of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q95: f64,
}

/// The difference of two expected utilities.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct DifferenceReport {
    /// The estimate, per row.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Standard deviation of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// How many of these the estimate is.
    #[serde(deserialize_with = "crate::json::nan")]
    pub effect_size: f64,
}

/// What the predictions of a model are worth, as far as a comparison needs it.
pub struct ModelUtilities {
    name: String,
    /// The first is the log predictive density.
    utilities: Vec<PointwiseUtilities>,
    folds: Option<Vec<usize>>,
    sample: Option<RowSample>,
    /// Rows whose importance weights cannot be trusted.
    failing: usize,
    cautions: Vec<Caution>,
}

impl ModelUtilities {
    /// Of a model that was assessed, and will be compared with these.
    ///
    /// # Errors
    /// [`NotComparable`] if rows were divided into other folds.
    pub fn new(
        name: &str,
        assessed: Assessed,
        others: &[ModelUtilities],
    ) -> Result<Self, NotComparable> {
        let Assessed { utilities, folds, sample, failing, cautions, .. } = assessed;
        if let Some(first) = others.first()
            && first.folds.is_some()
            && folds.is_some()
            && first.folds != folds
        {
            let (first, other) = (first.name.clone(), name.into());
            return Err(NotComparable::Folds { first, other });
        }
        Ok(ModelUtilities { name: name.into(), utilities, folds, sample, failing, cautions })
    }
}

/// What was asked of a comparison.
#[derive(Clone, Copy)]
pub struct ComparisonAsked<'a> {
    /// How rows were predicted.
    pub method: &'a Method,
    /// How future rows are drawn, from all rows that the models are judged by.
    pub bootstrap: &'a Bootstrap,
    /// Whether the log predictive density, which is found in any case, was asked for.
    pub density: bool,
    /// Tell the probability that a model is better by more than this, too.
    pub difference: Option<f64>,
    /// Groups of the rows that the models are judged by, to compare in each of them too.
    pub groups: Option<&'a RowGroups>,
}

impl ComparisonReport {
    /// Compares models that were assessed by the same rows and utilities.
    ///
    /// # Errors
    /// [`AssessError`] if there are fewer than two models, or rows cannot be weighted.
    pub fn new(
        asked: &ComparisonAsked<'_>,
        models: &[ModelUtilities],
    ) -> Result<Self, AssessError> {
        let stacked = by_density(models, Weighting::Stacking)?;
        let pseudo = by_density(models, Weighting::PseudoBma)?;
        // Of the same number of rows and the same seed: the same for all models.
        let sample = models.iter().find_map(|model| model.sample.as_ref());
        let bootstrap = asked.bootstrap.of_sample(sample);
        let mut pseudo_bma = vec![0.0; models.len()];
        pseudo.models.iter().for_each(|it| pseudo_bma[it.model] = it.weight);
        let table = stacked.models.iter().map(|it| ComparisonRow {
            model: models[it.model].name.clone(),
            elpd: it.elpd,
            se: it.se,
            elpd_diff: it.elpd_difference,
            dse: it.difference_se,
            subsampling_se: sample.map(|_| it.subsampling_se),
            subsampling_dse: sample.map(|_| it.difference_subsampling_se),
            weight: it.weight,
        });
        let of_model = |(index, model): (usize, &ModelUtilities)| {
            model.cautions.iter().map(move |it| (Some(index), it.clone())).collect::<Vec<_>>()
        };
        let mut cautions: Vec<_> = models.iter().enumerate().flat_map(of_model).collect();
        let mut utilities = Vec::new();
        for index in usize::from(!asked.density)..models[0].utilities.len() {
            let each = models.iter().map(|it| (it.name.as_str(), &it.utilities[index]));
            let compared = compare(&each.collect::<Vec<_>>(), &bootstrap)?;
            cautions.extend(compared.cautions.iter().map(|it| (None, it.clone())));
            utilities.push(UtilityComparison::new(models, &compared, asked.difference));
        }
        let failing = models.iter().filter(|model| model.failing > 0);
        let failing: Vec<_> = failing.map(|it| (it.name.clone(), it.failing)).collect();
        if !failing.is_empty() {
            cautions.push((None, Caution::ProbabilityWithheld { models: failing }));
        }
        Ok(ComparisonReport {
            models: models.iter().map(|model| model.name.clone()).collect(),
            method: asked.method.name().into(),
            subsample: sample.map(|it| SampledRows { rows: it.rows().len(), of: it.all() }),
            utility: utilities.first().map(|it| it.name.clone()).unwrap_or_default(),
            table: table.collect(),
            p_better: utilities.first().map(|it| it.p_better.clone()).unwrap_or_default(),
            utilities,
            pseudo_bma,
            difference: asked.difference,
            subgroups: asked.groups.map(|it| subgroups(asked, models, it)).transpose()?,
            stacked: stacked_score(models, asked.bootstrap)?,
            cautions,
        })
    }

    /// Stacking weights of the models, in their order.
    pub fn stacking_weights(&self) -> Vec<f64> {
        let weight = |model: &String| {
            let own = self.table.iter().find(|row| row.model == *model);
            own.map_or(0.0, |row| row.weight)
        };
        self.models.iter().map(weight).collect()
    }
}

/// The models by the rows of every group; of a sample of the rows those groups that have some in it.
fn subgroups(
    asked: &ComparisonAsked<'_>,
    models: &[ModelUtilities],
    groups: &RowGroups,
) -> Result<Vec<ComparedSubgroup>, AssessError> {
    let sample = models.iter().find_map(|model| model.sample.as_ref());
    let bootstrap = asked.bootstrap.of_sample(sample);
    let mut found = Vec::new();
    for (name, rows) in groups.named() {
        let rows = sample.map_or_else(|| rows.to_vec(), |sample| sample.positions(rows));
        if rows.is_empty() {
            continue;
        }
        let of_rows = bootstrap.select(&rows);
        let one = |index: usize| {
            let chosen = models.iter().map(|it| it.utilities[index].select(&rows));
            let chosen: Vec<PointwiseUtilities> = chosen.collect();
            let each = models.iter().zip(&chosen).map(|(it, chosen)| (it.name.as_str(), chosen));
            let compared = compare(&each.collect::<Vec<_>>(), &of_rows)?;
            Ok(UtilityComparison::new(models, &compared, asked.difference))
        };
        let utilities = usize::from(!asked.density)..models[0].utilities.len();
        let utilities = utilities.map(one).collect::<Result<_, AssessError>>()?;
        found.push(ComparedSubgroup { name, rows: rows.len(), utilities });
    }
    Ok(found)
}

/// What an average is worth, where the log predictive densities of all rows are known.
fn stacked_score(
    models: &[ModelUtilities],
    bootstrap: &Bootstrap,
) -> Result<Option<StackedScore>, AssessError> {
    if models.iter().any(|model| model.sample.is_some()) {
        return Ok(None);
    }
    let densities = densities(models);
    let views: Vec<&[f64]> = densities.iter().map(Vec::as_slice).collect();
    Ok(StackedScore::new(&views, bootstrap.seed)?)
}

/// The log predictive densities of all rows under every model.
fn densities(models: &[ModelUtilities]) -> Vec<Vec<f64>> {
    models.iter().map(|model| model.utilities[0].corrected()).collect()
}

/// The models by their log predictive densities, the first of the utilities.
fn by_density(
    models: &[ModelUtilities],
    weighting: Weighting,
) -> Result<ElpdComparison, AssessError> {
    let first: Vec<&PointwiseUtilities> = models.iter().map(|it| &it.utilities[0]).collect();
    if first.iter().all(|it| it.sampled().is_some()) {
        return Ok(compare_sampled_elpds(&first, weighting)?);
    }
    let densities = densities(models);
    let views: Vec<&[f64]> = densities.iter().map(Vec::as_slice).collect();
    Ok(compare_elpds(&views, weighting)?)
}

/// What `of` says about every pair of models; `same` on the diagonal.
fn matrix<T: Copy>(
    pairs: &[Vec<Option<Difference>>],
    same: T,
    of: impl Fn(&Difference) -> T,
) -> Vec<Vec<T>> {
    let cell = |pair: &Option<Difference>| pair.as_ref().map_or(same, &of);
    pairs.iter().map(|row| row.iter().map(cell).collect()).collect()
}

/// Probabilities that row is better than column, without those of models with rows whose importance
/// weights fail: what these leave open is not in them, and it can be any amount.
fn trusted(probabilities: &[Vec<f64>], models: &[ModelUtilities]) -> Vec<Vec<Option<f64>>> {
    let known = |row: usize, column: usize| {
        let trusted = row == column || (models[row].failing == 0 && models[column].failing == 0);
        trusted.then(|| probabilities[row][column])
    };
    let row = |row: usize| (0..models.len()).map(|column| known(row, column)).collect();
    (0..models.len()).map(row).collect()
}

impl UtilityComparison {
    fn new(models: &[ModelUtilities], compared: &Comparison, threshold: Option<f64>) -> Self {
        let count = models.len();
        // No model differs from itself.
        let pair = |first: usize, second: usize| {
            if first == second { None } else { compared.difference(first, second) }
        };
        let row = |first: usize| (0..count).map(|second| pair(first, second)).collect();
        let pairs: Vec<Vec<Option<Difference>>> = (0..count).map(row).collect();
        let expected = compared.expected.iter().zip(models).map(|(it, model)| ModelUtility {
            model: model.name.clone(),
            mean: it.estimate,
            sd: it.sd(),
            q05: it.quantile(0.05),
            q95: it.quantile(0.95),
        });
        let name = compared.expected[0].name.clone();
        let factor = |it: &Difference| it.pseudo_bayes_factor().map_or(f64::NAN, |it| it.log);
        UtilityComparison {
            log_pseudo_bayes_factors: (name == super::utility::ELPD)
                .then(|| matrix(&pairs, 0.0, factor)),
            name,
            expected: expected.collect(),
            p_better: trusted(&compared.probability_better, models),
            p_better_by: threshold.map(|it| {
                trusted(&matrix(&pairs, 0.0, |pair| pair.probability_better_by(it)), models)
            }),
            differences: matrix(&pairs, DifferenceReport::default(), DifferenceReport::of),
        }
    }
}

impl DifferenceReport {
    fn of(found: &Difference) -> Self {
        let (mean, sd) = (found.estimate, found.sd());
        DifferenceReport { mean, sd, effect_size: found.effect_size() }
    }
}
