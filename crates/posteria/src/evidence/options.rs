//! How a log evidence is asked for, and why there may be none.

use std::num::NonZero;

use super::{LadderError, LadderOptions, LaddersAsked, Method, Schedule};
use crate::approximate::EvidenceError;
use crate::fit::{Conditioned, PrepareError};
use crate::model::ModelError;

/// Rungs of temperatures that are placed by a power, unless it is said otherwise.
const POWER_RUNGS: usize = 30;

/// A direction has this part of the sweeps of a rung.
const DIRECTION_SHARE: usize = 4;

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// A ladder of temperatures failed.
    #[error(transparent)]
    Ladder(#[from] LadderError),
    /// The method is not for this model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model is not for the data.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// There is no mode.
    #[error(transparent)]
    Mode(#[from] EvidenceError),
    /// There is no closed form.
    #[error(
        "there is no closed form of this evidence; there is one for a linear model with normal \
         residuals of one scale, and weights that are conjugate or have one common or known scales, \
         and a known scale of the intercept ([prior.intercept] fixed = 5.0), and for a Gaussian \
         process with normal residuals and all [hyperparameters] given; use the method path"
    )]
    NoClosedForm,
    /// Only a bound is known.
    #[error(
        "of a mixture or of principal components only a variational bound is known; omit the method \
         {} to see it",
        method.name()
    )]
    BoundOnly {
        /// The method asked for.
        method: Method,
    },
    /// There is no prior to integrate the likelihood over.
    #[error(
        "inference = \"ml\" knows no priors, and without them there is no evidence; fit the model with \
         another --inference"
    )]
    NoPrior,
    /// An ensemble is one of networks.
    #[error("an ensemble as the proposal is for networks (kind = \"mlp\"); use a fitted one")]
    NotANetwork,
}

/// Where importance sampling draws from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proposal {
    /// Student's t with the moments of draws of the posterior.
    #[default]
    Fitted,
    /// The prior.
    Prior,
    /// Student's t at the mode, for few parameters.
    Laplace,
    /// The variational ensemble of a network.
    Ensemble,
}

/// How a log evidence is found; what is left out is as is usual for the kind of model.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceOptions {
    /// The methods, of which the first one counts; path sampling if there is none.
    pub methods: Vec<Method>,
    /// Whether temperatures are placed by a power, and not at equal thermodynamic length.
    pub by_power: bool,
    /// Exponent k of the density (1-k) θ^-k of temperatures, below 1.
    pub exponent: f64,
    /// Number of inverse temperatures, prior and posterior included.
    pub rungs: Option<usize>,
    /// Independent ladders.
    pub ladders: Option<usize>,
    /// Draws at every temperature of a ladder.
    pub draws: Option<usize>,
    /// Sweeps of warm-up at every temperature.
    pub warmup: Option<usize>,
    /// Particles of annealed importance sampling, and a tenth of the draws of importance sampling.
    pub particles: NonZero<usize>,
    /// Proposal distribution of importance sampling.
    pub proposal: Proposal,
}

impl Default for EvidenceOptions {
    fn default() -> Self {
        EvidenceOptions {
            methods: Vec::new(),
            by_power: false,
            exponent: 0.8,
            rungs: None,
            ladders: None,
            draws: None,
            warmup: None,
            particles: const { NonZero::new(400).expect("not zero") },
            proposal: Proposal::default(),
        }
    }
}

impl EvidenceOptions {
    /// The ladders that the methods need, if any does: none for what has only a bound.
    pub fn ladders(&self, model: &Conditioned) -> Option<LaddersAsked> {
        if matches!(model, Conditioned::Variational(..)) {
            return None;
        }
        let methods = self.all_methods();
        let is_fitted = |method: &Method| self.is_fitted(*method);
        let on_ladder = |method: &Method| {
            !matches!(method, Method::Exact | Method::Laplace)
                && (*method != Method::Importance || is_fitted(method))
        };
        let is_swept = |method: &Method| {
            matches!(method, Method::Path | Method::Bridge | Method::SteppingStone)
        };
        let keep_states = methods.iter().any(is_fitted);
        let options = LadderOptions { keep_states, ..self.ladder(model) };
        let sweeps = options.draws / DIRECTION_SHARE;
        methods.iter().any(on_ladder).then(|| LaddersAsked {
            options,
            direction_sweeps: methods.iter().any(is_swept).then_some(sweeps),
        })
    }

    /// Refuses what can be refused before anything takes long.
    ///
    /// # Errors
    /// [`EstimateError`] if a method is not for the model, or ladders cannot run like this.
    pub fn check(&self, model: &Conditioned) -> Result<(), EstimateError> {
        let method = self.methods.first().copied();
        if let (Conditioned::Variational(..), Some(method)) = (model, method) {
            return Err(EstimateError::BoundOnly { method });
        }
        needs_prior(model)?;
        let closed_form = || model.state_density().and_then(|it| it.exact_log_evidence());
        if self.methods.contains(&Method::Exact) && closed_form().is_none() {
            return Err(EstimateError::NoClosedForm);
        }
        if self.need_density() && model.uncertain_slots().is_none() {
            return Err(LadderError::NoDensity.into());
        }
        self.ladders(model).map_or(Ok(()), |asked| Ok(asked.options.check()?))
    }

    /// The methods, path sampling if there is none.
    pub(super) fn all_methods(&self) -> Vec<Method> {
        match self.methods.is_empty() {
            true => vec![Method::Path],
            false => self.methods.clone(),
        }
    }

    /// How the ladders of a model run.
    pub fn ladder(&self, model: &Conditioned) -> LadderOptions {
        let (ladders, draws) = match model {
            Conditioned::Network(_) => (4, 900),
            Conditioned::Process(_) => (8, 300),
            _ => (8, 1000),
        };
        let draws = self.draws.unwrap_or(draws);
        let schedule = match self.by_power {
            false => Schedule::Adaptive { rungs: self.rungs },
            true => Schedule::Power { k: self.exponent, rungs: self.rungs.unwrap_or(POWER_RUNGS) },
        };
        LadderOptions {
            ladders: self.ladders.unwrap_or(ladders),
            warmup: self.warmup.unwrap_or((draws / 3).max(100)),
            draws,
            schedule,
            keep_states: false,
        }
    }

    /// Whether a method puts a density in place of the posterior.
    pub(super) fn need_density(&self) -> bool {
        self.methods.iter().any(|method| self.is_fitted(*method))
    }

    /// Whether a method needs states of the posterior to fit a density to.
    pub(super) fn is_fitted(&self, method: Method) -> bool {
        matches!(method, Method::Warp | Method::Reciprocal)
            || (method == Method::Importance && self.proposal == Proposal::Fitted)
    }
}

/// Refuses a model without priors.
pub(super) fn needs_prior(model: &Conditioned) -> Result<(), EstimateError> {
    match model {
        Conditioned::Linear(linear) if !linear.has_prior() => Err(EstimateError::NoPrior),
        _ => Ok(()),
    }
}
