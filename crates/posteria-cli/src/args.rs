//! Parse what was typed.

mod assess;
mod check;
mod choices;
mod evidence;
mod fit;
mod predict;
mod read;
mod report;
mod select;
mod units;

pub use assess::{Assess, AssessMethod, Compare, How, Smoothed};
pub use check::Check;
pub use choices::{
    Inference, Kernel, Link, Missing, ModelKind, Priors, Relevance, Residual, Start, Task,
    Tempering,
};
pub use evidence::{Evidence, EvidenceMethod, Sensitivity};
pub use fit::Fit;
pub use predict::{By, ChainWeights, Choosing, DecisionRule, ModelWeights, Predict};
pub use read::{Diagnose, Export, ExportFormat, Resume, Summary, Verify};
pub use report::Report;
pub use select::{Choice, Select};
pub use units::{Collect, Join, Plan, Planned, PlannedSelect, RunUnit, Script, Scripted};

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  posteria demo                                       a tour with built-in data
  posteria fit houses.csv --target price --model linear --out runs/houses
  posteria fit houses.csv --target price --model mlp --out runs/network
  posteria fit houses.csv --target price --model gp --out runs/process
  posteria summary runs/houses
  posteria diagnose runs/houses
  posteria predict runs/houses new.csv --out predictions.csv
  posteria assess runs/houses                         how good will predictions be?
  posteria check runs/houses                          does the model describe the data?
  posteria compare runs/houses runs/network           which model predicts better?
  posteria report runs/houses --out houses.html
  posteria evidence runs/houses runs/network --method bridge
  posteria select houses.csv --target price --model gp --out runs/selection
  posteria export runs/houses --format csv --out houses-draws.csv
  posteria plan compare runs/houses runs/network --method kfold -o plan   for several machines

Exit codes: 0 done, 1 failed while running, 2 bad usage or bad input, 3 done but not to be \
trusted (only with --strict), 130 or 143 interrupted (what was drawn is kept).";

/// Fit Bayesian models to tables of data, and judge whether the answer can be trusted.
#[derive(Debug, Parser)]
#[command(name = "posteria", version, after_help = EXAMPLES)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print exactly one JSON object on stdout; everything else goes to stderr
    ///
    /// NaN and infinite numbers are written as null. When a command fails, stdout stays empty
    /// and stderr has one line that begins with `error:`. The folder docs/schema has a schema of
    /// every command.
    #[arg(long, global = true)]
    pub json: bool,

    /// Print no progress and no messages; errors and warnings still appear
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Use at most N threads [default: all cores]; the numbers do not depend on it
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Seed of every random number [default: 1]
    // TOML has no larger numbers.
    #[arg(long, global = true, value_name = "N",
        value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,

    /// Exit with code 3 when the diagnostics say not to trust the result
    #[arg(long, global = true)]
    pub strict: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take a tour, or repeat a published demonstration
    Demo(Demo),
    /// Sample the posterior of a model given a table of data
    Fit(Box<Fit>),
    /// Continue a run exactly where it stopped, or extend it
    Resume(Resume),
    /// Show the posterior: means, intervals, Monte Carlo errors
    Summary(Summary),
    /// Judge the convergence of a run, or of draws of any program
    Diagnose(Diagnose),
    /// Predict the targets of new rows: moments, quantiles, class probabilities, densities
    Predict(Predict),
    /// Estimate how well new rows will be predicted: leave-one-out, k-fold, held-out rows
    Assess(Box<Assess>),
    /// Check whether the model reproduces statistics of the data: posterior and leave-one-out
    Check(Check),
    /// Compare models by their predictions: which is better, and how sure is that?
    Compare(Box<Compare>),
    /// Write one page about runs: verdict, model, convergence, predictions
    Report(Report),
    /// Estimate log evidences (marginal likelihoods) and Bayes factors
    Evidence(Box<Evidence>),
    /// Select inputs: inclusion probabilities, and the smallest set that predicts as well as all
    Select(Box<Select>),
    /// Write draws in another format, thinned or batched
    Export(Export),
    /// Check every checksum of a run folder
    Verify(Verify),
    /// Divide work into units for several machines: folds, or chains
    Plan(Box<Plan>),
    /// Do units of a plan
    RunUnit(RunUnit),
    /// Put together what the units of a plan have found
    Collect(Collect),
    /// Put runs of single chains together
    Join(Join),
    /// Say which GPUs this machine has, and whether they compute what the CPU computes
    ///
    /// The test compiles kernels, which takes half a minute the first time; they are kept in
    /// posteria/kernels in the cache folder of the user. Fits use a GPU with --device.
    #[command(after_help = "Example:\n  posteria device")]
    Device,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  posteria completions bash > \
        ~/.local/share/bash-completion/completions/posteria")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page
    #[command(after_help = "Examples:\n  posteria man | man -l -\n  posteria man fit | man -l -")]
    Man {
        /// The command to describe [default: posteria itself]
        command: Option<String>,
    },
}

/// Take a tour, or repeat a published demonstration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria demo                 \
    the whole way on built-in data, in posteria-demo/\n  posteria demo --list\n  \
    posteria demo samplers --json\n  posteria demo two-class-mlp\n  \
    posteria demo noise-sensitivity --tables 100")]
pub struct Demo {
    /// The demonstration [default: the tour]
    #[arg(conflicts_with = "list")]
    pub name: Option<String>,

    /// List the demonstrations
    #[arg(long)]
    pub list: bool,

    /// Simulated tables of each kind of noise, for noise-sensitivity [default: 10]
    // A standard deviation over tables needs two.
    #[arg(long, value_name = "N", requires = "name",
        value_parser = clap::value_parser!(u16).range(2..=1000))]
    pub tables: Option<u16>,

    /// The study at the size that was published, where that takes longer than minutes; how long is
    /// said first
    #[arg(long, requires = "name")]
    pub full: bool,

    /// The folder to write to, with the page report.html in it [default: posteria-demo; of a
    /// demonstration posteria-demo/NAME]
    #[arg(long, short, value_name = "FOLDER", conflicts_with = "list")]
    pub out: Option<PathBuf>,

    /// Next to no draws: a test that everything runs
    #[arg(long, hide = true)]
    pub quick: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.clone().render_help().to_string();
            assert!(help.contains("Example"), "{} has no example", command.get_name());
            assert!(help.contains(&format!("posteria {}", command.get_name())));
        }
    }
}
