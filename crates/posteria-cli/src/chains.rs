//! Look at the chains of a run one by one: what each predicts of rows that are left out.

mod stacked;

use std::ops::Deref;
use std::path::Path;

use posteria::assess::{ChainsRefused, FitChains};
use posteria::draws::Draws;
use posteria::fit::{Prepared, Workers};
use posteria::random::Seed;
use posteria_store::Run;

pub use self::stacked::render;
use crate::failure::{Failure, Result, store_failure};
use crate::text::{self, fixed};

/// Chains that are named one by one.
const NAMED: usize = 4;

/// A run whose chains are looked at.
pub struct Chained<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// Its folder as it was opened.
    pub run: &'a Run,
    /// Its specification, data and model.
    pub fitted: &'a Prepared,
    /// All of its draws.
    pub draws: &'a Draws,
}

/// What each chain of a run predicts of rows left out.
pub struct Chains(FitChains);

impl Deref for Chains {
    type Target = FitChains;

    fn deref(&self) -> &FitChains {
        &self.0
    }
}

impl Chained<'_> {
    /// Why the chains cannot be judged by rows left out, and what to do; `None` if they can.
    pub fn refusal(&self) -> Option<String> {
        let refused = ChainsRefused::of(&self.fitted.spec, self.draws);
        refused.map(|refused| format!("{}: {refused}", self.path.display()))
    }

    /// Leaves out rows for each chain alone, by log likelihoods that were kept or are computed
    /// again: all rows, or of many a random sample.
    pub fn look(&self, seed: Seed, workers: &Workers) -> Result<Chains> {
        if let Some(refusal) = self.refusal() {
            return Err(Failure::bad_input(refusal));
        }
        let of = (self.fitted, self.draws);
        let found = FitChains::look(of, seed, workers, |rows| match self.run.rows() > 0 {
            true => self.run.log_likelihoods_of(rows).map(Some).map_err(store_failure),
            false => Ok(None),
        })?;
        Ok(Chains(found))
    }
}

impl Chains {
    /// Which chains fit worse, in a line that counts chains from 1; `None` if none does.
    pub fn worse_words(&self) -> Option<String> {
        let mut worse = self.found.worse();
        worse.sort_by(|a, b| b.lower.total_cmp(&a.lower));
        let nat =
            |lower: f64| if lower.is_finite() { fixed(lower, 0) } else { "infinitely".into() };
        let best = self.found.best() + 1;
        let words = match &worse[..] {
            [] => return None,
            [one] => format!(
                "chain {} fits worse than chain {best}: LOO {} ± {} lower",
                one.chain + 1,
                nat(one.lower),
                fixed(one.se, 0)
            ),
            some if some.len() <= NAMED => {
                let mut some = some.to_vec();
                some.sort_by_key(|it| it.chain);
                let chains = listed(some.iter().map(|it| (it.chain + 1).to_string()).collect());
                let lower = listed(some.iter().map(|it| nat(it.lower)).collect());
                format!("chains {chains} fit worse than chain {best}: LOO {lower} lower")
            }
            many => {
                let [most, least] = [&many[0], &many[many.len() - 1]];
                format!(
                    "{} of {} chains fit worse than chain {best}: LOO {} to {} lower, chain {} most",
                    many.len(),
                    self.found.chains.len(),
                    nat(least.lower),
                    nat(most.lower),
                    most.chain + 1
                )
            }
        };
        Some(format!("{words}{}", self.roughly()))
    }

    /// How far leave-one-out of single chains is to be trusted, in brackets; nothing if it is.
    fn roughly(&self) -> String {
        match self.found.most_failing() {
            (0, _) => String::new(),
            (bad, _) => format!(
                " (roughly: importance weights fail for {bad} of {} in a chain)",
                text::count(self.rows(), "row")
            ),
        }
    }

    /// Of which rows the scores are, where it is not all.
    pub fn of_rows(&self) -> String {
        match self.sample.is_complete() {
            true => text::count(self.rows(), "row"),
            false => format!("{} of {} rows, chosen at random", self.rows(), self.sample.all()),
        }
    }
}

/// Words with commas, and an and before the last.
fn listed(words: Vec<String>) -> String {
    match &words[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}
