//! Take something else in the place of a posterior: methods without Markov chains.
//!
//! An [`Approximation`] is a distribution that states are drawn from independently;
//! [`Independent`] shows its draws as those of a posterior. [`Laplace`] is a normal distribution
//! at the mode of any density, and [`Evidence`] that of the weights of a model with its scales
//! re-estimated. A committee and a tempered posterior take the place of a posterior too.

mod at_mode;
mod committee;
mod criteria;
mod design;
mod ensemble;
mod evidence;
mod factorised_normal;
mod independent;
mod laplace;
mod linearised;
mod moderated;
mod penalised;
mod split_student_t;
mod tempered;
mod weighted_positions;

pub(crate) use at_mode::{NormalAtMode, PointAtMode, check_normality};
pub use committee::{Committee, member};
pub use criteria::Criteria;
pub use design::Design;
pub(crate) use ensemble::ImportanceSample;
pub use ensemble::{Ensemble, EnsembleFindings, EnsembleOptions};
pub use evidence::{
    CurvePoint, Estimation, Evidence, EvidenceError, ScaleEstimate, evidence_curve,
};
pub use factorised_normal::{FactorisedNormal, NormalGamma};
pub use independent::{Approximation, Independent};
pub use laplace::{Laplace, LaplaceError};
pub use linearised::Linearised;
pub use moderated::{average_probability, moderated_probability, moderation};
pub(crate) use split_student_t::SplitStudentT;
pub use tempered::TemperedPosterior;
pub(crate) use weighted_positions::{Proposed, WeightedStates, Worth};
