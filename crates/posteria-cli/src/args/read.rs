//! Parse the options of the commands that read draws.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use posteria::model::spec::{DeviceChoice, TimeBudget};

/// Continue a run exactly where it stopped, or extend it.
///
/// The draws are those that an uninterrupted run would have given, bit for bit. The data file
/// must be the one that the run was started with.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria resume runs/houses                 \
    completes what was asked for\n  posteria resume runs/houses --draws 5000    \
    extends every chain to 5000 draws\n  posteria resume runs/houses --ess 1000      \
    until there are 1000 effective draws")]
pub struct Resume {
    /// The run folder
    pub run: PathBuf,

    /// Total number of draws per chain [default: what was asked for]; with --ess the most
    #[arg(long, value_name = "N",
        aliases = ["iter-sampling", "iter_sampling", "num-samples", "num_samples"])]
    pub draws: Option<NonZero<usize>>,

    /// Go on until there are N effective draws of the predictions
    #[arg(long, value_name = "N")]
    pub ess: Option<f64>,

    /// Take at most this time, such as 10m, 90s or 1h30m; what was drawn by then is kept
    #[arg(long, value_name = "T")]
    pub time: Option<TimeBudget>,

    /// The data file, if it was moved; its content must be the same
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,

    /// Go on elsewhere: auto, cpu, cuda, or cuda:N for GPU number N [default: as before]
    ///
    /// A run goes on bit for bit on the same kind of chip only; elsewhere it has other draws of the
    /// same posterior from here on.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceChoice>,
}

/// Show the posterior: means, intervals, Monte Carlo errors.
///
/// Also works while the run goes on. Of a neural network it shows the relevance of the inputs, the
/// scales, the residual model and the errors; weights, which are not identified, and fitted values
/// are counted in one line each. JSON always holds everything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria summary runs/houses\n  \
    posteria summary runs/network --all\n  \
    posteria summary runs/houses --json | jq '.variables[] | {name, mean, sd}'")]
pub struct Summary {
    /// The run folder
    pub run: PathBuf,

    /// Show every component, also weights that are not identified and fitted values
    #[arg(long)]
    pub all: bool,

    /// Show every column, also those that do not fit into 80 characters
    #[arg(long)]
    pub wide: bool,
}

/// Judge the convergence of a run, or of draws of any program.
///
/// Takes a run folder (also while the run goes on), a CSV file with a `chain` column, or CmdStan
/// CSV files, one per chain.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria diagnose runs/houses\n  \
    posteria diagnose draws.csv\n  posteria diagnose output_1.csv output_2.csv output_3.csv")]
pub struct Diagnose {
    /// A run folder, or files of draws
    #[arg(required = true, value_name = "RUN|FILE")]
    pub paths: Vec<PathBuf>,

    /// Show every component, also weights that are not identified and fitted values
    #[arg(long)]
    pub all: bool,
}

/// Write draws in another format, thinned or batched.
///
/// The result appears under its name only when it is complete.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria export runs/houses --format csv --out draws.csv\n  \
    posteria export runs/houses --format stan-csv --out houses\n  \
    posteria export runs/houses --format json --thin 10 --out thinned.json\n  \
    posteria export runs/houses --format csv --batch 50 --batch-by 'quantile(y, 0.9)' --out q90.csv\n  \
    posteria export runs/houses --format zarr --prior 500 --out checks.zarr")]
pub struct Export {
    /// The run folder
    pub run: PathBuf,

    /// Format of the result
    #[arg(long, value_enum)]
    pub format: ExportFormat,

    /// File or folder to create [default: RUN's name with the format's ending]
    #[arg(long, short, value_name = "PATH")]
    pub out: Option<PathBuf>,

    /// Leave out the first N draws of every chain
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub burn: usize,

    /// Keep every N-th draw
    #[arg(long, value_name = "N")]
    pub thin: Option<NonZero<usize>>,

    /// Stop at draw N of every chain, counted from 1
    #[arg(long, value_name = "N")]
    pub last: Option<NonZero<usize>>,

    /// Replace every N draws of a chain by one
    #[arg(long, value_name = "N")]
    pub batch: Option<NonZero<usize>>,

    /// What a batch is replaced by: mean, median, or a formula of its draws y of a component
    ///
    /// A formula over functions of all draws of the batch: mean, sum, sd, min, max, median, skewness,
    /// autocorrelation of a formula of y, and quantile(y, P).
    #[arg(long, value_name = "FUNCTION", requires = "batch", default_value = "mean")]
    pub batch_by: String,

    /// Also draw N times from the prior: the groups prior and prior_predictive of a Zarr store
    #[arg(long, value_name = "N")]
    pub prior: Option<NonZero<usize>>,
}

/// Formats of exported draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One table: chain, draw, statistics, variables
    Csv,
    /// A Zarr store that ArviZ and xarray open
    Zarr,
    /// One JSON object
    Json,
    /// One CmdStan file per chain
    StanCsv,
}

/// Check every checksum of a run folder.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  posteria verify runs/houses")]
pub struct Verify {
    /// The run folder
    pub run: PathBuf,
}
