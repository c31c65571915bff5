//! Every gradient that a trajectory follows, against central differences.

use super::super::collapsed::Collapsed;
use super::super::hierarchy::Scale;
use super::super::residual_scales::ResidualScales;
use super::super::weights::WeightsConditional;
use super::super::whitened::Whitened;
use super::cases::{PRIORS, TARGETS};
use super::*;
use crate::model::prior::{Above, Levels};
use crate::sample::{Conditional, Coordinates};
use crate::target::{LogDensity, check_gradient};

/// Largest |analytic - numeric| / max(1, |analytic|, |numeric|).
const TOLERANCE: f64 = 2e-8;

const LAYERS: [Layers; 5] = [(0, true), (1, false), (1, true), (4, false), (4, true)];

/// A state of moderate numbers: from the prior, so that degrees of freedom are possible ones,
/// but with weights, scales and latents near 1, where differences are accurate.
pub(super) fn moderate_state(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    let mut state = from_prior(posterior, stream);
    for weight in &mut state[..posterior.shape.len()] {
        *weight = 0.7 * stream.normal();
    }
    let set_scales = |levels: &Levels, state: &mut [f64], stream: &mut Stream| {
        for slot in levels.slots.clone() {
            state[slot] = 0.3 * stream.normal() - 0.2;
        }
        if let Above::Sampled { slot, .. } = levels.above {
            state[slot] = 0.3 * stream.normal() - 0.2;
        }
    };
    for group in &posterior.hierarchy.groups {
        if let Scale::Sampled(levels) = &group.scale {
            set_scales(levels, &mut state, stream);
        }
        if let Some(multipliers) = &group.multipliers {
            for slot in multipliers.slots.clone() {
                state[slot] = 0.3 * stream.normal();
            }
        }
    }
    if let Observed::Real(residual) = &posterior.observed {
        if let Noise::Scales { levels, .. } = &residual.noise {
            set_scales(levels, &mut state, stream);
        }
        for slot in residual.cases.clone().into_iter().flatten() {
            state[slot] = (0.5 * stream.normal()).exp();
        }
    }
    state
}

/// Targets away from the outputs: |y - f| has a kink, across which differences are wrong.
fn targets(world: &World, state: &[f64], stream: &mut Stream) -> Vec<f64> {
    match world.target.link {
        Link::Real | Link::Several => world
            .outputs(&state[..world.shape().len()])
            .iter()
            .map(|f| f + (0.5 + stream.uniform()).copysign(stream.normal()))
            .collect(),
        Link::Binary => (0..world.target_count()).map(|i| (i % 2) as f64).collect(),
        Link::Classes => (0..world.target_count()).map(|i| (i % 3) as f64).collect(),
    }
}

fn assert_gradient(target: &mut dyn LogDensity, position: &[f64], what: &str) {
    if position.is_empty() {
        assert!(target.log_density_gradient(position, &mut []).is_ok(), "{what}");
        return;
    }
    let check = check_gradient(target, position).unwrap();
    assert!(check.error < TOLERANCE, "{what}: {check:?}");
    // The value alone is the value with the gradient.
    let alone = target.log_density(position).unwrap();
    let mut gradient = vec![f64::NAN; position.len()];
    let together = target.log_density_gradient(position, &mut gradient).unwrap();
    assert!((alone - together).abs() < 1e-10 * alone.abs().max(1.0), "{what}: two values");
}

fn check(world: &World, stream: &mut Stream, what: &str) {
    let state = moderate_state(&world.empty(), stream);
    let posterior = world.posterior(&targets(world, &state, stream));
    let network = (posterior.shape, &posterior.rows);
    let (hierarchy, observed) = (&posterior.hierarchy, &posterior.observed);
    for beta in [1.0, 0.3, 0.0] {
        let what = format!("{what}, β = {beta}");
        if let Observed::Real(residual) = observed {
            let mut collapsed = Collapsed::new(network, hierarchy, residual, beta);
            let mut position = vec![0.0; collapsed.dim()];
            collapsed.enter(&state, &mut position);
            assert_gradient(&mut collapsed, &position, &format!("collapsed, {what}"));
            if let Noise::Covariance { .. } = residual.noise {
                continue;
            }
        }
        for first in [posterior.shape.len(), posterior.shape.output_weights().start] {
            let mut whitened = Whitened::new(network, hierarchy, observed, beta).up_to(first);
            let mut position = vec![0.0; whitened.dim()];
            whitened.enter(&state, &mut position);
            assert_gradient(&mut whitened, &position, &format!("whitened up to {first}, {what}"));
        }
        if let Observed::Real(residual) = observed
            && let Some(scales) = ResidualScales::new(residual)
        {
            let mut whitened = Whitened::new(network, hierarchy, observed, beta).beside(scales);
            let mut position = vec![0.0; whitened.dim()];
            whitened.enter(&state, &mut position);
            assert_gradient(&mut whitened, &position, &format!("beside residuals, {what}"));
        }
        let squares = &posterior.input_squares;
        let mut weights = WeightsConditional::new(network, hierarchy, observed, squares, beta);
        weights.condition(&state);
        let position = &state[..posterior.shape.len()];
        assert_gradient(&mut weights, position, &format!("weights, {what}"));
    }
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut stream = stream(10);
    for target in TARGETS {
        for layers in LAYERS {
            for number in 0..PRIORS.len() {
                let mut world = World::new(target, layers, &cases::priors(&target, number), "");
                world.several = 3;
                world.inputs = inputs(4, 2, &mut stream);
                let what = format!("{}, {layers:?}, priors {number}", target.name);
                check(&world, &mut stream, &what);
            }
        }
    }
}

#[test]
fn step_scales_follow_the_scales_and_not_the_weights() {
    let mut stream = stream(11);
    for target in TARGETS {
        if target == cases::COVARIANCE {
            continue;
        }
        let world = World::new(target, (3, true), &PRIORS[0], "");
        let posterior = world.empty();
        let squares = &posterior.input_squares;
        let network = (posterior.shape, &posterior.rows);
        let (hierarchy, observed) = (&posterior.hierarchy, &posterior.observed);
        let mut weights = WeightsConditional::new(network, hierarchy, observed, squares, 1.0);
        let mut state = moderate_state(&posterior, &mut stream);
        assert!(weights.condition(&state));
        let before = weights.step_scale().unwrap().to_vec();
        assert!(before.iter().all(|scale| *scale > 0.0 && scale.is_finite()));
        for weight in &mut state[..posterior.shape.len()] {
            *weight = stream.normal();
        }
        assert!(!weights.condition(&state), "{}: weights are no condition", target.name);
        assert_eq!(weights.step_scale().unwrap(), before, "{}", target.name);
        state[posterior.shape.len()] += 0.1;
        assert!(weights.condition(&state), "{}: scales are", target.name);
        assert_ne!(weights.step_scale().unwrap(), before, "{}", target.name);
    }
}
