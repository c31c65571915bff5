//! Check what happens at the ends: coinciding points, enormous and tiny parameters.

use super::*;

fn filled(covariance: &Covariance, points: &Matrix, logs: &[f64]) -> Matrix {
    let mut evaluator = covariance.evaluator(points);
    evaluator.set(logs);
    let mut out = Matrix::zeros(points.rows(), points.rows());
    evaluator.fill(&mut out);
    out
}

fn gradient(covariance: &Covariance, points: &Matrix, logs: &[f64]) -> Vec<f64> {
    let mut evaluator = covariance.evaluator(points);
    evaluator.set(logs);
    let mut gradient = vec![f64::NAN; logs.len()];
    evaluator.gradient(&mut |_, out| out.fill(1.0), &mut gradient);
    gradient
}

#[test]
fn a_rational_quadratic_of_large_shape_is_a_squared_exponential() {
    let points = normals(20, 2, 1);
    let of = |function| Covariance::new(vec![vec![factor(function, &[0, 1], Sharing::Common)]], 2);
    let (rational, squared) = (of(Function::RationalQuadratic), of(Function::SquaredExponential));
    for log_shape in [40.0, 100.0, 1000.0] {
        let a = filled(&rational, &points, &[0.3, -0.2, log_shape]);
        let b = filled(&squared, &points, &[0.3, -0.2]);
        for (a, b) in a.values().iter().zip(b.values()) {
            assert!((a - b).abs() < 1e-14);
        }
        let gradient = gradient(&rational, &points, &[0.3, -0.2, log_shape]);
        assert!(gradient[2].abs() < 1e-12);
    }
}

#[test]
fn coinciding_points_have_the_full_covariance_and_derivatives_that_vanish() {
    let points = Matrix::from_fn(5, 2, |_, column| [0.7, -1.3][column]);
    for function in [
        Function::SquaredExponential,
        Function::Matern32,
        Function::Matern52,
        Function::Exponential,
        Function::RationalQuadratic,
        Function::Periodic,
    ] {
        for sharing in [Sharing::Common, Sharing::PerInput] {
            let covariance = Covariance::new(vec![vec![factor(function, &[0, 1], sharing)]], 2);
            for size in [0.2, 149.0, -149.0, 1e6] {
                let mut logs = vec![size; covariance.parameters().len()];
                logs[0] = 0.0;
                let out = filled(&covariance, &points, &logs);
                for column in 0..5 {
                    let lower = &out.column(column)[column..];
                    assert!(lower.iter().all(|value| (value - 1.0).abs() < f64::EPSILON));
                }
                let gradient = gradient(&covariance, &points, &logs);
                assert!((gradient[0] - 2.0 * 25.0).abs() < 1e-12);
                let rest = gradient[1..].iter();
                assert!(
                    rest.into_iter().all(|derivative| derivative.abs() < 1e-12),
                    "{function:?}"
                );
            }
        }
    }
}

#[test]
fn enormous_and_tiny_parameters_give_finite_covariances_and_gradients() {
    let mut points = normals(12, 3, 2);
    for k in 0..3 {
        points[(3, k)] = points[(9, k)];
    }
    for covariance in all().iter().filter(|covariance| covariance.inputs() == 3) {
        for size in [-1e300, -700.0, -100.0, 30.0, 60.0] {
            for p in 0..covariance.parameters().len() {
                let mut logs = vec![0.0; covariance.parameters().len()];
                logs[p] = size;
                let out = filled(covariance, &points, &logs);
                assert!(out.values().iter().all(|value| value.is_finite()), "{}", name(covariance));
                let gradient = gradient(covariance, &points, &logs);
                assert!(
                    gradient.iter().all(|value| value.is_finite()),
                    "{} {size}",
                    name(covariance)
                );
            }
        }
        let logs = vec![400.0; covariance.parameters().len()];
        if covariance.parameters()[0] == (Parameter::Magnitude { term: 0 }) {
            let out = filled(covariance, &points, &logs);
            assert!(!(out[(0, 0)].is_finite()), "an infinite magnitude shows");
        }
    }
}

#[test]
fn a_network_of_large_weights_is_a_step() {
    // As weights grow, hidden units become steps and k = 1 - 2 angle/π.
    let covariance =
        Covariance::new(vec![vec![factor(Function::NeuralNetwork, &[0], Sharing::Common)]], 1);
    let points = Matrix::from_fn(3, 1, |row, _| [1.0, 0.0, -1.0][row]);
    for size in [20.0, 140.0] {
        let out = filled(&covariance, &points, &[0.0, size, size]);
        for (entry, expected) in [((0, 0), 1.0), ((1, 0), 0.5), ((2, 0), 0.0), ((2, 1), 0.5)] {
            assert!((out[entry] - expected).abs() < 1e-8, "{entry:?}");
        }
    }
}

#[test]
#[should_panic(expected = "inputs below 2")]
fn an_input_that_is_not_there_is_refused() {
    Covariance::new(vec![vec![factor(Function::Linear, &[2], Sharing::Common)]], 2);
}

#[test]
#[should_panic(expected = "a function of some inputs")]
fn a_function_of_no_input_is_refused() {
    Covariance::new(vec![vec![factor(Function::Periodic, &[], Sharing::Common)]], 2);
}
