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

pub use adaptive_rejection::{
    AdaptiveDraw, AdaptiveRejection, AdaptiveRejectionError, draw_log_concave,
};
pub use direction_walk::{Direction, DirectionWalk};
pub use elliptical_slice::{EllipticalSlice, GaussianTimesLikelihood, NormalPrior};
pub use emulator::Emulator;
pub use from_mode::FromMode;
pub use independence::{FittedStudentT, Independence};
pub use kernel::{Kernel, Step};
pub use ladder::{Ladder, LadderError};
pub use marginalized::Marginalized;
pub use memory::ForeignMemory;
pub(crate) use memory::MemoryReader;
pub use metropolis::{MetropolisHastings, Proposal};
pub use modes::{AtMode, Modes};
pub use occasional::Occasional;
pub use plan::{Adapt, Plan, Stage};
pub use random_walk::{Metropolis, RandomWalk};
pub use refresh::Refresh;
pub use rejection::{Envelope, Rejection, RejectionError};
pub use reparametrized::{Coordinates, Reparametrized};
pub use repeated::Repeated;
pub use replica_exchange::{ExchangeCounts, PairCounts, ReplicaExchange};
pub use sequence::Sequence;
pub use slice::{Scan, Slice, SliceStep, slice_sample};
pub use step_size::DualAveraging;
pub use surrogate::{Surrogate, SurrogateTransition};
pub use update::{Block, Conditional, Sweep, Update, Whole};
pub use with_surrogate::WithSurrogate;
