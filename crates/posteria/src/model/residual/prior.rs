//! Check the residual model of real targets.

use crate::density::InverseGamma;
use crate::model::spec::checks::{DofChoice, conflict, dof_choice, positive, written};
use crate::model::spec::{ResidualFamily, ResidualSharing, ResidualSpec, SpecError};

/// Standard deviation scale of a residual variance.
const SCALE: f64 = 0.05;
/// Its degrees of freedom, and those of the common scale above separate ones.
const DOF: f64 = 0.5;
/// Degrees of freedom of variances of single cases.
const CASE_DOF: f64 = 4.0;
/// Degrees of freedom of separate residual variances about their common scale.
const BY_DOF: f64 = 4.0;

/// Unknown degrees of freedom of residuals: roughly uniform in log ν [Vehtari 2001, eq. 2.16].
pub const RESIDUAL_DOFS: [f64; 24] = [
    2.0, 2.3, 2.6, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0,
    25.0, 30.0, 35.0, 40.0, 45.0, 50.0,
];

/// The residual model of real targets.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) struct ResidualPrior {
    pub(in crate::model) family: ResidualFamily,
    /// Of Student's t and of per-case variances.
    pub(in crate::model) dof: DofChoice,
    pub(in crate::model) by: Vec<String>,
    pub(in crate::model) sharing: ResidualSharing,
    /// Prior of a residual variance; with `by`, `scale` is that of the level above.
    pub(in crate::model) variance: InverseGamma,
    /// With `by`: the degrees of freedom of the common scale above.
    pub(in crate::model) top_dof: f64,
}

impl ResidualPrior {
    /// Checks `[residual]`.
    pub(in crate::model) fn new(residual: &ResidualSpec) -> Result<Self, SpecError> {
        let section = "residual";
        let family = residual.family.unwrap_or(ResidualFamily::Normal);
        let dof = match (family, &residual.dof) {
            (ResidualFamily::StudentT, None) => DofChoice::Grid(RESIDUAL_DOFS.to_vec()),
            (ResidualFamily::PerCase, None) => DofChoice::Known(CASE_DOF),
            (ResidualFamily::StudentT | ResidualFamily::PerCase, Some(dof)) => {
                dof_choice(section, "dof", dof, &RESIDUAL_DOFS)?
            }
            (_, None) => DofChoice::Known(1.0),
            (_, Some(_)) => return conflict(section, "dof", "a family that has none"),
        };
        let by = residual.by.clone().unwrap_or_default();
        let sharing = residual.sharing.unwrap_or(ResidualSharing::PerTarget);
        if sharing == ResidualSharing::Covariance {
            if family != ResidualFamily::Normal {
                return conflict(section, "sharing = \"covariance\"", "a family other than normal");
            }
            if !by.is_empty() {
                return conflict(section, "sharing = \"covariance\"", "by");
            }
        }
        if residual.top_dof.is_some() && by.is_empty() {
            return conflict(section, "top_dof", "no column in by");
        }
        let default_dof = if by.is_empty() { DOF } else { BY_DOF };
        let variance = match residual.precision {
            Some(_) if residual.scale.is_some() => return conflict(section, "scale", "precision"),
            Some(_) if residual.scale_dof.is_some() => {
                return conflict(section, "scale_dof", "precision");
            }
            Some(_) if !by.is_empty() => return conflict(section, "precision", "by"),
            Some(gamma) => {
                let shape = positive(section, "precision.shape", gamma.shape)?;
                let scale = positive(section, "precision.scale", gamma.scale)?;
                InverseGamma::from_shape_rate(shape, 1.0 / scale)
            }
            None => {
                let scale = positive(section, "scale", residual.scale.unwrap_or(SCALE))?;
                let dof = residual.scale_dof.unwrap_or(default_dof);
                InverseGamma::new(scale, positive(section, "scale_dof", dof)?)
            }
        };
        let variance = variance.map_err(|_| {
            SpecError::out_of_range(section, "scale", f64::NAN, "positive and of ordinary size")
        })?;
        let top_dof = positive(section, "top_dof", residual.top_dof.unwrap_or(DOF))?;
        Ok(ResidualPrior { family, dof, by, sharing, variance, top_dof })
    }

    /// Writes every default.
    pub(in crate::model) fn complete(&self, residual: &mut ResidualSpec) {
        residual.family = Some(self.family);
        residual.sharing = Some(self.sharing);
        if residual.precision.is_none() {
            residual.scale.get_or_insert(SCALE);
            let by = !self.by.is_empty();
            residual.scale_dof.get_or_insert(if by { BY_DOF } else { DOF });
            if by {
                residual.top_dof = Some(self.top_dof);
            }
        }
        if matches!(self.family, ResidualFamily::StudentT | ResidualFamily::PerCase) {
            residual.dof.get_or_insert(written(&self.dof));
        }
    }
}
