//! Let weights leave the units of their scales as far as the data determine them.

use crate::random::Stream;
use crate::sample::Coordinates;
use crate::target::{Infeasible, LogDensity};

/// Positions whose weights are w_i = s_i^(1-c_i) z_i in place of w_i = s_i z_i, s_i their scales. Where
/// data say little about a weight it is independent of its scale in units of it (c = 0), and where they
/// say much as it is (c = 1); between, in between [Papaspiliopoulos, Roberts & Sköld 2007].
pub(super) struct PartlyCentred<'p> {
    coordinates: Box<dyn Coordinates + 'p>,
    weights: Vec<CentredWeight>,
    /// In the coordinates that are changed.
    position: Vec<f64>,
}

/// A weight with a sampled scale.
pub(super) struct CentredWeight {
    /// Its place in a position.
    pub(super) place: usize,
    /// Places of what adds up to the logarithm of its scale.
    pub(super) log_scale: Vec<usize>,
    /// c.
    pub(super) centring: f64,
}

impl CentredWeight {
    /// c log s.
    fn power(&self, position: &[f64]) -> f64 {
        let sum: f64 = self.log_scale.iter().map(|place| position[*place]).sum();
        self.centring * sum
    }
}

impl<'p> PartlyCentred<'p> {
    pub(super) fn new(coordinates: Box<dyn Coordinates + 'p>, weights: Vec<CentredWeight>) -> Self {
        PartlyCentred { position: vec![0.0; coordinates.dim()], coordinates, weights }
    }

    /// Takes a position; returns the logarithm of what a density of it has more.
    fn set(&mut self, position: &[f64]) -> f64 {
        self.position.copy_from_slice(position);
        let mut more = 0.0;
        for weight in &self.weights {
            let power = weight.power(position);
            self.position[weight.place] *= (-power).exp();
            more -= power;
        }
        more
    }
}

impl LogDensity for PartlyCentred<'_> {
    fn dim(&self) -> usize {
        self.position.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let more = self.set(position);
        Ok(self.coordinates.log_density(&self.position)? + more)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let more = self.set(position);
        let value = self.coordinates.log_density_gradient(&self.position, gradient)?;
        for weight in &self.weights {
            let along = gradient[weight.place] * self.position[weight.place];
            gradient[weight.place] *= (-weight.power(position)).exp();
            for place in &weight.log_scale {
                gradient[*place] -= weight.centring * (along + 1.0);
            }
        }
        Ok(value + more)
    }
}

impl Coordinates for PartlyCentred<'_> {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.coordinates.enter(state, position);
        for weight in &self.weights {
            position[weight.place] *= weight.power(position).exp();
        }
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], stream: &mut Stream) {
        self.set(position);
        self.coordinates.leave(&self.position, state, stream);
    }
}
