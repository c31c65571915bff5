//! Parse the options of `predict`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Missing;

const EXAMPLES: &str = "\
Examples:
  posteria predict runs/houses new.csv
  posteria predict runs/houses new.csv --quantiles 0.025,0.5,0.975 --out predictions.csv
  posteria predict runs/houses test.csv --json | jq '{rmse, mean_log_density}'
  posteria predict runs/houses new.csv --draws 400        fewer draws: faster
  posteria predict runs/houses new.csv --effects          which inputs move the prediction
  posteria predict runs/houses new.csv --chains stacked   chains that do not mix, weighed
  posteria predict runs/linear runs/network new.csv       average over models
  posteria predict runs/linear runs/network new.csv --weights evidence
  posteria predict runs/patients new.csv --cost costs.csv which action costs least
  posteria predict runs/demand new.csv --cost 'if(y > a, 3*(y - a), a - y)' --actions 10,20,30
  posteria predict runs/survival new.csv --at 365,730     how probably it lasts longer
  posteria predict runs/houses new.csv --draws-out f.csv && posteria diagnose f.csv
                                                          convergence of the function itself";

/// Predict the targets of new rows.
///
/// Each row of NEW gets its predictive distribution, averaged over all draws (or --draws): mean, standard
/// deviation and quantiles of a number, probabilities of classes. Where NEW has the target too,
/// the log density of every row is added, and over all rows its mean, the root mean square
/// error of the mean (rmse), the mean absolute error of the median (mae), or the fraction of
/// rows whose most probable class is right (accuracy). Everything is on your scale.
///
/// Columns of NEW are matched by name, in any order; extra columns are ignored. A table without names is
/// matched by position with the table of the fit, with or without its target. A warning counts
/// the rows outside the range of the inputs of the fit, and those far from all of its rows.
///
/// Of several runs the predictive distributions are averaged, p(y) = Σ weight × p(y by the run), and
/// everything is of that average: its intervals include that no model is known to be right.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Predict {
    /// The run folder; of several, their predictions are averaged
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    pub runs: Vec<PathBuf>,

    /// Table of new rows: CSV, TSV or whitespace-separated text
    #[arg(value_name = "NEW", required = true)]
    pub new: PathBuf,

    /// How much each of several runs counts in their average [default: stacking]
    ///
    /// The runs must be of the same rows and targets; they may have different inputs and models.
    #[arg(long, value_enum, value_name = "HOW")]
    pub weights: Option<ModelWeights>,

    /// Probabilities of the quantiles to give
    ///
    /// The quantile for 0.05 is called q05, for 0.5 q50, for 0.025 q025: the decimals of the
    /// probability, two at least.
    #[arg(long, value_name = "P,P…", value_delimiter = ',', value_parser = parse_quantile,
        default_value = "0.05,0.5,0.95")]
    pub quantiles: Vec<f64>,

    /// Times: of each, the probability that a duration is longer
    ///
    /// The columns are called survival[T]. For --task duration.
    #[arg(long, value_name = "T,T…", value_delimiter = ',', value_parser = parse_time)]
    pub at: Vec<f64>,

    /// Average over about N draws, spread evenly over the chains [default: all]
    ///
    /// The prediction of a Gaussian process takes some time for every draw; a few hundred
    /// draws of well mixed chains give nearly the same figures. Applies to everything that is
    /// computed, --effects and --draws-out too.
    #[arg(long, value_name = "N")]
    pub draws: Option<NonZero<usize>>,

    /// How an approximated network predicts [default: linearised where possible]
    ///
    /// The weights of a network at a mode are determined only in products, so that draws from a
    /// normal distribution of the weights fit worse than the network taken as linear about the
    /// mode. Finding the mode again takes the time of the fit.
    #[arg(long, value_enum, value_name = "WAY")]
    pub by: Option<By>,

    /// How much every chain counts [default: equal]
    ///
    /// For chains that keep to modes of their own, where posteria diagnose says so: stacked weighs
    /// them by what each predicts of rows that are left out, and tells that score for both ways.
    #[arg(long, value_enum, value_name = "WEIGHTS")]
    pub chains: Option<ChainWeights>,

    /// Write all predictions to this file (CSV)
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write the function itself, without noise, for every draw and row (CSV)
    ///
    /// One line per draw with its chain, one column f[ROW] per row of NEW: a table that
    /// `posteria diagnose` reads. For two classes f is the log odds of the second. Where a draw
    /// leaves the function open, as that of a Gaussian process, it is drawn, at all rows together.
    #[arg(long, value_name = "FILE")]
    pub draws_out: Option<PathBuf>,

    /// Write about N draws of the function, spread evenly over the chains [default: all]
    #[arg(long, value_name = "N", requires = "draws_out")]
    pub function_draws: Option<NonZero<usize>>,

    /// Average effect of each input on the prediction, over the rows of the fit
    ///
    /// Average predictive comparison (expected change of the target, or of the probability of
    /// the class, per unit of the input) and mean absolute and root mean square derivative of
    /// the function, each with its posterior standard deviation, which includes what a draw leaves
    /// open of the function of a Gaussian process. A process with an exponential covariance has no
    /// derivative.
    #[arg(long)]
    pub effects: bool,

    /// Choose the action of least expected cost for every row
    ///
    /// A table (action,CLASS,CLASS… then a line per action with its cost for each true class;
    /// actions may be classes or anything else, such as "ask"), or a formula over the target y and the
    /// action a: 'abs(y - a)', 'if(a == y, 0, if(y == "sick", 100, 10))'. Adds action and
    /// expected_cost (with --rule minimax worst_cost too) to every row, and over all rows whose
    /// target is known the mean cost of the actions.
    #[arg(long, value_name = "FILE|FORMULA", allow_hyphen_values = true)]
    pub cost: Option<String>,

    /// How actions are chosen by what they cost
    #[command(flatten)]
    pub choosing: Choosing,

    /// The table of the fit, for a run folder that does not hold its data
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,

    /// What to do with rows of NEW that have a missing cell [default: error]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub missing: Option<Missing>,

    /// The first line of NEW holds the names of the columns [default: as in the fit]
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,

    /// The first line of NEW is a row of data
    #[arg(long)]
    pub no_header: bool,
}

/// How an approximated network predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The average over the draws of the run, as for Markov chains
    Draws,
    /// The network linear about its mode (--inference laplace)
    Linearised,
    /// Importance sampling of the posterior from a variational ensemble (--inference
    /// variational); gives the effective number of draws
    Importance,
}

/// How much every chain counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChainWeights {
    /// All alike: right where chains agree
    Equal,
    /// By stacking their leave-one-out predictive densities
    Stacked,
}

/// How much each of several runs counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelWeights {
    /// So that the average predicts rows that are left out best, as posteria compare has it
    Stacking,
    /// By the probabilities of the models, from the log evidences that posteria evidence kept
    Evidence,
    /// All alike
    Equal,
}

impl ModelWeights {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            ModelWeights::Stacking => "stacking",
            ModelWeights::Evidence => "evidence",
            ModelWeights::Equal => "equal",
        }
    }
}

/// How actions are chosen by what they cost, beside an option `cost`.
#[derive(Debug, Default, Clone, Args)]
pub struct Choosing {
    /// The actions that a cost formula chooses from, numbers or words [default: the classes]
    #[arg(
        long,
        value_name = "A,A…",
        value_delimiter = ',',
        requires = "cost",
        allow_hyphen_values = true
    )]
    pub actions: Vec<String>,

    /// Decision rule
    #[arg(long, value_enum, value_name = "RULE", requires = "cost", default_value = "expected")]
    pub rule: DecisionRule,
}

/// How an action is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum DecisionRule {
    /// The least expected cost
    #[default]
    Expected,
    /// The least of the greatest costs that may come: classes of a probability below 0.01, and numbers
    /// outside the central 99 % interval, do not count
    Minimax,
}

/// The probability of a quantile.
fn parse_quantile(text: &str) -> Result<f64, String> {
    let probability: f64 = text.trim().parse().map_err(|_| format!("{text:?} is no number"))?;
    if !(probability > 0.0 && probability < 1.0) {
        return Err("give probabilities between 0 and 1, both excluded, such as 0.05".into());
    }
    Ok(probability)
}

/// A positive time.
fn parse_time(text: &str) -> Result<f64, String> {
    let time: f64 = text.trim().parse().map_err(|_| "give a positive number".to_string())?;
    if time > 0.0 && time.is_finite() { Ok(time) } else { Err("give a positive number".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_probabilities_between_0_and_1() {
        for (text, probability) in
            [("0.05", 0.05), (".95", 0.95), ("1e-7", 1e-7), (" 0.999", 0.999)]
        {
            assert_eq!(parse_quantile(text), Ok(probability));
        }
        for text in ["0", "1", "-0.1", "nan", "x", "", "5%"] {
            assert!(parse_quantile(text).is_err(), "{text}");
        }
    }
}
