//! Compare what the device computes with what the CPU computes.

mod process;

use std::sync::Arc;

use posteria::model::gp::covariance::{Covariance, Function};
use posteria::model::spec::Sharing;
use posteria::random::{Purpose, Seed, Stream};
use posteria_linalg::{Cholesky, Matrix};
use serde::Serialize;

use self::process::process_checks;
use crate::gp::GpDensity;
use crate::mlp::{
    GroupScale, MlpFold, MlpLikelihood, MlpModel, MlpOptions, MlpSampler, Reference, ResidualScale,
    ScaleSpread,
};
use crate::{CudaError, Device};

/// Rows of the Gaussian processes: more than one level of doubling, and no full blocks.
const ROWS: usize = 215;
/// Largest difference of numbers in double precision, relative to the largest of them.
const DOUBLE: f64 = 1e-10;
/// The same of forces in single precision.
const SINGLE: f64 = 1e-5;
/// The same of states after a few trajectories, which double small differences again and again.
const TRAJECTORIES: f64 = 1e-7;

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What was compared.
    pub name: String,
    /// The largest difference, relative to the largest number.
    pub difference: f64,
    /// The largest difference that rounding explains.
    pub limit: f64,
}

impl Check {
    /// Whether nothing but rounding differs.
    pub fn passed(&self) -> bool {
        self.difference <= self.limit
    }

    fn new(name: String, here: &[f64], there: &[f64], limit: f64) -> Self {
        let largest = there.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let apart = here.iter().zip(there).map(|(a, b)| (a - b).abs());
        let all = here.len() == there.len() && here.iter().all(|x| x.is_finite());
        let most = apart.fold(0.0_f64, f64::max);
        let difference = if all && largest > 0.0 { most / largest } else { f64::INFINITY };
        Check { name, difference, limit }
    }
}

/// Compares densities and their gradients, and chains, with those of the CPU. Takes seconds, most
/// of them to compile kernels if these are not kept from before.
///
/// # Errors
/// [`CudaError`] if something cannot be computed at all.
pub fn self_test(device: &Arc<Device>) -> Result<Vec<Check>, CudaError> {
    let mut checks = Vec::new();
    for function in Function::ALL.iter().filter(|f| **f != Function::Constant) {
        gp_checks(device, &mut checks, (function.name(), ROWS))?;
    }
    let product = "periodic(x1)*matern-3/2(x2)+linear*squared-exponential";
    gp_checks(device, &mut checks, (product, ROWS))?;
    // The default, for sizes that doubling ends at and begins with, and of several block rows.
    for rows in [1, 32, 33, 64, 600, 1601] {
        gp_checks(device, &mut checks, ("constant+linear+squared-exponential", rows))?;
    }
    for rows in [33, 215, 600] {
        process_checks(device, &mut checks, ("constant+linear+matern-5/2", rows))?;
    }
    for likelihood in [
        MlpLikelihood::Normal,
        MlpLikelihood::StudentT,
        MlpLikelihood::Logistic,
        MlpLikelihood::Softmax,
    ] {
        mlp_checks(device, &mut checks, likelihood)?;
    }
    Ok(checks)
}

fn gp_checks(
    device: &Arc<Device>,
    checks: &mut Vec<Check>,
    (text, rows): (&str, usize),
) -> Result<(), CudaError> {
    let names: Vec<String> = ["x1", "x2", "x3"].map(String::from).to_vec();
    let refuse = |error: &dyn ToString| CudaError::NotAvailable { what: error.to_string() };
    let terms = Covariance::parse(text, &names, Sharing::PerInput).map_err(|e| refuse(&e))?;
    let covariance = Covariance::new(terms, names.len());
    let mut stream = Seed(1).stream(Purpose::Start, [0, 0]);
    let mut normal = |scale: f64| scale * stream.normal();
    let inputs = Matrix::from_fn(rows, names.len(), |_, _| normal(1.0));
    let targets: Vec<f64> = (0..2 * rows).map(|_| normal(1.0)).collect();
    // Residuals so large that the matrix is well conditioned: formulas are compared, not how much of
    // their digits sums that nearly cancel leave.
    let precisions: Vec<f64> = (0..rows).map(|_| normal(0.5).exp()).collect();
    let logs: Vec<f64> = covariance.parameters().iter().map(|_| normal(0.4)).collect();
    let jitter = 0.1;
    let mut density = GpDensity::new(device, &covariance, &inputs, jitter, 2)?;
    let found = density.evaluate(&logs, &precisions, &targets)?;

    let mut evaluator = covariance.evaluator(&inputs);
    evaluator.set(&logs);
    let mut matrix = Matrix::zeros(rows, rows);
    evaluator.fill(&mut matrix);
    let root = |row: usize| precisions[row].sqrt();
    for column in 0..rows {
        matrix[(column, column)] += jitter * jitter;
        for row in column..rows {
            matrix[(row, column)] *= root(row) * root(column);
        }
        matrix[(column, column)] += 1.0;
    }
    let factor = Cholesky::new(&matrix)
        .map_err(|error| CudaError::NotPositiveDefinite { pivot: error.pivot })?;
    let mut value = -factor.log_determinant();
    let mut solved = targets.clone();
    for solved in solved.chunks_exact_mut(rows) {
        solved.iter_mut().enumerate().for_each(|(row, slot)| *slot *= root(row));
        factor.solve_lower(solved);
        value -= 0.5 * solved.iter().map(|z| z * z).sum::<f64>();
        factor.solve_lower_transposed(solved);
    }
    let mut inverse = Matrix::zeros(rows, rows);
    factor.inverse(&mut inverse);
    let mut gradient = vec![0.0; logs.len()];
    let mut column = |j: usize, out: &mut [f64]| {
        for (slot, row) in out.iter_mut().zip(j..) {
            let products = solved[row] * solved[j] + solved[rows + row] * solved[rows + j];
            *slot = 0.5 * root(row) * root(j) * (products - 2.0 * inverse[(row, j)]);
        }
    };
    evaluator.gradient(&mut column, &mut gradient);
    let name = |what: &str| format!("Gaussian process, {text}, {rows} rows: {what}");
    checks.push(Check::new(name("density"), &[found.value()], &[value], DOUBLE));
    checks.push(Check::new(name("gradient"), found.gradient, &gradient, DOUBLE));
    checks.push(Check::new(name("solution"), found.solved, &solved, DOUBLE));
    let diagonal: Vec<f64> = (0..rows).map(|row| inverse[(row, row)]).collect();
    checks.push(Check::new(name("inverse"), found.inverse_diagonal, &diagonal, DOUBLE));
    Ok(())
}

/// A small network with every kind of prior, and rows of two folds.
fn network(likelihood: MlpLikelihood) -> (MlpModel, Vec<MlpFold>) {
    let outputs = if likelihood == MlpLikelihood::Softmax { 3 } else { 1 };
    // Both kinds of spread below and above, in one model or the other.
    let (gamma, normal) = (ScaleSpread::InverseGamma(2.0), ScaleSpread::LogNormal(0.8));
    let real = matches!(likelihood, MlpLikelihood::Normal | MlpLikelihood::Softmax);
    let (spread, top) = if real { (normal, gamma) } else { (gamma, normal) };
    let sampled = |spread| GroupScale::Sampled { scale: 0.5, spread };
    let model = MlpModel {
        inputs: 3,
        hidden: 5,
        outputs,
        likelihood,
        groups: [
            GroupScale::PerInput { scale: 0.3, spread, top },
            sampled(top),
            sampled(spread),
            GroupScale::Fixed(10.0),
        ],
        residual: ResidualScale { scale: 0.3, spread, dofs: vec![2.0, 4.0, 10.0, 30.0] },
    };
    let mut stream = Seed(2).stream(Purpose::Start, [0, 0]);
    let fold = |label: u32, rows: usize, stream: &mut Stream| {
        let inputs = Matrix::from_fn(rows, 3, |_, _| stream.normal());
        let target = |row: usize, stream: &mut Stream| {
            let f = inputs[(row, 0)].sin() + inputs[(row, 1)] + 0.3 * stream.normal();
            match likelihood {
                MlpLikelihood::Logistic => f64::from(f > 0.0),
                MlpLikelihood::Softmax => f64::from(f > -0.7) + f64::from(f > 0.7),
                _ => f,
            }
        };
        let targets = (0..rows).map(|row| target(row, stream)).collect();
        MlpFold { label, inputs, targets }
    };
    let folds = vec![fold(0, 77, &mut stream), fold(6, 70, &mut stream)];
    (model, folds)
}

fn mlp_checks(
    device: &Arc<Device>,
    checks: &mut Vec<Check>,
    likelihood: MlpLikelihood,
) -> Result<(), CudaError> {
    const CHAINS: usize = 11;
    const ITERATIONS: usize = 6;
    let (model, folds) = network(likelihood);
    let name = |what: &str| format!("network, {likelihood:?}: {what}");
    let options = MlpOptions { steps: 20, adapting: 4, double: true, ..MlpOptions::default() };
    let (layout, seed) = (model.layout(), Seed(9));
    let mut double = MlpSampler::new(device, &model, &folds, CHAINS, options, seed)?;
    let starts = double.states()?;
    let (mut energies, mut gradients, mut states) = (Vec::new(), Vec::new(), starts.clone());
    for (index, state) in states.chunks_exact_mut(layout.state()).enumerate() {
        let (fold, chain) = (&folds[index / CHAINS], (index % CHAINS) as u32);
        let mut reference = Reference::new(&model, fold, options, seed)?;
        energies.push(reference.energy(state));
        let mut gradient = vec![0.0; layout.weights];
        reference.gradient(state, &mut gradient);
        gradients.extend(gradient);
        for iteration in 0..ITERATIONS {
            reference.iterate(state, chain, iteration as u32);
        }
    }
    let (found, slopes) = double.evaluate()?;
    checks.push(Check::new(name("energies"), &found, &energies, DOUBLE));
    checks.push(Check::new(name("forces in double precision"), &slopes, &gradients, DOUBLE));
    let drawn = double.run(ITERATIONS, 1)?;
    let ended = double.states()?;
    checks.push(Check::new(name("chains"), &ended, &states, TRAJECTORIES));
    let last = &drawn.draws[drawn.draws.len() - ended.len()..];
    checks.push(Check::new(name("draws"), last, &ended, 0.0));

    for threads in [32, 128] {
        let options = MlpOptions { double: false, threads, ..options };
        let single = |block: usize| {
            MlpSampler::with_block(device, (&model, &folds), CHAINS, (options, seed), block)
        };
        let mut one = single(64)?;
        let (_, slopes) = one.evaluate()?;
        let what = format!("forces in single precision, {threads} threads");
        checks.push(Check::new(name(&what), &slopes, &gradients, SINGLE));
        one.run(ITERATIONS, 0)?;
        let mut other = single(256)?;
        other.run(2, 0)?;
        let (between, done) = (other.states()?, other.iteration());
        let mut resumed = single(256)?;
        resumed.resume(&between, done)?;
        resumed.run(ITERATIONS - 2, 1)?;
        let what = format!("other blocks, and resumed, {threads} threads");
        checks.push(Check::new(name(&what), &resumed.states()?, &one.states()?, 0.0));
        let mut alone = MlpSampler::new(device, &model, &folds[1..], CHAINS - 4, options, seed)?;
        alone.run(ITERATIONS, 0)?;
        let all = one.states()?;
        let same = &all[CHAINS * layout.state()..][..(CHAINS - 4) * layout.state()];
        let what = format!("a fold and fewer chains alone, {threads} threads");
        checks.push(Check::new(name(&what), &alone.states()?, same, 0.0));
    }
    Ok(())
}
