//! Find out how well new rows will be predicted.

mod log_lik;
mod parameters;
mod report;
mod rows;

use std::path::Path;

use posteria::assess::{AssessmentAsked, RowGroups, StackedChains};
use posteria::fit::Fit;

pub use self::report::{FILE, Report};
use super::Context;
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::chains::Chained;
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
    let plan = Plan::new(&arguments.how, &subject, context.seed())?;
    subject.repeat_verdict(&context.warnings);
    let groups = match &arguments.by {
        Some(column) => {
            let (table, rows) = subject.table()?;
            Some(RowGroups::new((table, rows), column)?)
        }
        None => None,
    };
    let folds =
        FoldFolders::new(&subject, context.seed(), context.watched(&interrupt)).valued(&plan);
    let assessor = subject.assessor(&plan.utilities, &folds);
    let assessed = assessor.assess(&plan.method)?;
    let expected = assessed.expected(&plan.bootstrap).bad_input()?;
    if let Some(file) = &arguments.pointwise {
        rows::write(file, &plan, &assessed)?;
    }
    let asked = AssessmentAsked {
        method: &plan.method,
        bootstrap: &plan.bootstrap,
        density: plan.shows_first,
        groups: groups.as_ref(),
    };
    let found = assessor.report(&asked, (&assessed, &expected))?;
    let is_usual = stacked.is_none();
    let report = Report::new(&subject, found, stacked);
    if is_usual {
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
    let chains =
        Chained { path, run, fitted, draws }.look(context.seed(), &context.workers(interrupt))?;
    chains.doubt().iter().for_each(|it| context.warn(it));
    let (weights, stacked) = (chains.found.log_weights(draws.draws), chains.stacked());
    subject.weigh_draws(weights);
    Ok(stacked)
}
