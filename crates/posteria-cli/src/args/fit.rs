//! Parse the options of `fit`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  posteria fit houses.csv --target price --model linear --out runs/houses
  posteria fit houses.csv --target price --inputs area rooms --chains 8 --out runs/small
  posteria fit houses.csv --target price --dry-run
  posteria fit houses.csv --target price --model mlp --inference committee --out runs/committee
  posteria fit --spec model.toml --out runs/model
  posteria fit --spec runs/houses/spec.toml --out runs/again      repeats a run bit for bit";

/// Sample the posterior of a model given a table of data.
///
/// DATA is CSV, TSV or whitespace-separated text, with or without a header. Text columns become
/// indicator columns. Inputs and real targets are standardised unless --no-standardize; every
/// number shown is on your scale. Flags win over the specification file.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct Fit {
    /// Table of data: CSV, TSV or whitespace-separated text
    #[arg(value_name = "DATA")]
    pub data: Option<PathBuf>,

    /// Column or columns to be explained
    #[arg(long, value_name = "COL", num_args = 1..)]
    pub target: Vec<String>,

    /// Kind of model [default: linear]
    #[arg(long, value_enum, value_name = "KIND")]
    pub model: Option<ModelKind>,

    /// Run folder to create
    #[arg(long, short, value_name = "RUN")]
    pub out: Option<PathBuf>,

    /// Take everything that flags do not say from this file (TOML)
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,

    /// Print the model and its priors in words; sample nothing
    #[arg(long)]
    pub dry_run: bool,

    /// What the target is [default: inferred from the column]
    #[arg(long, value_enum, value_name = "TASK")]
    pub task: Option<Task>,

    /// Columns that explain the target [default: all others]
    #[arg(long, value_name = "COL", num_args = 1..)]
    pub inputs: Vec<String>,

    /// Column that says which rows belong together
    #[arg(long, value_name = "COL")]
    pub group: Option<String>,

    /// What to do with rows that have an empty cell [default: error]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub missing: Option<Missing>,

    /// Leave inputs and targets on their own scale
    #[arg(long)]
    pub no_standardize: bool,

    /// The first line of DATA holds the names of the columns [default: found out]
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,

    /// The first line of DATA is a row of data
    #[arg(long)]
    pub no_header: bool,

    /// Hidden units of a neural network; 0 is a generalised linear model [default: 10]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,

    /// Table of test rows whose error a neural network records with every draw
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,

    /// Distribution of the residuals [default: normal]
    #[arg(long, value_enum, value_name = "FAMILY")]
    pub residual: Option<Residual>,

    /// Columns whose values have a residual scale of their own
    #[arg(long, value_name = "COL", num_args = 1..)]
    pub residual_by: Vec<String>,

    /// Whether every input has a prior scale of its own [default: common; mlp: per-input]
    #[arg(long, value_enum, value_name = "SHARING")]
    pub relevance: Option<Relevance>,

    /// Number of chains [default: 4]
    #[arg(long, value_name = "N", aliases = ["num-chains", "num_chains"])]
    pub chains: Option<NonZero<usize>>,

    /// Sweeps of warm-up per chain, discarded [default: 1000]
    #[arg(long, value_name = "N", aliases = ["iter-warmup", "iter_warmup", "num-warmup", "num_warmup"])]
    pub warmup: Option<usize>,

    /// Draws kept per chain [default: 1000], or members of a committee [default: 10]
    #[arg(long, value_name = "N",
        aliases = ["iter-sampling", "iter_sampling", "num-samples", "num_samples"])]
    pub draws: Option<NonZero<usize>>,

    /// Sweeps per kept draw [default: 1]
    #[arg(long, value_name = "N")]
    pub thin: Option<NonZero<usize>>,

    /// Covariance functions of a Gaussian process
    #[arg(long, hide = true)]
    pub covariance: Option<String>,

    /// How the posterior is found [default: mcmc]
    #[arg(long, value_enum, value_name = "METHOD")]
    pub inference: Option<Inference>,

    /// One fold of a larger job, I/K
    #[arg(long, hide = true)]
    pub fold: Option<String>,

    /// One chain of a larger job
    #[arg(long, hide = true)]
    pub chain: Option<usize>,
}

/// Kinds of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelKind {
    /// A linear function of the inputs
    Linear,
    /// A neural network with one hidden layer
    Mlp,
    #[value(hide = true)]
    Gp,
    #[value(hide = true)]
    Mixture,
    #[value(hide = true)]
    Pca,
}

/// What the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// Real numbers
    Regression,
    /// Two classes
    Binary,
    /// More than two classes
    Multiclass,
}

/// What to do with rows that have an empty cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Refuse, and name the cells
    Error,
    /// Leave the rows out, and say how many
    Drop,
}

/// Distribution of the residuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Residual {
    /// Normal with one variance
    Normal,
    /// Student's t with unknown degrees of freedom (mlp)
    StudentT,
    /// Laplace (mlp)
    Laplace,
    /// Normal with a variance of its own for every row (mlp)
    PerCase,
}

/// Relevance of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Relevance {
    /// One scale per input
    PerInput,
    /// One scale for all
    Common,
}

/// How the posterior is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Inference {
    /// By Markov chains
    Mcmc,
    #[value(hide = true)]
    Laplace,
    #[value(hide = true)]
    Variational,
    /// Not at all: networks trained with early stopping take its place (mlp)
    Committee,
}
