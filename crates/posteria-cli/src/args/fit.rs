//! Parse the options of `fit`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use posteria::model::spec::{BasisSpec, DeviceChoice, TimeBudget};

use super::choices::{
    Inference, Kernel, Link, Missing, ModelKind, Priors, Relevance, Residual, Start, Task,
    Tempering,
};

const EXAMPLES: &str = "\
Examples:
  posteria fit houses.csv --target price --model linear --out runs/houses
  posteria fit houses.csv --target price --inputs area rooms --chains 8 --out runs/small
  posteria fit houses.csv --target price --residual student-t --basis polynomial:2 --out runs/curve
  posteria fit houses.csv --target price --model mlp --hidden 8 --dry-run
  posteria fit houses.csv --target price --model mlp --residual student-t --out runs/network
  posteria fit houses.csv --target price --model gp --ess 1000 --time 10m --out runs/longer
  posteria fit claims.csv --target claims --exposure years --residual negative-binomial --out runs/claims
  posteria fit patients.csv --target days --event died --out runs/survival
  posteria fit train.csv --target species --model mlp --test test.csv --out runs/species
  posteria fit houses.csv --target price --model gp --out runs/process
  posteria fit houses.csv --target price --model gp --device auto --out runs/process-on-gpu
  posteria fit co2.csv --target ppm --covariance \"periodic(month)*se(year)+linear\" --out runs/co2
  posteria fit houses.csv --target price --model mlp --inference committee --out runs/committee
  posteria fit houses.csv --target price --model mlp --inference laplace --out runs/evidence
  posteria fit iris.csv --model mixture --inputs length width --out runs/mixture
  posteria fit sensors.csv --model pca --out runs/components
  posteria fit --spec model.toml --out runs/model
  posteria fit --spec runs/houses/spec.toml --out runs/again      repeats a run bit for bit

docs/spec.md lists every key of a specification file.";

const DATA: &str = "Data";
const MODEL: &str = "Model";
const RESIDUAL: &str = "Residual";
const SAMPLING: &str = "Sampling";

/// Sample the posterior of a model given a table of data.
///
/// DATA is CSV, TSV or whitespace-separated text, with or without a header. Text columns become
/// indicator columns. Inputs and real targets are standardised unless --no-standardize; every
/// number shown is on your scale. Flags win over the specification file.
#[derive(Debug, Default, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct Fit {
    /// Table of data: CSV, TSV or whitespace-separated text; - reads standard input
    #[arg(value_name = "DATA")]
    pub data: Option<PathBuf>,

    /// Run folder to create, with the folders that it is in
    #[arg(long, short, value_name = "RUN")]
    pub out: Option<PathBuf>,

    /// Replace the run that is in the folder of --out already; nothing but a run is ever replaced
    #[arg(long)]
    pub force: bool,

    /// Take everything that flags do not say from this file (TOML)
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,

    /// Print the model and its priors in words, and functions drawn from the prior; sample nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print the model and its priors in words before sampling; RUN/model.txt keeps them anyway
    #[arg(long, short)]
    pub verbose: bool,

    /// Target column or columns
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = DATA)]
    pub target: Vec<String>,

    /// Input columns, or the columns that a model without target describes [default: all others]
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = DATA)]
    pub inputs: Vec<String>,

    /// Columns that are no inputs, such as ids and free text; all others are
    #[arg(long, value_name = "COL", num_args = 1.., conflicts_with = "inputs", help_heading = DATA)]
    pub exclude: Vec<String>,

    /// Grouping column: rows with the same value belong together, and no fold divides them
    #[arg(long, value_name = "COL", help_heading = DATA)]
    pub group: Option<String>,

    /// Column of exposures of counts: how long, over how large an area or population events were counted
    ///
    /// The mean count is proportional to it; predictions of new rows need it too. Positive numbers.
    /// Implies --task count.
    #[arg(long, value_name = "COL", help_heading = DATA)]
    pub exposure: Option<String>,

    /// Ordered classes of the target, all of them, from the lowest on, such as low,mid,high
    ///
    /// Numbers are ordered by value without it. Implies --task ordinal.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = DATA)]
    pub levels: Vec<String>,

    /// Column that says which durations are censored: 1 (yes) where all that is known is that it lasts longer
    ///
    /// 0 (no) says that the duration is known: what it waits for has happened. Where 1 says that it has
    /// happened, give the column by --event. Implies --task duration; predictions need it only beside
    /// durations that are known.
    #[arg(long, value_name = "COL", conflicts_with = "event", help_heading = DATA)]
    pub censored: Option<String>,

    /// Column that says which durations ended: 1 (yes) where it did, 0 (no) where it is censored
    ///
    /// The same as --censored, the other way round.
    #[arg(long, value_name = "COL", help_heading = DATA)]
    pub event: Option<String>,

    /// Table of test rows, with the target, whose error is recorded with every draw (mlp, gp)
    ///
    /// The rows are not used for the fit. The error is the root mean square error of the function
    /// of each draw, or its share of wrongly classified rows; averaging the predictions of all
    /// draws does better.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub test: Option<PathBuf>,

    /// What to do with rows that have a missing cell [default: error]
    ///
    /// Missing is an empty cell, NA, N/A, NaN, null, ? or a single point; in a column of numbers also
    /// -, none, missing and the like.
    #[arg(long, value_enum, value_name = "POLICY", help_heading = DATA)]
    pub missing: Option<Missing>,

    /// Most different values of a column of classes [default: by the number of rows]
    ///
    /// A text column with nearly as many values as rows (ids, dates, free text) is refused. By default
    /// a column may have 256 values, at most ten or two thirds of the number of rows, whichever is more,
    /// and fewer than there are rows; of dates and of numbers in disguise ten.
    #[arg(long, value_name = "N", help_heading = DATA)]
    pub max_levels: Option<NonZero<usize>>,

    /// Do not standardise inputs and targets
    #[arg(long, help_heading = DATA)]
    pub no_standardize: bool,

    /// The first line of DATA holds the names of the columns [default: auto-detected]
    #[arg(long, conflicts_with = "no_header", help_heading = DATA)]
    pub header: bool,

    /// The first line of DATA is a row of data
    #[arg(long, help_heading = DATA)]
    pub no_header: bool,

    /// Kind of model [default: linear]
    #[arg(long, value_enum, value_name = "KIND", help_heading = MODEL)]
    pub model: Option<ModelKind>,

    /// What the target is [default: inferred from the column, never ordinal, count or duration]
    #[arg(long, value_enum, value_name = "TASK", help_heading = MODEL)]
    pub task: Option<Task>,

    /// Hidden units of a neural network; 0 is a generalised linear model [default: 10]
    ///
    /// The prior scales of the weights shrink with their number, so more units than needed do
    /// little harm but cost time. Implies --model mlp.
    #[arg(long, value_name = "N", help_heading = MODEL)]
    pub hidden: Option<usize>,

    /// Basis functions of every numeric input of a linear model
    ///
    /// polynomial:DEGREE, gaussian:WIDTH:CENTRE,CENTRE,… or fourier:PERIOD:TERMS, where widths,
    /// centres and periods are in the unit of the input. Indicators of text columns stay as they are.
    #[arg(long, value_name = "NAME:…", help_heading = MODEL)]
    pub basis: Option<BasisSpec>,

    /// How the probability of the second of two classes depends on f [default: logit]
    ///
    /// 1/(1 + exp(-f)), or with probit Φ(f), the normal distribution function, which implies --task binary.
    #[arg(long, value_enum, value_name = "LINK", help_heading = MODEL)]
    pub link: Option<Link>,

    /// Covariance function of a Gaussian process [default: squared-exponential]
    ///
    /// A sum (+) of products (*) of squared-exponential (se), matern-3/2, matern-5/2, exponential,
    /// rational-quadratic (rq), periodic, linear, constant and neural-network (nn); in brackets
    /// after a name the inputs it depends on, without them all. Implies --model gp.
    #[arg(long, value_name = "NAME[+NAME…]", help_heading = MODEL)]
    pub covariance: Option<String>,

    /// Nearest-neighbour approximation of a Gaussian process, for many rows
    ///
    /// Every row depends on the N nearest of the rows before it in place of all of them, so that
    /// time and memory grow with the number of rows and not with its cube and square. 30 is
    /// usual; real targets only. Implies --model gp.
    #[arg(long, value_name = "N", help_heading = MODEL)]
    pub neighbours: Option<NonZero<usize>>,

    /// Most components of a mixture [default: 6], or most principal components [default: columns - 1]
    ///
    /// Components that are not needed stay empty or are switched off, so the fit finds how many
    /// there are.
    #[arg(long, value_name = "N", help_heading = MODEL)]
    pub components: Option<NonZero<usize>>,

    /// Priors that the specification does not give [default: weakly-informative]
    #[arg(long, value_enum, value_name = "SET", help_heading = MODEL)]
    pub priors: Option<Priors>,

    /// One prior scale per input (automatic relevance determination), or one for all [default:
    /// common; mlp, gp: per-input]
    #[arg(long, value_enum, value_name = "SHARING", help_heading = MODEL)]
    pub relevance: Option<Relevance>,

    /// Distribution of the residuals, or of counts or durations [default: normal; poisson; weibull]
    ///
    /// poisson and negative-binomial are of counts about exp f, and imply --task count; weibull and
    /// log-normal are of durations about exp f, and imply --task duration.
    #[arg(long, value_enum, value_name = "FAMILY", help_heading = RESIDUAL)]
    pub residual: Option<Residual>,

    /// Columns that the residual scale depends on: one scale per class, log-linear in numbers
    ///
    /// Rows that agree in all columns of classes, or of numbers with at most ten different values, such
    /// as a laboratory or an instrument, share a residual scale; the scales have a common prior.
    /// Along other numbers the log of the scale is linear, and that of a new row is the one there;
    /// the slope (`residual_log_slope`) is normal about 0 with standard deviation 0.5 per standard
    /// deviation of the column (keys `slopes` and `slope_sd` of [residual]). Both may be given. The
    /// columns must be inputs.
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = RESIDUAL)]
    pub residual_by: Vec<String>,

    /// Student-t residuals: degrees of freedom of their own for each value of these columns
    ///
    /// The columns must be inputs that are classes, or numbers with few different values. Without the
    /// option all rows share them.
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = RESIDUAL)]
    pub dof_by: Vec<String>,

    /// Number of chains [default: 4; mlp: 16]
    #[arg(long, value_name = "N", aliases = ["num-chains", "num_chains"], help_heading = SAMPLING)]
    pub chains: Option<NonZero<usize>>,

    /// Sweeps of warm-up per chain, discarded [default: until the chains have settled, at most
    /// 1000; mlp: 400, gp: 250]
    #[arg(long, value_name = "N", help_heading = SAMPLING,
        aliases = ["iter-warmup", "iter_warmup", "num-warmup", "num_warmup"])]
    pub warmup: Option<usize>,

    /// Draws kept per chain, exactly [default: as many as are enough], or members of a committee
    /// [default: 10]; with --ess the most
    #[arg(long, value_name = "N", help_heading = SAMPLING,
        aliases = ["iter-sampling", "iter_sampling", "num-samples", "num_samples"])]
    pub draws: Option<NonZero<usize>>,

    /// Draw until there are N effective draws of the predictions [default: 400]
    ///
    /// What is enough: R-hat at most 1.01 (of ten chains or more 1.02) and N effective draws, of the
    /// bulk and of the tails, of fitted values, residual scale and log density; of linear models also of coefficients and
    /// scales, for at most three times as many draws. It is judged after
    /// 175, 250, 350, 500, 700, 1000, … draws per chain (of ten chains or more 100, 140, 200, …), and at
    /// last after ten times N (mlp: 2.5 times), at least 4000 (mlp: 1000).
    /// A number of --draws without --ess is drawn exactly.
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub ess: Option<f64>,

    /// Take at most this time, such as 10m, 90s or 1h30m; what was drawn by then is kept
    #[arg(long, value_name = "T", help_heading = SAMPLING)]
    pub time: Option<TimeBudget>,

    /// Sweeps per kept draw [default: 1]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub thin: Option<NonZero<usize>>,

    /// Markov kernel of the weights of a neural network, or of the hyperparameters of a Gaussian
    /// process [default: auto]
    #[arg(long, value_enum, value_name = "KERNEL", help_heading = SAMPLING)]
    pub kernel: Option<Kernel>,

    /// Starting points of the chains of a neural network or a Gaussian process [default: dispersed]
    #[arg(long, value_enum, value_name = "PLACE", help_heading = SAMPLING)]
    pub start: Option<Start>,

    /// Number of temperatures of replica exchange for a neural network or a Gaussian process; 1 is none
    /// [default: 1]
    ///
    /// With several modes a chain may stay in one of them. Replicas at higher temperatures, in which
    /// the likelihood counts less, move between modes; each costs as much as the chain itself.
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub temperatures: Option<NonZero<usize>>,

    /// Power β of the likelihood in prior × likelihood^β (linear, mlp, gp) [default: 1]
    ///
    /// 1 is the posterior. Below it the data count less; above it they count more than they are
    /// worth, up to the maximum of the likelihood at large β. Draws at any other than 1 are not
    /// draws of the posterior.
    #[arg(long, value_name = "BETA", help_heading = SAMPLING)]
    pub inverse_temperature: Option<f64>,

    /// What the inverse temperature is a power of [default: likelihood]
    ///
    /// A power of the prior is known where scales of weights are: fixed = a number in [prior.GROUP].
    #[arg(long, value_enum, value_name = "WHAT", help_heading = SAMPLING)]
    pub tempering: Option<Tempering>,

    /// Keep the log likelihood of every row under every draw if all of them take at most so many
    /// megabytes (not gp) [default: 256]
    ///
    /// They are what `az.loo` of ArviZ reads. Without them assess and compare compute what they
    /// need again from draws and data. Gaussian processes always keep them.
    #[arg(long, value_name = "MB", help_heading = SAMPLING)]
    pub log_lik_limit: Option<f64>,

    /// Where the model is computed: auto, cpu, cuda, or cuda:N for GPU number N [default: cpu]
    ///
    /// A GPU does Gaussian processes of real targets with normal residuals, which pays from some hundred
    /// rows on, and networks of up to 160 weights, which pays for many chains or folds. What it does not do
    /// the CPU does, and the fit says so; auto takes a GPU where there is one and it pays. `posteria device` says what is there.
    #[arg(long, value_name = "DEVICE", help_heading = SAMPLING)]
    pub device: Option<DeviceChoice>,

    /// Inference method [default: mcmc; mixture, pca: variational]
    #[arg(long, value_enum, value_name = "METHOD")]
    pub inference: Option<Inference>,

    /// Fit without fold I of K, I from 1: one unit of a cross-validation
    ///
    /// Rows are divided as `assess --method kfold --folds K` with the same seed divides them:
    /// groups stay together, classes have their shares, else at random.
    #[arg(long, value_name = "I/K", value_parser = fold)]
    pub fold: Option<(usize, usize)>,

    /// Run only chain I of those asked for, I from 1: one unit of a larger job
    ///
    /// Its draws are those that chain I of a whole run of the same --warmup and --draws has: 1000 of
    /// each (gp: 250; mlp: 400 and 250), unless they are given.
    #[arg(long, value_name = "I", help_heading = SAMPLING)]
    pub chain: Option<NonZero<usize>>,
}

/// Reads `I/K`.
fn fold(text: &str) -> Result<(usize, usize), String> {
    let parts = text
        .split_once('/')
        .and_then(|(index, count)| Some((index.trim().parse().ok()?, count.trim().parse().ok()?)));
    match parts {
        Some((index, count)) if (1..=count).contains(&index) && count > 1 => Ok((index, count)),
        Some((index, count)) => Err(format!(
            "there is no fold {index} of {count}; folds are counted from 1, K is at least 2"
        )),
        None => Err("give the fold and their number, for example 3/10".into()),
    }
}
