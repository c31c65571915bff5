//! Find the log evidence of a model by every method that is asked for.

use std::num::NonZero;

use super::options::needs_prior;
use super::{
    Bridging, Directions, EstimateError, EvidenceFindings, EvidenceOptions, Ladder, LadderError,
    LadderMemory, LaddersAsked, LogEvidence, Method, MultivariateT, Observer, Proposal,
    SingleSweep, annealed_importance, both_directions, bridge, disagreement, harmonic_mean,
    importance, importance_from_prior, judge, laplace, path_sampling, reciprocal_importance,
    single_sweep, stepping_stone, warp_bridge,
};
use crate::approximate::{Ensemble, EnsembleOptions, Estimation};
use crate::caution::{Caution, EvidenceDoubt};
use crate::fit::{Conditioned, fit_evidence};
use crate::model::Regularised;
use crate::random::Seed;

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

/// Finds the log evidence of `model`, which chains sample untempered, by every method of `options`.
/// Ladders go on from `memory`, which [`Observer::checkpoint`] was given.
///
/// # Errors
/// [`EstimateError`] if a method is not for the model, a ladder fails, or the observer stops it.
pub fn estimate(
    model: &Conditioned,
    options: &EvidenceOptions,
    (seed, threads): (Seed, NonZero<usize>),
    observer: &dyn Observer,
    memory: Option<&LadderMemory>,
) -> Result<EvidenceFindings, EstimateError> {
    if let Conditioned::Variational(_, findings) = model {
        return bound(findings.bound(), &options.methods);
    }
    needs_prior(model)?;
    let methods = options.all_methods();
    // What can be refused is refused before anything takes long.
    let exact = match methods.contains(&Method::Exact) {
        true => Some(
            model
                .state_density()
                .and_then(|it| it.exact_log_evidence())
                .ok_or(EstimateError::NoClosedForm)?,
        ),
        false => None,
    };
    if options.need_density() && model.uncertain_slots().is_none() {
        return Err(LadderError::NoDensity.into());
    }
    let asked = options.ladders(model);
    let ladder = match &asked {
        None => None,
        Some(LaddersAsked { options, .. }) => Some(match memory {
            Some(memory) => Ladder::resume(&**model, options, seed, threads, observer, memory)?,
            None => Ladder::run(&**model, options, seed, threads, observer)?,
        }),
    };
    let directions = match (&ladder, asked.and_then(|it| it.direction_sweeps)) {
        (Some(ladder), Some(sweeps)) => Some(match memory.and_then(|it| it.ways.as_ref()) {
            Some(ways) => ways.directions(ladder)?,
            None => both_directions(ladder, sweeps, observer)?,
        }),
        _ => None,
    };
    let of = Estimating { model, options, seed, threads, observer };
    let found = (ladder.as_ref(), directions.as_ref(), exact);
    let estimates = methods.iter().map(|method| of.one(*method, found));
    let estimates = estimates.collect::<Result<Vec<_>, _>>()?;
    let energies = ladder.as_ref().map(Ladder::energies);
    Ok(EvidenceFindings {
        cautions: disagreement(&estimates),
        estimates,
        rungs: energies.map(|energies| energies.curve()).unwrap_or_default(),
        round_trips: energies.map_or(0, |energies| energies.round_trips.iter().sum()),
        directions,
    })
}

/// The bound of a model that nothing else is known of.
fn bound(value: f64, methods: &[Method]) -> Result<EvidenceFindings, EstimateError> {
    if let Some(&method) = methods.first() {
        return Err(EstimateError::BoundOnly { method });
    }
    let found = LogEvidence::new(Method::Bound, value, f64::NAN)
        .doubted(Caution::Evidence(EvidenceDoubt::BoundOnly));
    Ok(EvidenceFindings {
        estimates: vec![found],
        directions: None,
        rungs: Vec::new(),
        round_trips: 0,
        cautions: Vec::new(),
    })
}

/// What estimates are made with.
struct Estimating<'a> {
    model: &'a Conditioned,
    options: &'a EvidenceOptions,
    seed: Seed,
    threads: NonZero<usize>,
    observer: &'a dyn Observer,
}

impl Estimating<'_> {
    fn one(
        &self,
        method: Method,
        (ladder, directions, exact): (Option<&Ladder<'_>>, Option<&Directions>, Option<f64>),
    ) -> Result<LogEvidence, EstimateError> {
        let on = || ladder.expect("a ladder was run for this method");
        let judged = |found: LogEvidence| judge(found, on().energies(), directions);
        Ok(match method {
            Method::Exact => LogEvidence::exact(exact.expect("was found before")),
            Method::Path => judged(path_sampling(on().energies())),
            Method::SteppingStone => judged(stepping_stone(on().energies())),
            Method::Bridge => judged(bridge(on().energies(), Bridging::Optimal)),
            Method::Harmonic => harmonic_mean(on().energies()),
            Method::Warp => warp_bridge(on())?,
            Method::Reciprocal => reciprocal_importance(on())?,
            Method::Annealed => {
                let is_network = matches!(self.model, Conditioned::Network(_));
                let parts = if is_network { NETWORK_PARTS } else { PARTS };
                annealed_importance(on(), self.options.particles.get(), parts, self.observer)?
            }
            Method::Sweep => {
                let (temperatures, sweeps) = SWEEP;
                let k = self.options.exponent;
                let options = SingleSweep { k, temperatures, sweeps, down: false };
                judged(single_sweep(on(), &options, self.observer)?)
            }
            Method::Laplace => self.at_mode()?,
            Method::Importance => self.weighted(ladder)?,
            Method::Bound => return Err(EstimateError::BoundOnly { method }),
        })
    }
    /// The evidence at a mode: by the evidence framework for weights, by all hyperparameters together
    /// for a process.
    fn at_mode(&self) -> Result<LogEvidence, EstimateError> {
        match self.model {
            Conditioned::Linear(posterior) => self.framework(&posterior.regularised()?, 1),
            Conditioned::Network(posterior) => self.framework(&posterior.regularised()?, STARTS),
            other => Ok(laplace(&**other, STARTS, self.seed)?.0),
        }
    }

    fn framework(
        &self,
        model: &dyn Regularised,
        starts: usize,
    ) -> Result<LogEvidence, EstimateError> {
        let mode = fit_evidence(model, Estimation::Evidence, starts, self.seed, self.threads)?;
        let value = mode.log_evidence + mode.log_symmetries;
        let mut all = mode.weight_groups.iter().chain(&mode.residual_groups);
        let doubt = match all.all(|group| group.fixed) {
            true => EvidenceDoubt::NormalAtMode,
            false => EvidenceDoubt::ScalesNotIntegrated,
        };
        Ok(LogEvidence::new(Method::Laplace, value, f64::NAN).doubted(Caution::Evidence(doubt)))
    }

    /// Importance sampling from the proposal that is asked for.
    fn weighted(&self, ladder: Option<&Ladder<'_>>) -> Result<LogEvidence, EstimateError> {
        let (posterior, seed, threads) = (&**self.model, self.seed, self.threads);
        let count = DRAWS_PER_PARTICLE * self.options.particles.get();
        Ok(match self.options.proposal {
            Proposal::Prior => importance_from_prior(posterior, count, seed, threads)
                .ok_or(LadderError::NoPriorDraws)?,
            Proposal::Fitted => {
                let slots = posterior.uncertain_slots().ok_or(LadderError::NoDensity)?;
                let states = ladder.map(Ladder::states).unwrap_or_default();
                let t = MultivariateT::fit(states, &slots).ok_or(LadderError::NoDensity)?;
                importance(posterior, &t, count, seed, threads)
            }
            Proposal::Laplace => {
                let (_, t) = laplace(posterior, STARTS, seed)?;
                importance(posterior, &t, count, seed, threads)
            }
            Proposal::Ensemble => {
                let Conditioned::Network(network) = self.model else {
                    return Err(EstimateError::NotANetwork);
                };
                let ensemble = Ensemble::learn(network, &EnsembleOptions::default(), seed)?;
                let mut found = importance(posterior, &ensemble, count, seed, threads);
                let log_modes = network.regularised()?.log_symmetries();
                found.value += log_modes;
                if log_modes > 0.0 {
                    found = found.doubted(Caution::Evidence(EvidenceDoubt::OneMode { log_modes }));
                }
                found
            }
        })
    }
}
