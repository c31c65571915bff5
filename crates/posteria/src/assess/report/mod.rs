//! Tell how well new rows will be predicted, as a value with the names that JSON has.

mod criteria;
mod effective_parameters;
mod subgroups;
mod subsample;

use serde::{Deserialize, Serialize};

pub use criteria::InformationCriteria;
pub use effective_parameters::EffectiveParameters;
pub use subgroups::{RowGroups, Subgroup, SubgroupUtility};
pub use subsample::SubsampleReport;

use self::effective_parameters::effective_parameters;
use super::assessor::Information;
use super::calibration::{Calibration, CalibrationRecord};
use super::{
    Assessed, Assessor, Better, Bootstrap, Components, EffectiveSizes, ExpectedUtility, Method,
    NormalApproximation, Refit, ShapeCounts, TargetFacts,
};
use crate::caution::Caution;

/// How well new rows will be predicted, as `posteria assess --json` has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AssessmentReport {
    /// How rows were predicted, see [`Method::name`].
    pub method: String,
    /// Number of rows that it is judged by, those outside a sample included.
    pub rows: usize,
    /// Number of folds, if rows were divided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// Every utility that was asked for.
    pub utilities: Vec<UtilityReport>,
    /// Sum over rows of the log predictive density of rows left out one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elpd_loo: Option<f64>,
    /// The same of rows left out in folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elpd_kfold: Option<f64>,
    /// The same of rows that the fit has not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elpd_holdout: Option<f64>,
    /// Standard error of that sum.
    #[serde(deserialize_with = "crate::json::nan")]
    pub se: f64,
    /// Effective number of parameters: what the sum loses against that of rows that are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_loo: Option<f64>,
    /// The same by folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_kfold: Option<f64>,
    /// How many rows have importance weights that can be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pareto_k: Option<ShapeCounts>,
    /// Effective numbers of weighted draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m_eff: Option<EffectiveSizes>,
    /// Whether a linearised network predicts, and not draws of its weights.
    pub linearised: bool,
    /// Rows that were left out by moment-matched draws, from 1.
    pub matched: Vec<usize>,
    /// Rows that were left out by fits of their own, from 1.
    pub refitted: Vec<usize>,
    /// Criteria of the draws; none where it is not the draws that predict.
    #[serde(flatten)]
    pub criteria: Option<InformationCriteria>,
    /// If rows were left out by a sample of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsample: Option<SubsampleReport>,
    /// Every count of the parameters that the data determine.
    pub effective_parameters: Vec<EffectiveParameters>,
    /// Whether the predictions of rows left out are calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What predictions are worth in groups of rows, if these were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subgroups: Vec<Subgroup>,
    /// What to be careful about; whoever shows the report shows these too.
    #[serde(skip)]
    pub cautions: Vec<Caution>,
    /// What is known about every row; JSON has it in the file of a run alone.
    #[serde(default, skip_serializing)]
    pub pointwise: Vec<PointwiseRow>,
}

/// What predictions of new rows will be worth by one utility.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UtilityReport {
    /// Its name.
    pub name: String,
    /// Which values are the better ones.
    pub better: Better,
    /// The estimate, per row.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Standard deviation of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// The 5 % quantile of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q05: f64,
    /// The median of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q50: f64,
    /// The 95 % quantile of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q95: f64,
    /// The correction for bias that is in the estimate.
    pub bias_correction: Option<f64>,
    /// What makes it uncertain.
    pub components: Components,
    /// The same by the central limit theorem.
    pub normal: NormalApproximation,
    /// The distribution itself; JSON has it in the file of a run alone.
    #[serde(default, skip_serializing, deserialize_with = "crate::json::nan")]
    pub replicates: Vec<f64>,
}

/// What is known about one row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PointwiseRow {
    /// Its number, from 1, where not every row is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    /// Shape of the tail of its importance ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pareto_k: Option<f64>,
    /// Effective number of its weighted draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m_eff: Option<f64>,
    /// The mass of its k largest weights, see [`PointwiseLoo::LARGEST`](super::PointwiseLoo::LARGEST).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::json::nan"
    )]
    pub mass_of_largest: Option<[f64; 7]>,
    /// Every utility that was asked for.
    #[serde(deserialize_with = "crate::json::nan")]
    pub values: Vec<f64>,
}

/// What was asked of an assessment.
#[derive(Clone, Copy)]
pub struct AssessmentAsked<'a> {
    /// How rows were predicted.
    pub method: &'a Method,
    /// How future rows are drawn, from all rows that the fit is judged by.
    pub bootstrap: &'a Bootstrap,
    /// Whether the log predictive density, which is found in any case, was asked for.
    pub density: bool,
    /// Groups of rows that are looked at one by one.
    pub groups: Option<&'a RowGroups>,
}

impl<R: Refit> Assessor<'_, R> {
    /// What is to be told about an assessment, with the distributions of all of its utilities, and
    /// with information criteria where it is the draws that predict.
    ///
    /// # Errors
    /// As [`Assessor::assess`].
    pub fn report(
        &self,
        asked: &AssessmentAsked<'_>,
        (assessed, expected): (&Assessed, &[ExpectedUtility]),
    ) -> Result<AssessmentReport, R::Error> {
        let subgroups = match asked.groups {
            Some(groups) => groups.expected(asked, assessed)?,
            None => Vec::new(),
        };
        // Where a linearised network or weighed chains predict, criteria of the draws are about
        // something else, and rows that the fit has not seen answer for themselves.
        let is_weighed = self.held_out.is_some_and(|rows| rows.log_weights.is_some());
        // One point has no spread that would count parameters.
        let is_point = self.fit.prepared.spec.sampling.inference().is_point();
        let is_held_out = matches!(asked.method, Method::HoldOut);
        let information = match assessed.linearised || is_weighed || is_point || is_held_out {
            true => None,
            false => Some(self.information(assessed)?),
        };
        let information = information.as_ref();
        let observed = self.held_out.map_or(&self.fit.observed[..], |rows| rows.observed);
        let calibration = match asked.method {
            Method::Posterior | Method::Prior => None,
            _ => {
                let targets = TargetFacts::of(&self.fit.prepared.data);
                calibration(&targets, assessed, observed)
            }
        };
        let counted = (self.fit.rows(), asked.bootstrap.seed);
        let report =
            AssessmentReport::new(asked, (assessed, expected), information, observed.len());
        let report = AssessmentReport {
            effective_parameters: effective_parameters(assessed, information, counted),
            calibration,
            subgroups,
            ..report
        };
        Ok(if is_point { report.of_point() } else { report })
    }
}

impl AssessmentAsked<'_> {
    /// The number of utilities that come first without having been asked for.
    fn unasked(&self) -> usize {
        usize::from(!self.density)
    }
}

impl AssessmentReport {
    /// Without what the weights of draws would tell: the one point of a mode has none, and what it
    /// says about rows is not changed by leaving them out. [`Caution::ModeOfAllRows`] tells.
    fn of_point(mut self) -> Self {
        self.effective_parameters.retain(|count| count.method == "kfold");
        AssessmentReport { p_loo: None, pareto_k: None, m_eff: None, ..self }
    }

    /// The sums over `rows` rows and what is known about each of them.
    fn new(
        asked: &AssessmentAsked<'_>,
        (assessed, expected): (&Assessed, &[ExpectedUtility]),
        information: Option<&Information>,
        rows: usize,
    ) -> Self {
        let shown = asked.unasked();
        let elpd = &expected[0];
        let (sum, se) = (elpd.estimate * rows as f64, elpd.normal.sd * rows as f64);
        let folds = assessed.folds.as_ref().map(|it| it.iter().max().map_or(0, |last| last + 1));
        let mut cautions = assessed.cautions.clone();
        for caution in expected[shown..].iter().flat_map(|it| &it.cautions) {
            if !cautions.contains(caution) {
                cautions.push(caution.clone());
            }
        }
        let loo = assessed.loo.as_ref();
        let gap = assessed.training.as_ref().map(|it| it.iter().sum::<f64>() - sum);
        let subsample = information.and_then(|it| SubsampleReport::of(assessed, it));
        let sampled = subsample.as_ref();
        let se = sampled.map_or(loo.map_or(se, |loo| loo.se), |it| it.elpd.se);
        let is_loo = matches!(asked.method, Method::LeaveOneOut { .. });
        let elpd = loo.map_or(sum, |loo| sampled.map_or(loo.elpd, |it| it.elpd.total));
        let p_loo = loo.map(|loo| sampled.map_or(loo.p_loo, |it| it.p_loo.total));
        AssessmentReport {
            method: asked.method.name().into(),
            rows,
            folds,
            utilities: expected[shown..].iter().map(UtilityReport::new).collect(),
            elpd_loo: is_loo.then_some(elpd),
            elpd_kfold: folds.map(|_| sum),
            elpd_holdout: matches!(asked.method, Method::HoldOut).then_some(sum),
            se,
            p_loo: p_loo.or(gap.filter(|_| folds.is_none())),
            p_kfold: gap.filter(|_| folds.is_some()),
            pareto_k: loo.map(|it| it.shapes),
            m_eff: loo.map(|it| it.effective_sizes),
            linearised: assessed.linearised,
            matched: assessed.matched.iter().map(|row| row + 1).collect(),
            refitted: assessed.refitted.iter().map(|row| row + 1).collect(),
            criteria: information.map(InformationCriteria::new),
            subsample,
            effective_parameters: Vec::new(),
            calibration: None,
            subgroups: Vec::new(),
            cautions,
            pointwise: pointwise(assessed, shown),
        }
    }
}

impl UtilityReport {
    fn new(expected: &ExpectedUtility) -> Self {
        UtilityReport {
            name: expected.name.clone(),
            better: expected.better,
            mean: expected.estimate,
            sd: expected.sd(),
            q05: expected.quantile(0.05),
            q50: expected.quantile(0.5),
            q95: expected.quantile(0.95),
            bias_correction: expected.bias_correction,
            components: expected.components,
            normal: expected.normal,
            replicates: expected.replicates.clone(),
        }
    }
}

fn pointwise(assessed: &Assessed, shown: usize) -> Vec<PointwiseRow> {
    let utilities: Vec<Vec<f64>> = assessed.utilities.iter().map(|it| it.values()).collect();
    let of = |row: usize| {
        let loo = assessed.loo.as_ref().map(|loo| &loo.pointwise[row]);
        PointwiseRow {
            row: assessed.sample.as_ref().map(|_| assessed.row(row) + 1),
            pareto_k: loo.map(|it| it.pareto_shape),
            m_eff: loo.map(|it| it.effective_size),
            mass_of_largest: loo.map(|it| it.mass_of_largest),
            values: utilities[shown..].iter().map(|values| values[row]).collect(),
        }
    };
    (0..assessed.evaluated.len()).map(of).collect()
}

/// Whether predictions of rows that were left out are calibrated.
fn calibration(
    targets: &TargetFacts,
    assessed: &Assessed,
    observed: &[Vec<f64>],
) -> Option<Calibration> {
    let mut record = CalibrationRecord::new(targets);
    for (position, evaluated) in assessed.evaluated.iter().enumerate() {
        let observed = &observed[assessed.row(position)];
        record.add_numbers(&evaluated.pit, &evaluated.probabilities, observed);
    }
    record.finish()
}
