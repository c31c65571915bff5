//! Compare models by their predictions of the same rows.

mod kept;
mod withheld;

use posteria::assess::{
    Comparison, Difference, ElpdComparison, PointwiseUtilities, RowSample, Weighting, compare,
    compare_elpds, compare_sampled_elpds,
};
use posteria::caution::Caution;
use serde::Serialize;

use self::withheld::{trusted, withheld};
use super::Context;
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
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
    if let Some(twice) = (1..names.len()).find(|index| names[..*index].contains(&names[*index])) {
        return Err(Failure::bad_input(format!("{} is given twice; give it once", names[twice])));
    }
    for other in &subjects[1..] {
        same_rows(&subjects[0], other)?;
    }
    let plans = subjects.iter().map(|subject| Plan::new(&arguments.how, subject, context));
    let plans = plans.collect::<Result<Vec<_>>>()?;
    let mut found: Vec<Vec<PointwiseUtilities>> = Vec::new();
    let mut cautions: Vec<(usize, Caution)> = Vec::new();
    let mut folds: Option<Vec<usize>> = None;
    let mut failing = Vec::with_capacity(subjects.len());
    let mut sample: Option<RowSample> = None;
    for (index, (subject, plan)) in subjects.iter().zip(&plans).enumerate() {
        context.output.message(&names[index]);
        subject.repeat_verdict(context);
        let folds_of = FoldFolders::new(subject, &interrupt, context);
        let assessed = subject.assessor(&plan.utilities, &folds_of).assess(&plan.method)?;
        if let (Some(first), Some(own)) = (&folds, &assessed.folds)
            && first != own
        {
            return Err(Failure::bad_input(format!(
                "{} divides the rows otherwise than {}: they were fitted with other groups; say by \
                 --group, --block or --fold-column how to divide them",
                names[index], names[0]
            )));
        }
        folds = folds.or(assessed.folds);
        // Of the same number of rows and the same seed: the same for all runs.
        sample = sample.or(assessed.sample);
        cautions.extend(assessed.cautions.into_iter().map(|caution| (index, caution)));
        failing.push(assessed.failing);
        found.push(assessed.utilities);
    }
    let asked = (arguments, &plans[0], sample.as_ref());
    let report = Report::new(asked, &names, (&found, &failing), cautions)?;
    kept::keep(&report, &subjects)?;
    Ok(report)
}

/// Refuses runs that are not judged by the same rows and targets.
fn same_rows(first: &Subject, other: &Subject) -> Result<()> {
    let [one, two] = [first, other].map(|subject| subject.path.display());
    if first.prepared.encoder.target_names() != other.prepared.encoder.target_names() {
        return Err(Failure::bad_input(format!(
            "{one} and {two} have different targets ({} and {}); compare models of the same targets",
            first.prepared.encoder.target_names().join(", "),
            other.prepared.encoder.target_names().join(", ")
        )));
    }
    if first.prepared.encoder.task() != other.prepared.encoder.task()
        || first.prepared.encoder.labels() != other.prepared.encoder.labels()
    {
        return Err(Failure::bad_input(format!(
            "{one} and {two} take the target for different things; compare models of the same task"
        )));
    }
    let [rows, others] = [first, other].map(|subject| subject.judged().len());
    if rows != others {
        return Err(Failure::bad_input(format!(
            "{one} has {} and {two} has {}; compare models of the same rows",
            text::count(rows, "row"),
            text::count(others, "row")
        )));
    }
    let differs = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        let pairs = a.iter().zip(b);
        pairs.clone().any(|(a, b)| (a - b).abs() > 1e-9 * a.abs().max(b.abs()))
    };
    match first.judged().iter().zip(other.judged()).position(differs) {
        None => Ok(()),
        Some(row) => Err(Failure::bad_input(format!(
            "{one} and {two} are of different data: their targets differ first in row {}",
            row + 1
        ))),
    }
}

/// Which model predicts better.
#[derive(Serialize)]
pub struct Report {
    models: Vec<String>,
    method: &'static str,
    /// If rows were left out by a sample of them, the same for all models.
    #[serde(skip_serializing_if = "Option::is_none")]
    subsample: Option<SampleReport>,
    /// The utility behind `p_better`.
    utility: String,
    table: Vec<Row>,
    /// P(the model of the row is better than that of the column); none where importance weights
    /// that cannot be trusted are part of it.
    pub p_better: Vec<Vec<Option<f64>>>,
    /// The same for every utility that was asked for.
    utilities: Vec<Utility>,
    pseudo_bma: Vec<f64>,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

/// A random sample of the rows.
#[derive(Serialize)]
struct SampleReport {
    rows: usize,
    of: usize,
}

/// A model by its log predictive density, the best first.
#[derive(Serialize)]
struct Row {
    model: String,
    elpd: f64,
    se: f64,
    elpd_diff: f64,
    dse: f64,
    /// Standard errors by the choice of a sample of the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    subsampling_se: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subsampling_dse: Option<f64>,
    weight: f64,
}

#[derive(Serialize)]
struct Utility {
    name: String,
    expected: Vec<Expected>,
    p_better: Vec<Vec<Option<f64>>>,
    /// The probability that the model of the row is better than that of the column by more than
    /// `difference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    p_better_by: Option<Vec<Vec<Option<f64>>>>,
    /// Differences of the expected utilities, row minus column.
    differences: Vec<Vec<DifferenceReport>>,
    /// Logarithms of pseudo-Bayes factors, row against column.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_pseudo_bayes_factors: Option<Vec<Vec<f64>>>,
}

#[derive(Serialize)]
struct Expected {
    model: String,
    mean: f64,
    sd: f64,
    q05: f64,
    q95: f64,
}

#[derive(Serialize, Clone, Copy, Default)]
struct DifferenceReport {
    mean: f64,
    sd: f64,
    effect_size: f64,
}

impl DifferenceReport {
    fn of(found: &Difference) -> Self {
        let (mean, sd) = (found.estimate, found.sd());
        DifferenceReport { mean, sd, effect_size: found.effect_size() }
    }
}

/// The models by their log predictive densities, the first of the utilities.
fn by_density(found: &[Vec<PointwiseUtilities>], weighting: Weighting) -> Result<ElpdComparison> {
    let first: Vec<&PointwiseUtilities> = found.iter().map(|utilities| &utilities[0]).collect();
    if first.iter().all(|it| it.sampled().is_some()) {
        return compare_sampled_elpds(&first, weighting).bad_input();
    }
    let densities: Vec<Vec<f64>> = first.iter().map(|it| it.corrected()).collect();
    let views: Vec<&[f64]> = densities.iter().map(Vec::as_slice).collect();
    compare_elpds(&views, weighting).bad_input()
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

impl Report {
    fn new(
        (arguments, plan, sample): (&args::Compare, &Plan, Option<&RowSample>),
        names: &[String],
        (found, failing): (&[Vec<PointwiseUtilities>], &[usize]),
        cautions: Vec<(usize, Caution)>,
    ) -> Result<Self> {
        let stacked = by_density(found, Weighting::Stacking)?;
        let pseudo = by_density(found, Weighting::PseudoBma)?;
        let bootstrap = match sample {
            Some(sample) => plan.bootstrap.select(sample.rows()),
            None => plan.bootstrap.clone(),
        };
        let mut weights = vec![0.0; names.len()];
        pseudo.models.iter().for_each(|it| weights[it.model] = it.weight);
        let table = stacked.models.iter().map(|it| Row {
            model: names[it.model].clone(),
            elpd: it.elpd,
            se: it.se,
            elpd_diff: it.elpd_difference,
            dse: it.difference_se,
            subsampling_se: sample.map(|_| it.subsampling_se),
            subsampling_dse: sample.map(|_| it.difference_subsampling_se),
            weight: it.weight,
        });
        let mut warnings: Vec<Warning> = cautions
            .iter()
            .map(|(index, caution)| Warning::from(caution).of_run(&names[*index]))
            .collect();
        let shown = usize::from(!plan.shows_first);
        let mut utilities = Vec::new();
        for index in shown..plan.utilities.len() {
            let models: Vec<(&str, &PointwiseUtilities)> =
                names.iter().zip(found).map(|(name, it)| (name.as_str(), &it[index])).collect();
            let compared = compare(&models, &bootstrap).bad_input()?;
            warnings.extend(compared.cautions.iter().map(Warning::from));
            utilities.push(Utility::new(&models, (compared, failing), arguments.difference));
        }
        if failing.iter().any(|rows| *rows > 0) {
            warnings.push(withheld(names, failing));
        }
        Ok(Report {
            models: names.to_vec(),
            method: plan.method.name(),
            subsample: sample.map(|it| SampleReport { rows: it.rows().len(), of: it.all() }),
            utility: utilities[0].name.clone(),
            table: table.collect(),
            p_better: utilities[0].p_better.clone(),
            utilities,
            pseudo_bma: weights,
            warnings,
        })
    }

    /// Tells what to be careful about.
    pub fn warn(&self, context: &Context) {
        self.warnings.iter().for_each(|warning| context.warn(warning.clone()));
    }

    /// The comparison as text.
    pub fn render(&self) -> String {
        let mut header = vec!["", "elpd", "se", "elpd_diff", "dse", "weight"];
        if self.subsample.is_some() {
            header.extend(["sample_se", "sample_dse"]);
        }
        let mut table = Table::new(&header);
        for row in &self.table {
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
        if let Some(SampleReport { rows, of }) = &self.subsample {
            text.push_str(&format!(
                "by {rows} of {of} rows, chosen at random and the same for all models; sample_se, \
                 sample_dse: standard\nerrors by that choice, besides se and dse over rows\n"
            ));
        }
        for utility in &self.utilities {
            text.push('\n');
            text.push_str(&utility.render(&self.models));
        }
        text
    }
}

impl Utility {
    fn new(
        models: &[(&str, &PointwiseUtilities)],
        (compared, failing): (Comparison, &[usize]),
        threshold: Option<f64>,
    ) -> Self {
        let count = models.len();
        // No model differs from itself.
        let pair = |first: usize, second: usize| {
            if first == second { None } else { compared.difference(first, second) }
        };
        let row = |first: usize| (0..count).map(|second| pair(first, second)).collect();
        let pairs: Vec<Vec<Option<Difference>>> = (0..count).map(row).collect();
        let expected = compared.expected.iter().zip(models).map(|(it, (name, _))| Expected {
            model: name.to_string(),
            mean: it.estimate,
            sd: it.sd(),
            q05: it.quantile(0.05),
            q95: it.quantile(0.95),
        });
        let name = models[0].1.name.clone();
        let factor = |it: &Difference| it.pseudo_bayes_factor().map_or(f64::NAN, |it| it.log);
        Utility {
            log_pseudo_bayes_factors: (name == "elpd").then(|| matrix(&pairs, 0.0, factor)),
            name,
            expected: expected.collect(),
            p_better: trusted(&compared.probability_better, failing),
            p_better_by: threshold.map(|it| {
                trusted(&matrix(&pairs, 0.0, |pair| pair.probability_better_by(it)), failing)
            }),
            differences: matrix(&pairs, DifferenceReport::default(), DifferenceReport::of),
        }
    }

    fn render(&self, models: &[String]) -> String {
        let numbers: Vec<String> = (1..=models.len()).map(|number| format!("{number}.")).collect();
        let mut header = vec!["", "mean", "sd"];
        header.extend(numbers.iter().map(String::as_str));
        let mut table = Table::new(&header);
        for (index, expected) in self.expected.iter().enumerate() {
            let decimals = decimals_for(expected.sd, 2);
            let mut cells = vec![
                format!("{}. {}", index + 1, expected.model),
                fixed(expected.mean, decimals),
                fixed(expected.sd, decimals),
            ];
            cells.extend((0..models.len()).map(|other| match other == index {
                true => String::new(),
                false => self.p_better[index][other].map_or("-".into(), probability),
            }));
            table.row(cells);
        }
        let title = format!("{} of a row, and P(row better than column)", self.name);
        format!("{}{}", heading(&title), table.render())
    }
}

/// A probability that replicates decide: never one that none of them, or each, would have been.
fn probability(p: f64) -> String {
    match p {
        p if p > 0.99 => "> 0.99".into(),
        p if p < 0.01 => "< 0.01".into(),
        p => fixed(p, 2),
    }
}
