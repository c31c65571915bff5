//! Datasets for the linear models, and the models themselves.

use std::sync::Arc;

use posteria::data::{Dataset, Targets};
use posteria::density::special::logistic;
use posteria::model::linear::{Linear, LinearPosterior};
use posteria::model::spec::Spec;
use posteria::random::{Purpose, Seed, Stream};
use posteria_linalg::Matrix;

use crate::kernels::Factory;

/// A model as a specification file describes it, conditioned on `data`.
pub fn linear(spec: &str, data: &Dataset, kernel: Factory) -> LinearPosterior {
    let spec = Spec::from_toml(spec).expect("a valid file");
    let model = Linear::new(&spec).expect("a valid specification");
    model.condition(data, Arc::new(kernel)).expect("data that fit the model")
}

/// Standard normal inputs.
pub fn inputs(rows: usize, columns: usize, stream: &mut Stream) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| stream.normal())
}

/// Inputs x0, x1, … as they are, with one real target.
pub fn real(inputs: Matrix, targets: &[f64]) -> Dataset {
    let mut values = Matrix::zeros(targets.len(), 1);
    values.column_mut(0).copy_from_slice(targets);
    let targets = Targets::Real { names: vec!["y".into()], values };
    Dataset::unscaled(inputs, targets)
}

/// Inputs x0, x1, … as they are, with a binary target.
pub fn classes(inputs: Matrix, codes: Vec<usize>) -> Dataset {
    let labels = vec!["no".into(), "yes".into()];
    Dataset::unscaled(inputs, Targets::Classes { name: "y".into(), labels, codes })
}

/// The output b + Σ w_k x_k of a row.
pub fn output(coefficients: &[f64], inputs: &Matrix, row: usize) -> f64 {
    let weights = &coefficients[1..];
    coefficients[0] + (0..weights.len()).map(|k| weights[k] * inputs[(row, k)]).sum::<f64>()
}

/// The class of every row, drawn from a logistic regression.
pub fn draw_classes(coefficients: &[f64], inputs: &Matrix, stream: &mut Stream) -> Vec<usize> {
    let mut class =
        |row| usize::from(stream.uniform() < logistic(output(coefficients, inputs, row)));
    (0..inputs.rows()).map(&mut class).collect()
}

/// A regression on `columns` inputs, of which the first counts.
pub fn regression(columns: usize) -> Dataset {
    let mut stream = Seed(8).stream(Purpose::Data, [0, 0]);
    let inputs = inputs(2 * columns + 10, columns, &mut stream);
    let targets: Vec<f64> =
        (0..inputs.rows()).map(|row| 0.5 + inputs[(row, 0)] + 0.3 * stream.normal()).collect();
    real(inputs, &targets)
}

/// A classification with three inputs.
pub fn classification() -> Dataset {
    let mut stream = Seed(8).stream(Purpose::Data, [1, 0]);
    let inputs = inputs(30, 3, &mut stream);
    let codes = draw_classes(&[0.3, 1.0, -1.0, 0.0], &inputs, &mut stream);
    classes(inputs, codes)
}
