//! At inverse temperatures between prior and posterior: chains against importance weights.

use super::cases::TARGETS;
use super::joint_distribution::KERNELS;
use super::*;
use crate::density::MultivariateNormal;
use crate::model::residual::Noise;
use crate::sample::Marginalized;
use posteria_linalg::Cholesky;
use reference::{Kind, residual_factors, weight_factors};

const PASSES: usize = 3200;
const DRAWS: usize = 20_000;
const BETA: f64 = 0.5;

/// Bounded functions of the state: of every scale, weight and degrees of freedom, and of the
/// outputs.
fn functions(world: &World, posterior: &MlpPosterior, state: &[f64]) -> Vec<f64> {
    let mut factors = weight_factors(posterior, state, false);
    factors.extend(residual_factors(posterior, state));
    let mut values: Vec<f64> = Vec::new();
    for factor in factors {
        // Signs of weights are exchangeable, so their second score tells more.
        values.push(factor.scores[usize::from(factor.kind == Kind::Weight)]);
    }
    values.extend(world.outputs(&state[..posterior.shape.len()]).iter().map(|f| f.tanh()));
    values
}

/// Means of the functions under prior × likelihood^β and their standard errors, from weighted
/// draws of the prior; and the effective number of these.
fn weighted_means(
    world: &World,
    posterior: &MlpPosterior,
    beta: f64,
    stream: &mut Stream,
) -> (Vec<(f64, f64)>, f64) {
    let mut draws = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let state = from_prior(posterior, stream);
        let log_likelihood =
            reference::log_density(&world.target_factors(posterior, &state, false));
        draws.push((beta * log_likelihood, functions(world, posterior, &state)));
    }
    let largest = draws.iter().fold(f64::NEG_INFINITY, |most, (log, _)| most.max(*log));
    let weights: Vec<f64> = draws.iter().map(|(log, _)| (log - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let count = draws[0].1.len();
    let means = (0..count).map(|index| {
        let pairs = || weights.iter().zip(draws.iter().map(|(_, values)| values[index]));
        let mean = pairs().map(|(w, value)| w * value).sum::<f64>() / total;
        let squares: f64 = pairs().map(|(w, value)| (w * (value - mean)).powi(2)).sum();
        (mean, squares.sqrt() / total)
    });
    let effective = total * total / weights.iter().map(|w| w * w).sum::<f64>();
    (means.collect(), effective)
}

#[test]
fn chains_at_half_the_inverse_temperature_agree_with_importance_weights() {
    for (index, target) in TARGETS.into_iter().enumerate() {
        let mut stream = stream(60 + index as u64);
        let kernel = if target == cases::COVARIANCE { 0 } else { index % 3 };
        let layers = if index % 2 == 0 { (2, true) } else { (2, false) };
        let priors = cases::priors(&target, index + 1);
        let mut world = World::new(target, layers, &priors, KERNELS[kernel].1);
        world.inputs = inputs(4, 2, &mut stream);
        let empty = world.empty();
        let mut state = from_prior(&empty, &mut stream);
        // Targets of ordinary size, so that many draws of the prior have weight.
        let targets = match target.link {
            Link::Real | Link::Several => {
                (0..world.target_count()).map(|_| 0.8 * stream.normal()).collect()
            }
            _ => world.draw_targets(&empty, &state, &mut stream),
        };
        let posterior = world.posterior(&targets);
        let (expected, effective) = weighted_means(&world, &posterior, BETA, &mut stream);
        assert!(effective > 500.0, "{}: {effective} effective draws", target.name);
        // One round of the kernels: what is to be proved does not depend on their number.
        let mut sweep = crate::model::mlp::sweep::short_sweep(&posterior, BETA);
        tune(&mut sweep, &state, 200, &mut stream);
        for _ in 0..100 {
            sweep.pass(&mut state, &mut stream);
        }
        let mut table = Table::default();
        for _ in 0..PASSES {
            sweep.pass(&mut state, &mut stream);
            table.push(&functions(&world, &posterior, &state));
        }
        for (function, (column, (mean, error))) in table.0.iter().zip(&expected).enumerate() {
            let z = z_score(column, *mean, *error);
            assert!(z.abs() < FAR, "{}: function {function} is {z} errors off", target.name);
        }
    }
}

/// A network without hidden units has a normal density of its targets, so that the density of
/// the scales at inverse temperature β is known: prior × N(y; 0, ΦA²Φᵀ + (σ²/β) I) times
/// (2πσ²)^(-nβ/2) (2πσ²/β)^(n/2), whose powers of σ must not be forgotten.
#[test]
fn rungs_have_the_density_of_their_own_temperature() {
    let mut stream = stream(95);
    let priors = cases::priors(&cases::NORMAL, 0);
    let mut world = World::new(cases::NORMAL, (0, true), &priors, "");
    world.inputs = inputs(3, 2, &mut stream);
    let targets: Vec<f64> = (0..3).map(|_| stream.normal()).collect();
    let posterior = world.posterior(&targets);
    let ladder = [1.0, 0.4, 0.1];
    let mut rungs = crate::model::mlp::sweep::rungs(&posterior, &ladder).expect("normal residuals");
    let Observed::Real(residual) = &posterior.observed else { panic!("real targets") };
    let Noise::Scales { levels, .. } = &residual.noise else { panic!("a scale") };
    let states: Vec<Vec<f64>> = (0..2).map(|_| from_prior(&posterior, &mut stream)).collect();
    let exact = |state: &[f64], beta: f64| {
        let variance = (2.0 * state[levels.slots.start]).exp();
        let scales = collapsed::weight_scales(&posterior, state);
        // The bias first, then the direct weights.
        let design = |i: usize, j: usize| if j == 0 { 1.0 } else { world.inputs[(i, j - 1)] };
        let covariance = Matrix::from_fn(3, 3, |a, b| {
            let shared: f64 = (0..3).map(|j| design(a, j) * scales[j].powi(2) * design(b, j)).sum();
            shared + if a == b { variance / beta } else { 0.0 }
        });
        let factor = Cholesky::new(&covariance).expect("positive definite");
        let normal = MultivariateNormal::new(vec![0.0; 3], factor).expect("finite");
        normal.log_density(&targets, &mut [0.0; 3]) - 1.5 * beta * variance.ln()
            + 1.5 * variance.ln()
    };
    for (rung, beta) in ladder.into_iter().enumerate() {
        // Against the coldest one the prior cancels; against another state the constants do.
        let mut between = |state: &[f64]| {
            rungs.log_density(rung, state).expect("usable")
                - rungs.log_density(0, state).expect("usable")
        };
        let found = between(&states[0]) - between(&states[1]);
        let change = |state: &[f64]| exact(state, beta) - exact(state, 1.0);
        let known = change(&states[0]) - change(&states[1]);
        assert!((found - known).abs() < 1e-8 * known.abs().max(1.0), "{beta}: {found} {known}");
    }
}

#[test]
fn exchanges_with_hotter_replicas_alone_lead_to_the_posterior() {
    // Normal residuals exchange with the output weights integrated out, the others with them.
    let several = TARGETS.into_iter().find(|target| target.name == "normal, per target");
    // (Latent κ are not among what is compared, nor drawn anew by an exchange.)
    let targets = [cases::NORMAL, several.expect("a known case"), cases::STUDENT_T];
    for (index, target) in targets.into_iter().enumerate() {
        let mut stream = stream(90 + index as u64);
        let priors = cases::priors(&target, index + 1);
        let mut world =
            World::new(target, (2, index == 0), &priors, "leapfrog_steps = 4\ntemperatures = 3");
        // As many targets in all: the prior must reach their likelihood.
        let rows = if target.link == Link::Several { 2 } else { 4 };
        world.inputs = inputs(rows, 2, &mut stream);
        let mut state = from_prior(&world.empty(), &mut stream);
        let targets: Vec<f64> = (0..world.target_count()).map(|_| 0.8 * stream.normal()).collect();
        let posterior = world.posterior(&targets);
        let (expected, effective) = weighted_means(&world, &posterior, 1.0, &mut stream);
        assert!(effective > 500.0, "{}: {effective} effective draws", target.name);
        // The cold state is moved by exchanges only, so that nothing mends what they do wrong.
        let mut sweep = Sweep::new(vec![crate::model::mlp::sweep::exchange(&posterior)]);
        tune(&mut sweep, &state, 500, &mut stream);
        let mut table = Table::default();
        for _ in 0..5 * PASSES {
            sweep.pass(&mut state, &mut stream);
            table.push(&functions(&world, &posterior, &state));
        }
        for (function, (column, (mean, error))) in table.0.iter().zip(&expected).enumerate() {
            let z = z_score(column, *mean, *error);
            assert!(z.abs() < FAR, "{}: function {function} is {z} errors off", target.name);
        }
    }
}
