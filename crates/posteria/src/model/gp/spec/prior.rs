//! Check the priors of hyperparameters.

use super::super::hyperparameters::Kind;
use super::super::scale_prior::ScalePrior;
use super::{GaussianProcess, MEAN_SCALE, of_prior};
use crate::density::{Gamma, HalfStudentT, InverseGamma, LogNormal, ParameterError};
use crate::model::prior::{DofChoice, SpreadChoice, TopChoice, dof_choice, written};
use crate::model::spec::checks::{conflict, rounded};
use crate::model::spec::{
    Dof, MeanChoice, PriorFamily, PriorSpec, Sharing, Spec, SpecError, WidthRule, WidthScaled,
};

/// Standard deviation scale and degrees of freedom of an inverse gamma prior that gives neither.
const VAGUE_SCALE: f64 = 0.05;
const VAGUE_DOF: f64 = 0.5;
/// Degrees of freedom of a half-Student-t prior.
const HALF_DOF: f64 = 4.0;
/// Standard deviation of the logarithm under a log-normal prior.
const LOG_SD: f64 = 1.0;

/// The prior of a group of hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model::gp) enum GroupPrior {
    /// Independent.
    Each(ScalePrior),
    /// About a common scale that is sampled too, or with degrees of freedom that are; `by_root`
    /// divides the scale by the root of the number of inputs.
    Levels { scale: f64, spread: SpreadChoice, top: Option<TopChoice>, by_root: bool },
}

impl GroupPrior {
    pub(in crate::model::gp) fn has_sampled_dof(&self) -> bool {
        matches!(self, GroupPrior::Levels { spread: SpreadChoice::Dof(DofChoice::Grid(_)), .. })
    }
}

/// The prior of every kind of hyperparameter, in the order of [`Kind::ALL`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model::gp) struct GroupPriors([GroupPrior; 5]);

impl GroupPriors {
    pub(super) fn new(spec: &Spec) -> Result<Self, SpecError> {
        let group = |kind: Kind| {
            let usual = spec.usual_prior(kind.name());
            group_prior(kind, spec.prior.get(kind.name()).unwrap_or(&usual), &usual)
        };
        let [a, b, c, d, e] = Kind::ALL;
        Ok(GroupPriors([group(a)?, group(b)?, group(c)?, group(d)?, group(e)?]))
    }

    pub(in crate::model::gp) fn of(&self, kind: Kind) -> &GroupPrior {
        &self.0[kind as usize]
    }

    /// Writes the priors of everything that the covariance function has and is not known.
    pub(super) fn complete(&self, spec: &mut Spec, model: &GaussianProcess) {
        let used = |kind: Kind| match kind {
            Kind::Magnitude => true,
            Kind::Relevance => model.covariance.trim() != "constant",
            Kind::Shape => names(model, &["rational-quadratic", "rq"]),
            Kind::Period => names(model, &["periodic"]),
            Kind::Bias => names(model, &["neural-network", "nn"]),
        };
        let known = |kind: Kind| match kind {
            Kind::Magnitude => model.known.magnitude.is_some(),
            Kind::Relevance => model.known.relevance.is_some(),
            Kind::Shape => model.known.shape.is_some(),
            Kind::Period => model.known.period.is_some(),
            Kind::Bias => model.known.bias.is_some(),
        };
        for kind in Kind::ALL {
            if !used(kind) {
                continue;
            }
            let prior = spec.prior.entry(kind.name().into()).or_default();
            let sharing = (kind == Kind::Relevance).then_some(model.sharing);
            *prior = match known(kind) {
                // Known values have no prior, but relevances are per input or common.
                true => PriorSpec { sharing, ..PriorSpec::default() },
                false => PriorSpec { sharing, ..written_prior(self.of(kind), prior) },
            };
        }
        spec.prior.retain(|_, prior| *prior != PriorSpec::default());
        if model.mean != MeanChoice::Zero {
            let fixed = Some(model.mean_scale);
            spec.prior.insert("mean".into(), PriorSpec { fixed, ..PriorSpec::default() });
        }
    }
}

/// Whether the covariance function has a factor of one of these names.
fn names(model: &GaussianProcess, names: &[&str]) -> bool {
    let factors = model.covariance.split(['+', '*']);
    let mut words = factors.map(|factor| factor.split('(').next().unwrap_or("").trim());
    words.any(|word| names.contains(&word))
}

/// Standard deviation of the coefficients of the mean function.
pub(super) fn mean_scale(spec: &Spec, mean: MeanChoice) -> Result<f64, SpecError> {
    let Some(prior) = spec.prior.get("mean") else { return Ok(MEAN_SCALE) };
    if mean == MeanChoice::Zero {
        return conflict("prior.mean", "any key", "mean = \"zero\"");
    }
    let fixed = prior.fixed;
    if (PriorSpec { fixed, ..PriorSpec::default() }) != *prior {
        return conflict("prior.mean", "a key other than fixed", "a mean function");
    }
    of_prior("mean", "fixed", fixed.unwrap_or(MEAN_SCALE))
}

fn group_prior(
    kind: Kind,
    prior: &PriorSpec,
    default: &PriorSpec,
) -> Result<GroupPrior, SpecError> {
    let name = kind.name();
    let section = &format!("prior.{name}");
    if prior.sharing.is_some() && kind != Kind::Relevance {
        return conflict(section, "sharing", "hyperparameters that no input has");
    }
    if prior.fixed.is_some() {
        return conflict(section, "fixed", "kind = \"gp\", which has [hyperparameters] for it");
    }
    // Degrees of freedom belong to inverse gamma priors, whatever is usual.
    let of_dof = prior.dof.is_some() || prior.top_dof.is_some();
    let usual = match default.family {
        Some(family) if !of_dof => family,
        _ => PriorFamily::InverseGamma,
    };
    let family = prior.family.unwrap_or(usual);
    refuse_keys(section, (kind, family), prior)?;
    // What a section leaves out is usual, of the usual family.
    let default = if default.family == Some(family) { default } else { &PriorSpec::default() };
    let scale =
        |usual: f64| of_prior(name, "scale", prior.scale.or(default.scale).unwrap_or(usual));
    let needed = |key: &'static str, value: Option<f64>, with: &'static str| match value {
        Some(value) => of_prior(name, key, value),
        None => Err(SpecError::Missing { section: section.clone(), key, with }),
    };
    let extreme = |_: ParameterError| {
        SpecError::out_of_range(section, "scale", f64::NAN, "positive and of ordinary size")
    };
    let each = match family {
        PriorFamily::InverseGamma => return inverse_gamma(kind, section, prior, default),
        PriorFamily::HalfStudentT => {
            let dof = match prior.dof {
                None => HALF_DOF,
                Some(Dof::Known(dof)) => of_prior(name, "dof", dof)?,
                Some(_) => {
                    return conflict(
                        section,
                        "dof",
                        "a half-Student-t prior, which needs a number",
                    );
                }
            };
            ScalePrior::HalfStudentT(HalfStudentT::new(scale(1.0)?, dof).map_err(extreme)?)
        }
        PriorFamily::LogNormal => {
            let log_sd =
                of_prior(name, "log_sd", prior.log_sd.or(default.log_sd).unwrap_or(LOG_SD))?;
            if kind == Kind::Relevance {
                let silent = prior.scale.is_none() && prior.log_sd.is_none();
                let top = prior.top_log_sd.or(default.top_log_sd.filter(|_| silent));
                let top = top.map(|log_sd| of_prior(name, "top_log_sd", log_sd));
                let top = top.transpose()?.map(TopChoice::LogSd);
                // One relevance of all inputs has nothing to be about.
                let top = top.filter(|_| prior.sharing != Some(Sharing::Common));
                let (scale, spread) = (scale(1.0)?, SpreadChoice::LogSd(log_sd));
                let width = prior.width_scaled.or(default.width_scaled);
                let by_root = !matches!(width, None | Some(WidthScaled::Switch(false)));
                return Ok(GroupPrior::Levels { scale, spread, top, by_root });
            }
            ScalePrior::LogNormal(LogNormal::new(scale(1.0)?.ln(), log_sd).map_err(extreme)?)
        }
        PriorFamily::Gamma => {
            let shape = needed("shape", prior.shape, "family = \"gamma\"")?;
            ScalePrior::Gamma(Gamma::new(shape, scale(1.0)?).map_err(extreme)?)
        }
        PriorFamily::LogUniform => {
            let lower = needed("lower", prior.lower, "family = \"log-uniform\"")?.ln();
            let upper = needed("upper", prior.upper, "family = \"log-uniform\"")?.ln();
            if lower >= upper {
                let (value, must_be) = (upper.exp(), "above lower");
                return Err(SpecError::out_of_range(section, "upper", value, must_be));
            }
            ScalePrior::LogUniform { lower, upper }
        }
        _ => return conflict(section, "family", "kind = \"gp\", whose hyperparameters are scales"),
    };
    Ok(GroupPrior::Each(each))
}

fn inverse_gamma(
    kind: Kind,
    section: &str,
    prior: &PriorSpec,
    default: &PriorSpec,
) -> Result<GroupPrior, SpecError> {
    let name = kind.name();
    let scale = prior.scale.or(default.scale);
    let scale = of_prior(name, "scale", scale.unwrap_or(VAGUE_SCALE))?;
    let dof = prior.dof.clone().or(default.dof.clone()).unwrap_or(Dof::Known(VAGUE_DOF));
    let dof = dof_choice(section, "dof", &dof, &crate::model::mlp::GROUP_DOFS)?;
    if matches!(dof, DofChoice::Continuous(_)) {
        return conflict(section, "dof", "a density of ν, which only residuals have");
    }
    // Relevances of which nothing is said have the usual level above them.
    let silent = prior.scale.is_none() && prior.dof.is_none() && kind == Kind::Relevance;
    let silent = silent && prior.sharing != Some(Sharing::Common);
    let top_dof = prior.top_dof.or(default.top_dof.filter(|_| silent));
    let top_dof = top_dof.map(|dof| of_prior(name, "top_dof", dof)).transpose()?;
    match (dof, top_dof) {
        (DofChoice::Known(dof), None) => match InverseGamma::new(scale, dof) {
            Ok(prior) => Ok(GroupPrior::Each(ScalePrior::InverseGamma(prior))),
            Err(_) => {
                let must_be = "positive and of ordinary size";
                Err(SpecError::out_of_range(section, "scale", scale, must_be))
            }
        },
        (dof, top_dof) => {
            let (spread, top) = (SpreadChoice::Dof(dof), top_dof.map(TopChoice::Dof));
            Ok(GroupPrior::Levels { scale, spread, top, by_root: false })
        }
    }
}

/// Refuses keys that the family does not have.
fn refuse_keys(
    section: &str,
    (kind, family): (Kind, PriorFamily),
    prior: &PriorSpec,
) -> Result<(), SpecError> {
    let of_family: &[&str] = match family {
        PriorFamily::InverseGamma => &["scale", "dof", "top_dof"],
        PriorFamily::HalfStudentT => &["scale", "dof"],
        PriorFamily::LogNormal if kind == Kind::Relevance => {
            &["scale", "log_sd", "top_log_sd", "width_scaled"]
        }
        PriorFamily::LogNormal => &["scale", "log_sd"],
        PriorFamily::Gamma => &["scale", "shape"],
        PriorFamily::LogUniform => &["lower", "upper"],
        // Refused by its name.
        _ => &["scale"],
    };
    let allowed = [&["family", "sharing"], of_family].concat();
    prior.only(section, &allowed, "this family of priors")
}

/// The prior with every key; `given` keeps its own words for degrees of freedom.
fn written_prior(checked: &GroupPrior, given: &PriorSpec) -> PriorSpec {
    let empty = PriorSpec::default();
    match checked {
        GroupPrior::Levels { scale, spread, top, by_root } => {
            let of_inputs = matches!(spread, SpreadChoice::LogSd(_));
            let width_scaled = match by_root {
                true => Some(WidthScaled::By(WidthRule::Fbm)),
                false => of_inputs.then_some(WidthScaled::Switch(false)),
            };
            let (family, dof, log_sd) = match spread {
                SpreadChoice::Dof(dof) => {
                    let dof = given.dof.clone().unwrap_or_else(|| written(dof));
                    (PriorFamily::InverseGamma, Some(dof), None)
                }
                SpreadChoice::LogSd(log_sd) => (PriorFamily::LogNormal, None, Some(*log_sd)),
            };
            PriorSpec {
                family: Some(family),
                scale: Some(*scale),
                dof,
                log_sd,
                top_dof: top.and_then(TopChoice::dof),
                top_log_sd: top.and_then(TopChoice::log_sd),
                width_scaled,
                ..empty
            }
        }
        GroupPrior::Each(ScalePrior::InverseGamma(prior)) => PriorSpec {
            family: Some(PriorFamily::InverseGamma),
            scale: Some(prior.scale()),
            dof: Some(Dof::Known(prior.dof())),
            ..empty
        },
        GroupPrior::Each(ScalePrior::HalfStudentT(prior)) => PriorSpec {
            family: Some(PriorFamily::HalfStudentT),
            scale: Some(prior.scale()),
            dof: Some(Dof::Known(prior.dof())),
            ..empty
        },
        GroupPrior::Each(ScalePrior::LogNormal(prior)) => PriorSpec {
            family: Some(PriorFamily::LogNormal),
            scale: given.scale.or_else(|| Some(rounded(prior.logarithm().mean().exp()))),
            log_sd: Some(prior.logarithm().scale()),
            ..empty
        },
        GroupPrior::Each(ScalePrior::Gamma(prior)) => PriorSpec {
            family: Some(PriorFamily::Gamma),
            shape: Some(prior.shape()),
            scale: Some(prior.scale()),
            ..empty
        },
        GroupPrior::Each(ScalePrior::LogUniform { .. }) => {
            PriorSpec { family: Some(PriorFamily::LogUniform), ..given.clone() }
        }
    }
}
