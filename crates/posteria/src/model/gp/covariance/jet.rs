//! Differentiate covariance functions by one input of either point.

use std::f64::consts::PI;
use std::ops::Mul;

use super::form::scale;
use super::{Covariance, Factor, Function};
use crate::model::spec::Sharing;

/// A function of two points and its derivatives by one input, x_k of the first and x'_k of the
/// second.
///
/// The slope ∂f/∂x_k of a Gaussian process is a Gaussian process too: ∂k/∂x'_k is its covariance
/// with f and ∂²k/∂x_k∂x'_k its own [Rasmussen and Williams 2006, §9.4].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// k(x, x').
    pub value: f64,
    /// ∂k/∂x_k.
    pub first: f64,
    /// ∂k/∂x'_k.
    pub second: f64,
    /// ∂²k/∂x_k∂x'_k.
    pub mixed: f64,
}

impl Jet {
    fn constant(value: f64) -> Self {
        Jet { value, first: 0.0, second: 0.0, mixed: 0.0 }
    }

    /// g of this jet, by the value of g and its first two derivatives there.
    fn map(self, [value, slope, bend]: [f64; 3]) -> Self {
        Jet {
            value,
            first: slope * self.first,
            second: slope * self.second,
            mixed: slope * self.mixed + bend * self.first * self.second,
        }
    }
}

impl Mul for Jet {
    type Output = Jet;

    fn mul(self, other: Jet) -> Jet {
        Jet {
            value: self.value * other.value,
            first: self.first * other.value + self.value * other.first,
            second: self.second * other.value + self.value * other.second,
            mixed: self.mixed * other.value
                + self.first * other.second
                + self.second * other.first
                + self.value * other.mixed,
        }
    }
}

impl Covariance {
    /// Whether functions have a slope along an input: all but exponential factors of it.
    pub fn is_differentiable(&self, input: usize) -> bool {
        let rough = |factor: &Factor| {
            factor.function == Function::Exponential && factor.inputs.contains(&input)
        };
        !self.terms().flatten().any(rough)
    }

    /// The covariance of two points and its derivatives by `input`, at these log parameters. The
    /// derivatives mean nothing where functions are not differentiable.
    ///
    /// # Panics
    /// If there are fewer parameters or inputs than the function has.
    pub fn jet(&self, log_parameters: &[f64], x: &[f64], y: &[f64], input: usize) -> Jet {
        let mut sum = Jet::constant(0.0);
        for term in &self.terms {
            let magnitude = term.magnitude.map_or(1.0, |slot| scale(log_parameters[slot]));
            let mut product = Jet::constant(magnitude * magnitude);
            for (factor, range) in &term.factors {
                product = product * factor.jet(&log_parameters[range.clone()], (x, y), input);
            }
            sum.value += product.value;
            sum.first += product.first;
            sum.second += product.second;
            sum.mixed += product.mixed;
        }
        sum
    }
}

impl Factor {
    fn jet(&self, log_parameters: &[f64], (x, y): (&[f64], &[f64]), input: usize) -> Jet {
        let common = self.sharing == Sharing::Common;
        let relevance = |k: usize| scale(log_parameters[if common { 0 } else { k }]);
        let relevances = if common { 1 } else { self.inputs.len() };
        let other = |index: usize| scale(log_parameters[relevances + index]);
        // Σ_k of a function of x_k and x'_k alone; only that of `input` has derivatives.
        let sum = |each: &dyn Fn(usize, f64, f64, f64) -> Jet| {
            let mut sum = Jet::constant(0.0);
            for (k, &column) in self.inputs.iter().enumerate() {
                let jet = each(k, relevance(k).powi(2), x[column], y[column]);
                sum.value += jet.value;
                if column == input {
                    (sum.first, sum.second, sum.mixed) = (jet.first, jet.second, jet.mixed);
                }
            }
            sum
        };
        let square_distance = || {
            sum(&|_, square, a, b| Jet {
                value: square * (a - b) * (a - b),
                first: 2.0 * square * (a - b),
                second: -2.0 * square * (a - b),
                mixed: -2.0 * square,
            })
        };
        let product = || {
            sum(&|_, square, a, b| Jet {
                value: square * a * b,
                first: square * b,
                second: square * a,
                mixed: square,
            })
        };
        match self.function {
            Function::Constant => Jet::constant(1.0),
            Function::Linear => product(),
            Function::SquaredExponential => exponential_of_minus(square_distance()),
            Function::Exponential => {
                let distance = square_distance();
                let (r, value) = (distance.value.sqrt(), (-distance.value.sqrt()).exp());
                // At the point itself there are none.
                let derivatives = match r > 0.0 {
                    true => [-value / (2.0 * r), value * (1.0 + r) / (4.0 * r.powi(3))],
                    false => [0.0; 2],
                };
                distance.map([value, derivatives[0], derivatives[1]])
            }
            Function::Matern32 => {
                let distance = square_distance();
                let a = (3.0 * distance.value).sqrt();
                let decay = (-a).exp();
                // The second derivative is infinite at 0, its product with the slopes of r² is not.
                let bend = if a > 0.0 { 2.25 * decay / a } else { 0.0 };
                distance.map([(1.0 + a) * decay, -1.5 * decay, bend])
            }
            Function::Matern52 => {
                let distance = square_distance();
                let a = (5.0 * distance.value).sqrt();
                let decay = (-a).exp();
                let value = (1.0 + a + a * a / 3.0) * decay;
                distance.map([value, -5.0 / 6.0 * (1.0 + a) * decay, 25.0 / 12.0 * decay])
            }
            Function::RationalQuadratic => {
                let (distance, shape) = (square_distance(), other(0));
                let log = (distance.value / shape).ln_1p();
                let power = |by: f64| (-(shape + by) * log).exp();
                distance.map([power(0.0), -power(1.0), (1.0 + 1.0 / shape) * power(2.0)])
            }
            Function::Periodic => exponential_of_minus(sum(&|k, square, a, b| {
                let rate = PI / other(k);
                let angle = rate * (a - b);
                let slope = square * rate * (2.0 * angle).sin();
                Jet {
                    value: square * angle.sin().powi(2),
                    first: slope,
                    second: -slope,
                    mixed: -2.0 * square * rate * rate * (2.0 * angle).cos(),
                }
            })),
            Function::NeuralNetwork => {
                let bias = other(0).powi(2);
                let mut inner = product();
                inner.value += bias;
                // (1 + 2s(x, x))^(-½) of one point; whether it is the first.
                let norm = |point: &[f64], is_first: bool| {
                    let square =
                        |(k, &column): (usize, &usize)| (relevance(k) * point[column]).powi(2);
                    let norm = 1.0
                        + 2.0 * (bias + self.inputs.iter().enumerate().map(square).sum::<f64>());
                    let own = self.inputs.iter().position(|&column| column == input);
                    let slope = own.map_or(0.0, |k| 4.0 * relevance(k).powi(2) * point[input]);
                    let slope = -0.5 * norm.powf(-1.5) * slope;
                    let mut jet = Jet::constant(norm.powf(-0.5));
                    *(if is_first { &mut jet.first } else { &mut jet.second }) = slope;
                    jet
                };
                let sine = Jet::constant(2.0) * inner * norm(x, true) * norm(y, false);
                let rest = 1.0 - sine.value * sine.value;
                let [value, slope, bend] =
                    [sine.value.asin(), rest.powf(-0.5), sine.value * rest.powf(-1.5)];
                Jet::constant(2.0 / PI) * sine.map([value, slope, bend])
            }
        }
    }
}

/// exp(-u).
fn exponential_of_minus(exponent: Jet) -> Jet {
    let value = (-exponent.value).exp();
    exponent.map([value, -value, value])
}

#[cfg(test)]
mod tests {
    use posteria_linalg::Matrix;

    use super::*;

    const NAMES: [&str; 2] = ["a", "b"];

    fn covariances() -> Vec<Covariance> {
        let names = NAMES.map(String::from);
        let texts = [
            "squared-exponential",
            "matern-3/2",
            "matern-5/2",
            "rational-quadratic",
            "periodic",
            "linear",
            "neural-network",
            "constant",
            "exponential(b)",
            "periodic(a)*squared-exponential(b)+linear*matern-5/2(a)+neural-network(a)",
        ];
        let sharings = [Sharing::PerInput, Sharing::Common];
        let of = |sharing| {
            texts.map(|text| Covariance::new(Covariance::parse(text, &names, sharing).unwrap(), 2))
        };
        sharings.into_iter().flat_map(of).collect()
    }

    fn log_parameters(covariance: &Covariance) -> Vec<f64> {
        (0..covariance.parameters().len()).map(|k| 0.3 - 0.17 * k as f64).collect()
    }

    const POINTS: [[f64; 2]; 4] = [[0.3, -1.2], [0.9, 0.4], [0.3, -1.2], [-0.7, -1.1]];

    #[test]
    fn values_are_those_of_the_evaluator() {
        let points = Matrix::from_fn(4, 2, |row, column| POINTS[row][column]);
        for covariance in covariances() {
            let parameters = log_parameters(&covariance);
            let mut evaluator = covariance.evaluator(&points);
            evaluator.set(&parameters);
            let mut matrix = Matrix::zeros(4, 4);
            evaluator.fill(&mut matrix);
            for (i, x) in POINTS.iter().enumerate() {
                for (j, y) in POINTS.iter().enumerate().take(i + 1) {
                    let found = covariance.jet(&parameters, x, y, 0).value;
                    let expected = matrix[(i, j)];
                    assert!((found - expected).abs() < 1e-12, "{covariance:?}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        const H: f64 = 1e-5;
        for covariance in covariances() {
            let parameters = log_parameters(&covariance);
            // Different points: at equal ones a Matérn 3/2 has no third derivative.
            for (x, y) in [(POINTS[0], POINTS[1]), (POINTS[1], POINTS[3]), (POINTS[3], POINTS[2])] {
                let moved = |a: f64, b: f64| {
                    let jet = covariance.jet(&parameters, &[x[0] + a, x[1]], &[y[0] + b, y[1]], 0);
                    [jet.value, jet.second]
                };
                let jet = covariance.jet(&parameters, &x, &y, 0);
                let first = (moved(H, 0.0)[0] - moved(-H, 0.0)[0]) / (2.0 * H);
                let second = (moved(0.0, H)[0] - moved(0.0, -H)[0]) / (2.0 * H);
                let mixed = (moved(H, 0.0)[1] - moved(-H, 0.0)[1]) / (2.0 * H);
                let pairs = [(jet.first, first), (jet.second, second), (jet.mixed, mixed)];
                for (found, expected) in pairs {
                    let close = (found - expected).abs() < 1e-7 * (1.0 + expected.abs());
                    assert!(close, "{covariance:?}: {found}, differences say {expected}");
                }
            }
        }
    }

    #[test]
    fn slopes_at_one_point_have_a_variance() {
        for covariance in covariances().iter().filter(|it| it.is_differentiable(0)) {
            let parameters = log_parameters(covariance);
            let of = |jet: Jet| (jet.value, jet.mixed);
            let (value, variance) = of(covariance.jet(&parameters, &POINTS[0], &POINTS[0], 0));
            assert!(value > 0.0 && variance >= 0.0 && variance.is_finite(), "{covariance:?}");
            // The variance of a difference over the step, as the step vanishes.
            let [low, high] = [-1e-4, 1e-4].map(|by| [POINTS[0][0] + by, POINTS[0][1]]);
            let k = |x: &[f64; 2], y: &[f64; 2]| covariance.jet(&parameters, x, y, 0).value;
            let near = (k(&low, &low) + k(&high, &high) - 2.0 * k(&low, &high)) / 4e-8;
            assert!((near - variance).abs() < 2e-3 * (1.0 + variance), "{near} {variance}");
        }
        assert!(covariances().iter().any(|it| !it.is_differentiable(1)));
    }
}
