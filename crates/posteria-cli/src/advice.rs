//! Advise what to do about chains that have not drawn enough, by the cause.

use std::num::NonZero;
use std::path::Path;

use posteria::caution::Caution;
use posteria::data::{Dataset, Targets};
use posteria::diagnose::EFFECTIVE_DRAWS;
use posteria::draws::Draws;
use posteria::fit::{Agreement, Cause, Goal, draws_needed, share_that_separates};
use posteria::model::Posterior;
use posteria::model::spec::{ModelKind, Priors, Spec};

use crate::text;
use crate::timing::Timing;
use crate::warning::Warning;

/// The share of draws that classify every row right from which classes are separated.
const SEPARATED: f64 = 0.5;

/// A run that chains have sampled.
#[derive(Clone, Copy)]
pub struct Sampled<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// Its specification.
    pub spec: &'a Spec,
    /// Its data.
    pub data: &'a Dataset,
    /// Its model.
    pub posterior: &'a dyn Posterior,
    /// Its draws.
    pub draws: &'a Draws,
}

/// What is known about why chains have not drawn enough.
#[derive(Debug)]
pub struct Advice {
    run: String,
    kind: ModelKind,
    is_vague: bool,
    chains: usize,
    draws: usize,
    thin: usize,
    timing: Option<Timing>,
    /// How the chains agree about predictions.
    pub agreement: Agreement,
    /// The share of draws that classify every row right, where that is to blame: more draws would not
    /// be enough, or the prior leaves the function all but free.
    separated: Option<f64>,
}

impl Advice {
    /// Looks at the chains of a run, by this goal or, if there is none, its own or the usual one.
    pub fn new(of: &Sampled<'_>, goal: Option<Goal>, threads: NonZero<usize>) -> Self {
        let Sampled { path, spec, data, posterior, draws } = *of;
        let usual = || Goal::new(EFFECTIVE_DRAWS, draws.chains);
        let goal = goal.or_else(|| Goal::of(&spec.sampling)).unwrap_or_else(usual);
        let agreement = Agreement::new(posterior, draws, &data.inputs, &goal, threads);
        let separated = match &data.targets {
            Targets::Classes { codes, .. } => share_that_separates(posterior, draws, codes),
            Targets::Real { .. } | Targets::Counts { .. } => None,
        };
        let priors = spec.model.priors.unwrap_or_default();
        let is_vague = priors != Priors::WeaklyInformative;
        let is_to_blame = matches!(agreement.cause, Some(Cause::Modes | Cause::Unclear));
        Advice {
            run: text::argument(&path.display().to_string()),
            kind: spec.model.kind,
            is_vague,
            chains: draws.chains,
            draws: draws.draws,
            thin: spec.sampling.thin,
            timing: Timing::read(path),
            agreement,
            separated: separated.filter(|share| *share >= SEPARATED && (is_vague || is_to_blame)),
        }
    }

    /// Whether each chain is in a place of its own, and not because classes are separable.
    pub fn is_apart(&self) -> bool {
        self.agreement.cause == Some(Cause::Modes) && self.separated.is_none()
    }

    /// The cause by a name that does not change with the words; `None` if there is enough.
    pub fn cause(&self) -> Option<&'static str> {
        let cause = self.agreement.cause?;
        Some(match (self.separated, cause) {
            (Some(_), _) => "separable-classes",
            (None, Cause::Modes) => "modes",
            (None, Cause::Slow { .. }) => "slow",
            _ => "unclear",
        })
    }

    /// A caution, with the cure of its cause where that is known.
    pub fn warning(&self, caution: &Caution) -> Warning {
        let warning = Warning::from(caution);
        match self.cure(caution) {
            Some(cure) => warning.cured(cure),
            None => warning,
        }
    }

    /// That classes are separated, if they are and `cautions` may come from that.
    pub fn separation<'c>(
        &self,
        cautions: impl IntoIterator<Item = &'c Caution>,
    ) -> Option<Warning> {
        let share = self.separated?;
        cautions.into_iter().find(|it| is_of_chains(it) || is_divergence(it))?;
        let words = format!(
            "in {} % of the draws the class of every row is the most probable one: the classes can be \
             separated, so that the prior alone bounds how steep the function is; {}",
            (100.0 * share).floor(),
            self.of_prior()
        );
        Some(Warning::new("separable-classes", &words))
    }

    /// What to do about predictions that are not known well enough, where the cause is known.
    pub fn of_cause(&self) -> Option<String> {
        match (self.separated, self.agreement.cause?) {
            (Some(_), _) => Some(self.of_prior()),
            (None, Cause::Modes) => Some(self.of_modes()),
            (None, Cause::Slow { draws }) => Some(self.go_on(draws)),
            _ => None,
        }
    }

    fn cure(&self, caution: &Caution) -> Option<String> {
        if self.separated.is_some() && (is_of_chains(caution) || is_divergence(caution)) {
            return Some(self.of_prior());
        }
        if !is_of_chains(caution) {
            return None;
        }
        let slow = match self.agreement.cause {
            Some(Cause::Modes) => return Some(self.of_modes()),
            Some(Cause::Slow { draws }) => Some(draws),
            _ => None,
        };
        let own = match caution {
            Caution::FewEffectiveDraws { effective_size, needed, .. } => {
                draws_needed(self.draws, *effective_size, *needed)
            }
            _ => None,
        };
        slow.max(own).map(|draws| self.go_on(draws))
    }

    /// How to draw so many, and how long that takes.
    pub fn go_on(&self, draws: usize) -> String {
        let more = draws.saturating_sub(self.draws) * self.thin * self.chains;
        let time = self.timing.map_or(String::new(), |timing| {
            format!(" (about {} more at the pace so far)", text::duration(timing.seconds_of(more)))
        });
        format!("go on with posteria resume {} --draws {draws}{time}", self.run)
    }

    /// What to do about chains of which each is in a place of its own.
    pub fn of_modes(&self) -> String {
        let temperatures = match self.kind {
            ModelKind::Mlp => ", or with replicas that move between modes (--temperatures 4)",
            _ => "",
        };
        format!(
            "fit with more chains (--chains {}){temperatures}, or weigh these by what they predict of \
             rows left out: posteria predict {} NEW --chains stacked",
            (4 * self.chains).max(16),
            self.run
        )
    }

    /// Which prior bounds the functions of separated classes.
    fn of_prior(&self) -> String {
        if self.is_vague {
            return "fit with --priors weakly-informative".into();
        }
        let section = match self.kind {
            ModelKind::Linear => "[prior.weights] fixed = 1.5",
            ModelKind::Gp => "[prior.magnitude] log_sd = 0.3",
            _ => "[prior.output_weights] log_sd = 0.3",
        };
        format!("bound it by a narrower prior in a specification file (--spec): {section}")
    }
}

/// Whether a caution is about how chains agree and how much they have drawn.
pub fn is_of_chains(caution: &Caution) -> bool {
    matches!(caution, Caution::NotConverged { .. } | Caution::FewEffectiveDraws { .. })
}

fn is_divergence(caution: &Caution) -> bool {
    matches!(caution, Caution::Divergences { .. } | Caution::LowEnergyFraction { .. })
}
