//! Densities with parts integrated out or in other coordinates, against the joint density.
//!
//! With β the power of the likelihood, J the log density of scales, weights and targets given
//! κ, every residual family is exp(J) times a density of κ up to a constant, so
//!
//! log prior + β log likelihood + constant = J + Σ log q(κ) - Σ log p(κ | residual)
//!
//! holds for every κ: an identity, no Monte Carlo. Likewise the density with the output weights
//! integrated out is J minus the log density of the output weights given everything else.

use posteria_linalg::Cholesky;

use super::super::collapsed::Collapsed;
use super::super::hierarchy::MultiplierFamily;
use super::super::weights::WeightsConditional;
use super::super::whitened::Whitened;
use super::cases::{PRIORS, TARGETS};
use super::gradients::moderate_state;
use super::*;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma};
use crate::density::{Gamma, InverseGamma, MultivariateNormal};
use crate::sample::{Conditional, Coordinates};
use crate::target::LogDensity;
use reference::{Kind, log_density, log_density_of, residual_factors, weight_factors};

/// Relative; matrices are inverted on the way.
const EXACT: f64 = 1e-9;
const BETAS: [f64; 3] = [1.0, 0.3, 0.0];

fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < EXACT * a.abs().max(b.abs()).max(1.0), "{what}: {a} {b}");
}

fn every_model(mut check: impl FnMut(&World, &MlpPosterior, &[f64], &str)) {
    let mut stream = stream(30);
    for target in TARGETS {
        for layers in [(0, true), (1, false), (3, true)] {
            for number in 0..PRIORS.len() {
                let priors = cases::priors(&target, number);
                let mut world = World::new(target, layers, &priors, "");
                world.several = 3;
                let empty = world.empty();
                let state = moderate_state(&empty, &mut stream);
                let targets = world.draw_targets(&empty, &state, &mut stream);
                let what = format!("{}, {layers:?}, priors {number}", target.name);
                check(&world, &world.posterior(&targets), &state, &what);
            }
        }
    }
}

pub(super) fn weight_scales(posterior: &MlpPosterior, state: &[f64]) -> Vec<f64> {
    let mut scales = vec![0.0; posterior.shape.len()];
    for group in &posterior.hierarchy.groups {
        for (member, index) in group.members.clone().enumerate() {
            let scale = reference::weight_scale(group, posterior.shape.inputs, state, member);
            let log = group.multipliers.as_ref().map_or(0.0, |m| state[m.slots.start + member]);
            scales[index] = scale * log.exp();
        }
    }
    scales
}

/// What the residuals contribute to J.
fn residual_terms(world: &World, residual: &Residual, state: &[f64], beta: f64) -> f64 {
    let (rows, count) = (world.inputs.rows(), world.shape().outputs);
    let outputs = world.outputs(&state[..world.shape().len()]);
    let noise: Vec<f64> = residual.targets.iter().zip(&outputs).map(|(y, f)| y - f).collect();
    if let Noise::Covariance { slots, .. } = &residual.noise {
        // The determinant is constant: the covariance is not moved.
        let normal = covariance_normal(&state[slots.clone()], count);
        let mut room = vec![0.0; count];
        let constant = normal.log_density(&vec![0.0; count], &mut room);
        let row = |i: usize| -> Vec<f64> { (0..count).map(|o| noise[o * rows + i]).collect() };
        return (0..rows).map(|i| beta * (normal.log_density(&row(i), &mut room) - constant)).sum();
    }
    (0..noise.len())
        .map(|index| {
            let scale = world.scale(residual, state, index);
            let kappa = kappa(residual, state, index, beta);
            -beta * scale.ln() - 0.5 * kappa * (noise[index] / scale).powi(2)
        })
        .sum()
}

/// The number that a residual's precision is multiplied by; the data do not count at β = 0.
fn kappa(residual: &Residual, state: &[f64], index: usize, beta: f64) -> f64 {
    match &residual.cases {
        Some(cases) if beta > 0.0 => state[cases.start + index],
        _ => beta,
    }
}

fn covariance_normal(covariance: &[f64], dim: usize) -> MultivariateNormal {
    let matrix = Matrix::from_fn(dim, dim, |row, column| covariance[row * dim + column]);
    MultivariateNormal::new(vec![0.0; dim], Cholesky::new(&matrix).unwrap()).unwrap()
}

/// Σ_i φ_i φ_iᵀ p_i and Σ_i φ_i p_i y_i of all outputs together, p_i the precision matrix of the
/// residuals of row i, plus the prior: precision matrix and mean of the output weights j·O + o.
fn output_weights(
    world: &World,
    residual: &Residual,
    state: &[f64],
    beta: f64,
    prior: &[f64],
) -> (Matrix, Vec<f64>) {
    let shape = world.shape();
    let (rows, outputs, dim) = (world.inputs.rows(), shape.outputs, shape.tail().len());
    let inverse = match &residual.noise {
        Noise::Scales { .. } => Matrix::zeros(outputs, outputs),
        Noise::Covariance { slots, .. } => {
            let mut inverse = Matrix::zeros(outputs, outputs);
            let normal = covariance_normal(&state[slots.clone()], outputs);
            normal.covariance().inverse(&mut inverse);
            inverse
        }
    };
    let precision = |row: usize, o: usize, p: usize| match &residual.noise {
        Noise::Covariance { .. } => beta * inverse[(o, p)],
        Noise::Scales { .. } if o != p => 0.0,
        Noise::Scales { .. } => {
            let index = o * rows + row;
            let kappa = kappa(residual, state, index, beta);
            kappa / world.scale(residual, state, index).powi(2)
        }
    };
    // A design entry is the output that its weight alone gives.
    let mut one = state[..shape.len()].to_vec();
    one[shape.tail()].fill(0.0);
    let design: Vec<Vec<f64>> = (0..dim / outputs)
        .map(|j| {
            let mut weights = one.clone();
            weights[shape.tail().start + j * outputs] = 1.0;
            world.outputs(&weights)[..rows].to_vec()
        })
        .collect();
    let mut matrix = Matrix::from_fn(dim, dim, |r, c| {
        let sum: f64 = (0..rows)
            .map(|i| {
                let (a, b) = (design[r / outputs][i], design[c / outputs][i]);
                a * b * precision(i, r % outputs, c % outputs)
            })
            .sum();
        sum
    });
    let mut mean = vec![0.0; dim];
    for (r, slot) in mean.iter_mut().enumerate() {
        matrix[(r, r)] += prior[r].powi(-2);
        for (i, value) in design[r / outputs].iter().enumerate() {
            for o in 0..outputs {
                let y = residual.targets[o * rows + i];
                *slot += value * precision(i, r % outputs, o) * y;
            }
        }
    }
    let factor = Cholesky::new(&matrix).unwrap();
    factor.solve(&mut mean);
    (matrix, mean)
}

fn collapsed_position(collapsed: &mut Collapsed<'_>, state: &[f64]) -> Vec<f64> {
    let mut position = vec![0.0; collapsed.dim()];
    collapsed.enter(state, &mut position);
    position
}

#[test]
fn integrating_the_output_weights_out_and_drawing_them_is_the_joint_density() {
    every_model(|world, posterior, state, what| {
        let Observed::Real(residual) = &posterior.observed else { return };
        let scales = weight_scales(posterior, state);
        let tail = posterior.shape.tail();
        for beta in BETAS {
            let network = (posterior.shape, &posterior.rows);
            let mut target = Collapsed::new(network, &posterior.hierarchy, residual, beta);
            let position = collapsed_position(&mut target, state);
            let found = target.log_density(&position).unwrap();
            // J: hidden weights in units of their scales, hence their logarithms added. Degrees
            // of freedom, multipliers and a covariance are not moved.
            let factors = weight_factors(posterior, state, true);
            let mut joint = log_density_of(Kind::Scale, &factors);
            joint += log_density_of(Kind::Weight, &factors);
            if let Noise::Scales { .. } = residual.noise {
                joint += log_density_of(Kind::Scale, &residual_factors(posterior, state));
            }
            joint += scales[..tail.start].iter().map(|s| s.ln()).sum::<f64>();
            joint += residual_terms(world, residual, state, beta);
            let prior = &scales[tail.clone()];
            let (precision, mean) = output_weights(world, residual, state, beta, prior);
            let factor = Cholesky::new(&precision).unwrap();
            let deviation: Vec<f64> =
                state[tail.clone()].iter().zip(&mean).map(|(w, m)| w - m).collect();
            let squares: f64 = (0..mean.len())
                .flat_map(|r| (0..mean.len()).map(move |c| (r, c)))
                .map(|(r, c)| deviation[r] * precision[(r, c)] * deviation[c])
                .sum();
            let of_tail =
                0.5 * factor.log_determinant() - 0.5 * squares - mean.len() as f64 * LOG_SQRT_2PI;
            assert_close(found + of_tail, joint, &format!("{what}, β = {beta}"));
        }
    });
}

#[test]
fn latent_numbers_integrate_to_the_likelihood_raised_to_its_power() {
    every_model(|world, posterior, state, what| {
        let Observed::Real(residual) = &posterior.observed else { return };
        let Some(cases) = &residual.cases else { return };
        let likelihood = log_density(&world.target_factors(posterior, state, false));
        let outputs = world.outputs(&state[..world.shape().len()]);
        let dof = residual.dof.value(state);
        for beta in [1.0, 0.3] {
            let mut found = residual_terms(world, residual, state, beta);
            let mut constant = 0.0;
            for index in 0..outputs.len() {
                let kappa = state[cases.start + index];
                let scale = world.scale(residual, state, index);
                let ratio = (residual.targets[index] - outputs[index]) / scale;
                if residual.family == ResidualFamily::Laplace {
                    // In x = κ/β²: q(x) = (2πx³)^(-1/2) exp(-1/2x), and p(x) inverse Gaussian.
                    let (x, m) = (kappa / (beta * beta), beta * ratio.abs());
                    found += -0.5 / x + (m * x - 1.0).powi(2) / (2.0 * x);
                    constant += beta * std::f64::consts::LN_2;
                } else {
                    let shape = 0.5 * beta * (dof + 1.0);
                    let rate = 0.5 * (dof + ratio * ratio);
                    let conditional = Gamma::from_shape_rate(shape, rate).unwrap();
                    found += (shape - 1.0) * kappa.ln() - 0.5 * dof * kappa;
                    found -= conditional.log_density(kappa);
                    let t = ln_gamma(0.5 * (dof + 1.0))
                        - ln_gamma(0.5 * dof)
                        - 0.5 * (std::f64::consts::PI * dof).ln();
                    constant += ln_gamma(shape) - shape * (0.5 * dof).ln() - beta * t;
                }
            }
            assert_close(found, beta * likelihood + constant, &format!("{what}, β = {beta}"));
        }
    });
}

#[test]
fn multipliers_integrate_to_the_family_of_the_weights() {
    every_model(|_, posterior, state, what| {
        let joint = log_density(&weight_factors(posterior, state, true));
        let integrated = log_density(&weight_factors(posterior, state, false));
        let mut of_latents = 0.0;
        for group in &posterior.hierarchy.groups {
            let Some(multipliers) = &group.multipliers else { continue };
            for (member, weight) in state[group.members.clone()].iter().enumerate() {
                let inputs = posterior.shape.inputs;
                let scale = reference::weight_scale(group, inputs, state, member);
                let (ratio, log) = (weight / scale, state[multipliers.slots.start + member]);
                let variance = (2.0 * log).exp();
                of_latents += match &multipliers.family {
                    // x = 1/m² is inverse Gaussian; d log m = dx/(2x).
                    MultiplierFamily::Laplace => {
                        let (x, m) = (1.0 / variance, ratio.abs());
                        let log_density =
                            -LOG_SQRT_2PI - 1.5 * x.ln() - (m * x - 1.0).powi(2) / (2.0 * x);
                        log_density + (2.0 * x).ln()
                    }
                    MultiplierFamily::StudentT(dof) => {
                        let dof = dof.value(state);
                        let shape = 0.5 * (dof + 1.0);
                        let rate = 0.5 * (dof + ratio * ratio);
                        let conditional = InverseGamma::from_shape_rate(shape, rate).unwrap();
                        conditional.log_density(variance) + (2.0 * variance).ln()
                    }
                };
            }
        }
        assert_close(joint - of_latents, integrated, what);
    });
}

#[test]
fn weights_and_whitened_weights_have_the_joint_density() {
    every_model(|world, posterior, state, what| {
        if world.target == cases::COVARIANCE {
            return;
        }
        let network = (posterior.shape, &posterior.rows);
        let (hierarchy, observed) = (&posterior.hierarchy, &posterior.observed);
        let scales = weight_scales(posterior, state);
        let likelihood = log_density(&world.target_factors(posterior, state, false));
        let of_weights: f64 = scales
            .iter()
            .zip(state)
            .map(|(scale, w)| -0.5 * (w / scale).powi(2) - scale.ln() - LOG_SQRT_2PI)
            .sum();
        let of_scales = log_density_of(Kind::Scale, &weight_factors(posterior, state, true));
        for beta in BETAS {
            let squares = &posterior.input_squares;
            let mut weights = WeightsConditional::new(network, hierarchy, observed, squares, beta);
            weights.condition(state);
            let found = weights.log_density(&state[..scales.len()]).unwrap();
            let what = format!("{what}, β = {beta}");
            assert_close(found, of_weights + beta * likelihood, &what);
            for first in [scales.len(), posterior.shape.output_weights().start] {
                let mut whitened = Whitened::new(network, hierarchy, observed, beta).up_to(first);
                let mut position = vec![0.0; whitened.dim()];
                whitened.enter(state, &mut position);
                let found = whitened.log_density(&position).unwrap();
                let log_scales: f64 = scales[..first].iter().map(|scale| scale.ln()).sum();
                let expected = of_scales + of_weights + log_scales + beta * likelihood;
                assert_close(found, expected, &what);
                // And back to where it came from.
                let mut back = state.to_vec();
                whitened.leave(&position, &mut back, &mut stream(31));
                for (a, b) in back.iter().zip(state) {
                    assert_close(*a, *b, &what);
                }
            }
        }
    });
}

#[test]
fn nothing_of_an_earlier_state_remains() {
    let mut stream = stream(32);
    every_model(|world, posterior, state, what| {
        let network = (posterior.shape, &posterior.rows);
        let (hierarchy, observed) = (&posterior.hierarchy, &posterior.observed);
        let earlier = moderate_state(posterior, &mut stream);
        let value = |target: &mut dyn Coordinates, states: &[&[f64]]| {
            let mut position = vec![0.0; target.dim()];
            let mut gradient = vec![0.0; target.dim()];
            let mut value = f64::NAN;
            for state in states {
                target.enter(state, &mut position);
                value = target.log_density_gradient(&position, &mut gradient).unwrap();
            }
            (value, gradient)
        };
        if let Observed::Real(residual) = observed {
            let collapsed = || Collapsed::new(network, hierarchy, residual, 0.7);
            let again = value(&mut collapsed(), &[&earlier, state]);
            assert_eq!(again, value(&mut collapsed(), &[state]), "{what}");
        }
        if world.target == cases::COVARIANCE {
            return;
        }
        let whitened = || Whitened::new(network, hierarchy, observed, 0.7);
        let again = value(&mut whitened(), &[&earlier, state]);
        assert_eq!(again, value(&mut whitened(), &[state]), "{what}");
        let squares = &posterior.input_squares;
        let weights = |states: &[&[f64]]| {
            let mut weights = WeightsConditional::new(network, hierarchy, observed, squares, 0.7);
            for state in states {
                // Anything that changes the density must be told.
                let changes = weights.condition(state);
                assert!(changes || number_of_scales(posterior) == 0, "{what}");
            }
            weights.log_density(&state[..posterior.shape.len()]).unwrap().to_bits()
        };
        assert_eq!(weights(&[&earlier, state]), weights(&[state]), "{what}");
    });
}

/// Number of entries of the state besides the weights.
fn number_of_scales(posterior: &MlpPosterior) -> usize {
    posterior.state_len - posterior.shape.len()
}
