//! Say how well new rows will be predicted.

use posteria::assess::calibration::{Calibration, CalibrationRecord};
use posteria::assess::{
    Assessed, Better, Components, ExpectedUtility, Information, Method, NormalApproximation,
};
use posteria::caution::Caution;
use serde::Serialize;

use super::criteria::InformationCriteria;
use super::parameters::{EffectiveParameters, effective_parameters};
use super::sampled::SubsampleReport;
use super::{Shapes, Sizes, Subgroup};
use crate::assessment::{Plan, Subject};
use crate::chains::StackedChains;
use crate::commands::Context;
use crate::failure::{Classify, Result};
use crate::file::write_json;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed, short};
use crate::warning::{Enveloped, Warning};

/// Name of the file of a run folder that keeps the last assessment.
const FILE: &str = "assess.json";

/// How well new rows will be predicted.
#[derive(Serialize)]
pub struct Report {
    run: String,
    method: &'static str,
    rows: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<usize>,
    utilities: Vec<UtilityReport>,
    /// Sum over rows of the log predictive density of rows left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    elpd_loo: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elpd_kfold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elpd_holdout: Option<f64>,
    se: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_loo: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_kfold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pareto_k: Option<Shapes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m_eff: Option<Sizes>,
    /// Whether a linearised network predicts, as it does for `posteria predict`.
    linearised: bool,
    /// Rows that were left out by moment-matched draws, from 1.
    matched: Vec<usize>,
    /// Rows that were left out by fits of their own, from 1.
    refitted: Vec<usize>,
    /// Criteria of the draws; none where it is not the draws that predict.
    #[serde(flatten)]
    criteria: Option<InformationCriteria>,
    /// If rows were left out by a sample of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    subsample: Option<SubsampleReport>,
    effective_parameters: Vec<EffectiveParameters>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subgroups: Vec<SubgroupReport>,
    /// How much every chain counts, where that is not alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacking: Option<StackedChains>,
    #[serde(skip)]
    warnings: Vec<Warning>,
    #[serde(skip)]
    pointwise: Vec<PointwiseRow>,
}

/// One utility.
#[derive(Serialize)]
struct UtilityReport {
    name: String,
    better: Better,
    mean: f64,
    sd: f64,
    q05: f64,
    q50: f64,
    q95: f64,
    bias_correction: Option<f64>,
    components: Components,
    normal: NormalApproximation,
    #[serde(skip)]
    replicates: Vec<f64>,
}

#[derive(Serialize)]
struct SubgroupReport {
    name: String,
    rows: usize,
    utilities: Vec<SubgroupUtility>,
}

#[derive(Serialize)]
struct SubgroupUtility {
    name: String,
    mean: f64,
    sd: f64,
}

/// What the kept assessment says about a row.
#[derive(Serialize)]
struct PointwiseRow {
    /// Its number, from 1, where not every row is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pareto_k: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m_eff: Option<f64>,
    values: Vec<f64>,
}

impl Report {
    /// From what was found.
    pub fn new(
        subject: &Subject,
        plan: &Plan,
        (assessed, expected): (&Assessed, &[ExpectedUtility]),
        information: Option<Information>,
        subgroups: Vec<Subgroup>,
    ) -> Self {
        let counted = (subject.rows(), &plan.bootstrap);
        let effective_parameters = effective_parameters(assessed, information.as_ref(), counted);
        let shown = usize::from(!plan.shows_first);
        let rows = subject.judged().len() as f64;
        let elpd = &expected[0];
        let (sum, se) = (elpd.estimate * rows, elpd.normal.sd * rows);
        let folds = assessed.folds.as_ref().map(|it| it.iter().max().map_or(0, |last| last + 1));
        let mut cautions: Vec<&Caution> = assessed.cautions.iter().collect();
        for caution in expected[shown..].iter().flat_map(|it| &it.cautions) {
            if !cautions.contains(&caution) {
                cautions.push(caution);
            }
        }
        let loo = assessed.loo.as_ref();
        let gap = assessed.training.as_ref().map(|it| it.iter().sum::<f64>() - sum);
        let waic = information.as_ref().map(|it| (&it.waic, &it.p_waic));
        let subsample = waic.and_then(|waic| SubsampleReport::of(assessed, waic));
        let sampled = subsample.as_ref();
        let se = sampled.map_or(loo.map_or(se, |loo| loo.se), |it| it.elpd.se);
        let is_loo = matches!(plan.method, Method::LeaveOneOut { .. });
        let elpd = loo.map_or(sum, |loo| sampled.map_or(loo.elpd, |it| it.elpd.total));
        let p_loo = loo.map(|loo| sampled.map_or(loo.p_loo, |it| it.p_loo.total));
        Report {
            run: subject.path.display().to_string(),
            method: plan.method.name(),
            rows: subject.judged().len(),
            folds,
            utilities: expected[shown..].iter().map(UtilityReport::new).collect(),
            elpd_loo: is_loo.then_some(elpd),
            elpd_kfold: folds.map(|_| sum),
            elpd_holdout: matches!(plan.method, Method::HoldOut).then_some(sum),
            se,
            p_loo: p_loo.or(gap.filter(|_| folds.is_none())),
            p_kfold: gap.filter(|_| folds.is_some()),
            pareto_k: loo.map(Shapes::of),
            m_eff: loo.map(Sizes::of),
            matched: assessed.matched.iter().map(|row| row + 1).collect(),
            refitted: assessed.refitted.iter().map(|row| row + 1).collect(),
            linearised: assessed.linearised,
            criteria: information.as_ref().map(InformationCriteria::new),
            subsample,
            effective_parameters,
            calibration: calibration(subject, plan, assessed),
            subgroups: subgroups.into_iter().map(|it| SubgroupReport::new(it, shown)).collect(),
            stacking: None,
            warnings: cautions.into_iter().map(Warning::from).collect(),
            pointwise: pointwise(assessed, shown),
        }
    }

    /// Tells what to be careful about.
    pub fn warn(&self, context: &Context) {
        self.warnings.iter().for_each(|warning| context.warn(warning.clone()));
    }

    /// Keeps the assessment in the run folder, for reports: what is printed, and for every row its
    /// figures and for every utility its distribution.
    pub fn keep(&self, subject: &Subject) -> Result<()> {
        let mut value = serde_json::to_value(Enveloped::new(self, &self.warnings)).running()?;
        value["pointwise"] = serde_json::to_value(&self.pointwise).running()?;
        for (slot, utility) in self.utilities.iter().enumerate() {
            value["utilities"][slot]["replicates"] =
                serde_json::to_value(&utility.replicates).running()?;
        }
        write_json(&subject.path.join(FILE), &value)
    }

    /// The report as text.
    pub fn render(&self) -> String {
        let mut text = heading(&self.title());
        // Of a sample there are no folds, and of folds no sample.
        let part = if self.subsample.is_some() { "sample" } else { "folds" };
        let mut table =
            Table::new(&["", "mean", "sd", "q05", "q50", "q95", "data", "draws", part, "bias"]);
        for utility in &self.utilities {
            let decimals = decimals_for(utility.sd, 2);
            let number = |value: f64| fixed(value, decimals);
            let some = |value: Option<f64>| value.map_or("-".into(), |it| fixed(it, decimals + 1));
            let Components { data, monte_carlo, folds, subsampling, .. } = utility.components;
            table.row([
                utility.name.clone(),
                number(utility.mean),
                number(utility.sd),
                number(utility.q05),
                number(utility.q50),
                number(utility.q95),
                fixed(data, decimals + 1),
                some(monte_carlo),
                some(subsampling.or(folds)),
                some(utility.bias_correction),
            ]);
        }
        text.push_str(&table.render());
        text.push_str(&format!(
            "per row; quantiles of the distribution of the expected utility; data, draws, {part}: \
             what makes it\nuncertain, as standard deviations; bias: the correction that is in it\n",
        ));
        text.push_str(&self.stacking.as_ref().map(StackedChains::render).unwrap_or_default());
        let name = if self.elpd_loo.is_some() { "elpd_loo" } else { "elpd" };
        if let Some(elpd) = self.elpd_loo.or(self.elpd_kfold).or(self.elpd_holdout) {
            let decimals = decimals_for(self.se, 2);
            let of_method = self.effective_parameters.iter().find(|it| it.method == self.method);
            let p = of_method.map_or(String::new(), |it| format!(", {it}"));
            text.push_str(&format!(
                "\n{name} {} ± {}{} over all rows{p}\n",
                fixed(elpd, decimals),
                fixed(self.se, decimals),
                self.subsample.as_ref().map_or(String::new(), SubsampleReport::words),
            ));
            text.push_str(of_method.map_or("", |it| it.note()));
        }
        let of = if self.elpd_holdout.is_some() { "of the rows of the fit: " } else { "" };
        if let Some(criteria) = &self.criteria {
            text.push_str(&format!("{of}{}\n", criteria.render()));
        }
        if let (Some(k), Some(sizes)) = (&self.pareto_k, &self.m_eff) {
            text.push_str(&format!(
                "Pareto k: {} good, {} ok, {} bad, largest {}; m_eff at least {}, 10 % quantile {}\n",
                k.good,
                k.ok,
                k.bad,
                short(k.max),
                fixed(sizes.min, 0),
                fixed(sizes.q10, 0)
            ));
        }
        for (rows, how) in
            [(&self.matched, "moment-matched draws"), (&self.refitted, "fits of their own")]
        {
            if !rows.is_empty() {
                text.push_str(&format!("{} left out by {how}\n", text::count(rows.len(), "row")));
            }
        }
        text.push_str(&self.calibration_words());
        if !self.subgroups.is_empty() {
            text.push_str(&self.subgroup_table());
        }
        text
    }

    fn title(&self) -> String {
        let rows = match &self.subsample {
            None => text::count(self.rows, "row"),
            Some(sample) => format!("{} of {} rows, chosen at random", sample.rows, self.rows),
        };
        let how = match (self.method, self.folds) {
            ("loo", _) if self.linearised => {
                "each left out in turn of the linearised network, its scales kept".into()
            }
            ("loo", _) => "each left out in turn by importance sampling".into(),
            ("kfold", Some(folds)) => format!("left out in {folds} folds"),
            ("prior", _) => "predicted by the prior alone".into(),
            ("holdout", _) => "which the run has not seen".into(),
            _ => "predicted by a fit that knows them: too good".to_string(),
        };
        format!("{}: {rows}, {how}", self.run)
    }

    fn calibration_words(&self) -> String {
        let Some(calibration) = &self.calibration else { return String::new() };
        let mut text = String::new();
        for target in &calibration.targets {
            let each = target.coverage.iter().map(|it| {
                format!("{:.0} % hold {:.0} %", 100.0 * it.mass, 100.0 * it.observed.value)
            });
            let covers = each.collect::<Vec<_>>().join(", ");
            text.push_str(&format!("intervals of {}: {covers}\n", target.target));
        }
        if let Some(best) = &calibration.most_probable {
            text.push_str(&format!(
                "class probabilities are off by {} on average (expected calibration error)\n",
                short(best.expected_calibration_error)
            ));
        }
        text
    }

    fn subgroup_table(&self) -> String {
        let names = self.utilities.iter().flat_map(|it| [it.name.as_str(), "sd"]);
        let header: Vec<&str> = ["", "rows"].into_iter().chain(names).collect();
        let mut table = Table::new(&header);
        for group in &self.subgroups {
            let mut cells = vec![group.name.clone(), group.rows.to_string()];
            for utility in &group.utilities {
                let decimals = decimals_for(utility.sd, 2);
                cells.extend([fixed(utility.mean, decimals), fixed(utility.sd, decimals)]);
            }
            table.row(cells);
        }
        format!("\n{}", table.render())
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

impl SubgroupReport {
    fn new(subgroup: Subgroup, shown: usize) -> Self {
        let each = subgroup.utilities.into_iter().skip(shown);
        let utilities = each.map(|(name, mean, sd)| SubgroupUtility { name, mean, sd }).collect();
        SubgroupReport { name: subgroup.name, rows: subgroup.rows, utilities }
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
            values: utilities[shown..].iter().map(|values| values[row]).collect(),
        }
    };
    (0..assessed.evaluated.len()).map(of).collect()
}

/// Whether predictions of rows that were left out are calibrated.
fn calibration(subject: &Subject, plan: &Plan, assessed: &Assessed) -> Option<Calibration> {
    if matches!(plan.method, Method::Posterior | Method::Prior) {
        return None;
    }
    let mut record = CalibrationRecord::new(&plan.targets);
    for (position, evaluated) in assessed.evaluated.iter().enumerate() {
        let observed = &subject.judged()[assessed.row(position)];
        record.add_numbers(&evaluated.pit, &evaluated.probabilities, observed);
    }
    record.finish()
}
