//! Ensemble learning: the best simple distribution in the place of a network's posterior.

mod importance;
mod normal;
mod points;
#[cfg(test)]
mod tests;

pub use importance::{ImportanceSample, Worth};

use posteria_linalg::Matrix;
use serde::{Deserialize, Serialize};

use self::normal::{Climb, Normal};
use super::evidence::{Estimation, Evidence};
use super::independent::Approximation;
use crate::model::mlp::MlpPosterior;
use crate::model::{ModelError, Posterior};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::Coordinates;
use crate::target::Infeasible;

/// Starts among which the best is kept, of a network with hidden units.
const STARTS: usize = 5;
/// Rounds after which the best of them goes on alone; size of steps and directions until then.
const TRIAL_ROUNDS: usize = 25;
const TRIAL: (f64, usize) = (0.5, 64);
/// How the size of steps of the best falls with every round, so that it forgets the chance in single
/// ones; directions of each; and fewest rounds.
const SLOWER: f64 = 0.15;
const DIRECTIONS: usize = 256;
const FEWEST_ROUNDS: usize = 40;
/// Ratio of successive temperatures, and rounds at each.
const RATIO: f64 = 3.0;
const ROUNDS_EACH: usize = 4;
/// Standard deviation of every coordinate at the beginning, which is too small for any network.
const FIRST_WIDTH: f64 = 0.1;
/// Draws for every coordinate that carry a distribution from some coordinates to others.
const DRAWS_PER_COORDINATE: usize = 20;
/// Draws that tell the bound and what weighted draws are worth.
const WEIGHED: usize = 2000;

/// How to learn an ensemble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnsembleOptions {
    /// Starts from random weights, beside one from the best mode of the evidence framework from
    /// as many starts; the one with the highest bound is kept.
    pub starts: usize,
    /// Inverse temperatures θ of the likelihood before 1, from this one up in equal ratios;
    /// 1 starts at once with all of the likelihood.
    pub first_temperature: f64,
    /// Most rounds.
    pub rounds: usize,
}

impl Default for EnsembleOptions {
    fn default() -> Self {
        EnsembleOptions { starts: STARTS, first_temperature: 0.01, rounds: 200 }
    }
}

/// A normal distribution q in the place of the posterior of a network [Hinton & van Camp 1993; MacKay
/// 1995; Fabricius 1999, §6.3.4]. It is one of coordinates ξ in which the posterior is nearly normal,
/// with all their correlations:
///
/// - logarithms of all scales: of groups of weights, of residuals, and of those above them;
/// - weights of hidden units, in units of their scales where the data say little about them and as they
///   are where they say much: w = s^(1-c) z, c = 1 less the variance of w/s in a first q;
/// - of classes the output weights, too, and of residuals that are not normal, beside the logarithm of
///   sampled degrees of freedom. Those of other real targets are normal given the others, whatever
///   these are: they are integrated out, and a draw has them drawn given the rest, so that what one
///   weight multiplies and another divides is followed.
///
/// q is where **the bound** E log p - E log q of the log evidence is greatest: every round averages over
/// new points and takes a natural step [Opper & Archambeau 2009; Khan & Rue 2023], smaller with every
/// round.
/// From random starts the likelihood is raised to a power that grows to 1, so that the scales of the
/// prior and of the noise are not settled before the weights [Fabricius 1999, §3.3]. Hidden units may
/// change places and signs, and q is at one of the many equal modes: the bound is that of the
/// evidence of one.
#[derive(Clone, Debug)]
pub struct Ensemble<'p> {
    of: Of<'p>,
    /// A state whose entries that are not drawn are those of all draws.
    template: Vec<f64>,
    /// How far weights are not in units of their scales; empty where all are.
    centring: Vec<f64>,
    normal: Normal,
    findings: EnsembleFindings,
}

/// The network.
#[derive(Clone, Copy)]
struct Of<'p>(&'p MlpPosterior);

impl std::fmt::Debug for Of<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a network of {} weights", self.0.weight_count())
    }
}

/// What ensemble learning found besides the distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnsembleFindings {
    /// Bound of the log evidence of the targets in the user's unit, by fresh draws.
    pub bound: f64,
    /// Its standard error.
    #[serde(default)]
    pub bound_error: f64,
    /// The bound before every round of the best start, by the points of the round.
    pub bounds: Vec<f64>,
    /// Whether the bound settled before the rounds were spent.
    #[serde(default)]
    pub settled: bool,
    /// Effective parameters γ = Σ_i (1 - Var w_i/a_i): weights, in units of their scales, that the data
    /// determine.
    pub effective_parameters: f64,
    /// Starts among which the best was kept.
    pub starts: usize,
    /// What draws are worth as draws of the posterior; none of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<Worth>,
}

impl EnsembleFindings {
    /// Mean of the bounds of the last ten rounds less that of the ten before.
    pub fn last_change(&self) -> f64 {
        normal::change(&self.bounds).map_or(0.0, |[change, _]| change)
    }
}

impl<'p> Ensemble<'p> {
    /// Whether there can be an ensemble in the place of `posterior`.
    ///
    /// # Errors
    /// [`ModelError`] if targets are neither classes nor real, or something but weights, scales and
    /// degrees of freedom of residuals is sampled.
    pub fn check(posterior: &MlpPosterior) -> Result<(), ModelError> {
        posterior.ensemble_coordinates(1.0, &[]).map(|_| ())
    }

    /// Learns the ensemble that is best for `posterior`. All that is random depends on `seed` alone.
    ///
    /// # Errors
    /// As [`Ensemble::check`], or if numbers leave their range.
    ///
    /// # Panics
    /// If no start is asked for.
    pub fn learn(
        posterior: &'p MlpPosterior,
        options: &EnsembleOptions,
        seed: Seed,
    ) -> Result<Self, ModelError> {
        assert!(options.starts > 0, "at least one start");
        let mut target = posterior.ensemble_coordinates(1.0, &[])?;
        let stream = |index: usize| seed.stream(Purpose::Start, [index as u64, 0]);
        let mut found = Vec::new();
        for start in 0..options.starts {
            let mut stream = stream(start);
            let state = posterior.start(&mut stream);
            found.push((warmed(posterior, &state, options, &mut stream)?, state, stream));
        }
        // Scales that are learned with the weights may switch all of these off before they have found
        // anything; a mode of the evidence framework has.
        if let Ok(model) = posterior.regularised()
            && let Ok(mode) = Evidence::best(&model, Estimation::Evidence, options.starts, seed)
        {
            let mut stream = stream(options.starts);
            let state = posterior.state_about(&mode.weights, &mut stream);
            found.push((Ok(entered(&mut *target, &state)), state, stream));
        }
        let mut best: Option<(Climb, Vec<f64>)> = None;
        for (normal, state, mut stream) in found {
            let Ok(normal) = normal else { continue };
            if let Ok(climb) = tried(&mut *target, &state, normal, &mut stream)
                && best.as_ref().is_none_or(|(best, _)| climb.bound() > best.bound())
            {
                best = Some((climb, state));
            }
        }
        let out_of_range = || ModelError::OutOfRange { what: "a network" };
        let (mut climb, template) = best.ok_or_else(out_of_range)?;
        let mut centring = Vec::new();
        let wanted = wanted_centring(&climb.normal, posterior.ensemble_weights());
        let mut stream = stream(options.starts + 1);
        if !wanted.is_empty() {
            let mut other = posterior.ensemble_coordinates(1.0, &wanted)?;
            if let Some(normal) =
                moved((&template, &climb.normal), &mut *target, &mut *other, &mut stream)
                && let Ok(next) = tried(&mut *other, &template, normal, &mut stream)
                && next.bound() > climb.bound()
            {
                (climb, centring, target) = (next, wanted, other);
            }
        }
        target.enter(&template, &mut vec![0.0; climb.normal.mean.len()]);
        climb.bounds.clear();
        let mut settled = false;
        for round in 0..options.rounds.max(1) {
            let size = TRIAL.0 / (1.0 + SLOWER * round as f64);
            climb
                .round(&mut *target, (size, DIRECTIONS), &mut stream)
                .map_err(|_| out_of_range())?;
            settled = round >= FEWEST_ROUNDS && climb.has_settled();
            if settled {
                break;
            }
        }
        let constant = posterior.ensemble_constant();
        let findings = EnsembleFindings {
            bound: f64::NEG_INFINITY,
            bound_error: 0.0,
            bounds: climb.bounds.iter().map(|bound| bound + constant).collect(),
            settled,
            effective_parameters: 0.0,
            starts: options.starts,
            worth: None,
        };
        let mut ensemble =
            Ensemble { of: Of(posterior), template, centring, normal: climb.normal, findings };
        ensemble.weigh(&mut seed.stream(Purpose::Weighted, [1, 0]));
        Ok(ensemble)
    }

    /// Finds the bound, what draws are worth, and γ.
    fn weigh(&mut self, stream: &mut Stream) {
        let sample = self.importance_sample(WEIGHED, stream);
        let count = sample.log_weights.len() as f64;
        let mean = sample.log_weights.iter().sum::<f64>() / count;
        let squares: f64 = sample.log_weights.iter().map(|weight| (weight - mean).powi(2)).sum();
        if mean.is_finite() {
            self.findings.bound = mean;
            self.findings.bound_error = (squares / (count - 1.0) / count).sqrt();
        }
        self.findings.worth = sample.worth();
        self.findings.effective_parameters = sample.effective_parameters;
    }

    /// What was found besides the distribution.
    pub fn findings(&self) -> &EnsembleFindings {
        &self.findings
    }

    /// The bound of the log evidence, see [`Ensemble`].
    pub fn bound(&self) -> f64 {
        self.findings.bound
    }

    /// Mean of the coordinates.
    pub fn mean(&self) -> &[f64] {
        &self.normal.mean
    }

    /// Covariance of the coordinates.
    pub fn covariance(&self) -> Matrix {
        self.normal.covariance()
    }

    /// The network that the ensemble stands for.
    pub fn posterior(&self) -> &'p MlpPosterior {
        self.of.0
    }

    fn coordinates(&self) -> Result<Box<dyn Coordinates + 'p>, ModelError> {
        self.posterior().ensemble_coordinates(1.0, &self.centring)
    }

    /// Writes an independent state of the network's posterior, drawn from q.
    ///
    /// # Panics
    /// If `state` has another length.
    pub fn draw(&self, stream: &mut Stream, state: &mut [f64]) {
        let Ok(mut coordinates) = self.coordinates() else { return };
        let mut position = vec![0.0; self.normal.mean.len()];
        coordinates.enter(&self.template, &mut position);
        self.normal.draw(&mut position, stream);
        state.copy_from_slice(&self.template);
        coordinates.leave(&position, state, stream);
    }

    /// log q of a state: with respect to weights and logarithms of scales, as the log prior of
    /// the network is; -∞ where the posterior has no density.
    ///
    /// # Panics
    /// If `state` has another length.
    pub fn log_density(&self, state: &[f64]) -> f64 {
        self.log_density_at(state).unwrap_or(f64::NEG_INFINITY)
    }

    /// q(state) = q(ξ) p(state)/p(ξ): given the coordinates the rest is drawn from the posterior.
    fn log_density_at(&self, state: &[f64]) -> Option<f64> {
        let posterior = self.posterior();
        let mut coordinates = self.coordinates().ok()?;
        let mut position = vec![0.0; self.normal.mean.len()];
        coordinates.enter(state, &mut position);
        let whole = coordinates.log_density(&position).ok()? + posterior.ensemble_constant();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut rows = vec![0.0; posterior.rows()];
        let terms = posterior.evaluator().evaluate(state, &mut draw, &mut rows).ok()?;
        Some(terms.at(1.0) - whole + self.normal.log_density(&position))
    }
}

/// The coordinates of a state with little about them.
fn entered(coordinates: &mut dyn Coordinates, state: &[f64]) -> Normal {
    let mut position = vec![0.0; coordinates.dim()];
    coordinates.enter(state, &mut position);
    Normal::about(position, FIRST_WIDTH)
}

/// The first rounds of a climb with all of the likelihood.
fn tried(
    coordinates: &mut dyn Coordinates,
    state: &[f64],
    normal: Normal,
    stream: &mut Stream,
) -> Result<Climb, Infeasible> {
    coordinates.enter(state, &mut vec![0.0; normal.mean.len()]);
    let mut climb = Climb::new(normal);
    for _ in 0..TRIAL_ROUNDS {
        climb.round(coordinates, TRIAL, stream)?;
    }
    Ok(climb)
}

/// The distribution in some coordinates of what has this one in others.
fn moved(
    (template, normal): (&[f64], &Normal),
    from: &mut dyn Coordinates,
    to: &mut dyn Coordinates,
    stream: &mut Stream,
) -> Option<Normal> {
    let dim = normal.mean.len();
    let mut state = template.to_vec();
    from.enter(template, &mut vec![0.0; dim]);
    let mut next = |_| {
        let mut position = vec![0.0; dim];
        normal.draw(&mut position, stream);
        from.leave(&position, &mut state, stream);
        to.enter(&state, &mut position);
        position
    };
    let positions: Vec<Vec<f64>> = (0..DRAWS_PER_COORDINATE * dim).map(&mut next).collect();
    Normal::of(&positions)
}

/// How far weights leave the units of their scales, where they have variances v in these and 1 in the
/// prior: 1 - v, at least 0 [Papaspiliopoulos, Roberts & Sköld 2007].
fn wanted_centring(normal: &Normal, weights: usize) -> Vec<f64> {
    let covariance = normal.covariance();
    let first = normal.mean.len() - weights;
    (first..normal.mean.len()).map(|at| (1.0 - covariance[(at, at)]).clamp(0.0, 1.0)).collect()
}

/// What a climb from a state has found before it has all of the likelihood.
fn warmed(
    posterior: &MlpPosterior,
    state: &[f64],
    options: &EnsembleOptions,
    stream: &mut Stream,
) -> Result<Result<Normal, Infeasible>, ModelError> {
    let mut normal = entered(&mut *posterior.ensemble_coordinates(1.0, &[])?, state);
    let mut position = normal.mean.clone();
    let mut power = options.first_temperature;
    while power < 1.0 {
        let mut target = posterior.ensemble_coordinates(power, &[])?;
        target.enter(state, &mut position);
        let mut climb = Climb::new(normal);
        for _ in 0..ROUNDS_EACH {
            if let Err(infeasible) = climb.round(&mut *target, TRIAL, stream) {
                return Ok(Err(infeasible));
            }
        }
        normal = climb.normal;
        power *= RATIO;
    }
    Ok(Ok(normal))
}

impl Approximation for Ensemble<'_> {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        Ensemble::draw(self, stream, state);
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        Ensemble::log_density(self, state)
    }
}
