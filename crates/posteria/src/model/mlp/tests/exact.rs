//! Chains against answers by quadrature, at the posterior and at half its inverse temperature.

use super::cases::{
    BINARY, LAPLACE, NORMAL, PER_CASE, PRIORS, STUDENT_T, STUDENT_T_CONTINUOUS, STUDENT_T_GRID,
};
use super::joint_distribution::KERNELS;
use super::*;
use crate::density::special::log1p_exp;
use crate::density::{Gamma, InverseGamma, Laplace, Normal, StudentT};

const PASSES: usize = 6400;

/// Prior scales of all weights known: output bias 1, direct weight 0.6.
const KNOWN: cases::Priors = PRIORS[4];

/// Six rows with one input.
fn world(target: Target, hidden: usize, sampling: &str) -> World {
    let mut world = World::new(target, (hidden, hidden == 0), &KNOWN, sampling);
    world.inputs = Matrix::from_fn(6, 1, |i, _| [-1.5, -0.7, -0.2, 0.4, 0.9, 1.6][i]);
    world
}

const TARGET_VALUES: [f64; 6] = [-0.9, -0.1, -0.8, 0.7, 2.2, 0.3];

/// Equally spaced points: sums over them are exact to many digits for smooth densities that
/// vanish at both ends.
fn grid(from: f64, to: f64, points: usize) -> impl Iterator<Item = f64> + Clone {
    (0..points).map(move |i| from + (to - from) * i as f64 / (points - 1) as f64)
}

/// Means of functions under an unnormalised log density, point by point.
struct Means<const N: usize> {
    /// The largest log density so far: weights are relative to it.
    largest: f64,
    total: f64,
    sums: [f64; N],
}

impl<const N: usize> Means<N> {
    fn new() -> Self {
        Means { largest: f64::NEG_INFINITY, total: 0.0, sums: [0.0; N] }
    }

    fn add(&mut self, log_density: f64, functions: [f64; N]) {
        if log_density > self.largest {
            let shrink = (self.largest - log_density).exp();
            self.total *= shrink;
            self.sums.iter_mut().for_each(|sum| *sum *= shrink);
            self.largest = log_density;
        }
        let weight = (log_density - self.largest).exp();
        self.total += weight;
        self.sums.iter_mut().zip(functions).for_each(|(sum, value)| *sum += weight * value);
    }

    fn get(&self) -> [f64; N] {
        self.sums.map(|sum| sum / self.total)
    }
}

/// Compares means along a chain with exact ones.
fn assert_means<const N: usize>(
    posterior: &MlpPosterior,
    beta: f64,
    exact: [f64; N],
    functions: impl Fn(&[f64]) -> [f64; N],
    what: &str,
) {
    let mut stream = stream(70);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(beta);
    tune(&mut sweep, &state, 300, &mut stream);
    for _ in 0..200 {
        sweep.pass(&mut state, &mut stream);
    }
    let mut table = Table::default();
    for _ in 0..PASSES {
        sweep.pass(&mut state, &mut stream);
        table.push(&functions(&state));
    }
    for (index, (column, mean)) in table.0.iter().zip(&exact).enumerate() {
        if column.iter().all(|value| value.to_bits() == column[0].to_bits()) {
            // Known degrees of freedom.
            assert!((column[0] - mean).abs() < 1e-9, "{what}: {} is not {mean}", column[0]);
            continue;
        }
        let z = z_score(column, *mean, 0.0);
        assert!(z.abs() < FAR, "{what}: function {index} is {z} errors from {mean}");
    }
}

/// The log density of a residual.
fn residual_density(target: Target, scale: f64, dof: f64) -> Box<dyn Fn(f64) -> f64> {
    let normal = Normal::new(0.0, scale).unwrap();
    let laplace = Laplace::new(0.0, scale).unwrap();
    let t = StudentT::new(0.0, scale, dof).unwrap();
    match target {
        NORMAL => Box::new(move |r| normal.log_density(r)),
        LAPLACE => Box::new(move |r| laplace.log_density(r)),
        _ => Box::new(move |r| t.log_density(r)),
    }
}

/// Degrees of freedom with the logarithms of their prior probabilities.
fn dofs(target: Target) -> Vec<(f64, f64)> {
    match target {
        STUDENT_T_GRID => [2.0, 5.0, 20.0].map(|dof| (dof, 0.0)).to_vec(),
        STUDENT_T_CONTINUOUS => {
            // On log ν, where the integrand is smooth.
            let prior = Gamma::new(2.0, 10.0).unwrap();
            let logs = (0..17).map(|i| -1.5 + 0.4 * i as f64);
            logs.map(|l: f64| (l.exp(), prior.log_density(l.exp()) + l)).collect()
        }
        _ => vec![(4.0, 0.0)],
    }
}

/// Bias, weight, log scale: means, squares and products.
fn linear_functions(b: f64, w: f64, log_scale: f64, dof: f64) -> [f64; 9] {
    [b, w, log_scale, b * b, w * w, log_scale * log_scale, b * w, w * log_scale, dof.ln()]
}

fn regression_by_quadrature(target: Target, beta: f64) -> [f64; 9] {
    let inputs = world(target, 0, "").inputs;
    let prior = InverseGamma::new(0.6, 6.0).unwrap();
    let (b_prior, w_prior) = (Normal::new(0.0, 1.0).unwrap(), Normal::new(0.0, 0.6).unwrap());
    // |y - f| has kinks, which equally spaced points do not like.
    let points = if target == LAPLACE { 61 } else { 31 };
    let mut means = Means::new();
    for (dof, log_probability) in dofs(target) {
        for log_scale in grid(-2.2, 1.6, 31) {
            let of_scale = prior.log_density_of_log_scale(log_scale) + log_probability;
            let density = residual_density(target, log_scale.exp(), dof);
            for b in grid(-3.2, 3.6, points) {
                for w in grid(-2.4, 3.0, points) {
                    let likelihood: f64 =
                        (0..6).map(|i| density(TARGET_VALUES[i] - b - w * inputs[(i, 0)])).sum();
                    let of_weights = b_prior.log_density(b) + w_prior.log_density(w);
                    let log_density = of_scale + of_weights + beta * likelihood;
                    means.add(log_density, linear_functions(b, w, log_scale, dof));
                }
            }
        }
    }
    means.get()
}

fn check_regression(target: Target) {
    for beta in [1.0, 0.5] {
        let exact = regression_by_quadrature(target, beta);
        for (name, sampling) in KERNELS {
            let posterior = world(target, 0, sampling).posterior(&TARGET_VALUES);
            let Observed::Real(residual) = &posterior.observed else { unreachable!("real") };
            let functions = |state: &[f64]| {
                let log_scale = residual.log_scale(state, 0);
                let dof = if target == NORMAL || target == LAPLACE {
                    4.0
                } else {
                    residual.dof.value(state)
                };
                linear_functions(state[0], state[1], log_scale, dof)
            };
            let what = format!("{}, β = {beta}, {name}", target.name);
            assert_means(&posterior, beta, exact, functions, &what);
        }
    }
}

#[test]
fn a_linear_regression_with_normal_residuals_is_that_of_quadrature() {
    check_regression(NORMAL);
}

#[test]
fn linear_regressions_with_student_t_residuals_are_those_of_quadrature() {
    check_regression(STUDENT_T);
    check_regression(STUDENT_T_GRID);
    // Variances of single cases are another way to write Student's t.
    check_regression(PER_CASE);
}

#[test]
fn a_linear_regression_with_any_degrees_of_freedom_is_that_of_quadrature() {
    check_regression(STUDENT_T_CONTINUOUS);
}

#[test]
fn a_linear_regression_with_laplace_residuals_is_that_of_quadrature() {
    check_regression(LAPLACE);
}

#[test]
fn a_single_neuron_is_that_of_quadrature() {
    let codes = [0.0, 1.0, 0.0, 1.0, 1.0, 1.0];
    let functions = |b: f64, w: f64| [b, w, b * b, w * w, b * w];
    for beta in [1.0, 0.5] {
        let inputs = world(BINARY, 0, "").inputs;
        let (b_prior, w_prior) = (Normal::new(0.0, 1.0).unwrap(), Normal::new(0.0, 0.6).unwrap());
        let mut means = Means::new();
        for b in grid(-6.0, 6.0, 61) {
            for w in grid(-3.6, 3.6, 61) {
                let likelihood: f64 = (0..6)
                    .map(|i| {
                        let f = b + w * inputs[(i, 0)];
                        -log1p_exp(if codes[i] > 0.5 { -f } else { f })
                    })
                    .sum();
                let prior = b_prior.log_density(b) + w_prior.log_density(w);
                means.add(prior + beta * likelihood, functions(b, w));
            }
        }
        for (name, sampling) in KERNELS {
            let posterior = world(BINARY, 0, sampling).posterior(&codes);
            let what = format!("neuron, β = {beta}, {name}");
            let of_state = |state: &[f64]| functions(state[0], state[1]);
            assert_means(&posterior, beta, means.get(), of_state, &what);
        }
    }
}

/// One hidden unit and normal residuals: with output weights v ~ N(0, 0.8²), c ~ N(0, 1)
/// integrated out by hand, three coordinates remain.
#[test]
fn a_network_with_one_hidden_unit_is_that_of_quadrature() {
    let inputs = world(NORMAL, 1, "").inputs;
    let prior = InverseGamma::new(0.6, 6.0).unwrap();
    let (u_prior, a_prior) = (Normal::new(0.0, 0.9).unwrap(), Normal::new(0.0, 1.1).unwrap());
    for beta in [1.0, 0.5] {
        let mut means = Means::new();
        for u in grid(-4.5, 4.5, 61) {
            for a in grid(-5.5, 5.5, 61) {
                let hidden: Vec<f64> = (0..6).map(|i| (a + u * inputs[(i, 0)]).tanh()).collect();
                let of_weights = u_prior.log_density(u) + a_prior.log_density(a);
                let sum = |f: &dyn Fn(usize) -> f64| (0..6).map(f).sum::<f64>();
                let (hh, h) = (sum(&|i| hidden[i] * hidden[i]), sum(&|i| hidden[i]));
                let (hy, y) = (sum(&|i| hidden[i] * TARGET_VALUES[i]), sum(&|i| TARGET_VALUES[i]));
                let yy = sum(&|i| TARGET_VALUES[i].powi(2));
                for log_scale in grid(-2.2, 1.6, 31) {
                    let p = beta * (-2.0 * log_scale).exp();
                    let (a11, a12, a22) = (0.8_f64.powi(-2) + p * hh, p * h, 1.0 + p * 6.0);
                    let determinant = a11 * a22 - a12 * a12;
                    let v = p * (a22 * hy - a12 * y) / determinant;
                    let c = p * (a11 * y - a12 * hy) / determinant;
                    let squares = p * yy - p * (v * hy + c * y);
                    let log_density = of_weights + prior.log_density_of_log_scale(log_scale)
                        - beta * 6.0 * log_scale
                        - 0.5 * determinant.ln()
                        - 0.5 * squares;
                    let f = |i: usize| c + v * hidden[i];
                    // The sign of a hidden unit is arbitrary: even functions of it.
                    let functions = [f(0), f(2), f(5), log_scale, u * u, a * a, u * a, v * u];
                    means.add(log_density, functions);
                }
            }
        }
        for (name, sampling) in KERNELS {
            let world = world(NORMAL, 1, sampling);
            let posterior = world.posterior(&TARGET_VALUES);
            let functions = |state: &[f64]| {
                let f = world.outputs(&state[..4]);
                let (u, a, v, log_scale) = (state[0], state[1], state[2], state[4]);
                [f[0], f[2], f[5], log_scale, u * u, a * a, u * a, v * u]
            };
            let what = format!("one hidden unit, β = {beta}, {name}");
            assert_means(&posterior, beta, means.get(), functions, &what);
        }
    }
}
