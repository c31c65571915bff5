//! Degrees of freedom: known, on a grid, or with a prior of their own.

use serde::{Deserialize, Serialize};

/// Degrees of freedom: a number, `"unknown"` or `"continuous"` to sample them,
/// `{ grid = [...] }` to sample them among values of equal prior probability, or
/// `{ scale = 6.0, dof = 1.0, above = 2.0 }` to sample them above a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, \"unknown\", \"continuous\", { grid = [...] } or { scale = 6.0, \
                 dof = 1.0, above = 2.0 }"
)]
pub enum Dof {
    /// Known.
    Known(f64),
    /// Sampled.
    Unknown(Unknown),
    /// Sampled among these values.
    Grid(DofValues),
    /// Sampled above a limit.
    Above(DofAbove),
}

/// A word for degrees of freedom that are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// Uniform on a grid that is roughly uniform in log ν.
    Unknown,
    /// Residuals: any positive number, gamma with shape 2 and mean 20.
    Continuous,
}

/// `{ grid = [...] }`: values of equal prior probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DofValues {
    /// The values.
    pub grid: Vec<f64>,
}

/// `{ scale = s, dof = d, above = a }`: residuals: any ν above a, with the inverse gamma density
/// ∝ ν^-(d/2+1) exp(-d s/2ν) there. The smaller d, the flatter it is in log ν; the variance of
/// Student's t exists for ν above 2 [MCMCstuff manual 2.1, §4.1.3].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DofAbove {
    /// Its scale s, in degrees of freedom.
    pub scale: f64,
    /// Its degrees of freedom d.
    pub dof: f64,
    /// The limit a; 0 is none.
    #[serde(default = "DofAbove::limit")]
    pub above: f64,
}

impl DofAbove {
    /// Where nothing else is said: residuals have a variance.
    fn limit() -> f64 {
        2.0
    }
}
