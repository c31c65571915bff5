//! Show that climbs end at known modes, in known numbers of iterations.

mod early_stopping;
mod quadratic;
mod walls;

use crate::target::{Infeasible, LogDensity};

/// A density given by a function that returns the value and fills the gradient.
struct Density<F> {
    dim: usize,
    value: F,
}

impl<F> LogDensity for Density<F>
where
    F: FnMut(&[f64], &mut [f64]) -> Result<f64, Infeasible>,
{
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let mut gradient = vec![0.0; self.dim];
        (self.value)(position, &mut gradient)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        (self.value)(position, gradient)
    }
}

fn largest_error(position: &[f64], truth: &[f64]) -> f64 {
    position.iter().zip(truth).map(|(p, t)| (p - t).abs()).fold(0.0, f64::max)
}

/// -½ Σ precision (x - mode)², in coordinates rotated by reflections so that no direction is an
/// axis: with v = 1/√n, x is mirrored at the plane across v.
fn quadratic(precisions: Vec<f64>, mode: Vec<f64>) -> impl LogDensity {
    let dim = mode.len();
    let mirror = move |vector: &[f64], out: &mut [f64]| {
        let mean = vector.iter().sum::<f64>() / dim as f64;
        for (out, value) in out.iter_mut().zip(vector) {
            *out = value - 2.0 * mean;
        }
    };
    let mut mirrored = vec![0.0; dim];
    let mut scaled = vec![0.0; dim];
    Density {
        dim,
        value: move |x: &[f64], gradient: &mut [f64]| {
            for ((scaled, x), mode) in scaled.iter_mut().zip(x).zip(&mode) {
                *scaled = x - mode;
            }
            mirror(&scaled, &mut mirrored);
            let mut value = 0.0;
            for ((scaled, z), precision) in scaled.iter_mut().zip(&mirrored).zip(&precisions) {
                *scaled = -precision * z;
                value += 0.5 * *scaled * z;
            }
            mirror(&scaled, gradient);
            Ok(value)
        },
    }
}
