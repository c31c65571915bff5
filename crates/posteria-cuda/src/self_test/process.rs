//! Compare answers about a process, one question after the other, with those of the CPU.

use std::sync::Arc;

use posteria::model::accelerator::{AcceleratedProcess, AcceleratorError, ProcessPoint};
use posteria::model::gp::covariance::Covariance;
use posteria::model::spec::Sharing;
use posteria::random::{Purpose, Seed};
use posteria_linalg::{Cholesky, Matrix};

use super::{Check, DOUBLE};
use crate::gp::GpProcess;
use crate::{CudaError, Device};

/// Rows that are predicted: more than are whitened at once.
const NEW: usize = 300;

/// What the CPU finds at one point.
struct Here {
    factor: Cholesky,
    inverse: Matrix,
    roots: Vec<f64>,
    cross: Matrix,
    gradient: Vec<f64>,
    solved: Vec<f64>,
}

/// Every question, at two points in turn, so that what is kept of one never answers for the other.
pub(super) fn process_checks(
    device: &Arc<Device>,
    checks: &mut Vec<Check>,
    (text, rows): (&str, usize),
) -> Result<(), CudaError> {
    let refuse = |error: &dyn ToString| CudaError::NotAvailable { what: error.to_string() };
    let names = ["x1", "x2"].map(String::from);
    let terms = Covariance::parse(text, &names, Sharing::PerInput).map_err(|e| refuse(&e))?;
    let covariance = Covariance::new(terms, names.len());
    let mut stream = Seed(4).stream(Purpose::Start, [0, 0]);
    let inputs = Matrix::from_fn(rows, names.len(), |_, _| stream.normal());
    let new = Matrix::from_fn(NEW, names.len(), |_, _| stream.normal());
    let targets: Vec<f64> = (0..rows).map(|_| stream.normal()).collect();
    let jitter = 0.1;
    let process = GpProcess::new(device, &covariance, &inputs, jitter)?;
    let mut point = |_| {
        let logs: Vec<f64> =
            covariance.parameters().iter().map(|_| 0.4 * stream.normal()).collect();
        let precisions: Vec<f64> = (0..rows).map(|_| (0.5 * stream.normal()).exp()).collect();
        (logs, precisions)
    };
    let points = [0, 1].map(&mut point);
    let normal: Vec<f64> = (0..rows).map(|_| stream.normal()).collect();
    let some: Vec<usize> = (0..rows).step_by(rows.div_ceil(40)).collect();
    let name = |what: &str| format!("process on request, {text}, {rows} rows: {what}");
    for (logs, precisions) in &points {
        let at = ProcessPoint { log_parameters: logs, precisions };
        let here = Here::new(&covariance, (&inputs, &new, &targets), at, jitter)?;
        let mut check = |what: &str, found: &[f64], expected: &[f64]| {
            checks.push(Check::new(name(what), found, expected, DOUBLE));
        };
        // Twice, with the other point between.
        let other = points.iter().find(|(other, _)| other != logs).unwrap_or(&points[0]);
        let between = ProcessPoint { log_parameters: &other.0, precisions: &other.1 };
        let mut solved = vec![0.0; rows];
        let square = ask(process.solve(at, &targets, &mut solved))?;
        ask(process.factorize(between))?;
        let log_volume = ask(process.factorize(at))?;
        let half: f64 =
            here.solved.iter().zip(&here.roots).zip(&targets).map(|((b, r), y)| b * r * y).sum();
        check("volume", &[log_volume], &[-0.5 * here.factor.log_determinant()]);
        check("square", &[square], &[half]);
        check("solution", &solved, &here.solved);
        let mut gradient = vec![0.0; logs.len()];
        ask(process.gradient(at, &solved, &mut gradient))?;
        check("gradient", &gradient, &here.gradient);
        let (mut means, mut known) = (vec![0.0; NEW], vec![0.0; NEW]);
        ask(process.predict(at, &solved, &new, (&mut means, &mut known)))?;
        let (expected, explained) = here.predictions();
        check("predictions", &means, &expected);
        check("known variances", &known, &explained);
        let mut columns = here.columns();
        ask(process.whiten(at, &mut columns))?;
        let mut whitened = here.columns();
        here.factor.solve_lower_matrix(&mut whitened);
        check("whitened columns", columns.values(), whitened.values());
        let mut diagonal = vec![0.0; rows];
        ask(process.inverse_diagonal(at, &mut diagonal))?;
        let expected: Vec<f64> = (0..rows).map(|row| here.inverse[(row, row)]).collect();
        check("inverse diagonal", &diagonal, &expected);
        let mut drawn = normal.clone();
        ask(process.draw_open(at, 1e-10, &mut drawn))?;
        check("draw", &drawn, &here.drawn(1e-10, &normal)?);
        // What the draw was made in place of is made again.
        let mut block = Matrix::zeros(some.len(), some.len());
        ask(process.inverse_among(at, &some, &mut block))?;
        let lower = |row: usize, column: usize| {
            if row < column { 0.0 } else { here.inverse[(some[row], some[column])] }
        };
        let expected = Matrix::from_fn(some.len(), some.len(), lower);
        check("part of the inverse", block.values(), expected.values());
    }
    Ok(())
}

impl Here {
    fn new(
        covariance: &Covariance,
        (inputs, new, targets): (&Matrix, &Matrix, &[f64]),
        at: ProcessPoint<'_>,
        jitter: f64,
    ) -> Result<Self, CudaError> {
        let rows = inputs.rows();
        let roots: Vec<f64> = at.precisions.iter().map(|w| w.sqrt()).collect();
        let mut evaluator = covariance.evaluator(inputs);
        evaluator.set(at.log_parameters);
        let mut matrix = Matrix::zeros(rows, rows);
        evaluator.fill(&mut matrix);
        for column in 0..rows {
            matrix[(column, column)] += jitter * jitter;
            (column..rows).for_each(|row| matrix[(row, column)] *= roots[row] * roots[column]);
            matrix[(column, column)] += 1.0;
        }
        let factor = factor(&matrix)?;
        let mut solved: Vec<f64> = roots.iter().zip(targets).map(|(root, y)| root * y).collect();
        factor.solve(&mut solved);
        let mut inverse = Matrix::zeros(rows, rows);
        factor.inverse(&mut inverse);
        let mut column = |j: usize, out: &mut [f64]| {
            for (slot, row) in out.iter_mut().zip(j..) {
                let weight = solved[row] * solved[j] - inverse[(row, j)];
                *slot = 0.5 * roots[row] * roots[j] * weight;
            }
        };
        let mut gradient = vec![0.0; at.log_parameters.len()];
        evaluator.gradient(&mut column, &mut gradient);
        let mut cross = Matrix::zeros(new.rows(), rows);
        evaluator.cross(new, &mut cross);
        Ok(Here { factor, inverse, roots, cross, gradient, solved })
    }

    /// W^½ K(X, X*).
    fn columns(&self) -> Matrix {
        Matrix::from_fn(self.roots.len(), NEW, |row, new| self.roots[row] * self.cross[(new, row)])
    }

    fn predictions(&self) -> (Vec<f64>, Vec<f64>) {
        let columns = self.columns();
        let mean =
            |new: usize| columns.column(new).iter().zip(&self.solved).map(|(c, b)| c * b).sum();
        let mut whitened = self.columns();
        self.factor.solve_lower_matrix(&mut whitened);
        let known = |new: usize| whitened.column(new).iter().map(|v| v * v).sum();
        ((0..NEW).map(mean).collect(), (0..NEW).map(known).collect())
    }

    fn drawn(&self, epsilon: f64, normal: &[f64]) -> Result<Vec<f64>, CudaError> {
        let mut open = self.inverse.clone();
        open.values_mut().iter_mut().for_each(|value| *value = -*value);
        (0..normal.len()).for_each(|row| open[(row, row)] += 1.0 + epsilon);
        let mut values = normal.to_vec();
        factor(&open)?.multiply_lower(&mut values);
        Ok(values)
    }
}

fn factor(matrix: &Matrix) -> Result<Cholesky, CudaError> {
    Cholesky::new(matrix).map_err(|error| CudaError::NotPositiveDefinite { pivot: error.pivot })
}

fn ask<T>(answer: Result<T, AcceleratorError>) -> Result<T, CudaError> {
    answer.map_err(|error| CudaError::NotAvailable { what: error.to_string() })
}
