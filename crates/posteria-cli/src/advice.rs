//! Say what helps chains that have not drawn enough, as commands of this run.

use std::num::NonZero;
use std::ops::Deref;
use std::path::Path;

use posteria::caution::{Caution, shell_word};
use posteria::draws::Draws;
use posteria::fit::{ChainVerdict, Goal, Prepared, Remedy};
use posteria::model::spec::ModelKind;

use crate::text;
use crate::timing::Timing;
use crate::warning::Warning;

/// What is known about why the chains of a run have not drawn enough.
#[derive(Debug)]
pub struct Advice {
    run: String,
    timing: Option<Timing>,
    verdict: ChainVerdict,
}

impl Deref for Advice {
    type Target = ChainVerdict;

    fn deref(&self) -> &ChainVerdict {
        &self.verdict
    }
}

impl Advice {
    /// Looks at the chains of the run at `path`, by this goal or, if there is none, its own or the
    /// usual one.
    pub fn new(
        path: &Path,
        (prepared, draws): (&Prepared, &Draws),
        goal: Option<Goal>,
        threads: NonZero<usize>,
    ) -> Self {
        Advice {
            run: shell_word(&path.display().to_string()),
            timing: Timing::read(path),
            verdict: ChainVerdict::new(prepared, draws, goal, threads),
        }
    }

    /// Cautions, with the cures of their causes where those are known: going on with these chains is told
    /// once, with the draws that are enough for all of them.
    pub fn warnings(&self, cautions: &[Caution]) -> Vec<Warning> {
        let remedies: Vec<Option<Remedy>> =
            cautions.iter().map(|caution| self.remedy_of(caution)).collect();
        let asks = |remedy: &Option<Remedy>| match remedy {
            Some(Remedy::GoOn { draws, .. }) => Some(*draws),
            _ => None,
        };
        let longest = (0..remedies.len()).max_by_key(|index| asks(&remedies[*index]));
        let each = cautions.iter().zip(&remedies).enumerate();
        each.map(|(index, (caution, remedy))| match remedy {
            Some(Remedy::GoOn { .. }) if longest != Some(index) => Warning::from(caution).uncured(),
            Some(remedy) => Warning::from(caution).cured(self.words(*remedy)),
            None => Warning::from(caution),
        })
        .collect()
    }

    /// That classes are separated, if they are and `cautions` may come from that.
    pub fn separated<'c>(
        &self,
        cautions: impl IntoIterator<Item = &'c Caution>,
    ) -> Option<Warning> {
        let words = format!(
            "in {} % of the draws the class of every row is the most probable one: the classes can be \
             separated, so that the prior alone bounds how steep the function is; {}",
            (100.0 * self.separation(cautions)?).floor(),
            self.words(self.prior())
        );
        Some(Warning::new("separable-classes", &words))
    }

    /// What to do about predictions that are not known well enough, where the cause is known.
    pub fn of_cause(&self) -> Option<String> {
        self.remedy().map(|remedy| self.words(remedy))
    }

    /// What to do about chains of which each is in a place of its own.
    pub fn of_modes(&self) -> String {
        self.words(self.more_chains())
    }

    fn words(&self, remedy: Remedy) -> String {
        match remedy {
            Remedy::GoOn { draws, sweeps } => {
                let time = self.timing.map_or(String::new(), |timing| {
                    let time = text::duration(timing.seconds_of(sweeps));
                    format!(" (about {time} more at the pace so far)")
                });
                format!("go on with posteria resume {} --draws {draws}{time}", self.run)
            }
            Remedy::MoreChains { chains, temperatures } => {
                let temperatures = temperatures.map_or(String::new(), |count| {
                    format!(", or with replicas that move between modes (--temperatures {count})")
                });
                format!(
                    "fit with more chains (--chains {chains}){temperatures}, or weigh these by what \
                     they predict of rows left out: posteria predict {} NEW --chains stacked",
                    self.run
                )
            }
            Remedy::NarrowerPrior(kind) => {
                let section = match kind {
                    ModelKind::Linear => "[prior.weights] fixed = 1.5",
                    ModelKind::Gp => "[prior.magnitude] log_sd = 0.3",
                    _ => "[prior.output_weights] log_sd = 0.3",
                };
                format!("bound it by a narrower prior in a specification file (--spec): {section}")
            }
            _ => "fit with --priors weakly-informative".into(),
        }
    }
}
