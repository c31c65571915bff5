//! Markov kernels on any [`LogDensity`](crate::target::LogDensity), and sweeps over blocks of
//! a state. Nothing here knows a model.

mod adaptive_rejection;
mod direction_walk;
mod elliptical_slice;
mod emulation;
mod emulator;
mod from_mode;
pub mod hmc;
mod hull;
mod independence;
mod kernel;
mod ladder;
mod marginalized;
mod memory;
mod metropolis;
mod modes;
mod moments;
mod occasional;
mod plan;
mod random_walk;
mod refresh;
mod rejection;
mod reparametrized;
mod repeated;
mod replica_exchange;
mod sequence;
mod slice;
mod step_size;
mod surrogate;
mod update;
mod with_surrogate;

#[cfg(test)]
mod tests;

pub(crate) use adaptive_rejection::draw_log_concave;
pub use adaptive_rejection::{AdaptiveRejection, AdaptiveRejectionError};
pub use direction_walk::DirectionWalk;
pub(crate) use elliptical_slice::GaussianTimesLikelihood;
pub use elliptical_slice::{EllipticalSlice, NormalPrior};
pub use emulator::Emulator;
pub(crate) use from_mode::FromMode;
pub use independence::{FittedStudentT, Independence};
pub use kernel::{Kernel, Step};
pub use ladder::{Ladder, LadderError};
pub(crate) use marginalized::Marginalized;
pub use memory::ForeignMemory;
pub(crate) use memory::MemoryReader;
pub use metropolis::{MetropolisHastings, Proposal};
pub(crate) use modes::AtMode;
pub use modes::Modes;
pub(crate) use occasional::Occasional;
pub use plan::{Adapt, Plan, Stage};
pub use random_walk::{Metropolis, RandomWalk};
pub use refresh::Refresh;
pub use rejection::{Envelope, Rejection, RejectionError};
pub use reparametrized::{Coordinates, Reparametrized};
pub use repeated::Repeated;
pub use replica_exchange::{ExchangeCounts, ReplicaExchange};
pub use sequence::Sequence;
pub(crate) use slice::slice_sample;
pub use slice::{Scan, Slice};
pub use step_size::DualAveraging;
pub(crate) use surrogate::{Surrogate, SurrogateTransition};
pub use update::{Block, Conditional, Sweep, Unconditional, Update};
pub(crate) use with_surrogate::WithSurrogate;
