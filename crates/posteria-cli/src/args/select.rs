//! Parse the options of `select`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use posteria::model::spec::InclusionPriorSpec;
use posteria::select::ChoiceOptions;

use super::{AssessMethod, Fit, How};

const CHOICE: &str = "Choice of a set";

const EXAMPLES: &str = "\
Examples:
  posteria select houses.csv --target price --model mlp --out runs/selection
  posteria select houses.csv --target price --model gp --set-prior beta-binomial:5,10 --out runs/gp
  posteria select houses.csv --target price --always area --json
  posteria select houses.csv --target price --utility rmse --tolerance 0.5 --out runs/selection
  posteria select --spec model.toml --no-choice --out runs/selection
  posteria select runs/selection --leave-out          what is lost without each input
  posteria select runs/selection --nested 5           what is the choice worth for new rows?
  posteria select runs/selection                      reports on a run that samples input sets, and
                                                      goes on with its choice

docs/spec.md tells of [selection], which has every prior and proposal.";

/// Select inputs: inclusion probabilities, and the smallest set that predicts as well as all.
///
/// Takes the options of `fit`. DATA may also be the folder of a run that was fitted with a
/// [selection] section. Without --out the run folder is named after the data.
///
/// First, reversible jumps sample which inputs are in the model. Candidates are then the k most probable
/// inputs, for as many k as it takes to know the smallest that will do (--largest for every k), and the most
/// probable sets. The model with each of them, and with all inputs, is fitted, into the folder `sets` of the
/// run, and judged by leave-one-out (or by --folds). Chosen is the
/// smallest set that predicts as well as all inputs: the probability that all inputs are better is
/// below 0.95, or with --tolerance D the probability that they are better by more than D is below 0.05. Fits
/// are kept: after Ctrl-C the same command goes on, and so does `posteria select RUN`.
///
/// The utility of the chosen set is a little optimistic, since the same rows chose it; --nested K repeats
/// search and choice in folds and tells how much.
///
/// Measures of importance are shown beside the probability of every input: its relevance, the average
/// change of predictions with it, and with --leave-out what predictions lose without it.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct Select {
    /// The fit.
    #[command(flatten)]
    pub fit: Fit,

    /// Prior of input sets [default: uniform-models]
    ///
    /// uniform-models, uniform-sizes, binomial:P, beta-binomial:A,B, or expected:MEAN,SD: the
    /// beta-binomial prior whose number of inputs has this mean and standard deviation. A
    /// specification file may give the probability of every size or of every input.
    #[arg(long, value_name = "PRIOR", value_parser = set_prior, help_heading = "Input sets")]
    pub set_prior: Option<InclusionPriorSpec>,

    /// Inputs that are always in the model
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = "Input sets")]
    pub always: Vec<String>,

    /// An input that may be in only with others
    ///
    /// As area*age:area,age: an interaction or a power only beside what it is made of. Each is in with
    /// probability 0.5 (or --set-prior binomial:P) given that those it requires are.
    #[arg(long, value_name = "COL:COL,..", num_args = 1.., value_parser = requires,
        help_heading = "Input sets")]
    pub requires: Vec<(String, Vec<String>)>,

    /// The choice of a set.
    #[command(flatten)]
    pub choice: Choice,
}

/// How a set is chosen.
#[derive(Debug, Clone, Args)]
pub struct Choice {
    /// No choice by predictive performance: the median probability model instead
    #[arg(long, help_heading = CHOICE)]
    pub no_choice: bool,

    /// Utility [default: elpd]
    #[arg(long, value_name = "U", help_heading = CHOICE)]
    pub utility: Option<String>,

    /// Smaller values of a formula are better
    #[arg(long, help_heading = CHOICE)]
    pub smaller_is_better: bool,

    /// How much worse than all inputs a set may be, in the unit of the utility (of elpd: per row)
    ///
    /// Without it sets count as good as all inputs until the difference is beyond doubt.
    #[arg(long, value_name = "D", value_parser = tolerance, help_heading = CHOICE)]
    pub tolerance: Option<f64>,

    /// Probability of error that is allowed [default: 0.05]
    #[arg(long, value_name = "P", value_parser = level, help_heading = CHOICE)]
    pub level: Option<f64>,

    /// Judge the k most probable inputs for every k up to K [default: those near the choice]
    ///
    /// By default k begins at the number of inputs more probable than not, and goes down or up from there
    /// until the smallest k is known that is as good as all inputs.
    #[arg(long, value_name = "K", help_heading = CHOICE)]
    pub largest: Option<NonZero<usize>>,

    /// Number of most probable sets besides these [default: 3, if not larger than the choice]
    #[arg(long, value_name = "N", help_heading = CHOICE)]
    pub sets: Option<usize>,

    /// Number of folds [default: none, leave-one-out by importance sampling]
    ///
    /// Every set is then fitted once more without each fold. Rows that belong together (group in the
    /// specification) are always divided, into 10 folds if nothing else is said.
    #[arg(long, value_name = "K", help_heading = CHOICE)]
    pub folds: Option<NonZero<usize>>,

    /// Draws of every chain of a set and of its folds [default: 2000 by all chains together]
    #[arg(long, value_name = "N", help_heading = CHOICE)]
    pub fold_draws: Option<NonZero<usize>>,

    /// Also fit without each input in turn, and report the loss
    ///
    /// As many sets more as there are inputs.
    #[arg(long, conflicts_with = "no_choice", help_heading = CHOICE)]
    pub leave_out: bool,

    /// Nested cross-validation: repeat search and choice without each of K folds
    ///
    /// Estimates how well the chosen set predicts new rows, which its own utility overstates since
    /// the same rows chose it. Takes K times as long as everything before.
    #[arg(long, value_name = "K", conflicts_with = "no_choice", help_heading = CHOICE)]
    pub nested: Option<NonZero<usize>>,
}

impl Choice {
    /// How sets are assessed, with chains of so many draws: by leave-one-out, or by folds where they
    /// were asked for or rows belong together.
    /// How a set is chosen.
    pub fn options(&self) -> ChoiceOptions {
        ChoiceOptions {
            tolerance: self.tolerance,
            level: self.level,
            largest: self.largest.map(NonZero::get),
            sets: self.sets,
        }
    }

    pub fn how(&self, draws: NonZero<usize>, grouped: bool) -> How {
        let divided = grouped || self.folds.is_some();
        How {
            method: Some(if divided { AssessMethod::Kfold } else { AssessMethod::Loo }),
            refit: (!divided).then_some(0),
            utility: vec![self.utility.clone().unwrap_or_else(|| "elpd".into())],
            smaller_is_better: self.smaller_is_better,
            folds: self.folds,
            fold_draws: Some(draws),
            ..How::default()
        }
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value >= 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a number from 0 on is needed".into()),
    }
}

fn level(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value <= 0.5 => Ok(value),
        _ => Err("a probability above 0 and at most 0.5 is needed".into()),
    }
}

impl Select {
    /// The run folder, if DATA is one.
    pub fn run(&self) -> Option<&PathBuf> {
        self.fit.data.as_ref().filter(|path| path.is_dir())
    }
}

/// Reads a prior of input sets.
fn set_prior(text: &str) -> Result<InclusionPriorSpec, String> {
    let known = "uniform-models, uniform-sizes, binomial:P, beta-binomial:A,B or expected:MEAN,SD";
    let refused = || format!("expected {known}");
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let numbers: Result<Vec<f64>, _> =
        numbers.split(',').filter(|n| !n.is_empty()).map(str::parse).collect();
    let numbers = numbers.map_err(|_| refused())?;
    match (name, &numbers[..]) {
        ("uniform-models", []) => Ok(InclusionPriorSpec::UniformModels),
        ("uniform-sizes", []) => Ok(InclusionPriorSpec::UniformSizes),
        ("binomial", [p]) => Ok(InclusionPriorSpec::Binomial(*p)),
        ("expected", [mean, sd]) => Ok(InclusionPriorSpec::Expected([*mean, *sd])),
        ("beta-binomial", [a, b]) => Ok(InclusionPriorSpec::BetaBinomial([*a, *b])),
        _ => Err(refused()),
    }
}

/// Reads an input and those that it may be in with.
fn requires(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, required) = text.split_once(':').unwrap_or((text, ""));
    let required: Vec<String> = required.split(',').map(str::trim).map(String::from).collect();
    match name.is_empty() || required.iter().any(String::is_empty) {
        true => Err("expected an input and those it requires, as c:a,b".into()),
        false => Ok((name.into(), required)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_are_read_or_refused() {
        assert_eq!(set_prior("uniform-sizes"), Ok(InclusionPriorSpec::UniformSizes));
        let beta = InclusionPriorSpec::BetaBinomial([5.0, 10.0]);
        assert_eq!(set_prior("beta-binomial:5,10"), Ok(beta));
        assert_eq!(set_prior("expected:3,1.5"), Ok(InclusionPriorSpec::Expected([3.0, 1.5])));
        for text in ["", "beta-binomial", "binomial:x", "beta-binomial:1", "uniform-models:1"] {
            assert!(set_prior(text).is_err(), "{text}");
        }
    }
}
