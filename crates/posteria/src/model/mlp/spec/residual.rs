//! Check the residual model of a network's real targets.

use super::super::defaults::{self, RESIDUAL_DOFS};
use super::{DofChoice, conflict, dof_choice, positive};
use crate::density::InverseGamma;
use crate::model::spec::{ResidualFamily, ResidualSharing, ResidualSpec, SpecError};

/// The residual model of real targets.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model::mlp) struct ResidualPrior {
    pub(in crate::model::mlp) family: ResidualFamily,
    /// Of Student's t and of per-case variances.
    pub(in crate::model::mlp) dof: DofChoice,
    pub(in crate::model::mlp) by: Vec<String>,
    pub(in crate::model::mlp) sharing: ResidualSharing,
    /// Prior of a residual variance; with `by`, `scale` is that of the level above.
    pub(in crate::model::mlp) variance: InverseGamma,
    /// With `by`: the degrees of freedom of the common scale above.
    pub(in crate::model::mlp) top_dof: f64,
}

impl ResidualPrior {
    /// Checks `[residual]`.
    pub(super) fn new(residual: &ResidualSpec) -> Result<Self, SpecError> {
        let section = "residual";
        let family = residual.family.unwrap_or(ResidualFamily::Normal);
        let dof = match (family, &residual.dof) {
            (ResidualFamily::StudentT, None) => DofChoice::Grid(RESIDUAL_DOFS.to_vec()),
            (ResidualFamily::PerCase, None) => DofChoice::Known(defaults::CASE_DOF),
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
        let default_dof = if by.is_empty() { defaults::DOF } else { defaults::RESIDUAL_BY_DOF };
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
                let scale = positive(section, "scale", residual.scale.unwrap_or(defaults::SCALE))?;
                let dof = residual.scale_dof.unwrap_or(default_dof);
                InverseGamma::new(scale, positive(section, "scale_dof", dof)?)
            }
        };
        let variance = variance.map_err(|_| {
            SpecError::out_of_range(section, "scale", f64::NAN, "positive and of ordinary size")
        })?;
        let top_dof = positive(section, "top_dof", residual.top_dof.unwrap_or(defaults::DOF))?;
        Ok(ResidualPrior { family, dof, by, sharing, variance, top_dof })
    }
}
