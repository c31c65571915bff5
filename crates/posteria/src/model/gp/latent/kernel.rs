//! Choose the updates of latents and hyperparameters, and where they begin.

use std::f64::consts::PI;

use super::super::observed::Observed;
use super::super::posterior::GpPosterior;
use super::augmented::AugmentedUpdate;
use super::elliptical::LatentPrior;
use super::input_sets::{LatentSet, PriorSet};
use super::joint::JointUpdate;
use super::level::ProcessLevel;
use super::magnitude;
use super::noise::HyperparameterUpdate;
use super::prior::PriorUpdate;
use super::shared::{Handle, Shared};
use super::split::SplitUpdate;
use super::walk::WalkUpdate;
use crate::model::outcome::LevelUpdate;
use crate::model::selection::Jump;
use crate::model::spec::{KernelChoice, LatentsChoice, Link, StartChoice};
use crate::random::Stream;
use crate::sample::hmc::{Hmc, HmcOptions, MetricKind};
use crate::sample::{
    DirectionWalk, EllipticalSlice, FittedStudentT, FromMode, Kernel, MetropolisHastings, Repeated,
    Slice, Update,
};

/// Most hyperparameters that independence proposals can guess at once.
const GUESSED: usize = 6;
/// Most hyperparameters that one move per sweep is enough for: more of them move twice.
const FEW: usize = 3;
/// Share of random-walk steps where guesses fail too often.
const POOR_WALK_SHARE: f64 = 0.5;
/// First width of proposals of log hyperparameters.
const WIDTH: f64 = 0.3;
/// First width of slices of log hyperparameters.
const SLICE_WIDTH: f64 = 1.0;
/// Ellipses per sweep: they are cheap beside a factorisation.
const ELLIPSES: usize = 5;
/// Steps of a quarter turn of the latents where hyperparameters are guessed.
const TURN_STEPS: usize = 2;
/// The same where trajectories cost so much that some turns more do not matter, and turns per
/// sweep.
const MANY_TURN_STEPS: usize = 4;
const TURNS: usize = 4;
/// Leapfrog steps of hyperparameters with the functions integrated out.
const STEPS: usize = 8;
/// Time of such a trajectory: half a period, since the augmentation breaks what would repeat.
const DURATION: f64 = PI;
/// Leapfrog steps of hyperparameters and latents together.
const JOINT_STEPS: usize = 12;
/// Acceptance of trajectories.
const ACCEPTANCE: f64 = 0.8;
/// Every trajectory's step is jittered by this much, and the number of its steps by that.
const JITTER: f64 = 0.15;
const STEPS_JITTER: f64 = 0.3;
/// Walks of magnitudes about sites per sweep.
const WALKS: usize = 2;

/// The updates of latents and hyperparameters at an inverse temperature.
pub(in crate::model::gp) fn updates(
    posterior: &GpPosterior,
    beta: f64,
) -> Vec<Box<dyn Update + '_>> {
    if beta <= 0.0 {
        let mut updates: Vec<Box<dyn Update + '_>> = Vec::new();
        if let Some(selection) = &posterior.selection {
            updates.push(Box::new(Jump::new(selection, PriorSet { posterior })));
        }
        // The σ of counts or durations included.
        updates.push(Box::new(PriorUpdate::new(posterior)));
        return updates;
    }
    let choice = posterior.moves.latents;
    let shared = Handle::new(Shared::new(posterior, beta, choice == LatentsChoice::Auto));
    let latents: Box<dyn Update + '_> = match choice {
        LatentsChoice::Auto if guesses(posterior) => {
            Box::new(SplitUpdate::new(shared.clone(), TURN_STEPS))
        }
        LatentsChoice::Auto => {
            let turn = SplitUpdate::new(shared.clone(), MANY_TURN_STEPS);
            Box::new(Repeated::new("latents", TURNS, vec![Box::new(turn)]))
        }
        LatentsChoice::Elliptical => {
            let prior = LatentPrior::new(shared.clone());
            let start = posterior.latents.start;
            let slice = EllipticalSlice::new("ellipse", start, prior, beta);
            Box::new(Repeated::new("latents", ELLIPSES, vec![Box::new(slice)]))
        }
        LatentsChoice::Metropolis => Box::new(WalkUpdate::new(shared.clone())),
    };
    let mut updates = Vec::new();
    if let Some(selection) = &posterior.selection {
        let jumps: Box<dyn Update + '_> =
            Box::new(Jump::new(selection, LatentSet::new(shared.clone())));
        updates.push(jumps);
    }
    updates.push(latents);
    updates.extend(hyperparameter_updates(posterior, &shared, beta));
    if choice == LatentsChoice::Auto {
        updates.extend(magnitude::update(posterior, beta));
    }
    if let Observed::Outcomes(outcomes) = &posterior.observed {
        let latents = posterior.latents.clone();
        let functions = move |state: &[f64], functions: &mut [f64]| {
            functions.copy_from_slice(&state[latents.clone()]);
        };
        updates.extend(outcomes.update(beta, functions));
        if let Some(level) = LevelUpdate::new(outcomes, ProcessLevel::new(posterior)) {
            updates.push(Box::new(level));
        }
    }
    updates
}

/// Whether hyperparameters are guessed: few of them, and always the same.
fn guesses(posterior: &GpPosterior) -> bool {
    posterior.processes[0].hyperparameters.slots.len() <= GUESSED
        && posterior.moves.kernel == KernelChoice::Auto
        && posterior.selection.is_none()
}

/// The updates of the log hyperparameters.
fn hyperparameter_updates<'p>(
    posterior: &'p GpPosterior,
    shared: &Handle<'p>,
    beta: f64,
) -> Vec<Box<dyn Update + 'p>> {
    const NAME: &str = "hyperparameters";
    let moves = &posterior.moves;
    let slots = posterior.processes[0].hyperparameters.slots.clone();
    let dim = slots.len();
    let at_noise = |name, kernel: Box<dyn Kernel>| -> Box<dyn Update + 'p> {
        Box::new(HyperparameterUpdate::new(name, shared.clone(), kernel))
    };
    if dim == 0 {
        return Vec::new();
    }
    if moves.latents != LatentsChoice::Auto {
        // Nothing to tune, and the scale of the density given noise varies with the noise.
        return vec![at_noise(NAME, Box::new(Slice::new(&vec![SLICE_WIDTH; dim])))];
    }
    if guesses(posterior) {
        let guess = FittedStudentT::new(&vec![WIDTH; dim]).walk_share_if_poor(POOR_WALK_SHARE);
        let moves = vec![at_noise(NAME, Box::new(MetropolisHastings::new(guess)))];
        let times = if dim > FEW { 2 } else { 1 };
        return vec![Box::new(Repeated::new(NAME, times, moves))];
    }
    let full = beta.to_bits() == 1.0_f64.to_bits();
    let trajectories: Box<dyn Update + 'p> = match &posterior.observed {
        Observed::Binary { link: Link::Logit, signs } if full => {
            let hmc = Hmc::new(dim, trajectory(posterior, STEPS, MetricKind::Dense));
            // Where inputs may leave, one shape does not fit all sets.
            let from_mode = posterior.selection.is_none() && moves.start != StartChoice::Prior;
            let kernel: Box<dyn Kernel> = match from_mode {
                true => Box::new(FromMode::own(hmc)),
                false => Box::new(hmc),
            };
            Box::new(AugmentedUpdate::new(shared.clone(), signs, kernel))
        }
        _ => Box::new(JointUpdate::new(shared.clone(), |whole| {
            let metric = MetricKind::DenseFirst(dim);
            Box::new(Hmc::new(whole, trajectory(posterior, JOINT_STEPS, metric)))
        })),
    };
    let mut updates = vec![trajectories];
    let magnitudes: Vec<usize> =
        magnitude::slots(posterior).into_iter().map(|slot| slot - slots.start).collect();
    if !magnitudes.is_empty() {
        // Latents know the magnitude nearly exactly, and so do random sites.
        let walk = DirectionWalk::along_axes(magnitudes, WIDTH).repeats(WALKS);
        updates.push(at_noise("magnitudes about sites", Box::new(walk)));
    }
    updates
}

/// Trajectories of so many steps, where their number is not given.
fn trajectory(posterior: &GpPosterior, steps: usize, metric: MetricKind) -> HmcOptions {
    let given = posterior.moves.leapfrog_steps;
    HmcOptions {
        leapfrog_steps: given.unwrap_or(steps),
        duration: given.is_none().then_some(DURATION),
        leapfrog_jitter: STEPS_JITTER,
        step_jitter: JITTER,
        target_acceptance: ACCEPTANCE,
        metric,
        ..HmcOptions::default()
    }
}

/// Draws latents from the normal approximation of their posterior at the hyperparameters of
/// `state`. They stay where the covariance cannot be factorised.
pub(in crate::model::gp) fn start(posterior: &GpPosterior, state: &mut [f64], stream: &mut Stream) {
    let mut shared = Shared::new(posterior, 1.0, true);
    if shared.prepare(state).is_err() {
        return;
    }
    let latents = &mut state[posterior.latents.clone()];
    let (mut mean, mut noise) = (latents.to_vec(), latents.to_vec());
    shared.here.mean(&shared.sites, &mut mean, None);
    shared.here.draw_deviation(&shared.sites, latents, &mut noise, stream);
    latents.iter_mut().zip(&mean).for_each(|(latent, mean)| *latent += mean);
}
