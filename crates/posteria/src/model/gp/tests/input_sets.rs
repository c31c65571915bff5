//! Jumps between input sets keep their prior and the joint distribution.

use posteria_linalg::Matrix;

use super::joint_distribution::{PRIORS, draw_targets};
use super::{posterior, with_targets};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::model::selection::checks::{
    assert_joint_distribution_kept, assert_prior_of_sets_kept, sections, set_of,
};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Stage};

fn stream(index: u64) -> Stream {
    Seed(71).stream(Purpose::Data, [index, 0])
}

fn inputs(rows: usize, count: usize, task: Task) -> Dataset {
    let mut stream = stream(0);
    let targets = match task {
        Task::Regression => {
            Targets::Real { names: vec!["y".into()], values: Matrix::zeros(rows, 1) }
        }
        _ => classes(&vec![0.0; rows]),
    };
    Dataset::unscaled(Matrix::from_fn(rows, count, |_, _| stream.normal()), targets)
}

fn classes(values: &[f64]) -> Targets {
    Targets::Classes {
        name: "y".into(),
        labels: vec!["no".into(), "yes".into()],
        codes: values.iter().map(|y| usize::from(*y > 0.5)).collect(),
    }
}

#[test]
fn without_data_all_schemes_keep_the_prior_of_sets() {
    for (number, count) in [1, 2, 5].into_iter().enumerate() {
        for (index, section) in sections(count).iter().enumerate().skip(number).step_by(3) {
            check_prior((index, section), count, (500, 6));
        }
    }
}

#[test]
fn without_data_the_sets_of_many_inputs_keep_their_prior() {
    // All of them take minutes: see the long validations.
    for (index, section) in sections(30).iter().enumerate().skip(2).step_by(5) {
        check_prior((index, section), 30, (200, 8));
    }
}

fn check_prior((index, section): (usize, &String), count: usize, extent: (u64, usize)) {
    let task = [Task::Regression, Task::Binary][index % 2];
    let priors = match index / 2 % 2 {
        0 => PRIORS.to_string(),
        _ => PRIORS.replace("[prior.relevance]\n", COMMON),
    };
    let text = format!("{priors}{section}tries = {}\n", 1 + index % 2);
    let posterior = posterior(&text, &inputs(3, count, task));
    assert_prior_of_sets_kept(&posterior, section, count, extent);
}

const COMMON: &str = "[prior.relevance]\nsharing = 'common'\n";
const SECTION: &str = "[selection]\nprior = { probabilities = [0.4, 0.7] }\n";

/// Runs transitions whose kernels were tuned on the first targets.
fn check(
    (text, latents): (&str, &str),
    data: &Dataset,
    mut targets: impl FnMut(&GpPosterior, &mut Vec<f64>, &mut Stream) -> Dataset,
) {
    let text = format!("{text}{SECTION}[sampling]\nstart = 'prior'\n{latents}");
    let empty = posterior(&text, data);
    let mut memory: Option<Vec<Vec<f64>>> = None;
    let transition = |state: &mut Vec<f64>, stream: &mut Stream| {
        let posterior = posterior(&text, &targets(&empty, state, stream));
        let mut sweep = posterior.sweep(1.0);
        match &memory {
            None => {
                let stage = Stage { adapt: Adapt::Metric, ..Stage::default() };
                sweep.enter(&stage);
                let mut other = state.clone();
                (0..100).for_each(|_| {
                    sweep.pass(&mut other, stream);
                });
                sweep.enter(&Stage::default());
            }
            Some(memory) => {
                sweep.enter(&Stage::default());
                sweep.recall(memory).unwrap();
            }
        }
        sweep.pass(state, stream);
        memory = Some(sweep.memory());
    };
    assert_joint_distribution_kept(&empty, 3000, transition, &text);
}

#[test]
fn jumps_keep_the_joint_distribution_of_real_targets() {
    let data = inputs(4, 2, Task::Regression);
    for (model, residual) in [
        ("", ""),
        ("", "COMMON"),
        ("mean = 'linear'\n", "[prior.mean]\nfixed = 0.7\n"),
        ("covariance = 'matern-5/2'\n", "FAMILY"),
    ] {
        let (mean, family) = match residual {
            "FAMILY" => ("", "family = 'student-t'\ndof = 5.0\n"),
            mean => (mean, ""),
        };
        let (mean, priors) = match mean {
            "COMMON" => ("", PRIORS.replace("[prior.relevance]\n", COMMON)),
            mean => (mean, PRIORS.to_string()),
        };
        let text =
            format!("{model}{priors}{mean}[residual]\n{family}scale = 0.4\nscale_dof = 5.0\n");
        check((&text, ""), &data, |empty, state, stream| {
            let values = draw_targets(empty, state, stream);
            with_targets(&data, &values)
        });
    }
}

#[test]
fn jumps_keep_the_joint_distribution_of_classes() {
    let data = inputs(4, 2, Task::Binary);
    let common = PRIORS.replace("[prior.relevance]\n", COMMON);
    for (latents, covariance, priors) in
        [("auto", "se", PRIORS), ("elliptical", "nn", PRIORS), ("auto", "periodic", &common)]
    {
        let text = format!("covariance = '{covariance}'\n{priors}");
        check((&text, &format!("latents = '{latents}'\n")), &data, |empty, state, stream| {
            let layout = empty.layout();
            let (mut draw, mut rows) = (vec![0.0; layout.len()], vec![0.0; 4]);
            empty.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
            let fitted = &draw[layout.variable("fitted").unwrap().range()];
            let values: Vec<f64> =
                fitted.iter().map(|p| f64::from(stream.uniform() < *p)).collect();
            Dataset { targets: classes(&values), ..data.clone() }
        });
    }
}

#[test]
fn draws_hold_nothing_of_inputs_that_are_out_and_predict_alike() {
    for task in [Task::Regression, Task::Binary] {
        let mut data = inputs(12, 3, task);
        let signal: Vec<f64> = (0..12).map(|row| f64::from(data.inputs[(row, 0)] > 0.0)).collect();
        data = match task {
            Task::Regression => with_targets(&data, &signal),
            _ => Dataset { targets: classes(&signal), ..data },
        };
        let posterior = posterior("[selection]\nalways = ['x2']\n", &data);
        let layout = posterior.layout();
        let at = |name: &str| layout.variable(name).unwrap().range();
        let mut stream = stream(1);
        let (mut state, mut sweep) = (posterior.start(&mut stream), posterior.sweep(1.0));
        let (mut draw, mut rows) = (vec![0.0; layout.len()], vec![0.0; 12]);
        let (mut seen, mut predictor) = ([false; 2], posterior.predictor().unwrap());
        let mut outputs = vec![0.0; 12];
        for _ in 0..60 {
            sweep.pass(&mut state, &mut stream);
            posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
            let set = set_of(&posterior, &state);
            assert!(set[2]);
            seen[usize::from(set[1])] = true;
            for k in 0..3 {
                assert_eq!(draw[at("relevance")][k] == 0.0, !set[k]);
            }
            predictor.functions(&draw, &data.inputs, &mut outputs);
            for (output, fitted) in outputs.iter().zip(&draw[at("fitted")]) {
                let shown = match task {
                    Task::Regression => *output,
                    _ => 1.0 / (1.0 + (-output).exp()),
                };
                // What is fitted has jitter, functions elsewhere have not.
                let near = if task == Task::Regression { 0.02 } else { 0.2 };
                assert!((shown - fitted).abs() < near, "{task:?}: {shown} {fitted}");
            }
            // Inputs that are out do not matter to the predictor, which knows the draw alone.
            let mut others = data.inputs.clone();
            for k in (0..3).filter(|k| !set[*k]) {
                others.column_mut(k).iter_mut().for_each(|x| *x = 5.0 - 2.0 * *x);
            }
            let mut same = vec![0.0; 12];
            predictor.functions(&draw, &others, &mut same);
            assert!(same.iter().zip(&outputs).all(|(a, b)| (a - b).abs() < 1e-9));
        }
        assert_eq!(seen, [true, true], "x1 was in and out");
    }
}

#[test]
fn a_common_relevance_has_the_density_of_the_model_with_these_inputs_alone() {
    let text = PRIORS.replace("[prior.relevance]\n", COMMON);
    let data = inputs(9, 3, Task::Regression);
    let values: Vec<f64> = (0..9).map(|row| data.inputs[(row, 1)].sin()).collect();
    let data = with_targets(&data, &values);
    let selected = posterior(&format!("{text}{SECTION_OF_THREE}"), &data);
    // Not the first, whose parameter the entry of the state would be if each had its own.
    let kept = [1, 2];
    let fewer = Dataset {
        inputs: Matrix::from_fn(9, 2, |row, k| data.inputs[(row, kept[k])]),
        input_names: kept.map(|k| format!("x{k}")).to_vec(),
        input_scaling: vec![Standardization::IDENTITY; 2],
        ..data.clone()
    };
    let plain = posterior(&text, &fewer);
    let mut state = selected.start(&mut stream(4));
    state[..3].copy_from_slice(&[0.0, 1.0, 1.0]);
    // What is left of the state is that of the smaller model.
    let rest = state[3..].to_vec();
    assert_eq!(rest.len(), plain.state_len());
    let evaluate = |posterior: &GpPosterior, state: &[f64]| {
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 9]);
        let terms = posterior.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
        (terms.at(1.0), rows)
    };
    let ((of_set, rows), (alone, expected)) =
        (evaluate(&selected, &state), evaluate(&plain, &rest));
    let prior = 8.0_f64.ln();
    assert!((of_set + prior - alone).abs() < 1e-9, "{of_set} {alone}");
    assert!(rows.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
    // One relevance, not one for every input.
    assert!(selected.layout().variable("relevance").unwrap().dimensions.is_empty());
}

const SECTION_OF_THREE: &str = "[selection]\nprior = 'uniform-models'\n";
