//! Define what is sampled: a log density on a flat vector, the lower waist of the library.

mod gradient_check;

pub use gradient_check::{GradientCheck, check_gradient};

use std::fmt;

use posteria_linalg::Matrix;

/// A log density on ℝⁿ, with gradient. Bring your own to use any sampler of this crate.
///
/// Methods take `&mut self` so that an implementation may own its scratch memory; after
/// construction an evaluation should not allocate. The value must be a function of the
/// position alone: chains resume bit for bit only if the same position gives the same bits.
pub trait LogDensity {
    /// Length of a position.
    fn dim(&self) -> usize;

    /// The log density at `position`. Normalised where evidence is wanted; samplers do not
    /// mind a missing constant.
    ///
    /// # Errors
    /// [`Infeasible`] where there is no usable density; samplers reject and count.
    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible>;

    /// The log density at `position`; its gradient goes into `gradient`.
    ///
    /// # Errors
    /// As [`LogDensity::log_density`]; the content of `gradient` is then unspecified.
    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible>;

    /// An approximation of the gradient at `position`, for Hamiltonian trajectories that ask
    /// for it: in lower precision, say. Unless a target does better, the gradient itself.
    ///
    /// Like the density, a function of the position alone: the same position gives the same
    /// bits. Trajectories are then reversible and keep volume whatever the approximation, so
    /// with exact energies at their ends they leave the exact density invariant.
    ///
    /// # Errors
    /// As [`LogDensity::log_density`]; the content of `gradient` is then unspecified.
    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.log_density_gradient(position, gradient).map(|_| ())
    }

    /// Writes minus the second derivatives at `position`, where the target knows them; whether it
    /// does. Where it does not, differences of the gradient serve.
    ///
    /// # Errors
    /// As [`LogDensity::log_density`].
    fn curvature(&mut self, position: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
        let _ = (position, curvature);
        Ok(false)
    }

    /// A rough scale of every coordinate, for targets that know one (from hyperparameters,
    /// say). It must not depend on the position, or Hamiltonian kernels that use it
    /// would not be reversible.
    fn step_scale(&self) -> Option<&[f64]> {
        None
    }

    /// How many numbers [`LogDensity::features`] gives.
    fn feature_count(&self) -> usize {
        self.dim()
    }

    /// What of a position matters to those who use the draws, for kernels that learn in
    /// warm-up how to move far: fits at some rows, say, where the coordinates themselves are
    /// of no interest. Unless a target knows better, the position itself.
    ///
    /// # Errors
    /// As [`LogDensity::log_density`]; the content of `features` is then unspecified.
    fn features(&mut self, position: &[f64], features: &mut [f64]) -> Result<(), Infeasible> {
        features.copy_from_slice(position);
        Ok(())
    }
}

impl<T: LogDensity + ?Sized> LogDensity for Box<T> {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        (**self).log_density(position)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        (**self).log_density_gradient(position, gradient)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        (**self).force(position, gradient)
    }

    fn curvature(&mut self, position: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
        (**self).curvature(position, curvature)
    }

    fn step_scale(&self) -> Option<&[f64]> {
        (**self).step_scale()
    }

    fn feature_count(&self) -> usize {
        (**self).feature_count()
    }

    fn features(&mut self, position: &[f64], features: &mut [f64]) -> Result<(), Infeasible> {
        (**self).features(position, features)
    }
}

/// Why a position has no usable density. A proposal that meets one is rejected and counted;
/// it is never an error of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Infeasible {
    /// The log density or its gradient is NaN or infinite.
    NotFinite,
    /// The position is outside the support of the density.
    OutsideSupport,
    /// A covariance matrix could not be factorised.
    NotPositiveDefinite {
        /// Index of the failing pivot.
        pivot: usize,
    },
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Infeasible::NotFinite => write!(f, "the log density or its gradient is not finite"),
            Infeasible::OutsideSupport => write!(f, "the position is outside the support"),
            Infeasible::NotPositiveDefinite { pivot } => {
                write!(f, "a covariance matrix is not positive definite at pivot {pivot}")
            }
        }
    }
}

/// A position with its log density and gradient, as a kernel carries it from step to step.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Where the chain is.
    pub position: Vec<f64>,
    /// Gradient of the log density there; NaN where it is not known.
    pub gradient: Vec<f64>,
    /// The log density there.
    pub log_density: f64,
}

impl Point {
    /// Evaluates `target` at `position`.
    ///
    /// # Errors
    /// [`Infeasible`] if a chain cannot start there.
    pub fn new(target: &mut dyn LogDensity, position: Vec<f64>) -> Result<Self, Infeasible> {
        let mut point = Point { gradient: vec![0.0; position.len()], position, log_density: 0.0 };
        point.evaluate(target)?;
        Ok(point)
    }

    /// Evaluates `target` anew at the present position.
    ///
    /// # Errors
    /// [`Infeasible`] if the density or its gradient is not usable there.
    pub fn evaluate(&mut self, target: &mut dyn LogDensity) -> Result<(), Infeasible> {
        self.log_density = target.log_density_gradient(&self.position, &mut self.gradient)?;
        if self.is_finite() { Ok(()) } else { Err(Infeasible::NotFinite) }
    }

    /// Whether the log density and every component of the gradient are finite.
    pub fn is_finite(&self) -> bool {
        // Summing lets the test vectorise; a sum of finite numbers that overflows is as
        // unusable as an infinite component.
        self.log_density.is_finite() && self.gradient.iter().sum::<f64>().is_finite()
    }

    /// Copies `other` into this point without allocating.
    pub fn copy_from(&mut self, other: &Point) {
        self.position.copy_from_slice(&other.position);
        self.gradient.copy_from_slice(&other.gradient);
        self.log_density = other.log_density;
    }
}

/// The two factors of a posterior at one position; stored with every draw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Log prior density, normalised.
    pub log_prior: f64,
    /// Log likelihood, normalised.
    pub log_likelihood: f64,
}

impl Terms {
    /// log prior + β log likelihood. At β = 0 the likelihood does not count even where it is
    /// infinite.
    pub fn at(&self, inverse_temperature: f64) -> f64 {
        if inverse_temperature > 0.0 {
            self.log_prior + inverse_temperature * self.log_likelihood
        } else {
            self.log_prior
        }
    }

    /// These terms, if the density and all numbers of the draw beside them are finite.
    pub(crate) fn with_finite(self, draw: &[f64]) -> Result<Self, Infeasible> {
        if self.at(1.0).is_finite() && draw.iter().all(|value| value.is_finite()) {
            Ok(self)
        } else {
            Err(Infeasible::NotFinite)
        }
    }
}

/// A density that is a product prior × likelihood, so that the likelihood can be raised to an
/// inverse temperature β: 0 gives the prior, 1 the posterior.
pub trait PriorTimesLikelihood {
    /// Length of a position.
    fn dim(&self) -> usize;

    /// Both terms at `position`.
    ///
    /// # Errors
    /// [`Infeasible`] where there is no usable density.
    fn terms(&mut self, position: &[f64]) -> Result<Terms, Infeasible>;

    /// Both terms at `position`; the gradient of log prior + β log likelihood goes into
    /// `gradient`.
    ///
    /// # Errors
    /// As [`PriorTimesLikelihood::terms`].
    fn terms_gradient(
        &mut self,
        position: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<Terms, Infeasible>;

    /// As [`LogDensity::force`], of log prior + β log likelihood.
    ///
    /// # Errors
    /// As [`PriorTimesLikelihood::terms`].
    fn force(
        &mut self,
        position: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.terms_gradient(position, inverse_temperature, gradient).map(|_| ())
    }
}

impl<T: PriorTimesLikelihood + ?Sized> PriorTimesLikelihood for Box<T> {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn terms(&mut self, position: &[f64]) -> Result<Terms, Infeasible> {
        (**self).terms(position)
    }

    fn terms_gradient(
        &mut self,
        position: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        (**self).terms_gradient(position, inverse_temperature, gradient)
    }

    fn force(
        &mut self,
        position: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<(), Infeasible> {
        (**self).force(position, inverse_temperature, gradient)
    }
}

/// A [`PriorTimesLikelihood`] at one inverse temperature: a [`LogDensity`] for any kernel.
#[derive(Clone, Debug)]
pub struct Tempered<T> {
    /// The two factors.
    pub product: T,
    /// The power β of the likelihood.
    pub inverse_temperature: f64,
}

impl<T: PriorTimesLikelihood> LogDensity for Tempered<T> {
    fn dim(&self) -> usize {
        self.product.dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        Ok(self.product.terms(position)?.at(self.inverse_temperature))
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let terms = self.product.terms_gradient(position, self.inverse_temperature, gradient)?;
        Ok(terms.at(self.inverse_temperature))
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.product.force(position, self.inverse_temperature, gradient)
    }
}

/// Counts the evaluations of a target: the honest unit of cost when samplers are compared.
#[derive(Clone, Debug)]
pub struct Counted<T> {
    target: T,
    /// Evaluations of the value alone.
    pub values: u64,
    /// Evaluations of value and gradient.
    pub gradients: u64,
    /// Evaluations of the force.
    pub forces: u64,
}

impl<T: LogDensity> Counted<T> {
    /// Wraps `target` with counters at zero.
    pub fn new(target: T) -> Self {
        Counted { target, values: 0, gradients: 0, forces: 0 }
    }
}

impl<T: LogDensity> LogDensity for Counted<T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.values += 1;
        self.target.log_density(position)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        self.gradients += 1;
        self.target.log_density_gradient(position, gradient)
    }

    fn force(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<(), Infeasible> {
        self.forces += 1;
        self.target.force(position, gradient)
    }

    fn curvature(&mut self, position: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
        self.target.curvature(position, curvature)
    }

    fn step_scale(&self) -> Option<&[f64]> {
        self.target.step_scale()
    }

    fn feature_count(&self) -> usize {
        self.target.feature_count()
    }

    fn features(&mut self, position: &[f64], features: &mut [f64]) -> Result<(), Infeasible> {
        self.values += 1;
        self.target.features(position, features)
    }
}
