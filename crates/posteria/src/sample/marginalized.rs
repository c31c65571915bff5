//! Integrate part of a state out at every temperature.

use crate::random::Stream;
use crate::target::Infeasible;

/// A state's densities at the rungs of a ladder with part of it integrated out, and that part's
/// conditionals: what [`ReplicaExchange::integrating`](super::ReplicaExchange::integrating)
/// decides exchanges by.
pub trait Marginalized: Send {
    /// Logarithm of the density of `state` at a rung (0 the coldest), part of it integrated
    /// out. A factor that is the same at all rungs may be left out, one that is the same for
    /// all states as well.
    ///
    /// # Errors
    /// [`Infeasible`] if it is not usable.
    fn log_density(&mut self, rung: usize, state: &[f64]) -> Result<f64, Infeasible>;

    /// Draws what was integrated out from its conditional at that rung given the rest of
    /// `state`. Only called where [`Marginalized::log_density`] had a value.
    fn draw(&mut self, rung: usize, state: &mut [f64], stream: &mut Stream);
}
