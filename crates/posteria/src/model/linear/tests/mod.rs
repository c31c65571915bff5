//! Check the linear models against exact answers, their priors and themselves.

mod basis;
mod conversion;
mod covariance;
mod dof_by_groups;
mod exact;
mod input_sets;
mod joint_distribution;
mod least_squares;
mod logistic;
mod many_rows;
mod prediction;
mod prior;
mod quadrature;
mod residuals;
mod several_targets;
mod slopes;
mod softmax;

use std::sync::Arc;

use posteria_linalg::Matrix;

use super::{Linear, LinearPosterior};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::draws::{Draws, Layout};
use crate::model::KernelFactory;
use crate::model::spec::Spec;
use crate::random::{Purpose, Seed, Stream};
use crate::sample::hmc::{MetricKind, Nuts, NutsOptions};

/// |z| of a mean over 50 batches passes this by chance with probability 5e-5 (t with 49
/// degrees of freedom); seeds are fixed.
const FAR: f64 = 4.5;

fn stream(index: u64) -> Stream {
    Seed(2024).stream(Purpose::Data, [index, 0])
}

fn model(text: &str) -> Linear {
    Linear::new(&Spec::from_toml(text).unwrap()).unwrap()
}

fn nuts() -> KernelFactory<'static> {
    Arc::new(|dim| {
        let metric = MetricKind::Unit;
        Box::new(Nuts::new(dim, NutsOptions { step_size: 0.4, metric, ..NutsOptions::default() }))
    })
}

/// One draw as all draws.
fn alone(layout: &Layout, draw: &[f64]) -> Draws {
    Draws { draws: 1, values: draw.to_vec(), ..Draws::empty(layout.clone(), 1, 0) }
}

fn real(x: Matrix, y: Vec<f64>) -> Dataset {
    let mut values = Matrix::zeros(y.len(), 1);
    values.column_mut(0).copy_from_slice(&y);
    Dataset::unscaled(x, Targets::Real { names: vec!["y".into()], values })
}

fn classes(x: Matrix, codes: Vec<usize>) -> Dataset {
    let labels = vec!["no".into(), "yes".into()];
    Dataset::unscaled(x, Targets::Classes { name: "y".into(), labels, codes })
}

fn conditioned(text: &str, data: &Dataset) -> LinearPosterior {
    model(text).condition(data, nuts()).unwrap()
}

fn random_matrix(rows: usize, columns: usize, stream: &mut Stream) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| stream.normal())
}

/// The z score of the mean of `values` against `expected`, from 50 batch means. `error` is the
/// standard error of `expected` itself.
fn z_score(values: &[f64], expected: f64, error: f64) -> f64 {
    let size = values.len() / 50;
    let means: Vec<f64> =
        values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean - expected) / (variance / count + error * error).sqrt()
}

/// Columns of numbers that grow row by row.
struct Table(Vec<Vec<f64>>);

impl Table {
    fn collect(rows: usize, mut row: impl FnMut() -> Vec<f64>) -> Self {
        let mut columns = Vec::new();
        for _ in 0..rows {
            let row = row();
            columns.resize(row.len(), Vec::with_capacity(rows));
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
        Table(columns)
    }

    /// The means of these rows, which depend on each other, are those of independent ones.
    fn assert_means_of(&self, independent: &Table, what: &str) {
        for (index, (a, b)) in independent.0.iter().zip(&self.0).enumerate() {
            let count = a.len() as f64;
            let mean = a.iter().sum::<f64>() / count;
            let variance = a.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
            let z = z_score(b, mean, (variance / count).sqrt());
            assert!(z.abs() < FAR, "{what}: function {index} is {z} errors off");
        }
    }

    fn assert_means(&self, expected: &[f64], what: &str) {
        assert_eq!(self.0.len(), expected.len());
        for (index, (column, expected)) in self.0.iter().zip(expected).enumerate() {
            let z = z_score(column, *expected, 0.0);
            assert!(z.abs() < FAR, "{what}: quantity {index} is {z} errors from {expected}");
        }
    }
}
