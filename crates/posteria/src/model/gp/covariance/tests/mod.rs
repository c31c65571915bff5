//! Check covariance functions against formulas for one pair of points at a time.

mod gradient;
mod limits;
mod parse;
mod values;

use std::f64::consts::PI;

use posteria_linalg::Matrix;

use super::*;
use crate::random::{Purpose, Seed, Stream};

fn stream(index: u64) -> Stream {
    Seed(20).stream(Purpose::Data, [index, 0])
}

fn normals(rows: usize, columns: usize, index: u64) -> Matrix {
    let mut stream = stream(index);
    Matrix::from_fn(rows, columns, |_, _| stream.normal())
}

fn factor(function: Function, inputs: &[usize], sharing: Sharing) -> Factor {
    Factor { function, inputs: inputs.to_vec(), sharing }
}

/// Every function alone, in sums and in products, with relevances in common and for each input.
fn all() -> Vec<Covariance> {
    let mut all = Vec::new();
    for sharing in [Sharing::Common, Sharing::PerInput] {
        for function in Function::ALL {
            let one = |inputs: &[usize]| factor(function, inputs, sharing);
            let se = factor(Function::SquaredExponential, &[1], sharing);
            let linear = factor(Function::Linear, &[0, 1, 2], sharing);
            let constant = factor(Function::Constant, &[], sharing);
            for terms in [
                vec![vec![one(&[0, 1, 2])]],
                vec![vec![one(&[2])], vec![constant.clone()]],
                vec![vec![se.clone(), one(&[2, 0])], vec![one(&[1])]],
                vec![vec![linear.clone(), one(&[0]), se.clone()], vec![linear.clone()]],
            ] {
                all.push(Covariance::new(terms, 3));
            }
        }
    }
    let names: Vec<String> = (0..11).map(|k| format!("x{k}")).collect();
    let text = "se+matern52(x3,x1)*periodic(x2)+nn*rq(x10)";
    all.push(Covariance::new(
        Covariance::parse(text, &names, Sharing::PerInput).unwrap(),
        names.len(),
    ));
    all
}

/// Log parameters about 0, periods about 3.
fn log_parameters(covariance: &Covariance, index: u64) -> Vec<f64> {
    let mut stream = stream(1000 + index);
    let log = |parameter: &Parameter| {
        let middle = if matches!(parameter, Parameter::Period { .. }) { 1.0 } else { -0.4 };
        middle + 0.5 * stream.normal()
    };
    covariance.parameters().iter().map(log).collect()
}

/// The covariance of two points, from the definitions.
fn reference(covariance: &Covariance, log_parameters: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let mut parameters = log_parameters.iter().map(|log| log.exp());
    let mut next = || parameters.next().expect("a parameter");
    let mut sum = 0.0;
    for factors in covariance.terms() {
        let alone = factors.len() == 1 && factors[0].function == Function::Linear;
        let magnitude = if alone { 1.0 } else { next() };
        let mut product = magnitude * magnitude;
        for factor in factors {
            product *= reference_factor(factor, &mut next, x, y);
        }
        sum += product;
    }
    sum
}

fn reference_factor(factor: &Factor, next: &mut impl FnMut() -> f64, x: &[f64], y: &[f64]) -> f64 {
    if factor.function == Function::Constant {
        return 1.0;
    }
    let inputs = &factor.inputs;
    let relevances: Vec<f64> = match factor.sharing {
        Sharing::Common => vec![next(); inputs.len()],
        Sharing::PerInput => inputs.iter().map(|_| next()).collect(),
    };
    let sum = |f: &dyn Fn(f64, f64, f64) -> f64| -> f64 {
        inputs.iter().zip(&relevances).map(|(k, rho)| f(*rho, x[*k], y[*k])).sum()
    };
    let square = sum(&|rho, x, y| (rho * (x - y)).powi(2));
    let r = square.sqrt();
    match factor.function {
        Function::SquaredExponential => (-square).exp(),
        Function::Exponential => (-r).exp(),
        Function::Matern32 => (1.0 + 3_f64.sqrt() * r) * (-(3_f64.sqrt()) * r).exp(),
        Function::Matern52 => {
            (1.0 + 5_f64.sqrt() * r + 5.0 * square / 3.0) * (-(5_f64.sqrt()) * r).exp()
        }
        Function::RationalQuadratic => {
            let alpha = next();
            (1.0 + square / alpha).powf(-alpha)
        }
        Function::Periodic => {
            let terms = inputs
                .iter()
                .zip(&relevances)
                .map(|(k, rho)| (rho * (PI * (x[*k] - y[*k]) / next()).sin()).powi(2));
            (-terms.sum::<f64>()).exp()
        }
        Function::Linear => sum(&|rho, x, y| rho * rho * x * y),
        Function::Constant => 1.0,
        Function::NeuralNetwork => {
            let bias = next();
            let s =
                |f: &dyn Fn(f64, f64) -> f64| bias * bias + sum(&|rho, x, y| rho * rho * f(x, y));
            let scale = (1.0 + 2.0 * s(&|x, _| x * x)) * (1.0 + 2.0 * s(&|_, y| y * y));
            2.0 / PI * (2.0 * s(&|x, y| x * y) / scale.sqrt()).asin()
        }
    }
}

fn row(points: &Matrix, row: usize) -> Vec<f64> {
    (0..points.columns()).map(|k| points[(row, k)]).collect()
}

/// Its text, with numbered inputs.
fn name(covariance: &Covariance) -> String {
    let names: Vec<String> = (0..covariance.inputs()).map(|k| format!("x{k}")).collect();
    covariance.name(&names)
}
