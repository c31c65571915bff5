//! Parse the options of the commands that divide work among machines.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Assess, Compare, Evidence, Fit, Select};

/// Divide work into units that any number of machines can do, in any order.
///
/// A plan is a folder: copies of the runs, and a list of units that need nothing of each other, the
/// folds of every model, the chains of a fit, or ladders of temperatures. Each is done by posteria
/// run-unit, wherever the plan can be read and written; posteria collect puts together what they found,
/// and leaves what the command by itself would have left, bit for bit. Where units depend on what others
/// found, collect adds them as the next stage of the plan, and says so.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  posteria plan compare runs/linear runs/network --method kfold -o plan
  xargs -n 1 -P 4 posteria run-unit plan < plan/order.txt          four at once, here
  posteria collect plan
  posteria plan assess runs/houses --method kfold --repeats 5 -o plan --script slurm
  posteria plan fit houses.csv --target price --model mlp --warmup 400 --draws 1000 -o plan
  posteria plan evidence runs/linear runs/network -o plan --script sh

plan/order.txt has the numbers of the units that are not done, those that take longest first.")]
pub struct Plan {
    /// What is divided
    #[command(subcommand)]
    pub action: Planned,
}

/// What can be divided.
#[derive(Debug, Subcommand)]
pub enum Planned {
    /// The chains of a fit, each a unit: with --draws N and --warmup W, so that none waits for others
    #[command(
        after_help = "Example:\n  posteria plan fit houses.csv --target price --warmup 500 --draws \
            1000 -o plan",
        mut_arg("out", |it| it.value_name("PLAN").help("Folder of the plan to create").required(true))
    )]
    Fit(Box<PlannedFit>),
    /// The folds of a run, each a unit, or each chain of them
    #[command(
        after_help = "Examples:\n  posteria plan assess runs/houses --method kfold --folds 10 -o plan\n  \
            posteria plan assess runs/houses --method kfold --folds 4 --unit chain -o plan\n\n\
            Folds in which inputs are chosen anew (nested cross-validation): posteria plan select --nested."
    )]
    Assess(Box<PlannedAssess>),
    /// The folds of every run, each a unit, or each chain of them
    #[command(
        after_help = "Example:\n  posteria plan compare runs/linear runs/network --method kfold -o plan"
    )]
    Compare(Box<PlannedCompare>),
    /// The ladders of temperatures of every model, each a unit, once their temperatures are placed
    #[command(
        after_help = "Example:\n  posteria plan evidence runs/linear runs/network --method path,bridge \
            -o plan\n\nThe temperatures of each model are one unit; collecting them adds the ladders, \
            which begin there.\nWith --schedule power the ladders are there from the beginning. What is \
            no ladder (annealing,\nimportance weights, modes) is done when the plan is collected."
    )]
    Evidence(Box<PlannedEvidence>),
    /// The chains of a search over input sets, then the fits of the choice: with --draws N and --warmup W
    #[command(
        after_help = "Examples:\n  posteria plan select houses.csv --target price --warmup 500 --draws \
            1000 --run runs/inputs -o plan\n  posteria plan select runs/inputs --nested 5 -o plan\n\n\
            The chains of the search are the first stage; collecting them adds the fits to the sets that \
            the choice\nis likely to need, then their folds, then what it needs besides.",
        mut_arg("out", |it| it.value_name("PLAN").help("Folder of the plan to create").required(true))
    )]
    Select(Box<PlannedSelect>),
}

/// The chains of a fit.
#[derive(Debug, Args)]
pub struct PlannedFit {
    /// The fit.
    #[command(flatten)]
    pub fit: Fit,
    /// The script.
    #[command(flatten)]
    pub script: Scripted,
}

/// The folds of a run.
#[derive(Debug, Args)]
pub struct PlannedAssess {
    /// The assessment.
    #[command(flatten)]
    pub assess: Assess,
    /// Folder of the plan to create
    #[arg(long, short, value_name = "PLAN")]
    pub out: PathBuf,
    /// The units.
    #[command(flatten)]
    pub units: FoldUnits,
    /// The script.
    #[command(flatten)]
    pub script: Scripted,
}

/// The folds of several runs.
#[derive(Debug, Args)]
pub struct PlannedCompare {
    /// The comparison.
    #[command(flatten)]
    pub compare: Compare,
    /// Folder of the plan to create
    #[arg(long, short, value_name = "PLAN")]
    pub out: PathBuf,
    /// The units.
    #[command(flatten)]
    pub units: FoldUnits,
    /// The script.
    #[command(flatten)]
    pub script: Scripted,
}

/// What a unit of folds is.
#[derive(Debug, Clone, Copy, Args)]
pub struct FoldUnits {
    /// What a unit is [default: fold]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub unit: Option<FoldUnit>,
}

impl FoldUnits {
    /// Whether every chain of a fold is one.
    pub fn are_chains(&self) -> bool {
        self.unit == Some(FoldUnit::Chain)
    }
}

/// A unit of folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FoldUnit {
    /// A fold with all its chains, and what its predictions are worth
    Fold,
    /// Every chain of a fold: more units than folds, where each takes long; collect then values their
    /// predictions. What has no chains is one unit still
    Chain,
}

/// The ladders of models.
#[derive(Debug, Args)]
pub struct PlannedEvidence {
    /// The evidence.
    #[command(flatten)]
    pub evidence: Evidence,
    /// Folder of the plan to create
    #[arg(long, short, value_name = "PLAN")]
    pub out: PathBuf,
    /// The script.
    #[command(flatten)]
    pub script: Scripted,
}

/// A search over input sets, and the choice of one.
#[derive(Debug, Args)]
pub struct PlannedSelect {
    /// The search, and the choice.
    #[command(flatten)]
    pub select: Select,
    /// Run folder to create [default: named after the data]
    #[arg(long, value_name = "RUN")]
    pub run: Option<PathBuf>,
    /// The script.
    #[command(flatten)]
    pub script: Scripted,
}

/// Which script goes with a plan.
#[derive(Debug, Clone, Copy, Args)]
pub struct Scripted {
    /// Also write a script into the plan that runs all units, and collects
    #[arg(long, value_enum, value_name = "KIND")]
    pub script: Option<Script>,
}

/// A script that runs all units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Script {
    /// PLAN/run.sh: by xargs on this machine, as many at once as it has cores
    Sh,
    /// PLAN/submit.sh: an array job of Slurm, and a job that collects when it has ended
    Slurm,
}

/// Do units of a plan.
///
/// A unit that was stopped goes on from its last checkpoint, whoever began it. Its result appears at
/// once and whole: a unit may be repeated, and run twice at the same time. One thread is used unless
/// --threads says otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  posteria run-unit plan 3\n  posteria run-unit plan 3 17 31\n  \
    xargs -n 1 -P 4 posteria run-unit plan < plan/order.txt\n  \
    parallel posteria run-unit plan :::: plan/order.txt"
)]
pub struct RunUnit {
    /// The folder of the plan
    pub plan: PathBuf,

    /// Numbers of the units, from 1
    #[arg(required = true, value_name = "UNIT")]
    pub units: Vec<usize>,
}

/// Put together what the units of a plan have found.
///
/// Folds go into the folders of the runs, and the assessment or comparison is printed as the command by
/// itself would have; chains become a run; ladders become evidences. Units that are missing are named,
/// and what is there is kept. Where what was found tells what to do next, units are added to the plan:
/// do them, and collect again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria collect plan\n  posteria collect plan --json\n  \
    posteria collect plan --out runs/houses            the run, of a plan of chains")]
pub struct Collect {
    /// The folder of the plan
    pub plan: PathBuf,

    /// Of a plan of a fit: the run folder to create
    #[arg(long, short, value_name = "RUN")]
    pub out: Option<PathBuf>,
}

/// Put runs of single chains together.
///
/// The runs were made by posteria fit --chain I, of the same data and specification; the run that comes of
/// them is the one that all chains would have been together, bit for bit.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  posteria join runs/chain1 runs/chain2 runs/chain3 --out runs/all"
)]
pub struct Join {
    /// The runs, one for every chain
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Run folder to create
    #[arg(long, short, value_name = "RUN")]
    pub out: PathBuf,
}
