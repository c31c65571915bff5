//! What a device beside the processor computes for a model, and who brings one.
//!
//! The library knows what it would like to have computed, not by what: a front end brings
//! [`Accelerators`] (those of the crate `posteria-cuda`, say) with [`bring`], and a model asks for one where its
//! specification says `device` in `[sampling]`. Without that key nobody is asked, and nothing changes.

use std::fmt;
use std::sync::{Arc, OnceLock};

use posteria_linalg::Matrix;

use super::gp::covariance::Covariance;
use super::spec::{DeviceChoice, Spec};
use crate::data::Dataset;

/// Why an accelerator does not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceleratorError {
    /// There is none, or not of that number.
    #[error("{why}")]
    Absent {
        /// Why.
        why: String,
    },
    /// It does not do this.
    #[error("the GPU does not do {what}")]
    NotAvailable {
        /// What was asked for.
        what: String,
    },
    /// It has too little memory.
    #[error("{what}")]
    Memory {
        /// What needs how much, and how much there is.
        what: String,
    },
    /// A covariance matrix has no factor: of this point, not of the device.
    #[error("a covariance matrix is not positive definite at pivot {pivot}")]
    NotPositiveDefinite {
        /// Index of the failing pivot.
        pivot: usize,
    },
    /// It was lost, or its driver failed.
    #[error("{what}")]
    Failed {
        /// What failed, in the words of the driver.
        what: String,
    },
}

/// Which accelerators a program has.
pub trait Accelerators: Send + Sync {
    /// Opens the one of this number, or the first. Opened twice, it is the same.
    ///
    /// # Errors
    /// [`AcceleratorError::Absent`] if there is none.
    fn open(&self, ordinal: Option<usize>) -> Result<Arc<dyn Accelerator>, AcceleratorError>;
}

/// One accelerator.
pub trait Accelerator: Send + Sync {
    /// What it is.
    fn name(&self) -> &AcceleratorName;

    /// Fewest rows of a Gaussian process for which it is faster than a processor, for
    /// [`DeviceChoice::Auto`].
    fn fewest_rows(&self) -> usize;

    /// Room for the densities of a Gaussian process of normal targets at these rows; `jitter` is the standard
    /// deviation J.
    ///
    /// # Errors
    /// [`AcceleratorError`] if it does not do this, or has too little memory.
    fn process(
        &self,
        covariance: &Covariance,
        inputs: &Matrix,
        jitter: f64,
    ) -> Result<Box<dyn AcceleratedProcess>, AcceleratorError>;

    /// Fewest chains of a network for which it is faster than a processor, for [`DeviceChoice::Auto`].
    fn fewest_chains(&self) -> usize;

    /// Room for the chains of a network of a completed specification given these data.
    ///
    /// # Errors
    /// As [`Accelerator::process`].
    fn network(
        &self,
        spec: &Spec,
        data: &Dataset,
    ) -> Result<Box<dyn AcceleratedNetwork>, AcceleratorError>;
}

/// What an accelerator is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceleratorName {
    /// As [`DeviceChoice`] spells it.
    pub device: DeviceChoice,
    /// Its name.
    pub name: String,
    /// What its numbers are reproducible on: the kind of chip.
    pub chip: String,
}

impl fmt::Display for AcceleratorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.device, self.chip)
    }
}

/// Parameters of the density of a process.
#[derive(Clone, Copy, Debug)]
pub struct ProcessPoint<'a> {
    /// Log parameters of the covariance function.
    pub log_parameters: &'a [f64],
    /// The precision w_i of every row.
    pub precisions: &'a [f64],
}

/// The density of normal targets with a Gaussian process integrated out: with W = diag(w) and
/// B = I + W^½ (K + J²I) W^½ it is |B|^(-½) exp(-½ yᵀ W^½ B⁻¹ W^½ y) [Rasmussen & Williams 2006, §3.4.3].
///
/// Every method is of the point that it is given; what was found for the last point may be kept.
/// All chains share one, so that the memory does not depend on their number. The same point gives the same bits
/// on the same kind of chip.
pub trait AcceleratedProcess: Send + Sync {
    /// -½ log |B|.
    ///
    /// # Errors
    /// [`AcceleratorError::NotPositiveDefinite`] if B has no factor; as any other method, if the device fails.
    fn factorize(&self, at: ProcessPoint<'_>) -> Result<f64, AcceleratorError>;

    /// Writes b = B⁻¹ W^½ y; returns yᵀ W^½ b.
    ///
    /// # Errors
    /// As [`AcceleratedProcess::factorize`].
    fn solve(
        &self,
        at: ProcessPoint<'_>,
        targets: &[f64],
        solved: &mut [f64],
    ) -> Result<f64, AcceleratorError>;

    /// Writes the diagonal of B⁻¹.
    ///
    /// # Errors
    /// As [`AcceleratedProcess::factorize`].
    fn inverse_diagonal(
        &self,
        at: ProcessPoint<'_>,
        diagonal: &mut [f64],
    ) -> Result<(), AcceleratorError>;

    /// Writes the derivatives of Σ_t (-½ log |B| - ½ y_tᵀ W^½ B⁻¹ W^½ y_t) by the log parameters; `solved` has b_t of
    /// every target t, one after the other.
    ///
    /// # Errors
    /// As [`AcceleratedProcess::factorize`].
    fn gradient(
        &self,
        at: ProcessPoint<'_>,
        solved: &[f64],
        gradient: &mut [f64],
    ) -> Result<(), AcceleratorError>;

    /// Writes the lower half of (B⁻¹)_SS for these rows S, in increasing order.
    ///
    /// # Errors
    /// As [`AcceleratedProcess::factorize`].
    fn inverse_among(
        &self,
        at: ProcessPoint<'_>,
        rows: &[usize],
        block: &mut Matrix,
    ) -> Result<(), AcceleratorError>;

    /// Turns columns C into L⁻¹ C, L the lower factor of B.
    ///
    /// # Errors
    /// As [`AcceleratedProcess::factorize`].
    fn whiten(&self, at: ProcessPoint<'_>, columns: &mut Matrix) -> Result<(), AcceleratorError>;

    /// Writes E f(x*) = k*ᵀ W^½ b, and how much of the variance at x* is known, k*ᵀ W^½ B⁻¹ W^½ k*, at new rows.
    ///
    /// # Errors
    /// As [`AcceleratedProcess::factorize`].
    fn predict(
        &self,
        at: ProcessPoint<'_>,
        solved: &[f64],
        new: &Matrix,
        found: (&mut [f64], &mut [f64]),
    ) -> Result<(), AcceleratorError>;

    /// Turns standard normal numbers z into M z, M the lower factor of I - B⁻¹ + εI.
    ///
    /// # Errors
    /// [`AcceleratorError::NotPositiveDefinite`] if that has no factor.
    fn draw_open(
        &self,
        at: ProcessPoint<'_>,
        epsilon: f64,
        values: &mut [f64],
    ) -> Result<(), AcceleratorError>;
}

/// What random numbers of a chain are named by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainName {
    /// The seed.
    pub seed: u64,
    /// The number of the fold that is held out, 0 for none.
    pub fold: u64,
    /// The number of the chain.
    pub chain: u64,
}

/// Chains of a network: one iteration draws the residual model and every scale from its full conditional, and
/// moves all weights along a trajectory [Neal 1996, §3]. What a chain does depends on its name, its state
/// and the number of the iteration, not on those that run beside it.
pub trait AcceleratedNetwork: Send + Sync {
    /// Length of a state.
    fn state_len(&self) -> usize;

    /// Leapfrog steps of a trajectory.
    fn leapfrog_steps(&self) -> usize;

    /// Where a chain starts.
    fn start(&self, name: ChainName) -> Vec<f64>;

    /// The parameters of a state as draws begin with them: weights, scales, the residual model in the user's
    /// unit.
    fn parameters(&self, state: &[f64]) -> Vec<f64>;

    /// The log step size of a state.
    fn log_step_size(&self, state: &[f64]) -> f64;

    /// Iterations of all these chains, of one seed and fold, after the same number `begun` of them;
    /// step sizes are learned where that is asked for. For each chain, its state after every iteration.
    ///
    /// # Errors
    /// [`AcceleratorError`] if the device fails.
    fn run(
        &self,
        chains: &[(ChainName, &[f64])],
        begun: usize,
        iterations: usize,
        adapt: bool,
    ) -> Result<Vec<Vec<Vec<f64>>>, AcceleratorError>;
}

static BROUGHT: OnceLock<Arc<dyn Accelerators>> = OnceLock::new();

/// Says which accelerators the program has, once and for all; whether nobody had said so before. None is
/// opened before a specification asks for it.
pub fn bring(accelerators: Arc<dyn Accelerators>) -> bool {
    BROUGHT.set(accelerators).is_ok()
}

/// The accelerator that is asked for, of those that were brought.
fn open(ordinal: Option<usize>) -> Result<Arc<dyn Accelerator>, AcceleratorError> {
    match BROUGHT.get() {
        Some(accelerators) => accelerators.open(ordinal),
        None => Err(AcceleratorError::Absent { why: "this program brings no GPU with it".into() }),
    }
}

/// The accelerator that `asked` names, for a model of which no device does `beyond`, and to which one that
/// is found for itself is of use unless `too_little` says otherwise; or where the model stays.
pub(crate) fn find(
    asked: DeviceChoice,
    beyond: Option<&str>,
    too_little: impl FnOnce(&dyn Accelerator) -> Option<String>,
) -> Result<Arc<dyn Accelerator>, Placement> {
    let ordinal = match asked {
        DeviceChoice::Cpu => return Err(Placement::Cpu),
        DeviceChoice::Auto => None,
        DeviceChoice::Cuda(ordinal) => ordinal,
    };
    if let Some(what) = beyond {
        return Err(Placement::without(asked, what));
    }
    let device = open(ordinal).map_err(|why| Placement::Instead { asked, why })?;
    match too_little(&*device) {
        Some(what) if asked == DeviceChoice::Auto => Err(Placement::without(asked, &what)),
        _ => Ok(device),
    }
}

/// Where a model is computed, and why there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// By the processor, as was asked.
    #[default]
    Cpu,
    /// By this accelerator.
    Device(AcceleratorName),
    /// By the processor in place of what was asked for.
    Instead {
        /// What was asked for.
        asked: DeviceChoice,
        /// Why it is not there, or not of use.
        why: AcceleratorError,
    },
}

impl Placement {
    /// Of a model that no accelerator does.
    pub(crate) fn without(asked: DeviceChoice, what: &str) -> Self {
        match asked {
            DeviceChoice::Cpu => Placement::Cpu,
            asked => {
                let why = AcceleratorError::NotAvailable { what: what.into() };
                Placement::Instead { asked, why }
            }
        }
    }

    /// What is wrong where a device was asked for by name and is not to be had, rather than not able.
    pub fn missing(&self) -> Option<&AcceleratorError> {
        match self {
            Placement::Instead { asked: DeviceChoice::Cuda(_), why } => match why {
                AcceleratorError::NotAvailable { .. } => None,
                why => Some(why),
            },
            _ => None,
        }
    }

    /// Where, and why, in words; `None` where nothing but the processor was asked for.
    pub fn description(&self) -> Option<String> {
        match self {
            Placement::Cpu => None,
            Placement::Device(name) => Some(format!("computed by {name}")),
            Placement::Instead { why, .. } => Some(format!("computed by the CPU: {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_device_that_was_named_and_is_not_there_is_missing() {
        let absent = AcceleratorError::Absent { why: "no GPU".into() };
        let instead = |asked, why| Placement::Instead { asked, why };
        let named = instead(DeviceChoice::Cuda(Some(1)), absent.clone());
        assert_eq!(named.missing(), Some(&absent));
        assert_eq!(instead(DeviceChoice::Auto, absent).missing(), None);
        let unable = Placement::without(DeviceChoice::Cuda(None), "linear models");
        assert_eq!(unable.missing(), None);
        let words = unable.description().unwrap();
        assert_eq!(words, "computed by the CPU: the GPU does not do linear models");
        assert_eq!(Placement::without(DeviceChoice::Cpu, "linear models"), Placement::Cpu);
        assert_eq!(Placement::Cpu.description(), None);
    }
}
