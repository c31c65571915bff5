//! Compare models by their predictions of the same rows.

mod kept;

use posteria::assess::{
    ComparedFit, ComparisonAsked, ComparisonReport, ModelUtilities, SampledRows, UtilityComparison,
    check_comparable,
};
use serde::Serialize;

use super::Context;
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::failure::{Classify, Result};
use crate::interrupt::Interrupt;
use crate::output::{Table, heading};
use crate::text::{decimals_for, fixed};
use crate::warning::Warning;

/// Runs `posteria compare`.
pub fn run(arguments: &args::Compare, context: &Context) -> Result<()> {
    let report = find(arguments, context)?;
    report.warn(context);
    context.result(&report, || report.render())
}

/// Compares the runs.
pub fn find(arguments: &args::Compare, context: &Context) -> Result<Report> {
    let interrupt = Interrupt::listen().running()?;
    let subjects = arguments.runs.iter().map(|path| {
        let mut subject = Subject::open(path)?;
        if let Some(test) = &arguments.how.test {
            subject.hold_out(test)?;
        }
        Ok(subject)
    });
    let subjects = subjects.collect::<Result<Vec<_>>>()?;
    let names: Vec<String> =
        subjects.iter().map(|subject| subject.path.display().to_string()).collect();
    let compared: Vec<ComparedFit<'_>> = subjects
        .iter()
        .zip(&names)
        .map(|(subject, name)| ComparedFit { name, fit: &subject.fit, observed: subject.judged() })
        .collect();
    check_comparable(&compared).bad_input()?;
    let plans = subjects.iter().map(|subject| Plan::new(&arguments.how, subject, context));
    let plans = plans.collect::<Result<Vec<_>>>()?;
    let mut models = Vec::with_capacity(subjects.len());
    for (index, (subject, plan)) in subjects.iter().zip(&plans).enumerate() {
        context.output.message(&names[index]);
        subject.repeat_verdict(context);
        let folds_of = FoldFolders::new(subject, &interrupt, context);
        let assessed = subject.assessor(&plan.utilities, &folds_of).assess(&plan.method)?;
        models.push(ModelUtilities::new(&names[index], assessed, &models).bad_input()?);
    }
    let asked = ComparisonAsked {
        method: &plans[0].method,
        bootstrap: &plans[0].bootstrap,
        density: plans[0].shows_first,
        difference: arguments.difference,
    };
    let report = Report(ComparisonReport::new(&asked, &models)?);
    kept::keep(&report, &subjects)?;
    Ok(report)
}

/// Which model predicts better.
#[derive(Serialize)]
pub struct Report(pub ComparisonReport);

impl Report {
    /// Tells what to be careful about.
    pub fn warn(&self, context: &Context) {
        for (model, caution) in &self.0.cautions {
            let warning = Warning::from(caution);
            context.warn(match model {
                Some(model) => warning.of_run(&self.0.models[*model]),
                None => warning,
            });
        }
    }

    /// The comparison as text.
    pub fn render(&self) -> String {
        let mut header = vec!["", "elpd", "se", "elpd_diff", "dse", "weight"];
        if self.0.subsample.is_some() {
            header.extend(["sample_se", "sample_dse"]);
        }
        let mut table = Table::new(&header);
        for row in &self.0.table {
            let decimals = decimals_for(row.se, 2);
            let difference = decimals_for(if row.dse > 0.0 { row.dse } else { row.se }, 2);
            let mut cells = vec![
                row.model.clone(),
                fixed(row.elpd, decimals),
                fixed(row.se, decimals),
                fixed(row.elpd_diff, difference),
                fixed(row.dse, difference),
                fixed(row.weight, 2),
            ];
            let errors = [row.subsampling_se, row.subsampling_dse].into_iter().flatten();
            cells.extend(errors.map(|error| fixed(error, decimals_for(error, 2))));
            table.row(cells);
        }
        let mut text = format!(
            "{}{}",
            heading("Log predictive density of all rows, the best first"),
            table.render()
        );
        if let Some(SampledRows { rows, of }) = &self.0.subsample {
            text.push_str(&format!(
                "by {rows} of {of} rows, chosen at random and the same for all models; sample_se, \
                 sample_dse: standard\nerrors by that choice, besides se and dse over rows\n"
            ));
        }
        for utility in &self.0.utilities {
            text.push('\n');
            text.push_str(&render_utility(utility, &self.0.models));
        }
        text
    }
}

fn render_utility(utility: &UtilityComparison, models: &[String]) -> String {
    let numbers: Vec<String> = (1..=models.len()).map(|number| format!("{number}.")).collect();
    let mut header = vec!["", "mean", "sd"];
    header.extend(numbers.iter().map(String::as_str));
    let mut table = Table::new(&header);
    for (index, expected) in utility.expected.iter().enumerate() {
        let decimals = decimals_for(expected.sd, 2);
        let mut cells = vec![
            format!("{}. {}", index + 1, expected.model),
            fixed(expected.mean, decimals),
            fixed(expected.sd, decimals),
        ];
        cells.extend((0..models.len()).map(|other| match other == index {
            true => String::new(),
            false => utility.p_better[index][other].map_or("-".into(), probability),
        }));
        table.row(cells);
    }
    let title = format!("{} of a row, and P(row better than column)", utility.name);
    format!("{}{}", heading(&title), table.render())
}

/// A probability that replicates decide: never one that none of them, or each, would have been.
fn probability(p: f64) -> String {
    match p {
        p if p > 0.99 => "> 0.99".into(),
        p if p < 0.01 => "< 0.01".into(),
        p => fixed(p, 2),
    }
}
