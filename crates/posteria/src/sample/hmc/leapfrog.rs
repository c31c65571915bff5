//! Follow Hamiltonian dynamics by leapfrog steps.

use posteria_linalg::dot;

use super::Metric;
use crate::target::{Infeasible, LogDensity, Point};

/// A point of phase space: a position with its density, and a whitened momentum.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Position, log density and gradient.
    pub point: Point,
    /// Whitened momentum r ~ N(0, I).
    pub momentum: Vec<f64>,
}

impl Phase {
    /// Room for a point of phase space.
    pub fn new(dim: usize) -> Self {
        let point = Point { position: vec![0.0; dim], gradient: vec![0.0; dim], log_density: 0.0 };
        Phase { point, momentum: vec![0.0; dim] }
    }

    /// H(q, r) = -log π(q) + ½ r·r.
    pub fn energy(&self) -> f64 {
        0.5 * dot(&self.momentum, &self.momentum) - self.point.log_density
    }

    /// Copies `other` into this phase without allocating.
    pub fn copy_from(&mut self, other: &Phase) {
        self.point.copy_from(&other.point);
        self.momentum.copy_from_slice(&other.momentum);
    }

    /// One leapfrog step of size `step` (negative: backwards) [Neal 1996, eq. 3.11-3.13].
    /// Reversible and volume preserving whatever the gradient's accuracy.
    ///
    /// # Errors
    /// [`Infeasible`] if the new position has no usable density; the phase is then no longer
    /// meaningful.
    #[inline]
    pub fn leapfrog(
        &mut self,
        target: &mut dyn LogDensity,
        metric: &mut Metric,
        step: f64,
    ) -> Result<(), Infeasible> {
        let Phase { point, momentum } = self;
        metric.kick(momentum, 0.5 * step, &point.gradient);
        metric.drift(&mut point.position, step, momentum);
        point.log_density = target.log_density_gradient(&point.position, &mut point.gradient)?;
        metric.kick(momentum, 0.5 * step, &point.gradient);
        // A gradient that is not finite shows in the momentum, hence in the energy, which is
        // what every trajectory examines.
        if point.log_density.is_finite() { Ok(()) } else { Err(Infeasible::NotFinite) }
    }

    /// As [`Phase::leapfrog`] with the [force](LogDensity::force) in place of the gradient; the
    /// log density at the new position is not evaluated and left NaN.
    ///
    /// # Errors
    /// [`Infeasible`] if the new position has no usable force; the phase is then no longer
    /// meaningful.
    pub fn leapfrog_by_force(
        &mut self,
        target: &mut dyn LogDensity,
        metric: &mut Metric,
        step: f64,
    ) -> Result<(), Infeasible> {
        let Phase { point, momentum } = self;
        metric.kick(momentum, 0.5 * step, &point.gradient);
        metric.drift(&mut point.position, step, momentum);
        point.log_density = f64::NAN;
        target.force(&point.position, &mut point.gradient)?;
        metric.kick(momentum, 0.5 * step, &point.gradient);
        // No energy is looked at on the way: a force that is not finite must show here.
        if momentum.iter().sum::<f64>().is_finite() { Ok(()) } else { Err(Infeasible::NotFinite) }
    }
}
