//! Compose the sweep of a Gaussian process from its kernels.

use std::f64::consts::FRAC_PI_2;

use super::input_sets::RegressionSet;
use super::latent;
use super::neighbours::CasesUpdate;
use super::observed::Observed;
use super::posterior::GpPosterior;
use super::regression::RegressionConditional;
use super::start;
use super::updates::{DofsUpdate, FunctionsUpdate, ResidualUpdate};
use crate::model::Posterior;
use crate::model::residual::Residual;
use crate::model::selection::Jump;
use crate::model::spec::{KernelChoice, ResidualSharing, StartChoice};
use crate::random::{Purpose, Seed};
use crate::sample::hmc::{Hmc, HmcOptions, MetricKind, Nuts, NutsOptions};
use crate::sample::{
    Block, FittedStudentT, FromMode, Kernel, Ladder, MetropolisHastings, Modes, Occasional,
    ReplicaExchange, Sequence, Sweep, Update, WithSurrogate,
};

/// Leapfrog steps of a trajectory: with a dense metric a few cross the posterior.
const STEPS: usize = 5;
/// Leapfrog steps of few hyperparameters, most of whose moves are others.
const STEPS_BESIDE_GUESSES: usize = 3;
/// Acceptance of trajectories: high, since where relevances are small steps must be shorter.
const ACCEPTANCE: f64 = 0.9;
/// Every trajectory's step is jittered by this much.
const JITTER: f64 = 0.15;
/// Most hyperparameters whose density is emulated or guessed at once.
const GUESSED: usize = 16;
/// Where their density is emulated, a trajectory is made in one of so many sweeps at most, and in
/// every sweep below twice …
const TRAJECTORY_PERIOD: usize = 9;
/// … so many rows: of fewer rows a trajectory costs less than the transitions beside it.
const ROWS_PER_PERIOD: usize = 75;
/// Steps of a long transition per coordinate, fewest and most, …
const STEPS_PER_COORDINATE: [usize; 2] = [12, 36];
/// … and rows for each of them: the density that a better guess saves is dearer with more rows.
const ROWS_PER_STEP: usize = 20;
/// Most hyperparameters that independence proposals guess at once so well that trajectories are
/// needed now and then only, …
const FEW: usize = 6;
/// … in one of so many sweeps.
const TRAJECTORY_PERIOD_OF_FEW: usize = 8;
/// Independence proposals per sweep of few hyperparameters: a value costs a third of a gradient.
const GUESSES_OF_FEW: usize = 4;
/// The same of more, of which a third to a half are accepted.
const GUESSES: usize = 6;
/// First width of proposals of log hyperparameters.
const WIDTH: f64 = 0.3;

/// Inverse temperature of the hottest replica.
const HOTTEST: f64 = 0.15;

/// One pass over all blocks of the state, with hotter replicas if they are asked for.
pub(super) fn sweep(posterior: &GpPosterior, inverse_temperature: f64) -> Sweep<'_> {
    let mut updates = plain(posterior, inverse_temperature);
    let is_posterior = inverse_temperature.to_bits() == 1.0_f64.to_bits();
    if posterior.moves.temperatures > 1 && is_posterior {
        // First, so that κ are drawn anew for the temperature they end at.
        updates.insert(0, exchange(posterior));
    }
    Sweep::new(updates)
}

/// One pass without exchanges.
pub(super) fn short_sweep(posterior: &GpPosterior, inverse_temperature: f64) -> Sweep<'_> {
    Sweep::new(plain(posterior, inverse_temperature))
}

/// Exchanges with hotter replicas.
fn exchange(posterior: &GpPosterior) -> Box<dyn Update + '_> {
    let count = posterior.moves.temperatures;
    let ratio = HOTTEST.powf(1.0 / (count - 1) as f64);
    let ladder = Ladder::geometric(ratio, count).expect("a ratio between 0 and 1");
    let sweeps = ladder[1..].iter().map(|beta| short_sweep(posterior, *beta)).collect();
    let states = (1..count as u64)
        .map(|rung| {
            start::start(posterior, &mut Seed(rung).stream(Purpose::Start, [u64::MAX, rung]))
        })
        .collect();
    let mut evaluator = posterior.evaluator();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    let log_likelihood = move |state: &[f64]| {
        evaluator.evaluate_sum(state, &mut draw, &mut rows).map(|terms| terms.log_likelihood)
    };
    Box::new(ReplicaExchange::new("exchange", ladder, sweeps, states, log_likelihood))
}

/// The updates of one pass over all blocks of the state.
fn plain(posterior: &GpPosterior, inverse_temperature: f64) -> Vec<Box<dyn Update + '_>> {
    let mut updates: Vec<Box<dyn Update + '_>> = Vec::new();
    match &posterior.observed {
        Observed::Real(residual) => {
            regression(posterior, residual, inverse_temperature, &mut updates);
        }
        _ => updates.extend(latent::updates(posterior, inverse_temperature)),
    }
    if posterior.processes.iter().any(|process| process.hyperparameters.has_sampled_dof()) {
        updates.push(Box::new(DofsUpdate { processes: posterior.processes.clone() }));
    }
    updates
}

/// Hyperparameters with the functions integrated out; unless residuals are normal, then the
/// functions, then the residual model.
fn regression<'p>(
    posterior: &'p GpPosterior,
    residual: &'p Residual,
    beta: f64,
    updates: &mut Vec<Box<dyn Update + 'p>>,
) {
    let processes = &posterior.processes;
    if let Some(selection) = &posterior.selection {
        let set = RegressionSet::new(posterior, residual, beta);
        updates.push(Box::new(Jump::new(selection, set)));
    }
    // Targets with nothing in common are moved one by one, in fewer dimensions each.
    let apart = residual.by.is_none() && residual.sharing == ResidualSharing::PerTarget;
    let size = if apart { 1 } else { processes.len() };
    for (group, modes) in processes.chunks(size).zip(&posterior.modes) {
        let conditional = RegressionConditional::new(posterior, residual, group, beta);
        let slots = conditional.slots().to_vec();
        if slots.is_empty() {
            continue;
        }
        let name = match processes.len() {
            count if count > size => format!("hyperparameters {}", group[0].targets.start + 1),
            _ => "hyperparameters".into(),
        };
        // Where inputs may leave, one shape does not fit all sets.
        let from_mode = posterior.moves.start != StartChoice::Prior
            && posterior.selection.is_none()
            && beta.to_bits() == 1.0_f64.to_bits();
        // Given κ of every row the density is another in every sweep: no emulator fits all.
        let emulated = from_mode && residual.cases.is_none();
        let kernel = hyperparameter_kernel(posterior, slots.len(), emulated);
        if !from_mode {
            updates.push(Box::new(Block::at(name, slots, conditional, kernel)));
            continue;
        }
        // Given κ of every row, which every chain has its own of, so is the mode.
        let kernel = match residual.cases {
            Some(_) => FromMode::own(kernel),
            None => {
                let starts = || Modes::new(start::hyperparameters(posterior, &slots));
                FromMode::among(kernel, modes.get_or_init(starts))
            }
        };
        updates.push(Box::new(Block::at(name, slots, conditional, kernel)));
    }
    if posterior.keeps_latents() {
        updates.push(Box::new(FunctionsUpdate::new(posterior, residual, beta)));
        let latents = posterior.latents.clone();
        let drawn = Box::new(ResidualUpdate::new(residual, latents, beta));
        // κ of a state that was exchanged belong to another temperature: nothing may be moved given them.
        let place = if posterior.moves.temperatures > 1 { 0 } else { updates.len() };
        updates.insert(place, drawn);
    } else if let (Some(_), Some(neighbours)) = (&residual.cases, &posterior.neighbours) {
        updates.push(Box::new(CasesUpdate::new(posterior, residual, neighbours, beta)));
    }
}

/// The kernel of `dim` log hyperparameters, of a density that can be `emulated` or not.
pub(super) fn hyperparameter_kernel(
    posterior: &GpPosterior,
    dim: usize,
    emulated: bool,
) -> Box<dyn Kernel> {
    let moves = &posterior.moves;
    let metric = MetricKind::Dense;
    if moves.kernel == KernelChoice::Nuts {
        return Box::new(Nuts::new(dim, NutsOptions { metric, ..NutsOptions::default() }));
    }
    // Where inputs may leave, one distribution does not fit all sets.
    let one_set = posterior.selection.is_none();
    let guesses = moves.kernel == KernelChoice::Auto && dim <= GUESSED && one_set;
    let few = dim <= FEW && guesses;
    let usual = if few { STEPS_BESIDE_GUESSES } else { STEPS };
    let options = HmcOptions {
        leapfrog_steps: moves.leapfrog_steps.unwrap_or(usual),
        // Who says how many steps means so many.
        duration: moves.leapfrog_steps.is_none().then_some(FRAC_PI_2),
        leapfrog_jitter: 0.0,
        step_jitter: JITTER,
        target_acceptance: ACCEPTANCE,
        metric,
        ..HmcOptions::default()
    };
    let hmc: Box<dyn Kernel> = Box::new(Hmc::new(dim, options));
    if !guesses {
        return hmc;
    }
    if emulated {
        let rows = posterior.inputs.rows();
        let period = (rows / ROWS_PER_PERIOD).clamp(1, TRAJECTORY_PERIOD);
        let [fewest, most] = STEPS_PER_COORDINATE;
        let steps = (rows / ROWS_PER_STEP).clamp(fewest, most);
        return Box::new(WithSurrogate::new(hmc, period, steps));
    }
    let guess = FittedStudentT::new(&vec![WIDTH; dim]);
    if few {
        let hmc = Occasional::new(hmc, TRAJECTORY_PERIOD_OF_FEW);
        let guesses = MetropolisHastings::new(guess).repeats(GUESSES_OF_FEW);
        return Box::new(Sequence::new(vec![Box::new(hmc), Box::new(guesses)]));
    }
    let guess = guess.walk_share(0.0).rest_if_hopeless();
    let guesses = MetropolisHastings::new(guess).repeats(GUESSES);
    Box::new(Sequence::new(vec![hmc, Box::new(guesses)]))
}
