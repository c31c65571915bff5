//! Check the normal approximation where the answer is known.

use super::*;
use crate::density::special::{log1p_exp, logistic};
use crate::random::{Purpose, Seed};

/// N(m, Λ⁻¹) times e^c in two dimensions; knows its curvature or not.
struct Gaussian {
    knows: bool,
}

const MEAN: [f64; 2] = [3.0, -200.0];
const PRECISION: [[f64; 2]; 2] = [[4.0, 0.03], [0.03, 0.001]];
const CONSTANT: f64 = 1.7;

impl LogDensity for Gaussian {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
        self.log_density_gradient(x, &mut [0.0; 2])
    }

    fn log_density_gradient(&mut self, x: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
        let d = [x[0] - MEAN[0], x[1] - MEAN[1]];
        for i in 0..2 {
            g[i] = -(PRECISION[i][0] * d[0] + PRECISION[i][1] * d[1]);
        }
        Ok(CONSTANT + 0.5 * (d[0] * g[0] + d[1] * g[1]))
    }

    fn curvature(&mut self, _: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
        for (i, row) in PRECISION.iter().enumerate().filter(|_| self.knows) {
            (curvature[(i, 0)], curvature[(i, 1)]) = (row[0], row[1]);
        }
        Ok(self.knows)
    }
}

#[test]
fn normal_densities_are_approximated_exactly() {
    let determinant = PRECISION[0][0] * PRECISION[1][1] - PRECISION[0][1].powi(2);
    let expected = CONSTANT + 2.0 * LOG_SQRT_2PI - 0.5 * determinant.ln();
    for (knows, tolerance) in [(true, 1e-9), (false, 1e-7)] {
        let mut target = Gaussian { knows };
        let found = Laplace::at_mode(&mut target, vec![0.0, 0.0]).unwrap();
        let error = (found.log_evidence() - expected).abs();
        assert!(error < tolerance, "{knows}: off by {error:e}");
        assert!((found.mode()[0] - 3.0).abs() < 1e-4 && (found.mode()[1] + 200.0).abs() < 1e-2);
        let at = [2.0, -190.0];
        let log_p = target.log_density(&at).unwrap() - expected;
        assert!((found.log_density(&at) - log_p).abs() < 1e-4, "log q is log p");
        // (Λ⁻¹)₁₁ = Λ₂₂ / |Λ|.
        let variance = PRECISION[1][1] / determinant;
        assert!((found.variance(&[1.0, 0.0]) / variance - 1.0).abs() < 1e-6);
    }
    let found = Laplace::at_mode(&mut Gaussian { knows: true }, vec![0.0; 2]).unwrap();
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let mut position = [0.0; 2];
    let mut squares = 0.0;
    for _ in 0..4000 {
        found.draw(&mut position, &mut stream);
        let d = [position[0] - MEAN[0], position[1] - MEAN[1]];
        squares += PRECISION[0][0] * d[0] * d[0]
            + 2.0 * PRECISION[0][1] * d[0] * d[1]
            + PRECISION[1][1] * d[1] * d[1];
    }
    // χ² with 8000 degrees of freedom: standard deviation √16000; 4.5 of them, 1e-5.
    assert!((squares - 8000.0).abs() < 4.5 * 16_000.0_f64.sqrt(), "{squares}");
}

/// exp(-z²/2) σ(20z + 4).
struct Skewed;

impl LogDensity for Skewed {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, z: &[f64]) -> Result<f64, Infeasible> {
        Ok(-0.5 * z[0] * z[0] - log1p_exp(-(20.0 * z[0] + 4.0)))
    }

    fn log_density_gradient(&mut self, z: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
        g[0] = -z[0] + 20.0 * logistic(-(20.0 * z[0] + 4.0));
        self.log_density(z)
    }
}

#[test]
fn a_skewed_density_has_the_known_mode_curvature_and_evidence() {
    let found = Laplace::at_mode(&mut Skewed, vec![1.0]).unwrap();
    // By bisection of the gradient, and H = 1 + 400 σ(a)σ(-a).
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let slope = -middle + 20.0 * logistic(-(20.0 * middle + 4.0));
        if slope > 0.0 { low = middle } else { high = middle }
    }
    assert!((found.mode()[0] - low).abs() < 1e-6, "{} {low}", found.mode()[0]);
    let p = logistic(20.0 * low + 4.0);
    let curvature = 1.0 + 400.0 * p * (1.0 - p);
    let h = found.precision().factor()[(0, 0)].powi(2);
    assert!((h / curvature - 1.0).abs() < 1e-6, "{h} {curvature}");
    let steps = 200_000;
    let width = 24.0 / f64::from(steps);
    let exact: f64 = (0..steps)
        .map(|i| {
            let z = -12.0 + (f64::from(i) + 0.5) * width;
            Skewed.log_density(&[z]).unwrap().exp() * width
        })
        .sum();
    let miss = found.log_evidence() - exact.ln();
    let expected =
        Skewed.log_density(&[low]).unwrap() + LOG_SQRT_2PI - 0.5 * curvature.ln() - exact.ln();
    // The normal reaches over the step on the left and falls short on the right.
    assert!((miss - expected).abs() < 1e-6 && miss > 0.05, "{miss} {expected}");
}

/// A logistic neuron of two weights with a normal prior, on `rows` rows.
struct Neuron {
    rows: usize,
}

impl Neuron {
    fn row(row: usize) -> ([f64; 2], f64) {
        let x = ((row * 37 + 11) % 101) as f64 / 50.0 - 1.0;
        let class = ((row * 29 + 5) % 97) as f64 / 97.0 < logistic(0.5 + 1.5 * x);
        ([1.0, x], if class { 1.0 } else { -1.0 })
    }
}

impl LogDensity for Neuron {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, w: &[f64]) -> Result<f64, Infeasible> {
        self.log_density_gradient(w, &mut [0.0; 2])
    }

    fn log_density_gradient(&mut self, w: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
        let mut value = -2.0 * LOG_SQRT_2PI;
        for (slot, w) in g.iter_mut().zip(w) {
            *slot = -w;
            value -= 0.5 * w * w;
        }
        for (x, sign) in (0..self.rows).map(Neuron::row) {
            let margin = sign * (w[0] * x[0] + w[1] * x[1]);
            value -= log1p_exp(-margin);
            let slope = sign * logistic(-margin);
            g.iter_mut().zip(x).for_each(|(slot, x)| *slot += slope * x);
        }
        Ok(value)
    }
}

#[test]
fn the_evidence_of_a_neuron_is_off_by_the_order_of_one_over_n() {
    let mut errors = Vec::new();
    for rows in [20, 80] {
        let mut target = Neuron { rows };
        let found = Laplace::at_mode(&mut target, vec![0.0; 2]).unwrap();
        let (side, reach) = (300, 6.0);
        let width = 2.0 * reach / f64::from(side);
        let mut sum = 0.0;
        for i in 0..side {
            for j in 0..side {
                let at = [i, j].map(|k| (f64::from(k) + 0.5) * width - reach);
                sum += target.log_density(&at).unwrap().exp() * width * width;
            }
        }
        errors.push((found.log_evidence() - sum.ln()).abs());
    }
    // The next term of the expansion is of order 1/n: four times the rows, a fraction of it.
    assert!(errors[0] < 0.1 && errors[0] > 1e-4, "{errors:?}");
    assert!(errors[1] < 0.5 * errors[0], "{errors:?}");
}

/// Flat along the second coordinate, and a saddle along the third.
struct Saddle;

impl LogDensity for Saddle {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
        Ok(-0.5 * x[0] * x[0])
    }

    fn log_density_gradient(&mut self, x: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
        g.copy_from_slice(&[-x[0], 0.0]);
        self.log_density(x)
    }
}

#[test]
fn what_has_no_mode_is_refused_with_the_direction() {
    let error = Laplace::at_mode(&mut Saddle, vec![1.0, 1.0]).unwrap_err();
    assert!(matches!(error, LaplaceError::NotAMode { coordinate: 1, .. }), "{error}");
    assert!(error.to_string().contains("proper prior"));
}

/// Two modes, the second higher.
struct Double;

impl LogDensity for Double {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
        self.log_density_gradient(x, &mut [0.0])
    }

    fn log_density_gradient(&mut self, x: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
        let [a, b] = [-4.0, 4.0].map(|centre| -0.5 * (x[0] - centre).powi(2));
        let b = b + 1.0;
        let top = a.max(b);
        let (pa, pb) = ((a - top).exp(), (b - top).exp());
        g[0] = (-(x[0] + 4.0) * pa - (x[0] - 4.0) * pb) / (pa + pb);
        Ok(top + (pa + pb).ln())
    }
}

#[test]
fn the_highest_of_several_modes_is_kept() {
    let starts = [vec![-5.0], vec![5.0], vec![-3.0]];
    let found = Laplace::at_highest_mode(&mut Double, starts).unwrap();
    assert!((found.mode()[0] - 4.0).abs() < 1e-3, "{:?}", found.mode());
}
