//! Hamiltonian (hybrid) Monte Carlo: fixed trajectories with windows and persistence, and
//! trajectories of automatic length.

mod doubling;
mod hybrid;
mod leapfrog;
mod length;
mod metric;
mod momentum;
mod nuts;
mod shortening;
mod spread;
mod trajectory;
mod tuning;
mod turning;

pub use hybrid::{Hmc, HmcOptions, Retry};
pub use leapfrog::Phase;
pub use length::LengthSearch;
pub use metric::{Metric, MetricKind};
pub use momentum::Persistence;
pub use nuts::{Nuts, NutsOptions};
