//! Say what helps chains that have not drawn enough, by the cause.

use std::num::NonZero;

use super::{Agreement, Cause, Goal, Prepared, draws_needed, share_that_separates};
use crate::caution::Caution;
use crate::data::Targets;
use crate::diagnose::EFFECTIVE_DRAWS;
use crate::draws::Draws;
use crate::model::spec::{ModelKind, Priors};

/// The share of draws that classify every row right from which classes are separated.
const SEPARATED: f64 = 0.5;
/// Chains that see enough modes to be weighed, and so many times those that there were.
const MANY: usize = 16;
const TIMES: usize = 4;
/// Temperatures of replicas that move between the modes of a network.
const TEMPERATURES: usize = 4;

/// What helps chains that have not drawn enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// A prior that bounds the functions of classes that are separated: the weakly informative one.
    InformativePrior,
    /// The same of a prior that is weakly informative already: a narrower one, of this kind of model.
    NarrowerPrior(ModelKind),
    /// More chains, since each keeps to a mode of its own; or these, weighed by stacking.
    MoreChains {
        /// So many.
        chains: usize,
        /// Replicas at so many temperatures, where the model can have them.
        temperatures: Option<usize>,
    },
    /// More draws of the same chains.
    GoOn {
        /// So many of each.
        draws: usize,
        /// Sweeps that all chains together make until then.
        sweeps: usize,
    },
}

/// Why chains have not drawn enough, and what helps.
#[derive(Clone, Debug)]
pub struct ChainVerdict {
    kind: ModelKind,
    is_vague: bool,
    chains: usize,
    draws: usize,
    thin: usize,
    /// How the chains agree about predictions.
    pub agreement: Agreement,
    /// The share of draws that classify every row right, where that is to blame: more draws would not
    /// be enough, or the prior leaves the function all but free.
    pub separated: Option<f64>,
}

impl ChainVerdict {
    /// Looks at the chains of a model, by this goal or, if there is none, its own or the usual one.
    pub fn new(
        prepared: &Prepared,
        draws: &Draws,
        goal: Option<Goal>,
        threads: NonZero<usize>,
    ) -> Self {
        let Prepared { spec, data, posterior, .. } = prepared;
        let usual = || Goal::new(EFFECTIVE_DRAWS, draws.chains);
        let goal = goal.or_else(|| Goal::of(&spec.sampling)).unwrap_or_else(usual);
        let agreement = Agreement::new(&**posterior, draws, &data.inputs, &goal, threads);
        let separated = match &data.targets {
            Targets::Classes { codes, .. } => share_that_separates(&**posterior, draws, codes),
            Targets::Real { .. } | Targets::Counts { .. } | Targets::Durations { .. } => None,
        };
        let is_vague = spec.model.priors.unwrap_or_default() != Priors::WeaklyInformative;
        let is_to_blame = matches!(agreement.cause, Some(Cause::Modes | Cause::Unclear));
        ChainVerdict {
            kind: spec.model.kind,
            is_vague,
            chains: draws.chains,
            draws: draws.draws,
            thin: spec.sampling.thin,
            agreement,
            separated: separated.filter(|share| *share >= SEPARATED && (is_vague || is_to_blame)),
        }
    }

    /// Whether each chain is in a place of its own, and not because classes are separable.
    pub fn chains_disagree(&self) -> bool {
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

    /// The share of draws that classify every row right, if classes are separated and `cautions` may
    /// come from that.
    pub fn separation<'c>(&self, cautions: impl IntoIterator<Item = &'c Caution>) -> Option<f64> {
        let share = self.separated?;
        let mut cautions = cautions.into_iter();
        cautions.any(|it| it.is_of_chains() || it.is_of_trajectories()).then_some(share)
    }

    /// What helps predictions that are not known well enough, where the cause is known.
    pub fn remedy(&self) -> Option<Remedy> {
        match (self.separated, self.agreement.cause?) {
            (Some(_), _) => Some(self.prior()),
            (None, Cause::Modes) => Some(self.more_chains()),
            (None, Cause::Slow { draws }) => Some(self.go_on(draws)),
            _ => None,
        }
    }

    /// What helps against what a caution is of, where its cause is known.
    pub fn remedy_of(&self, caution: &Caution) -> Option<Remedy> {
        if self.separated.is_some() && (caution.is_of_chains() || caution.is_of_trajectories()) {
            return Some(self.prior());
        }
        if !caution.is_of_chains() {
            return None;
        }
        let slow = match self.agreement.cause {
            Some(Cause::Modes) => return Some(self.more_chains()),
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

    /// What helps chains of which each is in a place of its own.
    pub fn more_chains(&self) -> Remedy {
        Remedy::MoreChains {
            chains: (TIMES * self.chains).max(MANY),
            temperatures: (self.kind == ModelKind::Mlp).then_some(TEMPERATURES),
        }
    }

    /// What bounds the functions of separated classes.
    pub fn prior(&self) -> Remedy {
        match self.is_vague {
            true => Remedy::InformativePrior,
            false => Remedy::NarrowerPrior(self.kind),
        }
    }

    fn go_on(&self, draws: usize) -> Remedy {
        let sweeps = draws.saturating_sub(self.draws) * self.thin * self.chains;
        Remedy::GoOn { draws, sweeps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caution::Question;
    use crate::diagnose::Mixing;
    use crate::fit::Attained;

    fn verdict(cause: Option<Cause>, separated: Option<f64>) -> ChainVerdict {
        let log_density = Mixing { r_hat: 1.2, ess_bulk: 9.0, ess_tail: 9.0 };
        let (fitted, agreement, residual_scale, inclusion) = (None, None, None, None);
        let attained = Attained { fitted, agreement, residual_scale, inclusion, log_density };
        let agreement = Agreement { distances: Vec::new(), attained, cause };
        let (kind, is_vague) = (ModelKind::Mlp, false);
        ChainVerdict { kind, is_vague, chains: 2, draws: 100, thin: 3, agreement, separated }
    }

    #[test]
    fn the_remedy_is_that_of_the_cause() {
        let modes = verdict(Some(Cause::Modes), None);
        let more = Remedy::MoreChains { chains: 16, temperatures: Some(4) };
        assert_eq!((modes.cause(), modes.remedy()), (Some("modes"), Some(more)));
        let slow = verdict(Some(Cause::Slow { draws: 150 }), None);
        assert_eq!(slow.remedy(), Some(Remedy::GoOn { draws: 150, sweeps: 300 }));
        let separated = verdict(Some(Cause::Modes), Some(0.9));
        assert_eq!(separated.remedy(), Some(Remedy::NarrowerPrior(ModelKind::Mlp)));
        assert!(!separated.chains_disagree() && modes.chains_disagree());
        assert_eq!(verdict(Some(Cause::Unclear), None).remedy(), None);
        assert_eq!(verdict(None, None).cause(), None);
    }

    #[test]
    fn only_cautions_about_chains_have_a_remedy() {
        let few = |effective_size| Caution::FewEffectiveDraws {
            about: Question::Predictions,
            variable: "f".into(),
            kind: "bulk",
            effective_size,
            needed: 400.0,
        };
        let slow = verdict(Some(Cause::Slow { draws: 150 }), None);
        assert_eq!(
            slow.remedy_of(&Caution::RowsDropped { count: 1, rows: 9, emptiest: None }),
            None
        );
        // 100 draws with 250 effective ones of 400: 1.6 times as many and a tenth, to two figures.
        let own = slow.remedy_of(&few(250.0));
        assert_eq!(own, Some(Remedy::GoOn { draws: 180, sweeps: 480 }));
        let separated = verdict(None, Some(0.9));
        assert_eq!(
            separated.separation(&[Caution::RowsDropped { count: 1, rows: 9, emptiest: None }]),
            None
        );
        assert_eq!(separated.separation(&[few(200.0)]), Some(0.9));
    }
}
