//! With the likelihood switched off every kernel returns the prior.

use super::cases::{PRIORS, TARGETS};
use super::joint_distribution::KERNELS;
use super::*;
use crate::density::InverseGamma;
use reference::{Factor, functions, residual_factors, weight_factors};

const PASSES: usize = 3200;

fn factors(posterior: &MlpPosterior, state: &[f64]) -> Vec<Factor> {
    let mut factors = weight_factors(posterior, state, true);
    factors.extend(residual_factors(posterior, state));
    factors
}

#[test]
fn a_start_from_the_prior_is_a_draw_of_it() {
    let mut stream = stream(40);
    for (index, target) in TARGETS.iter().enumerate() {
        let priors = cases::priors(target, index);
        let world = World::new(*target, (2, true), &priors, "start = 'prior'");
        let posterior = world.empty();
        let mut table = Table::default();
        for _ in 0..4000 {
            let state = posterior.start(&mut stream);
            table.push(&functions(&factors(&posterior, &state)));
        }
        table.assert_zero_means(target.name);
    }
}

/// What the scales of single cases in a draw say: given the residual scale they have the prior
/// Inv-gamma(scale², ν), so that values of its distribution function are uniform.
fn case_functions(posterior: &MlpPosterior, draw: &[f64]) -> Vec<f64> {
    let layout = posterior.layout();
    let of = |name: &str| layout.variable(name).map(|variable| &draw[variable.range()]);
    let (Observed::Real(residual), Some(cases)) = (&posterior.observed, of("case_scale")) else {
        return Vec::new();
    };
    let scales = of("residual_scale").expect("cases have a scale in common");
    let groups = scales.len() / residual.outputs;
    let dof = match (of("residual_dof"), &residual.dof) {
        (Some(dof), _) => dof[0],
        (None, known) => known.value(&[]),
    };
    let mut values = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let (row, target) = (index / residual.outputs, index % residual.outputs);
        // Groups are those of the first input, ±1 by turns.
        let scale = scales[target * groups + row % groups];
        let level = InverseGamma::new(scale, dof).unwrap().cdf(case * case);
        values.extend([level - 0.5, level * level - 1.0 / 3.0]);
    }
    values
}

/// A chain at inverse temperature 0 of targets that would matter.
fn check(target: Target, layers: Layers, number: usize, kernel: &str) {
    let mut stream = stream(41);
    let world = World::new(target, layers, &cases::priors(&target, number), kernel);
    let empty = world.empty();
    let mut state = from_prior(&empty, &mut stream);
    let posterior = world.posterior(&world.draw_targets(&empty, &state, &mut stream));
    let mut sweep = posterior.sweep(0.0);
    tune(&mut sweep, &state, 200, &mut stream);
    let mut table = Table::default();
    let mut evaluator = posterior.evaluator();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    for _ in 0..PASSES {
        sweep.pass(&mut state, &mut stream);
        // Path sampling asks for the likelihood of every draw, also of the prior's.
        let terms = evaluator.evaluate(&state, &mut draw, &mut rows).expect("a feasible draw");
        assert!(terms.log_likelihood.is_finite());
        let mut values = functions(&factors(&posterior, &state));
        values.extend(case_functions(&posterior, &draw));
        table.push(&values);
    }
    table.assert_zero_means(&format!("{}, {layers:?}, priors {number}, {kernel}", target.name));
}

#[test]
fn every_kernel_returns_every_prior() {
    let mut index = 0;
    for (_, kernel) in KERNELS {
        for number in 0..PRIORS.len() {
            // Another target for every chain: residual scales have a prior too.
            let mut target = TARGETS[index % TARGETS.len()];
            if target == cases::COVARIANCE && kernel.contains("kernel") {
                target = cases::NORMAL;
            }
            check(target, (2, number % 2 == 0), number, kernel);
            index += 5;
        }
    }
}

#[test]
fn every_residual_family_returns_its_prior() {
    let families = [
        cases::NORMAL,
        cases::STUDENT_T_CONTINUOUS,
        cases::LAPLACE,
        cases::PER_CASE,
        cases::COVARIANCE,
    ];
    let by_groups = TARGETS.into_iter().filter(|target| target.name == "per case by groups");
    for (index, target) in families.into_iter().chain(by_groups).enumerate() {
        check(target, (1, false), index % PRIORS.len(), "");
    }
}

#[test]
fn draws_just_above_inverse_temperature_zero_are_feasible() {
    let mut stream = stream(42);
    let world = World::new(cases::PER_CASE, (2, false), &PRIORS[0], "");
    let targets: Vec<f64> = (0..world.target_count()).map(|_| stream.normal()).collect();
    let posterior = world.posterior(&targets);
    let mut state = from_prior(&posterior, &mut stream);
    // Most κ are smaller than any number.
    let mut sweep = posterior.sweep(1e-4);
    let mut evaluator = posterior.evaluator();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    for _ in 0..100 {
        sweep.pass(&mut state, &mut stream);
        assert!(evaluator.evaluate(&state, &mut draw, &mut rows).is_ok());
    }
}
