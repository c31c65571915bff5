//! Data that are hard on numbers: no draw is ever anything but finite, and nothing panics.

use super::cases::TARGETS;
use super::joint_distribution::KERNELS;
use super::*;

/// The priors a user gets who says nothing.
const DEFAULTS: cases::Priors = ["", "", "", "fixed = 1.0", ""];

/// Sweeps from the usual start, with warm-up; every draw must be finite.
fn check(posterior: &MlpPosterior, passes: usize, what: &str) {
    let mut stream = stream(90);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(1.0);
    let mut evaluator = posterior.evaluator();
    let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; posterior.rows()]);
    let stages = [(Adapt::StepSize, passes), (Adapt::Metric, passes), (Adapt::Nothing, passes)];
    for (adapt, passes) in stages {
        sweep.enter(&Stage { adapt, ..Stage::default() });
        for pass in 0..passes {
            sweep.pass(&mut state, &mut stream);
            let what = format!("{what}, {adapt:?}, pass {pass}");
            assert!(state.iter().all(|value| value.is_finite()), "{what}: {state:?}");
            let terms = evaluator.evaluate(&state, &mut draw, &mut rows);
            let bad = draw.iter().position(|value| !value.is_finite());
            let bad = bad.map(|index| posterior.layout().component_names()[index].clone());
            assert!(terms.is_ok() && bad.is_none(), "{what}: {terms:?}, {bad:?}");
            assert!(rows.iter().all(|value| value.is_finite()), "{what}: likelihood");
        }
    }
    if let Some(mut predictor) = posterior.predictor() {
        let inputs = Matrix::from_fn(2, posterior.shape.inputs, |i, _| [0.3, -1e6][i]);
        let mut parameters = vec![f64::NAN; 2 * predictor.family().width()];
        predictor.at(&draw, &inputs, &mut parameters);
        // Infinite degrees of freedom are those of normal residuals.
        assert!(parameters.iter().all(|value| !value.is_nan()), "{what}: prediction");
    }
}

/// Every target with the usual priors and the kernels in turn.
fn every_target(mut check: impl FnMut(World, usize)) {
    for (index, target) in TARGETS.into_iter().enumerate() {
        let kernel = if target == cases::COVARIANCE { 0 } else { index % 3 };
        let sampling = KERNELS[kernel].1;
        check(World::new(target, (3, index % 2 == 0), &DEFAULTS, sampling), index);
    }
}

#[test]
fn a_constant_input_and_a_huge_one_do_no_harm() {
    every_target(|mut world, index| {
        world.inputs = inputs(8, 4, &mut stream(91));
        for row in 0..8 {
            world.inputs[(row, 1)] = 0.0;
        }
        // Leverage of a single row.
        world.inputs[(3, 2)] = 1e8;
        let values: Vec<f64> =
            (0..world.target_count()).map(|i| ((i * 7 + index) % 2) as f64).collect();
        check(&world.posterior(&values), 25, world.target.name);
    });
}

#[test]
fn one_row_and_more_inputs_than_rows_do_no_harm() {
    every_target(|mut world, _| {
        for rows in [1, 3] {
            world.inputs = inputs(rows, 6, &mut stream(92));
            let values = vec![1.0; world.target_count()];
            check(&world.posterior(&values), 15, world.target.name);
        }
    });
}

#[test]
fn a_single_class_and_a_constant_target_do_no_harm() {
    every_target(|mut world, _| {
        world.inputs = inputs(12, 2, &mut stream(93));
        for value in [0.0, 1.0] {
            let values = vec![value; world.target_count()];
            check(&world.posterior(&values), 20, world.target.name);
        }
    });
}

#[test]
fn targets_of_extreme_size_do_no_harm() {
    every_target(|mut world, _| {
        if !matches!(world.target.link, Link::Real | Link::Several) {
            return;
        }
        world.inputs = inputs(8, 2, &mut stream(94));
        let mut noise = stream(95);
        let values: Vec<f64> = (0..world.target_count()).map(|_| noise.normal()).collect();
        for size in [1e-150, 1e150] {
            let what = format!("{} times {size}", world.target.name);
            // As they are, which is what a user gets who switches standardising off.
            let raw: Vec<f64> = values.iter().map(|y| y * size).collect();
            check(&world.posterior(&raw), 25, &what);
            let mut data = world.dataset(&values);
            for scaling in &mut data.target_scaling {
                scaling.scale = size;
            }
            let posterior = world.model.condition(&data, None).unwrap();
            check(&posterior, 25, &format!("{what}, standardised"));
        }
    });
}
