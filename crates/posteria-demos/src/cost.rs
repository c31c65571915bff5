//! Measure what a kernel costs on a small target: counted evaluations per independent draw.

use posteria::diagnose::{Truncation, autocorrelation_time};
use posteria::random::Stream;
use posteria::sample::Kernel;
use posteria::target::{Counted, Infeasible, LogDensity, Point};

/// One simulated chain with its cost.
pub struct Simulation {
    /// The position after every step.
    pub positions: Vec<Vec<f64>>,
    /// Mean acceptance probability of the proposals.
    pub acceptance: f64,
    /// Density or gradient evaluations per step.
    pub evaluations: f64,
}

/// Runs `kernel` on `target` from `start`.
///
/// # Errors
/// [`Infeasible`] if the start has no usable density.
pub fn simulate<T: LogDensity>(
    kernel: &mut dyn Kernel,
    target: T,
    start: &[f64],
    steps: usize,
    stream: &mut Stream,
) -> Result<Simulation, Infeasible> {
    let mut target = Counted::new(target);
    let mut point = Point::new(&mut target, start.to_vec())?;
    let before = target.values + target.gradients;
    let mut acceptance = 0.0;
    let mut positions = Vec::with_capacity(steps);
    for _ in 0..steps {
        acceptance += kernel.step(&mut target, &mut point, stream).acceptance;
        positions.push(point.position.clone());
    }
    let count = steps as f64;
    let evaluations = (target.values + target.gradients - before) as f64 / count;
    Ok(Simulation { positions, acceptance: acceptance / count, evaluations })
}

/// The longest autocorrelation time, in draws, of several functions of the position.
pub fn slowest(positions: &[Vec<f64>], functions: &[fn(&[f64]) -> f64]) -> f64 {
    functions
        .iter()
        .map(|function| {
            let series: Vec<f64> = positions.iter().map(|position| function(position)).collect();
            autocorrelation_time(&[series], Truncation::InitialMonotone)
        })
        .fold(f64::NAN, f64::max)
}
