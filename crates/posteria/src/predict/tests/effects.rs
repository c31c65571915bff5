//! Check the effects of inputs against their definitions.

use posteria_linalg::Matrix;

use super::stream;
use super::tables::{Curve, draws};
use crate::data::{InputColumn, Standardization};
use crate::density::checks::assert_relative;
use crate::density::special::logistic;
use crate::draws::Draws;
use crate::predict::{EffectOptions, Family, Predictor, input_effects};

fn column(inputs: std::ops::Range<usize>, scale: f64, is_number: bool) -> InputColumn {
    let scaling = vec![Standardization { centre: 3.0, scale }; inputs.len()];
    InputColumn { name: "x".into(), inputs, scaling, is_number }
}

/// Mean and standard deviation of a quantity over all draws.
fn over(draws: &Draws, quantity: impl Fn(&[f64]) -> f64) -> (f64, f64) {
    let values: Vec<f64> = draws.values.chunks_exact(draws.layout.len()).map(quantity).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[test]
fn a_linear_effect_is_the_weight() {
    let draws = draws(2, 30, 3);
    let mut stream = stream(20);
    let inputs = Matrix::from_fn(40, 2, |_, _| stream.normal());
    let options = EffectOptions::default();
    let effects = input_effects(&mut Curve, &draws, &inputs, &column(0..1, 2.5, true), &options);
    assert_eq!(effects.len(), 1);
    let (mean, sd) = over(&draws, |draw| draw[0] / 2.5);
    assert_relative(effects[0].comparison.mean, mean, 1e-12);
    assert_relative(effects[0].comparison.sd, sd, 1e-12);
    let (mean, sd) = over(&draws, |draw| draw[0].abs() / 2.5);
    // Central differences of a straight line: rounding over the step.
    for slope in [effects[0].mean_absolute_derivative, effects[0].rms_derivative] {
        assert_relative(slope.unwrap().mean, mean, 1e-9);
        assert_relative(slope.unwrap().sd, sd, 1e-9);
    }
}

#[test]
fn a_curved_effect_is_averaged_over_rows_and_near_pairs() {
    let draws = draws(1, 8, 3);
    let mut stream = stream(21);
    let inputs = Matrix::from_fn(12, 2, |_, _| stream.normal());
    let options = EffectOptions::default();
    let effect = input_effects(&mut Curve, &draws, &inputs, &column(1..2, 0.5, true), &options)[0];
    let (x0, x1) = (inputs.column(0), inputs.column(1));
    let comparison = |draw: &[f64]| {
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..12 {
            for j in 0..12 {
                let weight = 1.0 / (1.0 + (x0[j] - x0[i]).powi(2));
                let change = draw[1] * (x1[j].powi(2) - x1[i].powi(2));
                let step = 0.5 * (x1[j] - x1[i]);
                above += weight * change * step.signum();
                below += weight * step.abs();
            }
        }
        above / below
    };
    let (mean, sd) = over(&draws, comparison);
    assert_relative(effect.comparison.mean, mean, 1e-11);
    assert_relative(effect.comparison.sd, sd, 1e-11);
    let mean_of = |power: i32| x1.iter().map(|x| (2.0 * x).abs().powi(power)).sum::<f64>() / 12.0;
    let (mean, _) = over(&draws, |draw| draw[1].abs() * mean_of(1) / 0.5);
    assert_relative(effect.mean_absolute_derivative.unwrap().mean, mean, 1e-9);
    let (mean, _) = over(&draws, |draw| draw[1].abs() * mean_of(2).sqrt() / 0.5);
    assert_relative(effect.rms_derivative.unwrap().mean, mean, 1e-9);
}

/// Log odds a x0 + b x1 + c x2.
struct Odds;

impl Predictor for Odds {
    fn family(&self) -> Family {
        Family::Bernoulli
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        self.functions(draw, inputs, parameters);
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        for (row, output) in outputs.iter_mut().enumerate() {
            *output = (0..3).map(|k| draw[k] * inputs[(row, k)]).sum();
        }
    }

    fn at_training_rows(&mut self, _draw: &[f64], _parameters: &mut [f64]) {
        unreachable!("fitted to no rows")
    }
}

#[test]
fn classes_change_as_a_whole_and_probabilities_are_compared() {
    let draws = draws(1, 6, 3);
    let mut stream = stream(22);
    // Two indicators of three classes, and a number.
    let classes = [0, 1, 2, 0, 1, 2, 1];
    let inputs = Matrix::from_fn(7, 3, |row, k| match k {
        0 | 1 => f64::from(u8::from(classes[row] == k)),
        _ => stream.normal(),
    });
    let options = EffectOptions::default();
    let effect = input_effects(&mut Odds, &draws, &inputs, &column(0..2, 1.0, false), &options)[0];
    assert!(effect.mean_absolute_derivative.is_none() && effect.rms_derivative.is_none());
    let odds = |draw: &[f64], class: usize, x2: f64| {
        let own = if class < 2 { draw[class] } else { 0.0 };
        logistic(own + draw[2] * x2)
    };
    let x2 = inputs.column(2);
    let comparison = |draw: &[f64]| {
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..7 {
            for j in (0..7).filter(|j| classes[*j] != classes[i]) {
                let weight = 1.0 / (1.0 + (x2[j] - x2[i]).powi(2));
                let change = odds(draw, classes[j], x2[i]) - odds(draw, classes[i], x2[i]);
                above += weight * change * change;
                below += weight;
            }
        }
        (above / below).sqrt()
    };
    let (mean, sd) = over(&draws, comparison);
    assert_relative(effect.comparison.mean, mean, 1e-11);
    assert_relative(effect.comparison.sd, sd, 1e-11);
}

#[test]
fn a_column_that_does_not_vary_has_no_comparison_and_few_rows_suffice() {
    let draws = draws(1, 500, 3);
    let constant = Matrix::from_fn(300, 2, |row, k| if k == 0 { 0.0 } else { row as f64 });
    let options = EffectOptions { rows: 10, draws: 20, ..EffectOptions::default() };
    let effect = input_effects(&mut Curve, &draws, &constant, &column(0..1, 1.0, true), &options);
    assert!(effect[0].comparison.mean.is_nan());
    assert!(effect[0].mean_absolute_derivative.unwrap().mean.is_finite());
    // One row and one draw: nothing to compare, and no failure.
    let (one, draws) = (Matrix::zeros(1, 2), super::tables::draws(1, 1, 3));
    let effect = input_effects(&mut Curve, &draws, &one, &column(1..2, 1.0, true), &options);
    assert!(effect[0].comparison.mean.is_nan() && effect[0].comparison.sd.is_nan());
}
