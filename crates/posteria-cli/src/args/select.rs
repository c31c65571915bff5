//! Parse the options of `select`.

use std::path::PathBuf;

use clap::Args;
use posteria::model::spec::InclusionPriorSpec;

use super::Fit;

const EXAMPLES: &str = "\
Examples:
  posteria select houses.csv --target price --model mlp --out runs/selection
  posteria select houses.csv --target price --model gp --set-prior beta-binomial:5,10 --out runs/gp
  posteria select houses.csv --target price --always area --json
  posteria select --spec model.toml --out runs/selection
  posteria select runs/selection                      reports on a run that samples input sets

docs/spec.md tells of [selection], which has every prior and proposal.";

/// Sample which inputs are in the model, and tell how probable every input and set is.
///
/// Takes the options of `fit`. DATA may also be the folder of a run that was fitted with a
/// [selection] section. Without --out the run folder is named after the data.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Select {
    /// The fit.
    #[command(flatten)]
    pub fit: Fit,

    /// Prior of input sets [default: uniform-models]
    ///
    /// uniform-models, uniform-sizes, binomial:P or beta-binomial:A,B; a specification file may
    /// give the probability of every size or of every input.
    #[arg(long, value_name = "PRIOR", value_parser = set_prior, help_heading = "Input sets")]
    pub set_prior: Option<InclusionPriorSpec>,

    /// Inputs that are in every set
    #[arg(long, value_name = "COL", num_args = 1.., help_heading = "Input sets")]
    pub always: Vec<String>,
}

impl Select {
    /// The run folder, if DATA is one.
    pub fn run(&self) -> Option<&PathBuf> {
        self.fit.data.as_ref().filter(|path| path.is_dir())
    }
}

/// Reads a prior of input sets.
fn set_prior(text: &str) -> Result<InclusionPriorSpec, String> {
    let known = "uniform-models, uniform-sizes, binomial:P or beta-binomial:A,B";
    let refused = || format!("expected {known}");
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let numbers: Result<Vec<f64>, _> =
        numbers.split(',').filter(|n| !n.is_empty()).map(str::parse).collect();
    let numbers = numbers.map_err(|_| refused())?;
    match (name, &numbers[..]) {
        ("uniform-models", []) => Ok(InclusionPriorSpec::UniformModels),
        ("uniform-sizes", []) => Ok(InclusionPriorSpec::UniformSizes),
        ("binomial", [p]) => Ok(InclusionPriorSpec::Binomial(*p)),
        ("beta-binomial", [a, b]) => Ok(InclusionPriorSpec::BetaBinomial([*a, *b])),
        _ => Err(refused()),
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
        for text in ["", "beta-binomial", "binomial:x", "beta-binomial:1", "uniform-models:1"] {
            assert!(set_prior(text).is_err(), "{text}");
        }
    }
}
