//! Show the posterior, and judge convergence.

use posteria::diagnose::{Summary, SummaryOptions, VariableSummary, summarize};
use posteria::draws::Draws;

use super::Context;
use super::foreign;
use crate::args;
use crate::failure::Result;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed};

/// Runs `posteria summary`.
pub fn summary(arguments: &args::Summary, context: &Context) -> Result<()> {
    let draws = foreign::read_run(&arguments.run, context)?;
    let summary = summarize(&draws, &SummaryOptions::default());
    report(&summary, &draws, context, posterior_table)
}

/// Runs `posteria diagnose`.
pub fn diagnose(arguments: &args::Diagnose, context: &Context) -> Result<()> {
    let draws = foreign::read(&arguments.paths, context)?;
    let summary = summarize(&draws, &SummaryOptions::default());
    report(&summary, &draws, context, convergence_table)
}

/// Mean, spread and precision of every variable.
pub fn posterior_table(summary: &Summary) -> Table {
    let [low, high] = interval_names(summary);
    let mut table = Table::new(&[
        "",
        "mean",
        "sd",
        &low,
        &high,
        "mcse_mean",
        "mcse_sd",
        "ess_bulk",
        "ess_tail",
        "r_hat",
    ]);
    for v in &summary.variables {
        // All numbers of a row as precisely as its spread deserves.
        let decimals = decimals_for(v.sd, 3);
        let errors = decimals_for(v.mcse_mean, 2);
        table.row([
            v.name.clone(),
            fixed(v.mean, decimals),
            fixed(v.sd, decimals),
            fixed(v.low, decimals),
            fixed(v.high, decimals),
            fixed(v.mcse_mean, errors),
            fixed(v.mcse_sd, errors),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.r_hat, 3),
        ]);
    }
    table
}

/// The convergence diagnostics of every variable.
pub fn convergence_table(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        "",
        "mean",
        "r_hat",
        "r_hat_classic",
        "ess_bulk",
        "ess_tail",
        "mcse_mean",
        "autocorrelation_time",
        "ks_p",
    ]);
    for v in &summary.variables {
        table.row([
            v.name.clone(),
            fixed(v.mean, decimals_for(v.sd, 3)),
            fixed(v.r_hat, 3),
            fixed(v.r_hat_classic, 3),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.mcse_mean, decimals_for(v.mcse_mean, 2)),
            fixed(v.autocorrelation_time, 1),
            fixed(v.ks_p, 3),
        ]);
    }
    table
}

/// Prints a summary, its warnings, and fails if it is doubtful and that is to be strict about.
pub fn report(
    summary: &Summary,
    draws: &Draws,
    context: &Context,
    table: fn(&Summary) -> Table,
) -> Result<()> {
    context.output.result(summary, || {
        let title = format!(
            "{} of {}",
            text::count(draws.chains, "chain"),
            text::count(draws.draws, "draw")
        );
        format!("{}{}", heading(&title), table(summary).render())
    })?;
    for caution in &summary.cautions {
        context.output.warning(&caution.to_string());
    }
    context.judge(summary.cautions.len())
}

fn interval_names(summary: &Summary) -> [String; 2] {
    let interval = |variable: &VariableSummary| variable.interval;
    summary.variables.first().map(interval).unwrap_or_default().names()
}
