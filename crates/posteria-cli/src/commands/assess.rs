//! Find out how well new rows will be predicted.

mod criteria;
mod log_lik;
mod parameters;
mod report;
mod rows;
mod sampled;

use std::path::Path;

use posteria::assess::{Assessed, Bootstrap, LeaveOneOut, ShapeCounts, bayesian_bootstrap};
use posteria::fit::Fit;
use serde::Serialize;

pub use self::report::Report;
use super::Context;
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::chains::{Chained, StackedChains};
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;

/// Runs `posteria assess`.
pub fn run(arguments: &args::Assess, context: &Context) -> Result<()> {
    let Some(path) = &arguments.run else {
        let by = arguments.by.as_ref().map(|_| "--by");
        let chains = arguments.chains.map(|_| "--chains");
        if let Some(flag) = arguments.how.of_runs().or(by).or(chains) {
            return Err(Failure::bad_input(format!(
                "{flag} is for a run, not for --log-lik; omit it"
            )));
        }
        return log_lik::run(arguments, context);
    };
    let report = find(path, arguments, context)?;
    report.warn(context);
    context.result(&report, || report.render())
}

/// Assesses the run in `path`, and keeps what was found in its folder.
pub fn find(path: &Path, arguments: &args::Assess, context: &Context) -> Result<Report> {
    let interrupt = Interrupt::listen().running()?;
    let mut subject = Subject::open(path)?;
    if let Some(test) = &arguments.how.test {
        subject.hold_out(test)?;
    }
    let stacked = match arguments.chains {
        Some(args::ChainWeights::Stacked) => {
            Some(stack(&mut subject, arguments, context, &interrupt)?)
        }
        _ => None,
    };
    let plan = Plan::new(&arguments.how, &subject, context)?;
    subject.repeat_verdict(context);
    let groups = match &arguments.by {
        Some(column) => Some(Groups::new(&subject, column)?),
        None => None,
    };
    let folds = FoldFolders::new(&subject, &interrupt, context);
    let assessor = subject.assessor(&plan.utilities, &folds);
    let assessed = assessor.assess(&plan.method)?;
    let bootstrap = match &assessed.sample {
        Some(sample) => plan.bootstrap.select(sample.rows()),
        None => plan.bootstrap.clone(),
    };
    let expected = assessed.utilities.iter().map(|it| bayesian_bootstrap(it, &bootstrap));
    let expected = expected.collect::<std::result::Result<Vec<_>, _>>().bad_input()?;
    let subgroups = match &groups {
        Some(groups) => groups.expected(&assessed, &bootstrap)?,
        None => Vec::new(),
    };
    if let Some(file) = &arguments.pointwise {
        rows::write(file, &plan, &assessed)?;
    }
    // Where a linearised network or weighed chains predict, criteria of the draws are about
    // something else.
    let information = match assessed.linearised || stacked.is_some() {
        true => None,
        false => Some(assessor.information(&assessed)?),
    };
    let mut report = Report::new(&subject, &plan, (&assessed, &expected), information, subgroups);
    report.stacking = stacked;
    if report.stacking.is_none() {
        // What is kept is about the run as every command sees it.
        report.keep(&subject)?;
    }
    Ok(report)
}

/// Weighs the chains of a run that is judged by rows it has not seen.
fn stack(
    subject: &mut Subject,
    arguments: &args::Assess,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<StackedChains> {
    if arguments.how.test.is_none() {
        return Err(Failure::bad_input(
            "--chains stacked is worth what rows say that the run has not seen: give them with --test \
             FILE; posteria diagnose --all has the score of the rows that choose the weights",
        ));
    }
    let Subject { path, run, fit: Fit { prepared: fitted, draws, .. }, .. } = &*subject;
    let spec = &fitted.spec;
    let chains = Chained { path, run, spec, fitted, draws }.look(context, interrupt)?;
    chains.doubt().into_iter().for_each(|it| context.warn(it));
    subject.log_weights = Some(chains.found.log_weights(subject.draws.draws));
    Ok(chains.stacked())
}

/// How many rows have importance weights that can be trusted, as JSON has it.
#[derive(Serialize)]
struct Shapes {
    good: usize,
    ok: usize,
    bad: usize,
    max: f64,
    limit: f64,
}

impl Shapes {
    fn of(loo: &LeaveOneOut) -> Self {
        let ShapeCounts { limit, good, ok, bad, max } = loo.shapes;
        Shapes { good, ok, bad, max, limit }
    }
}

/// Effective numbers of weighted draws, as JSON has them.
#[derive(Serialize)]
struct Sizes {
    min: f64,
    q10: f64,
}

impl Sizes {
    fn of(loo: &LeaveOneOut) -> Self {
        Sizes { min: loo.min_effective_size, q10: loo.q10_effective_size }
    }
}

/// Rows with the same value in a column.
struct Groups {
    column: String,
    /// The value, and the rows that have it.
    members: Vec<(String, Vec<usize>)>,
}

/// What predictions of some rows are worth.
pub struct Subgroup {
    /// The column and its value in these rows.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// The expectation of every utility: name, estimate, standard deviation.
    pub utilities: Vec<(String, f64, f64)>,
}

impl Groups {
    fn new(subject: &Subject, column: &str) -> Result<Self> {
        let (table, rows) = subject.table()?;
        let labels = table.labels(column, rows).bad_input()?;
        let values = table.column(column).bad_input()?;
        let mut members: Vec<(String, Vec<usize>)> = Vec::new();
        for (row, label) in labels.iter().enumerate() {
            if *label == members.len() {
                members.push((values.cell(rows[row]).to_string(), Vec::new()));
            }
            members[*label].1.push(row);
        }
        /// More are not looked at one by one.
        const MOST: usize = 100;
        if members.len() > MOST {
            return Err(Failure::bad_input(format!(
                "{column} has {} different values; --by is for a column with at most {MOST}",
                members.len()
            )));
        }
        Ok(Groups { column: column.into(), members })
    }

    /// What predictions are worth in every group; of a sample of the rows those groups that have
    /// some in it.
    fn expected(&self, assessed: &Assessed, bootstrap: &Bootstrap) -> Result<Vec<Subgroup>> {
        let of = |(value, rows): &(String, Vec<usize>)| {
            let rows = assessed.positions(rows);
            let each = assessed.utilities.iter().map(|pointwise| {
                let found = bayesian_bootstrap(&pointwise.select(&rows), &bootstrap.select(&rows))?;
                Ok((found.name.clone(), found.estimate, found.sd()))
            });
            let utilities = each.collect::<std::result::Result<Vec<_>, _>>();
            let utilities =
                utilities.map_err(|error: posteria::assess::BootstrapError| error).bad_input()?;
            Ok(Subgroup { name: format!("{} = {value}", self.column), rows: rows.len(), utilities })
        };
        let members = self.members.iter();
        members.filter(|(_, rows)| !assessed.positions(rows).is_empty()).map(of).collect()
    }
}
