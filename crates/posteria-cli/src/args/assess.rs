//! Parse the options of `posteria assess`.

use std::path::PathBuf;

use clap::Args;

/// Estimate how well new rows are predicted, by leaving out every row in turn.
///
/// Works from the log likelihood of every row under every draw, whoever made them: rows are left
/// out by Pareto-smoothed importance sampling (PSIS-LOO), without fitting anew. Numbers are on the
/// log scale, higher is better. Pareto k says for each row whether its part can be trusted: good
/// up to 0.5, ok up to the limit min(1 - 1/log10(S), 0.7) for S draws, bad above it. m_eff is the
/// effective number of draws that carry the estimate of a row.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria assess --log-lik loglik.csv\n  \
    posteria assess --log-lik output_1.csv output_2.csv   CmdStan files with log_lik\n  \
    posteria assess --log-lik loglik.csv --pointwise rows.csv --json")]
pub struct Assess {
    /// Log likelihoods: CSV with columns chain, draw and one per observation, or CmdStan files
    ///
    /// Without a column `chain` a file is one chain; several files are several chains. If there is
    /// an array `log_lik`, its elements are the observations and other columns are ignored.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub log_lik: Vec<PathBuf>,

    /// Write one line per observation into this CSV file: elpd, Pareto k, m_eff, …
    #[arg(long, value_name = "FILE")]
    pub pointwise: Option<PathBuf>,

    /// Relative efficiency of the draws, effective size over number [default: that of the
    /// likelihoods; 1 for one chain]
    #[arg(long, value_name = "R", value_parser = positive)]
    pub relative_efficiency: Option<f64>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a positive number is needed, 1 for independent draws".into()),
    }
}
