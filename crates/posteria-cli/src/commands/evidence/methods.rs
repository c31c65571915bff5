//! Find the log evidence of one model by every method that is asked for.

use posteria::approximate::{Ensemble, EnsembleOptions, Estimation};
use posteria::caution::{Caution, EvidenceDoubt};
use posteria::evidence::{
    Bridging, Directions, Ladder, LadderError, LadderOptions, LogEvidence, Method, MultivariateT,
    RungSummary, Schedule, SingleSweep, annealed_importance, both_directions, bridge, disagreement,
    harmonic_mean, importance, importance_from_prior, judge, laplace, path_sampling,
    reciprocal_importance, single_sweep, stepping_stone, warp_bridge,
};
use posteria::fit::fit_evidence;
use posteria::model::spec::ModelKind;
use posteria::model::{Posterior, Regularised};
use posteria::random::Seed;
use serde::Serialize;

use super::Context;
use super::subject::{Model, Subject};
use super::watch::Watch;
use crate::args::{self, EvidenceMethod, Proposal, ScheduleKind};
use crate::failure::{Classify, Failure, Result};

/// Steps of annealing in place of every interval of the ladder, and those of networks, whose
/// sweeps are short.
const PARTS: usize = 8;
const NETWORK_PARTS: usize = 40;
/// Temperatures of a single sweep, as first published, and sweeps at each.
const SWEEP: (usize, usize) = (1000, 3);
/// Starting points of a search for modes.
const STARTS: usize = 8;
/// Draws of importance sampling per particle.
const DRAWS_PER_PARTICLE: usize = 10;
/// A direction has this part of the sweeps of a rung.
const DIRECTION_SHARE: usize = 4;

/// What was found about one model.
pub struct Findings {
    /// One estimate per method, the one that counts first.
    pub estimates: Vec<LogEvidence>,
    /// Path sampling by single chains.
    pub directions: Option<Directions>,
    /// Rungs of the ladder.
    pub rungs: Vec<RungSummary>,
    /// Journeys to the prior and back, over all ladders.
    pub round_trips: u64,
    /// Methods that disagree.
    pub cautions: Vec<Caution>,
}

/// One rung in `evidence.json`.
#[derive(Serialize)]
pub struct CurveRung {
    #[serde(flatten)]
    rung: RungSummary,
    forward_mean: Option<f64>,
    forward_sd: Option<f64>,
    backward_mean: Option<f64>,
    backward_sd: Option<f64>,
}

impl Findings {
    /// The estimate that counts.
    pub fn main(&self) -> &LogEvidence {
        &self.estimates[0]
    }

    /// Energy against temperature, by the ladder and by single chains in both directions.
    pub fn curve(&self) -> Vec<CurveRung> {
        let both = self.directions.as_ref();
        let up = both.map(|both| both.forward_energies.curve());
        let down = both.map(|both| both.backward_energies.curve());
        let rung = |(k, rung): (usize, &RungSummary)| CurveRung {
            rung: *rung,
            forward_mean: up.as_ref().map(|up| up[k].mean),
            forward_sd: up.as_ref().map(|up| up[k].sd),
            backward_mean: down.as_ref().map(|down| down[k].mean),
            backward_sd: down.as_ref().map(|down| down[k].sd),
        };
        self.rungs.iter().enumerate().map(rung).collect()
    }
}

/// Finds the log evidence of `subject`.
pub fn find(
    subject: &Subject,
    arguments: &args::Evidence,
    seed: Seed,
    context: &Context,
    watch: &Watch,
) -> Result<Findings> {
    find_for(&subject.model, &subject.name, arguments, seed, context, watch)
}

/// Finds the log evidence of a model that is called `name`.
pub fn find_for(
    model: &Model,
    name: &str,
    arguments: &args::Evidence,
    seed: Seed,
    context: &Context,
    watch: &Watch,
) -> Result<Findings> {
    let mut methods = arguments.method.clone();
    let Some(posterior) = model.posterior() else { return bound(model, name, &methods) };
    if methods.is_empty() {
        methods.push(EvidenceMethod::Path);
    }
    let threads = context.threads;
    let fitted = |method: &EvidenceMethod| {
        matches!(method, EvidenceMethod::Warp | EvidenceMethod::Reciprocal)
            || (*method == EvidenceMethod::Importance && arguments.proposal == Proposal::Fitted)
    };
    let on_ladder = |method: &EvidenceMethod| {
        !matches!(method, EvidenceMethod::Exact | EvidenceMethod::Laplace)
            && (*method != EvidenceMethod::Importance || fitted(method))
    };
    let swept = |method: &EvidenceMethod| {
        matches!(
            method,
            EvidenceMethod::Path | EvidenceMethod::Bridge | EvidenceMethod::SteppingStone
        )
    };
    // What can be refused is refused before anything takes long.
    let exact = match methods.contains(&EvidenceMethod::Exact) {
        true => Some(exact(posterior, name)?),
        false => None,
    };
    if methods.iter().any(fitted) && posterior.density_slots().is_none_or(|slots| slots.is_empty())
    {
        return Err(failure(name, LadderError::NoDensity));
    }
    let ladder = match methods.iter().any(on_ladder) {
        false => None,
        true => {
            let options = LadderOptions {
                keep_states: methods.iter().any(fitted),
                ..options(model, arguments)
            };
            let ladder = match watch.memory() {
                Some(memory) => Ladder::resume(posterior, &options, seed, threads, watch, &memory),
                None => Ladder::run(posterior, &options, seed, threads, watch),
            };
            Some(ladder.map_err(|error| failure(name, error))?)
        }
    };
    let directions = match &ladder {
        Some(ladder) if methods.iter().any(swept) => {
            let sweeps = options(model, arguments).draws / DIRECTION_SHARE;
            let both = both_directions(ladder, sweeps, watch);
            Some(both.map_err(|error| failure(name, error))?)
        }
        _ => None,
    };
    let mut estimates = Vec::new();
    for method in &methods {
        let on = || ladder.as_ref().expect("a ladder was run for this method");
        let judged = |found: LogEvidence| judge(found, on().energies(), directions.as_ref());
        let found = match method {
            EvidenceMethod::Exact => exact.clone().expect("was found above"),
            EvidenceMethod::Path => judged(path_sampling(on().energies())),
            EvidenceMethod::SteppingStone => judged(stepping_stone(on().energies())),
            EvidenceMethod::Bridge => judged(bridge(on().energies(), Bridging::Optimal)),
            EvidenceMethod::Harmonic => harmonic_mean(on().energies()),
            EvidenceMethod::Warp => warp_bridge(on()).map_err(|error| failure(name, error))?,
            EvidenceMethod::Reciprocal => {
                reciprocal_importance(on()).map_err(|error| failure(name, error))?
            }
            EvidenceMethod::Annealed => {
                let particles = arguments.particles.get();
                let is_network = matches!(model, Model::Network(_));
                let parts = if is_network { NETWORK_PARTS } else { PARTS };
                let found = annealed_importance(on(), particles, parts, watch);
                found.map_err(|error| failure(name, error))?
            }
            EvidenceMethod::Sweep => {
                let (temperatures, sweeps) = SWEEP;
                let options =
                    SingleSweep { k: arguments.exponent, temperatures, sweeps, down: false };
                let found = single_sweep(on(), &options, watch);
                judged(found.map_err(|error| failure(name, error))?)
            }
            EvidenceMethod::Laplace => at_mode(model, name, seed, context)?,
            EvidenceMethod::Importance => {
                weighted(model, name, arguments, ladder.as_ref(), seed, context)?
            }
        };
        estimates.push(found);
    }
    let energies = ladder.as_ref().map(Ladder::energies);
    Ok(Findings {
        cautions: disagreement(&estimates),
        estimates,
        directions,
        rungs: energies.map(|energies| energies.curve()).unwrap_or_default(),
        round_trips: energies.map_or(0, |energies| energies.round_trips.iter().sum()),
    })
}

/// How the ladders of a model run, unless it is said otherwise.
pub fn options(model: &Model, arguments: &args::Evidence) -> LadderOptions {
    let (ladders, draws) = match model {
        Model::Network(_) => (4, 900),
        Model::Process(_) => (8, 300),
        _ => (8, 1000),
    };
    let draws = arguments.draws.unwrap_or(draws);
    let schedule = match arguments.schedule {
        ScheduleKind::Adaptive => Schedule::Adaptive { rungs: arguments.rungs },
        ScheduleKind::Power => {
            Schedule::Power { k: arguments.exponent, rungs: arguments.rungs.unwrap_or(30) }
        }
    };
    LadderOptions {
        ladders: arguments.ladders.unwrap_or(ladders),
        warmup: arguments.warmup.unwrap_or((draws / 3).max(100)),
        draws,
        schedule,
        keep_states: false,
    }
}

/// A failure of a ladder, by whose fault.
fn failure(name: &str, error: LadderError) -> Failure {
    match error {
        LadderError::Start | LadderError::Interrupted | LadderError::Laplace(_) => {
            Failure::Running(anyhow::Error::new(error).context(name.to_string()))
        }
        error => Failure::bad_input(format!("{name}: {error}")),
    }
}

/// The bound of a model that nothing else is known of.
fn bound(model: &Model, name: &str, methods: &[EvidenceMethod]) -> Result<Findings> {
    let Model::Bound(findings) = model else { unreachable!("every other model has a posterior") };
    if let Some(method) = methods.first() {
        return Err(Failure::bad_input(format!(
            "{name}: of a mixture or of principal components only a variational bound is known; omit \
             --method {} to see it",
            method.method().name()
        )));
    }
    let found = LogEvidence::new(Method::Bound, findings.bound(), f64::NAN)
        .doubted(Caution::Evidence(EvidenceDoubt::BoundOnly));
    Ok(Findings {
        estimates: vec![found],
        directions: None,
        rungs: Vec::new(),
        round_trips: 0,
        cautions: Vec::new(),
    })
}

fn exact(posterior: &dyn Posterior, name: &str) -> Result<LogEvidence> {
    posterior.exact_log_evidence().map(LogEvidence::exact).ok_or_else(|| {
        Failure::bad_input(format!(
            "{name}: there is no closed form of this evidence; there is one for a linear model with \
             normal residuals of one scale, and weights that are conjugate or have one common or \
             known scales, and a known scale of the intercept ([prior.intercept] fixed = 5.0), and \
             for a Gaussian process with normal residuals and all [hyperparameters] given; use \
             --method path"
        ))
    })
}

/// The evidence at a mode: by the evidence framework for weights, by all hyperparameters together
/// for a process.
fn at_mode(model: &Model, name: &str, seed: Seed, context: &Context) -> Result<LogEvidence> {
    let framework = |model: &dyn Regularised, starts: usize| -> Result<LogEvidence> {
        let mode = fit_evidence(model, Estimation::Evidence, starts, seed, context.threads);
        let mode = mode.running()?;
        let value = mode.log_evidence + mode.log_symmetries;
        let all = mode.weight_groups.iter().chain(&mode.residual_groups);
        let doubt = match all.clone().all(|group| group.fixed) {
            true => EvidenceDoubt::NormalAtMode,
            false => EvidenceDoubt::ScalesNotIntegrated,
        };
        Ok(LogEvidence::new(Method::Laplace, value, f64::NAN).doubted(Caution::Evidence(doubt)))
    };
    match model {
        Model::Linear(posterior) => framework(&posterior.regularised().bad_input()?, 1),
        Model::Network(posterior) => framework(&posterior.regularised().bad_input()?, STARTS),
        Model::Process(posterior) => {
            let found = laplace(&**posterior, STARTS, seed);
            Ok(found.map_err(|error| failure(name, error))?.0)
        }
        Model::Bound(_) => unreachable!("was told before"),
    }
}

/// Importance sampling from the proposal that is asked for.
fn weighted(
    model: &Model,
    name: &str,
    arguments: &args::Evidence,
    ladder: Option<&Ladder<'_>>,
    seed: Seed,
    context: &Context,
) -> Result<LogEvidence> {
    let posterior = model.posterior().expect("bounds were told before");
    let count = DRAWS_PER_PARTICLE * arguments.particles.get();
    let threads = context.threads;
    let fail = |error| failure(name, error);
    match arguments.proposal {
        Proposal::Prior => {
            let found = importance_from_prior(posterior, count, seed, threads);
            found.ok_or_else(|| fail(LadderError::NoPriorDraws))
        }
        Proposal::Fitted => {
            let slots = posterior.density_slots().ok_or_else(|| fail(LadderError::NoDensity))?;
            let states = ladder.map(Ladder::states).unwrap_or_default();
            let t =
                MultivariateT::fit(states, &slots).ok_or_else(|| fail(LadderError::NoDensity))?;
            Ok(importance(posterior, &t, count, seed, threads))
        }
        Proposal::Laplace => {
            let (_, t) = laplace(posterior, STARTS, seed).map_err(fail)?;
            Ok(importance(posterior, &t, count, seed, threads))
        }
        Proposal::Ensemble => {
            let Model::Network(network) = model else {
                return Err(Failure::bad_input(format!(
                    "{name}: --proposal ensemble is for kind = \"{}\"; use fitted",
                    ModelKind::Mlp.name()
                )));
            };
            let ensemble =
                Ensemble::learn(network, &EnsembleOptions::default(), seed).bad_input()?;
            let mut found = importance(posterior, &ensemble, count, seed, threads);
            let log_modes = network.regularised().bad_input()?.log_symmetries();
            found.value += log_modes;
            if log_modes > 0.0 {
                found = found.doubted(Caution::Evidence(EvidenceDoubt::OneMode { log_modes }));
            }
            Ok(found)
        }
    }
}
