//! Maximise a log density of few, alike coordinates by a quasi-Newton method.

use posteria_linalg::{Matrix, dot};

use super::Optimum;
use crate::target::{Infeasible, LogDensity, Point};

/// Share of the gain promised by the slope that a step must make [Nocedal & Wright 2006, §3.1].
const SUFFICIENT: f64 = 1e-4;
/// Steps are halved at most so often before the direction is given up.
const MOST_HALVINGS: usize = 30;
/// Curvature along a step, in units of the lengths of step and change of the gradient, below which
/// it teaches nothing.
const FLAT: f64 = 1e-8;

/// BFGS [Nocedal & Wright 2006, algorithm 6.1] with steps that are halved until they gain: about
/// one gradient per iteration, where conjugate gradients take two. A step that does not gain costs
/// a value only.
///
/// For positions whose coordinates are of order one, such as logarithms of scales: no step is
/// longer than [`QuasiNewton::longest_step`] along any of them. A position without a usable
/// density counts as infinitely far downhill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasiNewton {
    /// Iterations at most.
    pub max_iterations: usize,
    /// Converged when the log density is expected to gain less than this.
    pub value_tolerance: f64,
    /// Most that a coordinate moves in one iteration.
    pub longest_step: f64,
}

impl Default for QuasiNewton {
    /// 200 iterations, a tolerance of 1e-6 and steps of at most 1.
    fn default() -> Self {
        QuasiNewton { max_iterations: 200, value_tolerance: 1e-6, longest_step: 1.0 }
    }
}

impl QuasiNewton {
    /// Climbs from `start` to a local maximum of `target`.
    ///
    /// # Errors
    /// [`Infeasible`] if the density or its gradient is not usable at `start`.
    pub fn maximise(
        &self,
        target: &mut dyn LogDensity,
        start: Vec<f64>,
    ) -> Result<Optimum, Infeasible> {
        let mut point = Point::new(target, start)?;
        let mut trial = point.clone();
        let dim = point.position.len();
        let mut model = InverseCurvature::new(dim);
        let mut direction = vec![0.0; dim];
        let (mut iterations, mut evaluations, mut converged) = (0, 1, false);
        while iterations < self.max_iterations && !converged {
            iterations += 1;
            model.multiply(&point.gradient, &mut direction);
            let slope = dot(&direction, &point.gradient);
            // What a quadratic of this curvature gains on the way to its top.
            if model.learned && 0.5 * slope < self.value_tolerance {
                converged = true;
                break;
            }
            let largest = direction.iter().fold(0.0_f64, |top, d| top.max(d.abs()));
            let mut step = (self.longest_step / largest).min(1.0);
            let mut gained = false;
            for _ in 0..MOST_HALVINGS {
                let from = point.position.iter().zip(&direction);
                trial.position.iter_mut().zip(from).for_each(|(to, (x, d))| *to = x + step * d);
                evaluations += 1;
                let value = target.log_density(&trial.position).unwrap_or(f64::NEG_INFINITY);
                let enough = value >= point.log_density + SUFFICIENT * step * slope;
                if enough && trial.evaluate(target).is_ok() {
                    gained = true;
                    break;
                }
                step *= 0.5;
            }
            if !gained {
                if !model.learned {
                    break;
                }
                // The curvature learned so far may mislead: once more along the gradient.
                model = InverseCurvature::new(dim);
                continue;
            }
            model.learn(&point, &trial);
            std::mem::swap(&mut point, &mut trial);
        }
        let Point { position, log_density, .. } = point;
        Ok(Optimum { position, log_density, iterations, evaluations, converged })
    }
}

/// An approximation of (-∇∇ log p)⁻¹, learned on the way.
struct InverseCurvature {
    matrix: Matrix,
    learned: bool,
    step: Vec<f64>,
    change: Vec<f64>,
    image: Vec<f64>,
}

impl InverseCurvature {
    fn new(dim: usize) -> Self {
        let zeros = || vec![0.0; dim];
        let matrix = Matrix::identity(dim);
        InverseCurvature { matrix, learned: false, step: zeros(), change: zeros(), image: zeros() }
    }

    fn multiply(&self, gradient: &[f64], out: &mut [f64]) {
        for (row, out) in out.iter_mut().enumerate() {
            *out = dot(self.matrix.column(row), gradient);
        }
    }

    /// H ← (I - s yᵀ/sᵀy) H (I - y sᵀ/sᵀy) + s sᵀ/sᵀy, s the step and -y the change of the
    /// gradient.
    fn learn(&mut self, from: &Point, to: &Point) {
        for (s, (x, y)) in self.step.iter_mut().zip(to.position.iter().zip(&from.position)) {
            *s = x - y;
        }
        for (c, (a, b)) in self.change.iter_mut().zip(from.gradient.iter().zip(&to.gradient)) {
            *c = a - b;
        }
        let curvature = dot(&self.step, &self.change);
        let (length, change) = (dot(&self.step, &self.step), dot(&self.change, &self.change));
        if curvature.is_nan() || curvature <= FLAT * (length * change).sqrt() {
            return;
        }
        if !self.learned {
            // The identity has no scale of its own.
            let scale = curvature / change;
            self.matrix.values_mut().iter_mut().for_each(|entry| *entry *= scale);
            self.learned = true;
        }
        let dim = self.step.len();
        for row in 0..dim {
            self.image[row] = dot(self.matrix.column(row), &self.change);
        }
        let twice = (1.0 + dot(&self.image, &self.change) / curvature) / curvature;
        for column in 0..dim {
            let (s, h) = (self.step[column], self.image[column]);
            let entries = self.matrix.column_mut(column).iter_mut();
            for (entry, (step, image)) in entries.zip(self.step.iter().zip(&self.image)) {
                *entry += twice * s * step - (s * image + h * step) / curvature;
            }
        }
    }
}
