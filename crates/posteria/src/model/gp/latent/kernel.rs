//! Choose the updates of latents and hyperparameters, and where they begin.

use super::super::posterior::GpPosterior;
use super::elliptical::LatentPrior;
use super::input_sets::{LatentSet, PriorSet};
use super::magnitude;
use super::noise::HyperparameterUpdate;
use super::prior::PriorUpdate;
use super::shared::{Handle, Shared};
use super::split::SplitUpdate;
use super::walk::WalkUpdate;
use crate::model::selection::Jump;
use crate::model::spec::{KernelChoice, LatentsChoice};
use crate::random::Stream;
use crate::sample::hmc::{Hmc, HmcOptions, MetricKind};
use crate::sample::{
    EllipticalSlice, FittedStudentT, Kernel, MetropolisHastings, RandomWalk, Repeated, Sequence,
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
/// Leapfrog steps of hyperparameters.
const STEPS: usize = 3;
/// Acceptance of trajectories of hyperparameters.
const ACCEPTANCE: f64 = 0.65;
/// Every such trajectory's step is jittered by this much.
const JITTER: f64 = 0.15;

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
        updates.push(Box::new(PriorUpdate::new(posterior)));
        return updates;
    }
    let choice = posterior.moves.latents;
    let shared = Handle::new(Shared::new(posterior, beta, choice == LatentsChoice::Auto));
    let latents: Box<dyn Update + '_> = match choice {
        LatentsChoice::Auto => Box::new(SplitUpdate::new(shared.clone())),
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
    let dim = posterior.processes[0].hyperparameters.slots.len();
    if dim > 0 {
        let kernel = hyperparameter_kernel(posterior, dim);
        let moves: Box<dyn Update + '_> = Box::new(HyperparameterUpdate::new(shared, kernel));
        let times = if choice == LatentsChoice::Auto && dim > FEW { 2 } else { 1 };
        updates.push(Box::new(Repeated::new("hyperparameters", times, vec![moves])));
    }
    if choice == LatentsChoice::Auto {
        updates.extend(magnitude::update(posterior, beta));
    }
    updates
}

/// The kernel of `dim` log hyperparameters at fixed noise.
fn hyperparameter_kernel(posterior: &GpPosterior, dim: usize) -> Box<dyn Kernel> {
    let moves = &posterior.moves;
    if moves.latents != LatentsChoice::Auto {
        // Nothing to tune, and the scale of the density given noise varies with the noise.
        return Box::new(Slice::new(&vec![SLICE_WIDTH; dim]));
    }
    let widths = vec![WIDTH; dim];
    // Where inputs may leave, one distribution does not fit all sets.
    let one_set = posterior.selection.is_none();
    if dim <= GUESSED && moves.kernel == KernelChoice::Auto && one_set {
        let guess = FittedStudentT::new(&widths).walk_share_if_poor(POOR_WALK_SHARE);
        return Box::new(MetropolisHastings::new(guess));
    }
    let options = HmcOptions {
        leapfrog_steps: moves.leapfrog_steps.unwrap_or(STEPS),
        leapfrog_jitter: 0.0,
        step_jitter: JITTER,
        target_acceptance: ACCEPTANCE,
        metric: MetricKind::Dense,
        fast_force: true,
        ..HmcOptions::default()
    };
    // Trajectories follow the sites; the walk is for where these know too little.
    let walk = MetropolisHastings::new(RandomWalk::new(&widths).learn_covariance());
    Box::new(Sequence::new(vec![Box::new(Hmc::new(dim, options)), Box::new(walk)]))
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
