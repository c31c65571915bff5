//! Show the chains of a run one by one: how the sampler fared, and what they disagree about.

use posteria::assess::ChainScore;
use posteria::caution::{Caution, Question};
use posteria::diagnose::{FEWEST_DRAWS, Summary, divergences, energy_fractions};
use posteria::draws::{Draws, Statistics};
use posteria::model::spec::Spec;
use posteria_store::Run;
use serde::Serialize;

use super::super::Context;
use crate::advice::Advice;
use crate::chains::{Chained, Chains};
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::fitted::fitted;
use crate::interrupt::Interrupt;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed};
use crate::warning::Warning;

/// How the sampler fared in one chain, a statistic that does not apply being NaN; and what it says
/// about the rows, where chains disagree about that.
#[derive(Serialize)]
pub struct ChainFacts {
    /// From 0; words and tables count from 1.
    chain: usize,
    divergences: usize,
    bfmi: f64,
    acceptance_rate: f64,
    step_size: f64,
    n_steps: f64,
    #[serde(flatten)]
    of_rows: Option<ChainScore>,
}

/// The facts of every chain, beside what they say about the rows; none if the draws came without
/// statistics.
pub fn facts(draws: &Draws, of_rows: Option<&[ChainScore]>) -> Vec<ChainFacts> {
    if draws.statistics.is_empty() {
        return Vec::new();
    }
    let (fractions, divergences) = (energy_fractions(draws), divergences(draws));
    let chunks = draws.statistics.chunks_exact(draws.draws.max(1));
    let chain = |(chain, statistics): (usize, &[Statistics])| {
        let mean = |value: fn(&Statistics) -> f64| {
            statistics.iter().map(value).sum::<f64>() / statistics.len() as f64
        };
        ChainFacts {
            chain,
            divergences: divergences[chain],
            bfmi: fractions[chain],
            acceptance_rate: mean(|s| s.acceptance_rate),
            step_size: mean(|s| s.step_size),
            n_steps: mean(|s| s.n_steps),
            of_rows: of_rows.and_then(|all| all.get(chain)).cloned(),
        }
    };
    chunks.enumerate().map(chain).collect()
}

/// How the sampler fared, as text.
pub fn sampler_table(chains: &[ChainFacts]) -> String {
    if chains.is_empty() {
        return String::new();
    }
    let names = ["chain", "divergences", "bfmi", "acceptance_rate", "step_size", "n_steps"];
    let mut table = Table::new(&names);
    for chain in chains {
        table.row([
            (chain.chain + 1).to_string(),
            chain.divergences.to_string(),
            fixed(chain.bfmi, 2),
            fixed(chain.acceptance_rate, 3),
            fixed(chain.step_size, decimals_for(chain.step_size, 3)),
            fixed(chain.n_steps, 1),
        ]);
    }
    table.render()
}

/// Why chains have not drawn enough, and what they disagree about.
pub struct Looked {
    /// The cause, and its cure.
    pub advice: Advice,
    /// What each chain predicts of rows left out, where they disagree about predictions.
    pub chains: Option<Chains>,
    /// The same and more, as it is shown.
    pub each: Option<Vec<ChainScore>>,
}

/// Looks at the chains of the run in a folder, if `summary` gives reason to or `always`. `None` if
/// not, and for runs without targets or without their data.
pub fn look(
    run: &Run,
    (draws, summary): (&Draws, &Summary),
    always: bool,
    context: &Context,
) -> Result<Option<Looked>> {
    // A specification that cannot be read is another command's trouble.
    let Ok(spec) = Spec::from_toml(run.spec()) else { return Ok(None) };
    let is_doubted = always || summary.cautions.iter().any(Caution::is_of_chains);
    let has_data = run.training_data().map_err(store_failure)?.is_some();
    let is_known = has_data && !spec.model.kind.is_unsupervised() && draws.draws >= FEWEST_DRAWS;
    if !is_doubted || !is_known {
        return Ok(None);
    }
    // Nor is a run of an earlier version, whose draws are diagnosed all the same.
    let Ok(fitted) = fitted(run, &spec, None) else { return Ok(None) };
    let path = run.path();
    let advice = Advice::new(path, (&fitted, draws), None, context.threads);
    let chained = Chained { path, run, fitted: &fitted, draws };
    let disagree =
        always || advice.chains_disagree() || summary.cautions.iter().any(is_of_predictions);
    let mut looked = Looked { advice, chains: None, each: None };
    if disagree && chained.refusal().is_none() {
        let interrupt = Interrupt::listen().running()?;
        match chained.look(context.seed(), &context.workers(&interrupt)) {
            Ok(chains) => {
                looked.each = Some(chains.scores(draws, &looked.advice.agreement.distances));
                looked.chains = Some(chains);
            }
            // Log likelihoods that are no numbers: what else there is to say is said.
            Err(Failure::BadInput(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(Some(looked))
}

/// Whether chains disagree about predictions.
pub fn is_of_predictions(caution: &Caution) -> bool {
    matches!(caution, Caution::NotConverged { about: Question::Predictions, .. })
}

impl Looked {
    /// Everything to be careful about: what `summary` says, with the cures of the cause, after the
    /// verdict on the chains.
    pub fn warnings(&self, summary: &Summary) -> Vec<Warning> {
        let mut warnings: Vec<Warning> =
            self.advice.separated(&summary.cautions).into_iter().collect();
        warnings.extend(self.verdict());
        warnings.extend(self.advice.warnings(&summary.cautions));
        warnings
    }

    /// Which chains are worse than others, in one line.
    pub fn verdict(&self) -> Option<Warning> {
        let worse = self.chains.as_ref()?.worse_words();
        if self.advice.chains_disagree() {
            let fitted = self.advice.agreement.attained.fitted;
            let words = format!(
                "each chain moves freely, but in a place of its own (R-hat of predictions {}): {}",
                text::fixed(fitted.map_or(f64::NAN, |it| it.r_hat), 2),
                worse.unwrap_or_else(|| "none fits worse than the others".into())
            );
            return Some(Warning::new("chains-apart", &words).cured(self.advice.of_modes()));
        }
        let warning = Warning::new("chains-differ", &worse?);
        Some(match self.advice.of_cause() {
            Some(cure) => warning.cured(cure),
            None => warning,
        })
    }

    /// What the chains say about the rows, as text.
    pub fn render(&self) -> String {
        let (Some(chains), Some(each)) = (&self.chains, &self.each) else { return String::new() };
        let mut text = heading("What the chains say about the rows of the fit");
        let has_error = each.iter().any(|chain| chain.training_error.is_some());
        let error = if has_error { "training_error" } else { "log_likelihood" };
        let names = [
            "chain",
            "log_density",
            "sd",
            error,
            "elpd_loo",
            "elpd_diff",
            "dse",
            "bad_k",
            "distance",
            "weight",
        ];
        let mut table = Table::new(&names);
        for (index, chain) in each.iter().enumerate() {
            let fit = match chain.training_error {
                Some(error) => text::significant(error, 3),
                None => fixed(chain.log_likelihood, 1),
            };
            table.row([
                (index + 1).to_string(),
                fixed(chain.log_density, 1),
                fixed(chain.log_density_sd, 1),
                fit,
                fixed(chain.elpd_loo, 1),
                fixed(chain.elpd_diff, 1),
                fixed(chain.dse, 1),
                chain.pareto_k_bad.to_string(),
                fixed(chain.distance.unwrap_or(f64::NAN), 2),
                fixed(chain.weight, 2),
            ]);
        }
        text.push_str(&table.render());
        text.push_str(&text::wrapped(&notes(chains), 0, super::WIDTH));
        text.push('\n');
        text
    }
}

/// What the columns of the table are.
fn notes(chains: &Chains) -> String {
    format!(
        "elpd_loo: log predictive density of {}, each left out by importance sampling within the \
         chain, which fails for bad_k of them; elpd_diff ± dse: less that of the best chain, with \
         its standard error over rows. log_density: mean and sd over the draws of the chain. \
         distance: of its means of f from those of all chains, in standard deviations of f, root \
         mean square over rows. weight: by stacking (predict --chains stacked)",
        chains.of_rows()
    )
}
