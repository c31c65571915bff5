//! Jumps between input sets keep their prior and the joint distribution.

use super::*;
use crate::model::selection::checks::{
    assert_joint_distribution_kept, assert_prior_of_sets_kept, sections, set_of,
};

const PRIORS: &str = "[prior.input_weights]\nSHARING\nscale = 0.8\ndof = 6.0\ntop_dof = 8.0\n\
    [prior.hidden_bias]\nscale = 1.0\ndof = 6.0\n\
    [prior.output_weights]\nscale = 0.8\ndof = 6.0\n[prior.output_bias]\nfixed = 1.0\n";
const RESIDUAL: &str = "[residual]\nscale = 0.5\nscale_dof = 6.0\n";

fn network(text: &str) -> Mlp {
    Mlp::new(&Spec::from_toml(&format!("[model]\nkind = 'mlp'\n{text}")).unwrap()).unwrap()
}

/// Rows with these targets, or classes.
fn dataset(inputs: &Matrix, values: &[f64], task: Task) -> Dataset {
    let targets = match task {
        Task::Regression => {
            let values = Matrix::from_fn(inputs.rows(), 1, |row, _| values[row]);
            Targets::Real { names: vec!["y".into()], values }
        }
        _ => Targets::Classes {
            name: "y".into(),
            labels: vec!["no".into(), "yes".into()],
            codes: values.iter().map(|y| usize::from(*y > 0.5)).collect(),
        },
    };
    Dataset::unscaled(inputs.clone(), targets)
}

#[test]
fn without_data_all_schemes_keep_the_prior_of_sets() {
    for (number, count) in [1, 2, 5].into_iter().enumerate() {
        for (index, section) in sections(count).iter().enumerate().skip(number).step_by(3) {
            check_prior((index, section), count, (600, 6));
        }
    }
}

#[test]
fn without_data_the_sets_of_many_inputs_keep_their_prior() {
    // All of them take minutes: see the long validations.
    for (index, section) in sections(30).iter().enumerate().skip(1).step_by(5) {
        check_prior((index, section), 30, (200, 8));
    }
}

fn check_prior((index, section): (usize, &String), count: usize, extent: (u64, usize)) {
    let task = [Task::Regression, Task::Binary][index % 2];
    let residual = if task == Task::Regression { RESIDUAL } else { "" };
    let sharing = ["sharing = 'per-input'", "sharing = 'common'"][index / 2 % 2];
    let priors = PRIORS.replace("SHARING", sharing);
    let text = format!(
        "hidden = 1\n{priors}{residual}{section}tries = {}\n\
         [sampling]\nkernel = 'hmc'\nleapfrog_steps = 1\n",
        1 + index % 3
    );
    let x = inputs(3, count, &mut stream(60));
    let posterior = network(&text).condition(&dataset(&x, &[0.0; 3], task), None).unwrap();
    assert_prior_of_sets_kept(&posterior, section, count, extent);
}

fn check_joint_distribution(text: &str, task: Task, transitions: usize) {
    let x = inputs(4, 2, &mut stream(61));
    let section = "[selection]\nprior = { probabilities = [0.4, 0.7] }\n";
    let model = network(&format!("{text}{section}"));
    let empty = model.condition(&dataset(&x, &[0.0; 4], task), None).unwrap();
    let range = |name: &str| empty.layout().variable(name).map_or(0..0, |v| v.range());
    let (fitted, scale) = (range("fitted"), range("residual_scale"));
    let (mut draw, mut rows) = (vec![0.0; empty.layout().len()], vec![0.0; 4]);
    let mut memory: Option<Vec<Vec<f64>>> = None;
    let transition = |state: &mut Vec<f64>, stream: &mut Stream| {
        empty.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
        let targets: Vec<f64> = draw[fitted.clone()]
            .iter()
            .map(|mean| match task {
                Task::Regression => mean + draw[scale.start] * stream.normal(),
                _ => f64::from(stream.uniform() < *mean),
            })
            .collect();
        let posterior = model.condition(&dataset(&x, &targets, task), None).unwrap();
        let mut sweep = posterior.sweep(1.0);
        match &memory {
            None => tune(&mut sweep, state, 100, stream),
            Some(memory) => sweep.recall(memory).unwrap(),
        }
        sweep.pass(state, stream);
        memory = Some(sweep.memory());
    };
    assert_joint_distribution_kept(&empty, transitions, transition, text);
}

#[test]
fn jumps_keep_the_joint_distribution_of_real_targets() {
    for (index, sharing) in ["sharing = 'per-input'", "sharing = 'common'"].into_iter().enumerate()
    {
        let priors = PRIORS.replace("SHARING", sharing);
        let direct = ["direct = true\n", ""][index];
        let kernel = ["", "kernel = 'hmc'\n"][index];
        let text = format!(
            "hidden = 2\n{direct}{priors}{RESIDUAL}\
             [sampling]\n{kernel}leapfrog_steps = 3\nstart = 'prior'\n"
        );
        check_joint_distribution(&text, Task::Regression, 3000);
    }
}

#[test]
fn jumps_keep_the_joint_distribution_of_classes() {
    for (index, sharing) in ["sharing = 'per-input'", "sharing = 'common'"].into_iter().enumerate()
    {
        let priors = PRIORS.replace("SHARING", sharing);
        // Weights that are Student's t have multipliers of their own.
        let family = ["", "family = 'student-t'\nweight_dof = { grid = [3, 8] }\n"][index];
        let priors =
            priors.replace("[prior.input_weights]\n", &format!("[prior.input_weights]\n{family}"));
        let text = format!(
            "hidden = 2\n{priors}[sampling]\nkernel = 'hmc'\nleapfrog_steps = 5\nstart = 'prior'\n"
        );
        check_joint_distribution(&text, Task::Binary, 8000);
    }
}

#[test]
fn draws_hold_nothing_of_inputs_that_are_out_and_predict_alike() {
    for (task, direct) in [(Task::Regression, true), (Task::Binary, false)] {
        let x = inputs(9, 3, &mut stream(62));
        let values: Vec<f64> = (0..9).map(|row| f64::from(x[(row, 0)] > 0.0)).collect();
        let text = format!(
            "hidden = 3\npriors = 'mcmcstuff'\ndirect = {direct}\n[selection]\ntries = 2\n"
        );
        let posterior = network(&text).condition(&dataset(&x, &values, task), None).unwrap();
        let layout = posterior.layout();
        let at = |name: &str| layout.variable(name).unwrap().range();
        let mut stream = stream(63);
        let (mut state, mut sweep) = (posterior.start(&mut stream), posterior.sweep(1.0));
        let (mut draw, mut rows) = (vec![0.0; layout.len()], vec![0.0; 9]);
        let (mut seen, mut predictor) = ([false; 2], posterior.predictor().unwrap());
        let mut outputs = vec![0.0; 9];
        for _ in 0..60 {
            sweep.pass(&mut state, &mut stream);
            posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
            let set = set_of(&posterior, &state);
            seen[usize::from(set[1])] = true;
            for k in 0..3 {
                let weights = &draw[at("input_weights")][3 * k..3 * k + 3];
                let zero = draw[at("relevance")][k] == 0.0 && weights.iter().all(|w| *w == 0.0);
                assert_eq!(zero, !set[k]);
            }
            // The predictor knows the draw alone.
            predictor.functions(&draw, &x, &mut outputs);
            for (output, fitted) in outputs.iter().zip(&draw[at("fitted")]) {
                let shown = match task {
                    Task::Regression => *output,
                    _ => 1.0 / (1.0 + (-output).exp()),
                };
                assert!((shown - fitted).abs() < 1e-9 * fitted.abs().max(1.0));
            }
        }
        assert_eq!(seen, [true, true], "x1 was in and out");
    }
}

#[test]
fn gradients_do_not_see_inputs_that_are_out() {
    use super::super::collapsed::Collapsed;
    use crate::sample::Coordinates;
    use crate::target::LogDensity;
    let x = inputs(7, 3, &mut stream(64));
    let values: Vec<f64> = (0..7).map(|row| x[(row, 0)].sin()).collect();
    let text = "hidden = 2\ndirect = true\n[selection]\n";
    let posterior = network(text).condition(&dataset(&x, &values, Task::Regression), None).unwrap();
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let mut state = posterior.start(&mut stream(65));
    let slots = posterior.hierarchy.selection.as_ref().unwrap().slots.clone();
    state[slots].copy_from_slice(&[1.0, 0.0, 1.0]);
    let network = (posterior.shape, &posterior.rows);
    let mut target = Collapsed::new(network, &posterior.hierarchy, residual, 0.7);
    let dim = target.dim();
    let (mut position, mut gradient) = (vec![0.0; dim], vec![0.0; dim]);
    target.enter(&state, &mut position);
    target.log_density_gradient(&position, &mut gradient).unwrap();
    for index in 0..dim {
        let mut at = |shift: f64| {
            let mut moved = position.clone();
            moved[index] += shift;
            target.log_density(&moved).unwrap()
        };
        let numeric = (8.0 * (at(1e-4) - at(-1e-4)) - at(2e-4) + at(-2e-4)) / 12e-4;
        let error = (gradient[index] - numeric).abs();
        assert!(error < 1e-5 * numeric.abs().max(1.0), "coordinate {index}");
    }
}
