//! Ordered classes: the joint distribution is kept, the prior returned, two classes are those of a logistic
//! regression, and predictions those of the functions.

use posteria_linalg::Matrix;

use super::{MODELS, ROWS, check_one, dataset, posterior, stream};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::density::checks::integral;
use crate::model::spec::ModelKind;
use crate::predict::Family;

const TEXT: &str = "[model]\ntask = 'ordinal'\n[prior.weights]\nscale = 0.8\nlog_sd = 0.5\n";

/// Classes of the rows of counts, whose inputs are not about zero on the user's scale.
fn classes(codes: &[f64], count: usize) -> Dataset {
    Dataset {
        input_scaling: vec![Standardization { centre: 3.0, scale: 2.0 }; 2],
        target_scaling: Vec::new(),
        targets: Targets::Classes {
            name: "y".into(),
            labels: (0..count).map(|class| class.to_string()).collect(),
            codes: codes.iter().map(|code| *code as usize).collect(),
        },
        task: Task::Ordinal,
        ..dataset(codes, false)
    }
}

#[test]
fn ordered_classes_keep_the_joint_distribution() {
    for (index, count) in [2, 4].into_iter().enumerate() {
        let conditioned =
            |codes: &[f64]| posterior(ModelKind::Linear, TEXT, &classes(codes, count));
        let stream = &mut stream(100 + index as u64);
        check_one(conditioned, 0.0, stream, &format!("{count} classes"));
    }
}

/// The same of a network and of a process, whose levels move together with the cut points.
fn check_model(index: usize, count: usize, seed: u64) {
    let (kind, sections, _) = MODELS[index];
    let conditioned = |codes: &[f64]| posterior(kind, sections, &classes(codes, count));
    check_one(conditioned, 0.0, &mut stream(seed), &format!("{kind:?}, {count} classes"));
}

#[test]
fn ordered_classes_of_networks_keep_the_joint_distribution() {
    check_model(1, 3, 102);
}

#[test]
fn ordered_classes_of_processes_keep_the_joint_distribution() {
    check_model(2, 3, 103);
}

/// What a state says of the probabilities of all classes of the training rows: by the log likelihoods of
/// posteriors whose rows are all of one class.
fn probabilities(kind: ModelKind, sections: &str, state: &[f64], count: usize) -> Vec<Vec<f64>> {
    (0..count)
        .map(|class| {
            let one = posterior(kind, sections, &classes(&[class as f64; ROWS], count));
            let (mut draw, mut rows) = (vec![0.0; one.layout().len()], vec![0.0; ROWS]);
            one.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
            rows.iter().map(|row| row.exp()).collect()
        })
        .collect()
}

#[test]
fn networks_predict_the_probabilities_of_their_states() {
    let (kind, sections, _) = MODELS[1];
    let stream = &mut stream(111);
    let own = posterior(kind, sections, &classes(&[0.0, 1.0, 2.0, 3.0], 4));
    for _ in 0..20 {
        let state = own.prior_state(stream).unwrap();
        let expected = probabilities(kind, sections, &state, 4);
        let (mut draw, mut rows) = (vec![0.0; own.layout().len()], vec![0.0; ROWS]);
        own.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        let mut predictor = own.predictor().unwrap();
        assert_eq!(predictor.family(), Family::Categorical { classes: 4 });
        let mut parameters = vec![0.0; 4 * ROWS];
        predictor.at_training_rows(&draw, &mut parameters);
        let fitted = own.layout().variable("fitted").unwrap().offset;
        for row in 0..ROWS {
            assert!((expected.iter().map(|of| of[row]).sum::<f64>() - 1.0).abs() < 1e-12);
            for (class, of) in expected.iter().enumerate() {
                let at = 4 * row + class;
                assert!((parameters[at].exp() - of[row]).abs() < 1e-12, "{row} {class}");
                assert!((draw[fitted + at] - of[row]).abs() < 1e-12, "{row} {class}");
            }
        }
        let back = own.state_density().unwrap().state_of(&draw).unwrap();
        assert!(back.iter().zip(&state).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
    }
}

/// At a row far from all others f is normal with mean 0 and a known variance: the probabilities of the
/// classes are averages over it.
#[test]
fn processes_average_the_probabilities_over_what_is_open() {
    let sections = "[hyperparameters]\nmagnitude = 1.7\nrelevance = 1.0\n";
    let own = posterior(ModelKind::Gp, sections, &classes(&[0.0, 1.0, 2.0, 1.0], 3));
    let stream = &mut stream(112);
    let far = Matrix::from_fn(1, 2, |_, _| 1e4);
    for _ in 0..5 {
        let state = own.prior_state(stream).unwrap();
        let (mut draw, mut rows) = (vec![0.0; own.layout().len()], vec![0.0; ROWS]);
        own.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        let cuts = own.layout().variable("cut_points").unwrap().range();
        let cuts = &draw[cuts];
        let variance = 1.7 * 1.7 + 0.1 * 0.1;
        let below = |cut: f64| {
            let each = |f: f64| (-0.5 * f * f / variance).exp() / (1.0 + (f - cut).exp());
            integral(cut, 1.0, each) / (std::f64::consts::TAU * variance).sqrt()
        };
        let [first, second] = [below(cuts[0]), below(cuts[1])];
        let mut found = vec![0.0; 3];
        own.predictor().unwrap().at(&draw, &far, &mut found);
        for (log, expected) in found.iter().zip([first, second - first, 1.0 - second]) {
            assert!((log.exp() - expected).abs() < 1e-9, "{} is not {expected}", log.exp());
        }
    }
}

/// With the cut point minus the intercept the same probabilities, row by row; and a draw gives the state
/// back that it was written from.
#[test]
fn two_ordered_classes_are_those_of_a_logistic_regression() {
    let codes = [0.0, 1.0, 1.0, 0.0];
    let ordered = posterior(ModelKind::Linear, TEXT, &classes(&codes, 2));
    let plain = Dataset { task: Task::Binary, ..classes(&codes, 2) };
    let text = TEXT.replace("ordinal", "binary");
    let plain = posterior(ModelKind::Linear, &text, &plain);
    let stream = &mut stream(110);
    for _ in 0..50 {
        let state = ordered.prior_state(stream).unwrap();
        let mut other = plain.prior_state(stream).unwrap();
        let cut = state.len() - 1;
        other[0] = -state[cut];
        other[1..3].copy_from_slice(&state[..2]);
        let (mut draw, mut found) = (vec![0.0; ordered.layout().len()], vec![0.0; ROWS]);
        ordered.evaluator().evaluate(&state, &mut draw, &mut found).unwrap();
        let (mut room, mut expected) = (vec![0.0; plain.layout().len()], vec![0.0; ROWS]);
        plain.evaluator().evaluate(&other, &mut room, &mut expected).unwrap();
        let near = |a: &f64, b: &f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
        assert!(found.iter().zip(&expected).all(|(a, b)| near(a, b)), "{found:?} {expected:?}");
        // On the user's scale the cut point is minus the intercept too.
        let cut = ordered.layout().variable("cut_points").unwrap().offset;
        assert!((draw[cut] + room[0]).abs() < 1e-10 * (1.0 + room[0].abs()));
        let back = ordered.state_density().unwrap().state_of(&draw).unwrap();
        assert!(back.iter().zip(&state).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
        // The predictor says of training rows what the evaluator does.
        let mut predictor = ordered.predictor().unwrap();
        let mut parameters = vec![0.0; 2 * ROWS];
        predictor.at_training_rows(&draw, &mut parameters);
        for (row, code) in codes.iter().enumerate() {
            assert!(near(&parameters[2 * row + *code as usize], &found[row]));
        }
    }
}
