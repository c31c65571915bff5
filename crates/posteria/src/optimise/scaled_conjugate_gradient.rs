//! Maximise a log density by scaled conjugate gradients.

use super::{Ascent, Climb};
use crate::target::{Infeasible, LogDensity};

/// Scaled conjugate gradients [Møller 1993; Bishop 1995, §7.8]: conjugate directions whose step
/// comes from the curvature along them, measured by one more gradient, instead of from a line
/// search. A damping λ, added to the curvature, is raised where the quadratic model fails and
/// lowered where it holds.
///
/// A position without a usable density counts as infinitely far downhill, so the climb shies
/// away from it and goes on. On a quadratic in n dimensions the mode is reached in n iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledConjugateGradient {
    /// Iterations at most, rejected steps included.
    pub max_iterations: usize,
    /// Converged when the log density is expected to gain less than this, and …
    pub value_tolerance: f64,
    /// … no coordinate is expected to move by more than this.
    pub position_tolerance: f64,
}

impl Default for ScaledConjugateGradient {
    /// 1000 iterations and tolerances of 1e-6, as in [MCMCstuff §3.2.4].
    fn default() -> Self {
        ScaledConjugateGradient {
            max_iterations: 1000,
            value_tolerance: 1e-6,
            position_tolerance: 1e-6,
        }
    }
}

/// Where a climb ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The best position found.
    pub position: Vec<f64>,
    /// The log density there: never below that of the start.
    pub log_density: f64,
    /// Iterations made, rejected steps included.
    pub iterations: usize,
    /// Evaluations of the log density with its gradient.
    pub evaluations: usize,
    /// Whether the tolerances were met along the last direction. If not, the iterations were
    /// used up, or every step uphill leads out of the support. (Where scales differ by 10⁵, the
    /// flattest direction of a converged climb may still lack 0.01 of log density.)
    pub converged: bool,
}

impl ScaledConjugateGradient {
    /// Climbs from `start` to a local maximum of `target`. Allocates nothing per iteration.
    ///
    /// # Errors
    /// [`Infeasible`] if the density or its gradient is not usable at `start`.
    ///
    /// # Panics
    /// If `start` has another length than positions of `target`.
    #[track_caller]
    pub fn maximise(
        &self,
        target: &mut dyn LogDensity,
        start: Vec<f64>,
    ) -> Result<Optimum, Infeasible> {
        let mut ascent = Ascent::new(target, start, self)?;
        let mut iterations = 0;
        let mut last = Climb::Moved;
        while iterations < self.max_iterations && !last.is_over() {
            last = ascent.advance(target);
            iterations += 1;
        }
        let evaluations = ascent.evaluations();
        let (position, log_density) = ascent.into_position();
        let converged = last == Climb::Converged;
        Ok(Optimum { position, log_density, iterations, evaluations, converged })
    }
}
