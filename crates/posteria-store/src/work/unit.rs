//! A unit of work: what it is of, and how it is told apart from all others.

use posteria::assess::Valuation;
use posteria::data::FoldScheme;
use serde::{Deserialize, Serialize};

/// A part of larger work that needs nothing of the other parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Its number, from 1.
    pub id: usize,
    /// What it is, in words.
    pub what: String,
    /// The run that it is a part of, from 0.
    pub run: usize,
    /// Which part.
    pub work: Work,
    /// The seed that its streams come from.
    pub seed: u64,
    /// About how long one core takes, in seconds where the run says how long its chains took; else in
    /// proportion to that.
    pub cost: f64,
}

/// Which part of a run a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// The fit without one fold.
    Fold {
        /// The division, from 0.
        division: usize,
        /// The fold, from 0.
        index: usize,
    },
    /// One chain of the fit without one fold.
    FoldChain {
        /// The division, from 0.
        division: usize,
        /// The fold, from 0.
        index: usize,
        /// The chain, from 0.
        chain: usize,
    },
    /// One chain, from 0.
    Chain {
        /// Which.
        index: usize,
    },
    /// Where the temperatures of all ladders of an evidence are.
    Temperatures,
    /// One ladder of temperatures, with its single chains up and down; from 0.
    Ladder {
        /// Which.
        index: usize,
    },
    /// The fit itself: what takes the place of chains, or members that are found one by one.
    Whole,
}

impl Work {
    /// The division and the fold, both from 0, of what is a part of a fold or all of it.
    pub fn fold(self) -> Option<(usize, usize)> {
        match self {
            Work::Fold { division, index } | Work::FoldChain { division, index, .. } => {
                Some((division, index))
            }
            _ => None,
        }
    }
}

/// How the rows of a run are divided in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedDivision {
    /// By what.
    pub scheme: FoldScheme,
    /// Into how many folds.
    pub folds: usize,
    /// Draws of every chain of a fold.
    pub draws: usize,
    /// The label of every row in the column that divides them, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<usize>>,
    /// By what the predictions of its rows are valued, where whoever fits a fold is to do that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valuation: Option<Valuation>,
}

/// What a result is of: compared one by one, so that what differs can be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// The posteria that made it.
    pub(crate) version: String,
    /// SHA-256 of the data.
    pub(crate) data: String,
    /// SHA-256 of the specification.
    pub(crate) specification: String,
    /// SHA-256 of where the chains of the run stood.
    pub(crate) state: String,
    /// SHA-256 of which part of the run it is.
    pub(crate) work: String,
}

impl Origin {
    /// What of `found` is not as it is here.
    pub(crate) fn differs(&self, found: &Origin) -> Option<&'static str> {
        if found.version != self.version {
            Some("another version of posteria")
        } else if found.data != self.data {
            Some("other data")
        } else if found.specification != self.specification {
            Some("another specification")
        } else if found.state != self.state {
            Some("a run that stood elsewhere")
        } else if found.work != self.work {
            Some("another unit")
        } else {
            None
        }
    }
}
