//! Densities whose moments and quantiles are known.

use posteria::density::special::{log1p_exp, logistic};
use posteria::target::{Infeasible, LogDensity, PriorTimesLikelihood, Terms};

/// Independent normals with the given standard deviations.
#[derive(Clone)]
pub struct Gaussian {
    pub scales: Vec<f64>,
}

impl Gaussian {
    /// Variances from 1e-4 to 1: condition number 10⁴.
    pub fn ill_conditioned(dim: usize) -> Self {
        let scale = |i: usize| 10f64.powf(-2.0 + 2.0 * i as f64 / (dim - 1) as f64);
        Gaussian { scales: (0..dim).map(scale).collect() }
    }
}

impl LogDensity for Gaussian {
    fn dim(&self) -> usize {
        self.scales.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        Ok(position.iter().zip(&self.scales).map(|(x, s)| -0.5 * (x / s).powi(2)).sum())
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        for ((g, x), s) in gradient.iter_mut().zip(position).zip(&self.scales) {
            *g = -x / (s * s);
        }
        self.log_density(position)
    }
}

/// v ~ N(0, 1), x_i ~ N(0, exp(v)): a funnel mild enough for every kernel.
#[derive(Clone)]
pub struct Funnel {
    pub count: usize,
}

impl LogDensity for Funnel {
    fn dim(&self) -> usize {
        self.count + 1
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let v = position[0];
        let squares: f64 = position[1..].iter().map(|x| x * x).sum();
        Ok(-0.5 * v * v - 0.5 * self.count as f64 * v - 0.5 * (-v).exp() * squares)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let v = position[0];
        let precision = (-v).exp();
        let squares: f64 = position[1..].iter().map(|x| x * x).sum();
        gradient[0] = -v - 0.5 * self.count as f64 + 0.5 * precision * squares;
        for (g, x) in gradient[1..].iter_mut().zip(&position[1..]) {
            *g = -precision * x;
        }
        self.log_density(position)
    }
}

/// x ~ N(0, 1), y given x ~ N(x² / 2, 0.3²): a banana, with a coarse force.
#[derive(Clone)]
pub struct Banana;

impl Banana {
    pub const WIDTH: f64 = 0.3;
}

impl LogDensity for Banana {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let (x, y) = (position[0], position[1]);
        Ok(-0.5 * x * x - 0.5 * ((y - 0.5 * x * x) / Self::WIDTH).powi(2))
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let (x, y) = (position[0], position[1]);
        let slope = (y - 0.5 * x * x) / (Self::WIDTH * Self::WIDTH);
        gradient[0] = -x + slope * x;
        gradient[1] = -slope;
        self.log_density(position)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        coarse_force(self, position, gradient)
    }
}

/// Logarithms of gamma variates: a steep wall on one side, a long slope on the other. With a
/// coarse force.
#[derive(Clone)]
pub struct Skewed;

impl Skewed {
    pub const SHAPES: [f64; 2] = [0.7, 3.0];
}

impl LogDensity for Skewed {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        Ok(position.iter().zip(Self::SHAPES).map(|(u, shape)| shape * u - u.exp()).sum())
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        for ((g, u), shape) in gradient.iter_mut().zip(position).zip(Self::SHAPES) {
            *g = shape - u.exp();
        }
        self.log_density(position)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        coarse_force(self, position, gradient)
    }
}

/// The banana as a posterior: prior x ~ N(0, 1), y ~ N(0, 2²), the rest is the likelihood.
#[derive(Clone)]
pub struct WideBanana;

impl PriorTimesLikelihood for WideBanana {
    fn dim(&self) -> usize {
        2
    }

    fn terms(&mut self, position: &[f64]) -> Result<Terms, Infeasible> {
        let log_prior = -0.5 * position[0].powi(2) - 0.125 * position[1].powi(2);
        Ok(Terms { log_prior, log_likelihood: Banana.log_density(position)? - log_prior })
    }

    fn terms_gradient(
        &mut self,
        position: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        Banana.log_density_gradient(position, gradient)?;
        for (g, prior) in gradient.iter_mut().zip([-position[0], -0.25 * position[1]]) {
            *g = prior + inverse_temperature * (*g - prior);
        }
        self.terms(position)
    }
}

/// Logistic regression with weights ~ N(0, 1): a likelihood that can be tempered.
#[derive(Clone)]
pub struct Neuron {
    pub inputs: Vec<Vec<f64>>,
    pub targets: Vec<f64>,
}

impl Neuron {
    /// Three weights, two rows.
    pub fn small() -> Self {
        let inputs = vec![vec![1.0, 0.5, -2.0], vec![1.0, 3.0, 0.1]];
        Neuron { inputs, targets: vec![1.0, 0.0] }
    }
}

impl PriorTimesLikelihood for Neuron {
    fn dim(&self) -> usize {
        self.inputs[0].len()
    }

    fn terms(&mut self, position: &[f64]) -> Result<Terms, Infeasible> {
        let log_prior = position.iter().map(|w| -0.5 * w * w - 0.918_938_533_204_672_7).sum();
        let log_likelihood = self
            .inputs
            .iter()
            .zip(&self.targets)
            .map(|(row, t)| {
                let activation: f64 = row.iter().zip(position).map(|(x, w)| x * w).sum();
                t * activation - log1p_exp(activation)
            })
            .sum();
        Ok(Terms { log_prior, log_likelihood })
    }

    fn terms_gradient(
        &mut self,
        position: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        for (g, w) in gradient.iter_mut().zip(position) {
            *g = -w;
        }
        for (row, t) in self.inputs.iter().zip(&self.targets) {
            let activation: f64 = row.iter().zip(position).map(|(x, w)| x * w).sum();
            let error = inverse_temperature * (t - logistic(activation));
            for (g, x) in gradient.iter_mut().zip(row) {
                *g += error * x;
            }
        }
        self.terms(position)
    }
}

/// A force that is only roughly the gradient, and never larger: the gradient on a grid of halves,
/// by way of single precision.
fn coarse_force(
    target: &mut impl LogDensity,
    position: &[f64],
    gradient: &mut [f64],
) -> Result<(), Infeasible> {
    target.log_density_gradient(position, gradient)?;
    gradient.iter_mut().for_each(|g| *g = f64::from((2.0 * *g as f32).floor() / 2.0));
    Ok(())
}
