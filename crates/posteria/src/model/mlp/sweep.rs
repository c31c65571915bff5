//! Compose the sweep of a network from its kernels.

use std::ops::RangeInclusive;

use super::collapsed::Collapsed;
use super::input_sets::jumps;
use super::level::BiasLevel;
use super::network::Network;
use super::observed::Observed;
use super::posterior::MlpPosterior;
use super::rungs::Rungs;
use super::start::start;
use super::updates::{ResidualUpdate, ScalesUpdate};
use super::weights::WeightsConditional;
use super::whitened::Whitened;
use crate::model::Posterior;
use crate::model::outcome::LevelUpdate;
use crate::model::spec::KernelChoice;
use crate::random::{Purpose, Seed};
use crate::sample::hmc::{
    Hmc, HmcOptions, LengthSearch, MetricKind, Nuts, NutsOptions, Persistence, Retry,
};
use crate::sample::{
    Block, DirectionWalk, Kernel, Ladder, Refresh, Reparametrized, Repeated, ReplicaExchange,
    Sequence, Sweep, Update,
};
use crate::target::LogDensity;

/// Mean number of leapfrog steps of a trajectory of the weights given their scales, if the kernel
/// is hybrid Monte Carlo and the specification says none.
pub const WEIGHT_STEPS: usize = 100;
/// Mean number of leapfrog steps of a trajectory of weights and scales together, for classes, if
/// the specification says none: the most that is worth it.
pub const JOINT_STEPS: usize = 200;
/// The same between exchanges with other temperatures.
pub const JOINT_STEPS_OF_REPLICAS: usize = 120;
/// Their acceptance: more than is best for the bulk, since rejections are in the tails.
const JOINT_ACCEPTANCE: f64 = 0.85;
/// Share of as many steps with the output weights free of their scales.
const FREE_SHARE: f64 = 0.3;
/// What is tried where a trajectory was hopeless: with large output weights the posterior is
/// stiffer than anywhere else, and without it chains stay there for hundreds of sweeps. With the
/// output weights integrated out most divergences are where their scales are large, too.
const RETRY: Retry = Retry { below: 0.05, step_ratio: 0.35, steps_ratio: 2.0 };
/// Rounds of one sweep where the output weights are integrated out, each of one trajectory and
/// draws from full conditionals: for few rows and units they are cheap, and draws are few.
const ROUNDS: RangeInclusive<usize> = 2..=6;
/// Rows × hidden units of all rounds of one sweep, which says how many there are: with more of
/// them a round is dearer, and its trajectory longer.
const ROUNDS_SIZE: usize = 8000;
/// Leapfrog steps with the output weights integrated out, before warm-up finds better.
const COLLAPSED_STEPS: usize = 12;
/// Fewest leapfrog steps that warm-up may find.
const FEWEST_STEPS: usize = 4;
/// Most leapfrog steps that warm-up may find.
const MOST_STEPS: usize = 400;
/// The same with other temperatures: these carry a state far, so that many exchanges between short
/// trajectories are worth more than long ones.
const MOST_STEPS_OF_REPLICAS: usize = 12;
/// What a value costs of a gradient, with the output weights integrated out.
const VALUE_COST: f64 = 0.6;
/// Hidden units proposed anew in every sweep.
const REFRESHED_UNITS: usize = 5;

/// How much of a unit is kept when it is proposed anew.
const REFRESH_CORRELATIONS: [f64; 2] = [0.0, 0.9];
/// First width of Metropolis steps of log scales.
const WALK_WIDTH: f64 = 0.3;

/// Inverse temperature of the hottest replica.
const HOTTEST: f64 = 0.15;

/// How far a round over all blocks carries a state.
#[derive(Clone, Copy)]
struct Reach {
    /// Leapfrog steps of a trajectory of weights and scales together.
    joint_steps: usize,
    /// Most leapfrog steps of a trajectory with the output weights integrated out.
    most_steps: usize,
}

/// Far enough alone.
const FAR: Reach = Reach { joint_steps: JOINT_STEPS, most_steps: MOST_STEPS };
/// As far as is worth an exchange with another temperature.
const NEAR: Reach =
    Reach { joint_steps: JOINT_STEPS_OF_REPLICAS, most_steps: MOST_STEPS_OF_REPLICAS };

/// One round that does as much as is worth an exchange with another temperature.
pub(super) fn short_sweep<'p>(posterior: &'p MlpPosterior, beta: f64) -> Sweep<'p> {
    Sweep::new(plain(posterior, beta, NEAR))
}

/// One pass over all blocks of the state, with hotter replicas if they are asked for.
pub(super) fn sweep<'p>(posterior: &'p MlpPosterior, beta: f64) -> Sweep<'p> {
    let mut updates = plain(posterior, beta, reach(posterior));
    // Replicas belong to the posterior itself; a sweep at another temperature is one of them.
    if posterior.moves.temperatures > 1 && beta >= 1.0 {
        // First, so that latent κ are drawn anew for the temperature they end at.
        updates.insert(0, exchange(posterior));
    }
    match (&posterior.observed, posterior.moves.kernel) {
        // Replicas take part in every round: the more exchanges the better.
        (Observed::Real(_), KernelChoice::Auto) => {
            Sweep::new(vec![Box::new(Repeated::new("everything", rounds(posterior), updates))])
        }
        _ => Sweep::new(updates),
    }
}

/// As many rounds as a sweep has, where the output weights are integrated out.
fn rounds(posterior: &MlpPosterior) -> usize {
    let size = (posterior.rows() * posterior.shape.hidden).max(1);
    (ROUNDS_SIZE / size).clamp(*ROUNDS.start(), *ROUNDS.end())
}

/// As far as the posterior's own temperatures need: many exchanges are worth more than far moves.
fn reach(posterior: &MlpPosterior) -> Reach {
    if posterior.moves.temperatures > 1 { NEAR } else { FAR }
}

/// Exchanges with hotter replicas.
pub(super) fn exchange(posterior: &MlpPosterior) -> Box<dyn Update + '_> {
    let count = posterior.moves.temperatures;
    let ratio = HOTTEST.powf(1.0 / (count - 1) as f64);
    let ladder = Ladder::geometric(ratio, count).expect("a ratio between 0 and 1");
    let sweeps = ladder[1..]
        .iter()
        .map(|beta| Sweep::new(plain(posterior, *beta, reach(posterior))))
        .collect();
    let states = (1..count as u64)
        .map(|rung| start(posterior, &mut Seed(rung).stream(Purpose::Start, [u64::MAX, rung])))
        .collect();
    let mut evaluator = posterior.evaluator();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    let log_likelihood = move |state: &[f64]| {
        evaluator.evaluate(state, &mut draw, &mut rows).map(|terms| terms.log_likelihood)
    };
    let rungs = rungs(posterior, &ladder);
    let exchange = ReplicaExchange::new("exchange", ladder, sweeps, states, log_likelihood);
    match rungs {
        Some(rungs) => Box::new(exchange.integrating(rungs)),
        None => Box::new(exchange),
    }
}

/// What decides exchanges between the inverse temperatures of `ladder`, if not the likelihood.
pub(super) fn rungs<'p>(posterior: &'p MlpPosterior, ladder: &[f64]) -> Option<Rungs<'p>> {
    match &posterior.observed {
        Observed::Real(residual) if residual.is_normal_with_scales() => {
            let rung = |beta: &f64| {
                let network = (posterior.shape, &posterior.rows);
                Collapsed::new(network, &posterior.hierarchy, residual, *beta)
            };
            Some(Rungs::new(ladder.iter().map(rung).collect()))
        }
        _ => None,
    }
}

/// The updates of one round over all blocks of the state.
fn plain<'p>(posterior: &'p MlpPosterior, beta: f64, reach: Reach) -> Vec<Box<dyn Update + 'p>> {
    let mut updates: Vec<Box<dyn Update + 'p>> = Vec::new();
    let network = (posterior.shape, &posterior.rows);
    let mut residual: Option<Box<dyn Update + 'p>> = match &posterior.observed {
        Observed::Real(residual) => Some({
            let hierarchy = &posterior.hierarchy;
            Box::new(ResidualUpdate::new(network, hierarchy, residual, beta))
        }),
        _ => None,
    };
    // Where weights are moved given the latent κ, these come first: after an exchange of
    // temperatures they belong to another one. Where κ are integrated out they come last, so
    // that the state a sweep leaves has κ of its own weights.
    if posterior.moves.kernel == KernelChoice::Auto {
        updates.extend(residual.take());
    }
    // κ are those of the present weights here, whatever the kernel.
    updates.extend(jumps(posterior, beta));
    match (&posterior.observed, posterior.moves.kernel) {
        (Observed::Real(residual), KernelChoice::Auto) => {
            let coordinates = Collapsed::new(network, &posterior.hierarchy, residual, beta);
            let kernel = collapsed_kernel(posterior, &coordinates, reach.most_steps);
            updates.push(Box::new(Reparametrized::new("weights", coordinates, kernel)));
            updates.push(scales(posterior));
        }
        (_, KernelChoice::Auto) => {
            for outputs in [Outputs::Whitened, Outputs::Free] {
                let moved = vec![joint(posterior, beta, reach, outputs), scales(posterior)];
                updates.push(Box::new(Repeated::new(outputs.name(), 1, moved)));
            }
            updates.push(scale_moves(posterior, beta));
            updates.push(scales(posterior));
        }
        (_, KernelChoice::Hmc) => {
            let moves = posterior.moves;
            let options = HmcOptions {
                step_size: 0.2,
                leapfrog_steps: moves.leapfrog_steps.unwrap_or(WEIGHT_STEPS),
                window: moves.window,
                persistence: Persistence { decay: moves.persistence, ..Persistence::NONE },
                metric: MetricKind::Target,
                target_acceptance: if moves.persistence > 0.0 { 0.95 } else { 0.8 },
                ..HmcOptions::default()
            };
            updates.push(weights(posterior, beta, Hmc::new(posterior.shape.len(), options)));
            updates.push(scales(posterior));
            updates.push(scale_moves(posterior, beta));
        }
        (_, KernelChoice::Nuts) => {
            let options = NutsOptions { metric: MetricKind::Target, ..NutsOptions::default() };
            updates.push(weights(posterior, beta, Nuts::new(posterior.shape.len(), options)));
            updates.push(scales(posterior));
            updates.push(scale_moves(posterior, beta));
        }
    }
    updates.extend(residual);
    if let Observed::Outcomes(outcomes) = &posterior.observed {
        let mut network = Network::new(posterior.shape, &posterior.rows);
        let selection = posterior.hierarchy.selection.as_ref();
        let (weights, bias) = (posterior.shape.len(), posterior.shape.output_bias().start);
        updates.extend(outcomes.update(beta, move |state, outputs| {
            network.include(selection, state);
            network.outputs(&state[..weights], outputs);
        }));
        let level = BiasLevel { hierarchy: &posterior.hierarchy, bias, state: Vec::new() };
        if let Some(level) = LevelUpdate::new(outcomes, level) {
            updates.push(Box::new(level));
        }
    }
    updates
}

/// The weights given their scales.
fn weights<'p>(
    posterior: &'p MlpPosterior,
    beta: f64,
    kernel: impl Kernel + 'p,
) -> Box<dyn Update + 'p> {
    let conditional = WeightsConditional::new(
        (posterior.shape, &posterior.rows),
        &posterior.hierarchy,
        &posterior.observed,
        &posterior.input_squares,
        beta,
    );
    Box::new(Block::new("weights", 0, conditional, kernel))
}

/// The scales given the weights.
fn scales<'p>(posterior: &'p MlpPosterior) -> Box<dyn Update + 'p> {
    Box::new(ScalesUpdate { hierarchy: posterior.hierarchy.clone() })
}

fn whitened(posterior: &MlpPosterior, beta: f64) -> Whitened<'_> {
    let network = (posterior.shape, &posterior.rows);
    Whitened::new(network, &posterior.hierarchy, &posterior.observed, beta)
}

/// Scales together with the weights they belong to, by Metropolis steps.
fn scale_moves<'p>(posterior: &'p MlpPosterior, beta: f64) -> Box<dyn Update + 'p> {
    let coordinates = whitened(posterior, beta);
    match walk(coordinates.block().directions(&posterior.hierarchy, posterior.shape.inputs)) {
        Some(walk) => Box::new(Reparametrized::new("scale moves", coordinates, walk)),
        None => Box::new(Repeated::new("scale moves", 0, Vec::new())),
    }
}

/// The coordinates of the output weights in a trajectory of weights and scales together.
#[derive(Clone, Copy)]
enum Outputs {
    /// In units of their scales, which is best where these are small.
    Whitened,
    /// As they are, which is best where their scales are large.
    Free,
}

impl Outputs {
    fn name(self) -> &'static str {
        match self {
            Outputs::Whitened => "weights and scales",
            Outputs::Free => "free output weights",
        }
    }
}

/// Weights and scales together.
fn joint<'p>(
    posterior: &'p MlpPosterior,
    beta: f64,
    reach: Reach,
    outputs: Outputs,
) -> Box<dyn Update + 'p> {
    let whitened = whitened(posterior, beta);
    let steps = posterior.moves.leapfrog_steps.unwrap_or(reach.joint_steps);
    let (coordinates, leapfrog_steps, target_acceptance, moves) = match outputs {
        Outputs::Whitened => {
            let moves =
                walk(whitened.block().directions(&posterior.hierarchy, posterior.shape.inputs));
            (whitened, steps, JOINT_ACCEPTANCE, moves)
        }
        // Scales are drawn given the weights next: moves of their own are not needed.
        Outputs::Free => {
            let free = whitened.up_to(posterior.shape.output_weights().start);
            let steps = ((FREE_SHARE * steps as f64) as usize).max(1);
            (free, steps, HmcOptions::default().target_acceptance, None)
        }
    };
    let pools = pools(posterior, coordinates.block().len(), posterior.shape.len());
    let options = HmcOptions {
        step_size: 0.05,
        leapfrog_steps,
        metric: MetricKind::Pooled(pools),
        target_acceptance,
        fast_force: true,
        retry: Some(RETRY),
        ..HmcOptions::default()
    };
    let mut kernels: Vec<Box<dyn Kernel>> = vec![Box::new(Hmc::new(coordinates.dim(), options))];
    kernels.extend(moves);
    Box::new(Reparametrized::new(outputs.name(), coordinates, Sequence::new(kernels)))
}

/// What moves hidden weights and scales with the output weights integrated out.
fn collapsed_kernel(
    posterior: &MlpPosterior,
    coordinates: &Collapsed<'_>,
    most_steps: usize,
) -> Sequence {
    let (dim, scales) = (coordinates.dim(), coordinates.block().len());
    let directions = coordinates.block().directions(&posterior.hierarchy, posterior.shape.inputs);
    let hidden = posterior.shape.output_weights().start;
    let (leapfrog_steps, tune_length) = match posterior.moves.leapfrog_steps {
        Some(steps) => (steps, None),
        None => {
            let search = LengthSearch {
                range: FEWEST_STEPS..=most_steps,
                overhead: VALUE_COST * (directions.len() + REFRESHED_UNITS) as f64,
                features: Some(coordinates.feature_count()),
            };
            (COLLAPSED_STEPS, Some(search))
        }
    };
    let options = HmcOptions {
        step_size: 0.02,
        leapfrog_steps,
        tune_length,
        retry: Some(RETRY),
        metric: MetricKind::Pooled(pools(posterior, scales, hidden)),
        ..HmcOptions::default()
    };
    let mut kernels: Vec<Box<dyn Kernel>> = vec![Box::new(Hmc::new(dim, options))];
    kernels.extend(walk(directions));
    if posterior.shape.hidden > 0 {
        let unit = |h: usize| -> Vec<usize> {
            (0..posterior.shape.inputs + 1)
                .map(|k| scales + k * posterior.shape.hidden + h)
                .collect()
        };
        let units: Vec<Vec<usize>> = (0..posterior.shape.hidden).map(unit).collect();
        let refresh = Refresh::new(units, &REFRESH_CORRELATIONS).attempts(REFRESHED_UNITS);
        kernels.push(Box::new(refresh));
    }
    Sequence::new(kernels)
}

/// One pool per scale, and one for the weights of each part of a group: hidden units are
/// exchangeable.
fn pools(posterior: &MlpPosterior, scales: usize, weights: usize) -> Vec<usize> {
    let mut pools: Vec<usize> = (0..scales).collect();
    let mut next = scales;
    for group in &posterior.hierarchy.groups {
        if group.members.end > weights {
            break;
        }
        let count = group.members.len() / group.parts();
        for part in 0..group.parts() {
            pools.extend(std::iter::repeat_n(next + part, count));
        }
        next += group.parts();
    }
    pools
}

/// Metropolis steps along these directions, if there is any.
fn walk(directions: Vec<Vec<(usize, f64)>>) -> Option<Box<dyn Kernel>> {
    if directions.is_empty() {
        return None;
    }
    Some(Box::new(DirectionWalk::new(directions, WALK_WIDTH)))
}
