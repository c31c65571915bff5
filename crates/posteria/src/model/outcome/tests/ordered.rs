//! Ordered classes of linear models: the joint distribution is kept, the prior returned, and two classes are
//! those of a logistic regression.

use super::{ROWS, check_one, dataset, posterior, stream};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::model::spec::ModelKind;

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
