//! Say how well new rows will be predicted.

use posteria::assess::{
    AssessmentReport, Components, InformationCriteria, StackedChains, SubsampleReport,
};
use serde::Serialize;

use super::parameters::{note, words};
use crate::assessment::Subject;
use crate::chains;
use crate::context::Context;
use crate::failure::{Classify, Result};
use crate::file::write_json;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed, short};
use crate::warning::{Enveloped, Warning};

/// Name of the file of a run folder that keeps the last assessment.
pub const FILE: &str = "assess.json";

/// How well new rows will be predicted by a run.
#[derive(Serialize)]
pub struct Report {
    run: String,
    #[serde(flatten)]
    found: AssessmentReport,
    /// How much every chain counts, where that is not alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    stacking: Option<StackedChains>,
}

impl Report {
    /// Of what was found about a run, with its chains weighed or alike.
    pub fn new(
        subject: &Subject,
        found: AssessmentReport,
        stacking: Option<StackedChains>,
    ) -> Self {
        Report { run: subject.path.display().to_string(), found, stacking }
    }

    fn warnings(&self) -> Vec<Warning> {
        self.found.cautions.iter().map(Warning::from).collect()
    }

    /// Tells what to be careful about.
    pub fn warn(&self, context: &Context) {
        self.warnings().into_iter().for_each(|warning| context.warn(warning));
    }

    /// Keeps the assessment in the run folder, for reports: what is printed, and for every row its
    /// figures and for every utility its distribution.
    pub fn keep(&self, subject: &Subject) -> Result<()> {
        let mut value = serde_json::to_value(Enveloped::new(self, &self.warnings())).running()?;
        value["pointwise"] = serde_json::to_value(&self.found.pointwise).running()?;
        for (slot, utility) in self.found.utilities.iter().enumerate() {
            value["utilities"][slot]["replicates"] =
                serde_json::to_value(&utility.replicates).running()?;
        }
        write_json(&subject.path.join(FILE), &value)
    }

    /// The report as text.
    pub fn render(&self) -> String {
        let mut text = heading(&self.title());
        // Of a sample there are no folds, and of folds no sample.
        let part = if self.found.subsample.is_some() { "sample" } else { "folds" };
        let mut table =
            Table::new(&["", "mean", "sd", "q05", "q50", "q95", "data", "draws", part, "bias"]);
        for utility in &self.found.utilities {
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
        text.push_str(&self.stacking.as_ref().map(chains::render).unwrap_or_default());
        let name = if self.found.elpd_loo.is_some() { "elpd_loo" } else { "elpd" };
        if let Some(elpd) =
            self.found.elpd_loo.or(self.found.elpd_kfold).or(self.found.elpd_holdout)
        {
            let decimals = decimals_for(self.found.se, 2);
            let of_method =
                self.found.effective_parameters.iter().find(|it| it.method == self.found.method);
            let p = of_method.map_or(String::new(), |it| format!(", {}", words(it)));
            text.push_str(&format!(
                "\n{name} {} ± {}{} over all rows{p}\n",
                fixed(elpd, decimals),
                fixed(self.found.se, decimals),
                self.found.subsample.as_ref().map_or(String::new(), sample_words),
            ));
            text.push_str(of_method.map_or("", note));
        }
        let of = if self.found.elpd_holdout.is_some() { "of the rows of the fit: " } else { "" };
        if let Some(criteria) = &self.found.criteria {
            text.push_str(&format!("{of}{}\n", criteria_words(criteria)));
        }
        if let (Some(k), Some(sizes)) = (&self.found.pareto_k, &self.found.m_eff) {
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
        for (rows, how) in [
            (&self.found.matched, "moment-matched draws"),
            (&self.found.refitted, "fits of their own"),
        ] {
            if !rows.is_empty() {
                text.push_str(&format!("{} left out by {how}\n", text::count(rows.len(), "row")));
            }
        }
        text.push_str(&self.calibration_words());
        if !self.found.subgroups.is_empty() {
            text.push_str(&self.subgroup_table());
        }
        text
    }

    fn title(&self) -> String {
        let rows = match &self.found.subsample {
            None => text::count(self.found.rows, "row"),
            Some(sample) => {
                format!("{} of {} rows, chosen at random", sample.rows, self.found.rows)
            }
        };
        let how = match (&self.found.method[..], self.found.folds) {
            ("loo", _) if self.found.linearised => {
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
        let Some(calibration) = &self.found.calibration else { return String::new() };
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
        let names = self.found.utilities.iter().flat_map(|it| [it.name.as_str(), "sd"]);
        let header: Vec<&str> = ["", "rows"].into_iter().chain(names).collect();
        let mut table = Table::new(&header);
        for group in &self.found.subgroups {
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

/// What the choice of a sample adds to the standard error of elpd.
fn sample_words(sample: &SubsampleReport) -> String {
    let se = sample.elpd.subsampling_se;
    format!(" (± {} by the choice of {} rows)", fixed(se, decimals_for(se, 2)), sample.rows)
}

/// Information criteria as a line of text.
fn criteria_words(criteria: &InformationCriteria) -> String {
    format!(
        "WAIC {} ({} parameters), DIC {} as a deviance ({} parameters)",
        short(criteria.waic),
        short(criteria.p_waic),
        short(criteria.dic),
        short(criteria.p_dic)
    )
}
