//! Parse the options of `posteria assess` and `posteria compare`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use posteria::assess::Subsample;

use super::{ChainWeights, Choosing};

const FOLDS: &str = "K-fold cross-validation";

/// Estimate how well new rows will be predicted, and how uncertain that is.
///
/// Every row is predicted without itself: by importance sampling from the draws of the run
/// (leave-one-out, the default), or by new fits without its fold (k-fold cross-validation). Utilities
/// score the predictions; each has the distribution of its expectation over new rows, by the Bayesian
/// bootstrap over rows (or groups) and over draws, with the sources of its uncertainty.
///
/// Pareto k says for each row whether its weights can be trusted: good up to 0.5, ok up to the limit
/// min(1 - 1/log10(S), 0.7) for S draws, bad above it. For bad rows the draws are moment-matched to
/// the posterior without the row, and rows that are still bad are refitted. m_eff is the effective
/// number of draws behind the estimate of a row. --log-lik does the same for the log likelihoods of
/// any program.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  posteria assess runs/houses
  posteria assess runs/houses --utility rmse 'abs-quantile:0.9'
  posteria assess runs/houses --method kfold --folds 10
  posteria assess runs/patients --method kfold --group hospital
  posteria assess runs/wells --method kfold --spatial east north --buffer 2.5
  posteria assess runs/houses --method holdout --test new-houses.csv
  posteria assess runs/houses --test new-houses.csv --chains stacked
  posteria assess runs/houses --utility 'expr: if(y > q(0.95), 10, sd)' --smaller-is-better
  posteria assess runs/patients --cost costs.csv          what deciding by the model will cost
  posteria assess runs/houses --by district
  posteria assess --log-lik loglik.csv
  posteria assess --log-lik output_1.csv output_2.csv   CmdStan files with log_lik

Utilities: elpd (log predictive density), likelihood, expr:FORMULA; of numbers rmse, nrmse, mae, \
abs-quantile:ALPHA, crps; of one number or a duration, also a censored one, concordance; of classes accuracy, error-rate, \
brier, of ordered ones rps. A formula may use y, mean, sd, median, q(p), prob(class), log_density.

Nested cross-validation, in which every fold chooses its inputs anew: posteria select RUN --nested K.")]
pub struct Assess {
    /// The run
    #[arg(required_unless_present = "log_lik", conflicts_with = "log_lik")]
    pub run: Option<PathBuf>,

    /// Log likelihoods: CSV with columns chain, draw and one per observation, or CmdStan files
    ///
    /// Without a column `chain` a file is one chain; several files are several chains. If there is
    /// an array `log_lik`, its elements are the observations and other columns are ignored.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub log_lik: Vec<PathBuf>,

    /// How rows are predicted, and what that is worth
    #[command(flatten)]
    pub how: How,

    /// Also assess subgroups: rows with the same value in this column
    #[arg(long, value_name = "COL")]
    pub by: Option<String>,

    /// How much every chain counts [default: equal]; stacked needs --test
    ///
    /// As in posteria predict: chains that do not mix, weighed by what each predicts of rows left
    /// out. Only rows that the run has not seen tell whether that helps.
    #[arg(long, value_enum, value_name = "WEIGHTS")]
    pub chains: Option<ChainWeights>,

    /// Write one line per row into this CSV file: utilities, Pareto k, m_eff, …
    #[arg(long, value_name = "FILE")]
    pub pointwise: Option<PathBuf>,

    /// With --log-lik: relative efficiency of the draws, effective size over number [default: 1, as
    /// for independent draws]
    #[arg(long, value_name = "R", value_parser = positive, requires = "log_lik")]
    pub relative_efficiency: Option<f64>,
}

/// Compare models by their predictions: which is better, and how sure is that?
///
/// All runs must be of the same rows and targets. Expected utilities are compared in pairs, both
/// with the same weights of rows, so that rows which all models find hard do not blur the
/// difference.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  posteria compare runs/linear runs/network runs/process
  posteria compare runs/linear runs/network --utility rmse
  posteria compare runs/linear runs/network --method kfold --folds 10
  posteria compare small.toml large.toml runs/linear           of specifications that say what their data are
  posteria compare runs/linear runs/network --utility rmse --difference 0.5   better by more than 0.5
  posteria compare runs/linear runs/network --by district    where is which one better?")]
pub struct Compare {
    /// The runs, at least two; FILE.toml, a specification, is the run FILE, fitted first if need be
    #[arg(required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,

    /// How rows are predicted, and what that is worth
    #[command(flatten)]
    pub how: How,

    /// Also give the probability that a model is better by more than D
    #[arg(long, value_name = "D", value_parser = positive)]
    pub difference: Option<f64>,

    /// Also compare by subgroups: rows with the same value in this column
    #[arg(long, value_name = "COL")]
    pub by: Option<String>,
}

/// How rows are predicted, and what that is worth.
#[derive(Debug, Default, Clone, Args)]
pub struct How {
    /// How every row is predicted: cross-validation or another method [default: loo]
    #[arg(long, value_enum, value_name = "METHOD")]
    pub method: Option<AssessMethod>,

    /// Utilities, one or several [default: elpd, and rmse or accuracy]
    #[arg(long, value_name = "U", num_args = 1..)]
    pub utility: Vec<String>,

    /// Smaller values of a formula are better
    #[arg(long)]
    pub smaller_is_better: bool,

    /// Add the utility cost: what actions chosen by the predictions will cost
    ///
    /// A table (action,CLASS,CLASS… then a line per action with its cost for each true class;
    /// actions may be classes or anything else, such as "ask"), or a formula over the target y and the
    /// action a: 'abs(y - a)', 'if(a == y, 0, if(y == "sick", 100, 10))'. For every row the
    /// action is chosen by its prediction without the row, and pays its cost at the target.
    #[arg(long, value_name = "FILE|FORMULA", allow_hyphen_values = true)]
    pub cost: Option<String>,

    /// How actions are chosen by what they cost
    #[command(flatten)]
    pub choosing: Choosing,

    /// Column of row weights, where future rows are distributed differently
    #[arg(long, value_name = "COL")]
    pub weights: Option<String>,

    /// Bootstrap replicates [default: 4000]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub replicates: Option<u32>,

    /// Smoothing of the largest importance weights [default: pareto]
    #[arg(long, value_enum, value_name = "HOW")]
    pub smoothing: Option<Smoothed>,

    /// Leave out N rows chosen at random, or all [default: all of up to 10000 rows, 2000 of more]
    ///
    /// What the sample says about all rows has a standard error of its own, which is told; models
    /// that are compared are judged by the same rows.
    #[arg(long, value_name = "N|all")]
    pub subsample: Option<Subsample>,

    /// With holdout: table of held-out rows, with targets
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,

    /// Do not moment-match rows whose importance weights cannot be trusted
    #[arg(long)]
    pub no_matching: bool,

    /// Refit without each of at most N rows whose importance weights still cannot be trusted
    /// [default: 10]
    #[arg(long, value_name = "N")]
    pub refit: Option<usize>,

    /// Number of folds [default: 10]
    #[arg(long, value_name = "K", help_heading = FOLDS)]
    pub folds: Option<NonZero<usize>>,

    /// Rows with the same value in this column stay in one fold
    #[arg(long, value_name = "COL", help_heading = FOLDS)]
    pub group: Option<String>,

    /// Folds of successive rows, H rows on each side left out of training (time series)
    #[arg(long, value_name = "H", help_heading = FOLDS, conflicts_with = "group")]
    pub block: Option<usize>,

    /// Folds that are regions in the space of these inputs (spatial blocks)
    ///
    /// Rows that are near each other, in place or otherwise, are held out together. The space is
    /// halved where it is widest until there are enough regions of as many rows.
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = FOLDS,
        conflicts_with_all = ["group", "block"])]
    pub spatial: Vec<String>,

    /// With --spatial: leave rows nearer than D to a held-out row out of training
    ///
    /// Euclidean distance in the units of the inputs; with as many folds as there are rows, blocks
    /// around every single point.
    #[arg(long, value_name = "D", value_parser = positive, help_heading = FOLDS, requires = "spatial")]
    pub buffer: Option<f64>,

    /// Column with the fold of every row
    #[arg(long, value_name = "COL", help_heading = FOLDS,
        conflicts_with_all = ["group", "block", "folds", "spatial"])]
    pub fold_column: Option<String>,

    /// Repeat with R random divisions into folds [default: 1]
    #[arg(long, value_name = "R", help_heading = FOLDS)]
    pub repeats: Option<NonZero<u16>>,

    /// Inputs that are chosen anew in every fold are what select tells of; asked for here, it says so.
    #[arg(long, value_name = "K", hide = true)]
    pub nested: Option<NonZero<usize>>,

    /// Draws of every chain of a fold [default: as the run]
    #[arg(long, value_name = "N", help_heading = FOLDS)]
    pub fold_draws: Option<NonZero<usize>>,
}

impl How {
    /// The first of the options that only a run has a use for, if any was given.
    pub fn of_runs(&self) -> Option<&'static str> {
        let given = [
            ("--method", self.method.is_some()),
            ("--utility", !self.utility.is_empty()),
            ("--smaller-is-better", self.smaller_is_better),
            ("--cost", self.cost.is_some()),
            ("--weights", self.weights.is_some()),
            ("--replicates", self.replicates.is_some()),
            ("--test", self.test.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--fold-draws", self.fold_draws.is_some()),
            ("--nested", self.nested.is_some()),
        ];
        let first = given.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
        first.or(self.of_weights()).or(self.of_folds())
    }

    /// The first of the options about importance weights, if any was given.
    pub fn of_weights(&self) -> Option<&'static str> {
        let given = [
            ("--smoothing", self.smoothing.is_some()),
            ("--no-matching", self.no_matching),
            ("--refit", self.refit.is_some()),
            ("--subsample", self.subsample.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The first of the options that divide rows, if any was given.
    pub fn of_folds(&self) -> Option<&'static str> {
        let given = [
            ("--folds", self.folds.is_some()),
            ("--group", self.group.is_some()),
            ("--block", self.block.is_some()),
            ("--spatial", !self.spatial.is_empty()),
            ("--fold-column", self.fold_column.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// How rows are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AssessMethod {
    /// Leave-one-out, by importance sampling from the draws of the run
    Loo,
    /// k-fold cross-validation, by new fits
    Kfold,
    /// Posterior predictive of the rows of the fit: too optimistic, an upper limit
    Posterior,
    /// Prior predictive: before any row is seen
    Prior,
    /// Held-out rows, given with --test
    Holdout,
}

/// What happens to the largest importance weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Smoothed {
    /// Pareto-smoothed importance sampling: quantiles of a fitted generalised Pareto distribution
    Pareto,
    /// Truncated
    Truncated,
    /// As they are
    None,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a positive number is needed".into()),
    }
}
