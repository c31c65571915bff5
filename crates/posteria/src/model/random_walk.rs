//! Random-walk Metropolis, the simplest kernel there is, for the tests of this module.

use crate::random::Stream;
use crate::sample::{Kernel, Step};
use crate::target::{LogDensity, Point};

/// Several Metropolis proposals of independent normal steps, their width drawn anew each time
/// so that neither narrow nor wide densities stop it.
pub(crate) struct RandomWalk {
    pub(crate) width: f64,
    pub(crate) repetitions: usize,
}

impl Kernel for RandomWalk {
    fn name(&self) -> &'static str {
        "random walk"
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        let mut accepted = 0.0;
        for _ in 0..self.repetitions {
            let width = self.width * (1.5 * stream.normal()).exp();
            let proposal: Vec<f64> =
                point.position.iter().map(|x| x + width * stream.normal()).collect();
            if let Ok(candidate) = Point::new(target, proposal)
                && stream.uniform().ln() < candidate.log_density - point.log_density
            {
                point.copy_from(&candidate);
                accepted += 1.0;
            }
        }
        Step {
            accepted: accepted > 0.0,
            acceptance: accepted / self.repetitions as f64,
            evaluations: self.repetitions as u32,
            step_size: self.width,
            ..Step::default()
        }
    }
}
