//! Compare models by their predictions of the same rows.

mod candidates;
mod kept;

use posteria::assess::{
    ComparedFit, ComparisonAsked, ComparisonReport, ModelUtilities, RowGroups, SampledRows,
    UtilityComparison, check_comparable,
};
use serde::Serialize;

use self::candidates::runs;
pub use self::candidates::{folder_of, has_specifications};
pub use self::kept::{FILE, Kept};
use super::Context;
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::elsewhere::unless_elsewhere;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed};
use crate::warning::Warning;

/// Runs `posteria compare`.
pub fn run(arguments: &args::Compare, context: &Context) -> Result<()> {
    let report = find(arguments, context)?;
    report.warn(context);
    context.result(&report, || report.render())
}

/// Compares the runs.
pub fn find(arguments: &args::Compare, context: &Context) -> Result<Report> {
    let runs = runs(&arguments.runs, context)?;
    let interrupt = Interrupt::listen().running()?;
    let subjects = runs.iter().map(|path| {
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
    let groups = match &arguments.by {
        Some(column) => {
            let (table, rows) = subjects[0].table()?;
            Some(RowGroups::new((table, rows), column)?)
        }
        None => None,
    };
    let plans = subjects
        .iter()
        .map(|subject| Plan::beside(&arguments.how, subject, &subjects, context.seed()));
    let plans = plans.collect::<Result<Vec<_>>>()?;
    if context.elsewhere.is_some() {
        let mut missing = false;
        for (subject, plan) in subjects.iter().zip(&plans) {
            let folds = FoldFolders::new(subject, context.seed(), context.watched(&interrupt));
            let folds = folds.valued(plan);
            missing |= unless_elsewhere(folds.want(&plan.method))?.is_none();
        }
        if missing {
            return Err(Failure::Elsewhere);
        }
    }
    let fitted = subjects.iter().zip(&plans).map(|(subject, plan)| {
        let folds = FoldFolders::new(subject, context.seed(), context.watched(&interrupt));
        (folds, &plan.method)
    });
    FoldFolders::fit_on_device(&fitted.collect::<Vec<_>>())?;
    let mut models = Vec::with_capacity(subjects.len());
    for (index, (subject, plan)) in subjects.iter().zip(&plans).enumerate() {
        context.output.message(&names[index]);
        subject.repeat_verdict(&context.warnings);
        let folds_of = FoldFolders::new(subject, context.seed(), context.watched(&interrupt));
        let folds_of = folds_of.valued(plan);
        let assessed = subject.assessor(&plan.utilities, &folds_of).assess(&plan.method)?;
        models.push(ModelUtilities::new(&names[index], assessed, &models).bad_input()?);
    }
    let asked = ComparisonAsked {
        method: &plans[0].method,
        bootstrap: &plans[0].bootstrap,
        density: plans[0].shows_first,
        difference: arguments.difference,
        groups: groups.as_ref(),
    };
    let report = Report(ComparisonReport::new(&asked, &models)?);
    kept::keep(&report.0, &subjects)?;
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
        if let Some(found) = self.0.stacked.filter(|found| found.gain_se > 0.0) {
            let gain = fixed(found.gain.abs(), decimals_for(found.gain_se, 2));
            let error = fixed(found.gain_se, decimals_for(found.gain_se, 2));
            let than =
                if found.gain > 0.0 { "better than the best" } else { "worse than the best" };
            text.push_str(&format!(
                "weight: by stacking; the average of all models with such weights predicts {than}\nof them by \
                 {gain} (se {error}), rows being judged by weights from the others\n"
            ));
        }
        for utility in &self.0.utilities {
            text.push('\n');
            text.push_str(&render_utility(utility, &self.0.models, self.0.difference));
        }
        for group in self.0.subgroups.iter().flatten() {
            let rows = text::count(group.rows, "row");
            text.push_str(&format!("\n{}, {rows}\n", text::printable(&group.name)));
            for utility in &group.utilities {
                text.push_str(&render_utility(utility, &self.0.models, self.0.difference));
            }
        }
        text
    }
}

fn render_utility(utility: &UtilityComparison, models: &[String], margin: Option<f64>) -> String {
    let (numbers, count) = (numbers(models), models.len());
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
        cells.extend(beside(index, count, |other| {
            utility.p_better[index][other].map_or("-".into(), probability)
        }));
        table.row(cells);
    }
    let title = format!("{} of a row, and P(row better than column)", utility.name);
    let mut text = format!("{}{}", heading(&title), table.render());
    if let (Some(better_by), Some(margin)) = (&utility.p_better_by, margin) {
        let title = format!("P(row better than column by more than {})", margin);
        text.push_str(&matrix(&title, models, |row, column| {
            better_by[row][column].map_or("-".into(), probability)
        }));
    }
    if let Some(factors) = &utility.log_pseudo_bayes_factors {
        text.push_str(&matrix(
            "log pseudo-Bayes factors, row against column",
            models,
            |row, column| fixed(factors[row][column], 1),
        ));
    }
    text
}

/// A number for every model, as columns are called.
fn numbers(models: &[String]) -> Vec<String> {
    (1..=models.len()).map(|number| format!("{number}.")).collect()
}

/// What `cell` says of a model beside every other.
fn beside(
    own: usize,
    count: usize,
    cell: impl Fn(usize) -> String,
) -> impl Iterator<Item = String> {
    (0..count).map(move |other| if other == own { String::new() } else { cell(other) })
}

/// What `cell` says of every pair of models.
fn matrix(title: &str, models: &[String], cell: impl Fn(usize, usize) -> String) -> String {
    let numbers = numbers(models);
    let mut table = Table::new(
        &std::iter::once("").chain(numbers.iter().map(String::as_str)).collect::<Vec<_>>(),
    );
    for (index, model) in models.iter().enumerate() {
        let name = format!("{}. {model}", index + 1);
        let cells = beside(index, models.len(), |other| cell(index, other));
        table.row(std::iter::once(name).chain(cells));
    }
    format!("{}{}", heading(title), table.render())
}

/// A probability that replicates decide: never one that none of them, or each, would have been.
fn probability(p: f64) -> String {
    match p {
        p if p > 0.99 => "> 0.99".into(),
        p if p < 0.01 => "< 0.01".into(),
        p => fixed(p, 2),
    }
}
