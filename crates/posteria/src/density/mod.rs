//! Distributions: normalised log densities, draws, special functions.

mod beta;
mod beta_binomial;
mod categorical;
#[cfg(test)]
pub(crate) mod checks;
mod dirichlet;
mod error;
mod gamma;
mod half_student_t;
mod inverse_gamma;
mod inverse_gaussian;
mod inverse_wishart;
mod laplace;
mod log_normal;
mod multivariate_normal;
mod normal;
mod normal_wishart;
mod polya_gamma;
mod precision;
mod root;
pub mod special;
mod student_t;
mod truncated_inverse_gamma;
mod wishart;

pub use beta::Beta;
pub use beta_binomial::BetaBinomial;
pub(crate) use categorical::draw_by_log_weights;
pub use categorical::{Categorical, normalize_log_weights};
pub use dirichlet::Dirichlet;
pub use error::ParameterError;
pub use gamma::Gamma;
pub use half_student_t::HalfStudentT;
pub use inverse_gamma::InverseGamma;
pub(crate) use inverse_gamma::LogInverseGamma;
pub(crate) use inverse_gaussian::draw_inverse_gaussian;
pub(crate) use inverse_wishart::InverseWishart;
pub use laplace::Laplace;
pub use log_normal::LogNormal;
pub use multivariate_normal::MultivariateNormal;
pub use normal::Normal;
pub(crate) use normal_wishart::NormalWishart;
pub(crate) use polya_gamma::draw_polya_gamma;
pub(crate) use precision::Precision;
pub use student_t::StudentT;
pub use truncated_inverse_gamma::TruncatedInverseGamma;
pub use wishart::Wishart;
