//! Check the residual model of real targets.

use crate::data::Task;
use crate::density::InverseGamma;
use crate::model::prior::{DofChoice, DofDensity, ScaleDensity, dof_choice, written};
use crate::model::spec::checks::{conflict, positive};
use crate::model::spec::{
    InferenceChoice, Priors, ResidualFamily, ResidualSharing, ResidualSpec, Spec, SpecError,
};

/// Median of a residual scale, and the standard deviation of its logarithm: nine in ten between
/// 0.03, below which it is hardly noise, and 3, the deviation of the targets three times.
const SCALE: f64 = 0.3;
const LOG_SD: f64 = 1.4;
/// Where only an inverse gamma variance will do (a covariance matrix of residuals, a conjugate
/// prior): its standard deviation scale and degrees of freedom. Nine in ten between 0.05 and 1.6.
const CONJUGATE_SCALE: f64 = 0.1;
const CONJUGATE_DOF: f64 = 1.0;
/// The same of the vague priors of MCMCstuff and FBM.
const VAGUE_SCALE: f64 = 0.05;
const VAGUE_DOF: f64 = 0.5;
/// Degrees of freedom of variances of single cases.
const CASE_DOF: f64 = 4.0;
/// Degrees of freedom of separate residual variances about their common scale.
const BY_DOF: f64 = 4.0;
/// Standard deviation of the slope of a log residual scale along a standardised input: nineteen in
/// twenty change the scale by a factor of at most e = 2.7 per standard deviation of the input.
const SLOPE_SD: f64 = 0.5;

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
    /// Inputs whose values have degrees of freedom each.
    pub(in crate::model) dof_by: Vec<String>,
    /// Inputs along which the log scale is linear.
    pub(in crate::model) slopes: Vec<String>,
    /// Standard deviation of the normal prior of these slopes.
    pub(in crate::model) slope_sd: f64,
    pub(in crate::model) sharing: ResidualSharing,
    /// Prior of a residual scale; with `by`, of the common scale above the separate ones.
    pub(in crate::model) scale: ScaleDensity,
    /// With `by`: degrees of freedom of separate variances about the common one.
    pub(in crate::model) by_dof: f64,
}

impl ResidualPrior {
    /// Checks `[residual]`.
    pub(in crate::model) fn new(spec: &Spec) -> Result<Self, SpecError> {
        Self::checked(spec, false)
    }

    /// Checks `[residual]` for weights whose prior is conjugate with an inverse gamma variance.
    pub(in crate::model) fn conjugate(spec: &Spec) -> Result<Self, SpecError> {
        Self::checked(spec, true)
    }

    fn checked(spec: &Spec, conjugate: bool) -> Result<Self, SpecError> {
        let section = "residual";
        if spec.data.censored.is_some() && spec.data.event.is_some() {
            return conflict("data", "event", "censored, which says the same the other way round");
        }
        let empty = ResidualSpec::default();
        let residual = spec.residual.as_ref().unwrap_or(&empty);
        let vague = spec.model.priors.unwrap_or_default() != Priors::WeaklyInformative;
        let family = family_of(spec, residual)?;
        let dof_of_residuals = match (family, &residual.dof) {
            // An ensemble is normal in their logarithm.
            (ResidualFamily::StudentT, None)
                if spec.sampling.inference() == InferenceChoice::Variational =>
            {
                DofChoice::Continuous(DofDensity::usual())
            }
            (ResidualFamily::StudentT, None) => DofChoice::Grid(RESIDUAL_DOFS.to_vec()),
            (ResidualFamily::PerCase, None) => DofChoice::Known(CASE_DOF),
            (ResidualFamily::StudentT | ResidualFamily::PerCase, Some(dof)) => {
                dof_choice(section, "dof", dof, &RESIDUAL_DOFS)?
            }
            (_, None) => DofChoice::Known(1.0),
            (_, Some(_)) => return conflict(section, "dof", "a family that has none"),
        };
        if family.is_of_counts() || family.is_of_durations() {
            refuse_for_outcomes(family, residual)?;
        }
        let by = residual.by.clone().unwrap_or_default();
        let dof_by = residual.dof_by.clone().unwrap_or_default();
        if !dof_by.is_empty() && family != ResidualFamily::StudentT {
            return conflict(section, "dof_by", "a family other than student-t");
        }
        if let (false, DofChoice::Known(_)) = (dof_by.is_empty(), &dof_of_residuals) {
            return conflict(section, "dof_by", "dof = a number, which is that of all rows");
        }
        let slopes = residual.slopes.clone().unwrap_or_default();
        let sharing = residual.sharing.unwrap_or(ResidualSharing::PerTarget);
        if sharing == ResidualSharing::Covariance {
            if family != ResidualFamily::Normal {
                return conflict(section, "sharing = \"covariance\"", "a family other than normal");
            }
            if !by.is_empty() {
                return conflict(section, "sharing = \"covariance\"", "by");
            }
            if !slopes.is_empty() {
                return conflict(section, "sharing = \"covariance\"", "slopes");
            }
        }
        if slopes.iter().any(|name| by.contains(name)) {
            return conflict(section, "slopes", "the same column in by; name it once");
        }
        if residual.slope_sd.is_some() && slopes.is_empty() {
            return conflict(section, "slope_sd", "no column in slopes");
        }
        if residual.top_dof.is_some() && by.is_empty() {
            return conflict(section, "top_dof", "no column in by");
        }
        let given = [
            ("scale", residual.scale.is_some()),
            ("scale_dof", residual.scale_dof.is_some()),
            ("log_sd", residual.log_sd.is_some()),
        ];
        let conjugate = conjugate || sharing == ResidualSharing::Covariance;
        let checked = |key, value| positive(section, key, value);
        let scale = |usual: f64| checked("scale", residual.scale.unwrap_or(usual));
        let log_normal = || match residual.log_sd {
            Some(_) if conjugate => {
                conflict(section, "log_sd", "what needs an inverse gamma variance")
            }
            given => checked("log_sd", given.unwrap_or(LOG_SD)),
        };
        // Degrees of freedom of the one scale, or of the scale above all.
        let dof = if by.is_empty() { residual.scale_dof } else { residual.top_dof };
        let density = match (residual.precision, dof) {
            (Some(_), _) if !by.is_empty() => return conflict(section, "precision", "by"),
            (Some(gamma), _) => {
                if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
                    return conflict(section, key, "precision");
                }
                let shape = checked("precision.shape", gamma.shape)?;
                let scale = checked("precision.scale", gamma.scale)?;
                InverseGamma::from_shape_rate(shape, 1.0 / scale).map(ScaleDensity::from)
            }
            (None, Some(_)) if residual.log_sd.is_some() => {
                return conflict(section, "log_sd", "degrees of freedom of the same scale");
            }
            (None, Some(dof)) => {
                let key = if by.is_empty() { "scale_dof" } else { "top_dof" };
                let usual = if vague { VAGUE_SCALE } else { CONJUGATE_SCALE };
                ScaleDensity::inverse_gamma(scale(usual)?, checked(key, dof)?)
            }
            (None, None) if vague && residual.log_sd.is_none() => {
                ScaleDensity::inverse_gamma(scale(VAGUE_SCALE)?, VAGUE_DOF)
            }
            (None, None) if conjugate && residual.log_sd.is_none() => {
                ScaleDensity::inverse_gamma(scale(CONJUGATE_SCALE)?, CONJUGATE_DOF)
            }
            (None, None) => ScaleDensity::log_normal(scale(SCALE)?, log_normal()?),
        };
        let density = density.map_err(|_| {
            SpecError::out_of_range(section, "scale", f64::NAN, "positive and of ordinary size")
        })?;
        let by_dof = match residual.scale_dof.filter(|_| !by.is_empty()) {
            Some(dof) => checked("scale_dof", dof)?,
            None => BY_DOF,
        };
        let slope_sd = checked("slope_sd", residual.slope_sd.unwrap_or(SLOPE_SD))?;
        Ok(ResidualPrior {
            family,
            dof: dof_of_residuals,
            by,
            dof_by,
            slopes,
            slope_sd,
            sharing,
            scale: density,
            by_dof,
        })
    }

    /// Writes every default.
    pub(in crate::model) fn complete(&self, residual: &mut ResidualSpec) {
        residual.family = Some(self.family);
        if self.family == ResidualFamily::Poisson {
            return;
        }
        if !self.family.is_of_counts() && !self.family.is_of_durations() {
            residual.sharing = Some(self.sharing);
        }
        let by = !self.by.is_empty();
        if by {
            residual.scale_dof = Some(self.by_dof);
        }
        if !self.slopes.is_empty() {
            residual.slope_sd = Some(self.slope_sd);
        }
        if residual.precision.is_none() {
            match self.scale {
                ScaleDensity::InverseGamma(variance) => {
                    residual.scale = Some(variance.scale());
                    let dof = if by { &mut residual.top_dof } else { &mut residual.scale_dof };
                    *dof = Some(variance.dof());
                }
                ScaleDensity::LogNormal(_) => {
                    residual.scale.get_or_insert(SCALE);
                    residual.log_sd.get_or_insert(LOG_SD);
                }
            }
        }
        if matches!(self.family, ResidualFamily::StudentT | ResidualFamily::PerCase) {
            residual.dof.get_or_insert(written(&self.dof));
        }
    }
}

/// The family, which must be one of the targets' task.
fn family_of(spec: &Spec, residual: &ResidualSpec) -> Result<ResidualFamily, SpecError> {
    let (task, given) = (spec.task(), residual.family);
    let (counts, durations) = (task == Some(Task::Count), task == Some(Task::Duration));
    match given {
        None if counts => Ok(ResidualFamily::Poisson),
        None if durations => Ok(ResidualFamily::Weibull),
        None => Ok(ResidualFamily::Normal),
        Some(family) if family.is_of_durations() && !durations => {
            conflict("residual", "a family of durations", "a task other than \"duration\"")
        }
        Some(family) if durations && !family.is_of_durations() => conflict(
            "residual",
            "a family of other targets",
            "task = \"duration\", whose families are weibull and log-normal",
        ),
        Some(family) if family.is_of_counts() && !counts => {
            conflict("residual", "a family of counts", "a task other than \"count\"")
        }
        Some(family) if counts && !family.is_of_counts() => conflict(
            "residual",
            "a family of other targets",
            "task = \"count\", whose families are poisson and negative-binomial",
        ),
        Some(family) => Ok(family),
    }
}

/// Refuses what counts and durations have not: scales of residuals in the unit of the target.
fn refuse_for_outcomes(family: ResidualFamily, residual: &ResidualSpec) -> Result<(), SpecError> {
    let never = [
        ("by", residual.by.is_some()),
        ("dof_by", residual.dof_by.is_some()),
        ("slopes", residual.slopes.is_some()),
        ("slope_sd", residual.slope_sd.is_some()),
        ("top_dof", residual.top_dof.is_some()),
        ("sharing", residual.sharing.is_some()),
        ("precision", residual.precision.is_some()),
    ];
    if let Some((key, _)) = never.into_iter().find(|(_, given)| *given) {
        return conflict("residual", key, "a family of counts or durations");
    }
    let of_overdispersion = [
        ("scale", residual.scale.is_some()),
        ("scale_dof", residual.scale_dof.is_some()),
        ("log_sd", residual.log_sd.is_some()),
    ];
    match of_overdispersion.into_iter().find(|(_, given)| *given) {
        Some((key, _)) if family == ResidualFamily::Poisson => {
            conflict("residual", key, "family = \"poisson\", whose variance is its mean")
        }
        _ => Ok(()),
    }
}
