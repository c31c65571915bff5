//! Parse the options of `posteria check`.

use std::path::PathBuf;

use clap::Args;

/// Does the model reproduce what the data are like? Predictive checks.
///
/// Data are replicated at the inputs of the rows: from the posterior predictive distribution, all rows
/// together for every draw, and row by row from the leave-one-out predictive distributions (by
/// Pareto-smoothed importance weights), which have not seen the row. A statistic of the data is put
/// beside those of the replicated data; p is the share of the latter that are larger, what is equal
/// counting half. A p near 0 or 1 names something that the model does not describe. The posterior has
/// seen the data it is checked against, so that its p keep near one half; those of leave-one-out do
/// not. What is found is kept in the run, and posteria report shows it with figures.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  posteria check runs/houses
  posteria check runs/houses --statistic 'max(y)' 'quantile(y, 0.9) - median(y)'
  posteria check runs/houses --statistic 'mean(y < 0)'          share of targets below 0
  posteria check runs/series --statistic 'autocorrelation(y)'   of successive rows
  posteria check runs/patients --statistic 'mean(y == \"sick\")'

Statistics: mean, sum, sd, min, max, median, skewness, autocorrelation of a formula of y, and \
quantile(y, P); formulas have numbers, + - * / ^, comparisons (1 or 0), and, or, not, if(c, a, b), abs, \
sqrt, exp, log, floor, ceil, round, sign; of several targets y(1) or y(\"name\"); of durations that may be \
censored y is how long a row was watched, and censored is 1 or 0.")]
pub struct Check {
    /// The run
    pub run: PathBuf,

    /// Statistics of the targets of all rows [default: median, sd, min, max and skewness; of
    /// classes, the share of each; of durations that may be censored, the share that is, median, sd, min, max]
    #[arg(long, short, value_name = "FORMULA", num_args = 1.., allow_hyphen_values = false)]
    pub statistic: Vec<String>,
}
