//! What draws say, and what they predict: both against the state they were made from.

use super::super::hierarchy::Scale;
use super::cases::PRIORS;
use super::evaluator::{close, evaluate, every_model};
use super::*;
use crate::predict::{Family, Predictive};

/// Targets in units of their own.
fn standardised(world: &World, values: &[f64]) -> (MlpPosterior, Vec<Standardization>) {
    let mut data = world.dataset(values);
    for (o, scaling) in data.target_scaling.iter_mut().enumerate() {
        *scaling = Standardization { centre: 2.0 - o as f64, scale: 3.0 + o as f64 };
    }
    (world.model.condition(&data, None).unwrap(), data.target_scaling)
}

#[test]
fn the_density_of_a_prediction_at_a_training_row_is_its_likelihood() {
    every_model(|world, posterior, state, _| {
        let values = &posterior.targets;
        let (posterior, scaling) = standardised(world, values);
        let found = evaluate(&posterior, state);
        let mut predictor = posterior.predictor().unwrap();
        let (family, rows) = (predictor.family(), posterior.rows());
        let mut parameters = vec![f64::NAN; rows * family.width()];
        predictor.at(&found.draw, &world.inputs, &mut parameters);
        let mut of_training_rows = vec![f64::NAN; parameters.len()];
        predictor.leave_one_out(&found.draw, &mut of_training_rows);
        assert_eq!(of_training_rows, parameters, "{}", world.target.name);
        let mut functions = vec![f64::NAN; rows * family.functions()];
        predictor.functions(&found.draw, &world.inputs, &mut functions);
        let outputs = world.outputs(&state[..posterior.shape.len()]);
        for row in 0..rows {
            let these = &parameters[row * family.width()..(row + 1) * family.width()];
            let predictive = Predictive::new(family, these);
            let log_density = if scaling.is_empty() {
                predictive.log_probability(values[row] as usize)
            } else {
                let value = |o: usize| scaling[o].invert(values[o * rows + row]);
                let observed: Vec<f64> = (0..scaling.len()).map(value).collect();
                predictive.log_density(&observed)
            };
            let name = world.target.name;
            assert!(close(log_density, found.rows[row]), "{name}, row {row}: {log_density}");
            for (o, function) in
                functions[row * family.functions()..][..family.functions()].iter().enumerate()
            {
                let f = outputs[o * rows + row];
                let expected = scaling.get(o).map_or(f, |scaling| scaling.invert(f));
                assert!(close(*function, expected), "{name}, row {row}: {function} {expected}");
            }
        }
    });
}

#[test]
fn groups_that_no_training_row_had_are_predicted_by_the_level_above() {
    let world = World::new(cases::TARGETS[7], (2, false), &PRIORS[3], "");
    assert_eq!(world.target.name, "normal by groups");
    let mut stream = stream(25);
    let posterior = world.empty();
    let state = super::gradients::moderate_state(&posterior, &mut stream);
    let draw = evaluate(&posterior, &state).draw;
    let mut parameters = [f64::NAN; 3];
    let inputs = Matrix::from_fn(1, 2, |_, _| 0.5);
    posterior.predictor().unwrap().at(&draw, &inputs, &mut parameters);
    let Observed::Real(residual) = &posterior.observed else { unreachable!("real") };
    let Noise::Scales { levels, .. } = &residual.noise else { unreachable!("scales") };
    let crate::model::prior::Above::Sampled { slot, .. } = levels.above else {
        panic!("a level above")
    };
    // Normal with an inverse gamma variance of scale a_ave and ν = 6: Student's t.
    assert!(close(parameters[1], state[slot].exp()) && close(parameters[2], 6.0));
    // A group that training rows had is normal, in every respect.
    let inputs = Matrix::from_fn(1, 2, |_, _| 1.0);
    let mut predictor = posterior.predictor().unwrap();
    predictor.at(&draw, &inputs, &mut parameters);
    let found = Predictive::new(predictor.family(), &parameters);
    let normal = Predictive::new(Family::Normal { outputs: 1 }, &parameters[..2]);
    let y = parameters[0] + 0.7 * parameters[1];
    assert!(close(found.log_density(&[y]), normal.log_density(&[y])));
    assert!(close(found.mean(0).unwrap(), normal.mean(0).unwrap()));
    assert!(close(found.sd(0).unwrap(), normal.sd(0).unwrap()));
    assert!(close(found.cdf(0, y), normal.cdf(0, y)));
    assert!(close(found.quantile(0, 0.9), normal.quantile(0, 0.9)));
    let mut targets = [[f64::NAN]; 2];
    found.draw(&mut super::stream(26), &mut targets[0]);
    normal.draw(&mut super::stream(26), &mut targets[1]);
    assert!(close(targets[0][0], targets[1][0]));
}

#[test]
fn a_draw_names_what_the_state_holds() {
    every_model(|world, posterior, state, _| {
        let values = &posterior.targets;
        let (posterior, scaling) = standardised(world, values);
        let found = evaluate(&posterior, state);
        let value = |name: &str| -> Option<&[f64]> {
            posterior.layout().variable(name).map(|variable| &found.draw[variable.range()])
        };
        let name = world.target.name;
        for group in &posterior.hierarchy.groups {
            let weights = value(group.name).unwrap();
            assert_eq!(weights, &state[group.members.clone()], "{name}, {}", group.name);
            let Scale::Sampled(levels) = &group.scale else { continue };
            let singular = group.name.trim_end_matches('s');
            let singular = if group.name == "hidden_bias" || group.name == "output_bias" {
                group.name
            } else {
                singular
            };
            let of_scales = match (group.per_input, group.name) {
                (true, "input_weights") => value("relevance"),
                _ => value(&format!("{singular}_scale")),
            };
            for (scale, slot) in of_scales.unwrap().iter().zip(levels.slots.clone()) {
                assert!(close(*scale, state[slot].exp()), "{name}, {}", group.name);
            }
        }
        let rows = posterior.rows();
        let outputs = world.outputs(&state[..posterior.shape.len()]);
        let fitted = value("fitted").unwrap();
        let squares: f64 = outputs
            .iter()
            .zip(values)
            .enumerate()
            .map(|(index, (f, y))| {
                let unit = scaling.get(index / rows).map_or(0.0, |scaling| scaling.scale);
                (unit * (f - y)).powi(2)
            })
            .sum();
        if !scaling.is_empty() {
            let error = (squares / outputs.len() as f64).sqrt();
            assert!(close(value("training_error").unwrap()[0], error), "{name}");
        }
        for row in 0..rows {
            let f = |o: usize| outputs[o * rows + row];
            let count = posterior.shape.outputs;
            let expected: Vec<f64> = match &posterior.observed {
                Observed::Real(_) => (0..count).map(|o| scaling[o].invert(f(o))).collect(),
                Observed::Outcomes(outcomes) => {
                    let mut expected = Vec::new();
                    outcomes.expected((row, f(0)), &[f64::INFINITY], |value| expected.push(value));
                    expected
                }
                Observed::Binary { .. } => vec![1.0 / (1.0 + (-f(0)).exp())],
                Observed::Multiclass { .. } => {
                    let total: f64 = (0..count).map(|o| f(o).exp()).sum();
                    (0..count).map(|o| f(o).exp() / total).collect()
                }
            };
            for (o, expected) in expected.iter().enumerate() {
                assert!(close(fitted[row * count + o], *expected), "{name}, row {row}");
            }
        }
        let Observed::Real(residual) = &posterior.observed else { return };
        let mut expected = Vec::new();
        match &residual.noise {
            Noise::Covariance { slots, .. } => {
                let dim = scaling.len();
                for (index, slot) in slots.clone().enumerate() {
                    expected.push(
                        state[slot] * scaling[index / dim].scale * scaling[index % dim].scale,
                    );
                }
                assert_all_close(value("residual_covariance").unwrap(), &expected, name);
            }
            Noise::Scales { .. } => {
                // By target, then by group: rows 0 and 1 are of different ones.
                let groups = if world.target.residual.contains("by =") { 2 } else { 1 };
                for (o, scaling) in scaling.iter().enumerate() {
                    for group in 0..groups {
                        // Where inputs with slopes have their means.
                        let index = o * rows + group;
                        let along = residual.offset(state, index).exp();
                        let scale = world.scale(residual, state, index) / along;
                        expected.push(scale * scaling.scale);
                    }
                }
                assert_all_close(value("residual_scale").unwrap(), &expected, name);
            }
        }
        if let Some(slopes) = &residual.slopes {
            let shown = value("residual_log_slope").unwrap();
            assert_all_close(shown, &state[slopes.slots.clone()], name);
        }
        if let (ResidualFamily::PerCase, Some(cases)) = (residual.family, &residual.cases) {
            let mut expected = Vec::new();
            for row in 0..rows {
                for (o, scaling) in scaling.iter().enumerate() {
                    let index = o * rows + row;
                    let precision = state[cases.start + index];
                    let scale = world.scale(residual, state, index) / precision.sqrt();
                    expected.push(scale * scaling.scale);
                }
            }
            assert_all_close(value("case_scale").unwrap(), &expected, name);
        }
    });
}

fn assert_all_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!(close(*a, *b), "{what}: {found:?} {expected:?}");
    }
}
