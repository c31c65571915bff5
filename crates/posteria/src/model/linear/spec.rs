//! Check a specification of a linear model, and fill in its defaults.

use super::scale::ScalePrior;
use crate::data::Task;
use crate::density::InverseGamma;
use crate::model::residual::ResidualPrior;
use crate::model::spec::checks::{conflict, positive};
use crate::model::spec::{
    BasisSpec, Dof, ModelKind, PriorFamily, PriorSpec, ResidualFamily, ResidualSharing,
    ResidualSpec, SelectionSpec, Sharing, Spec, SpecError,
};

/// Standard deviation scale of the weights' prior: effects of half a standard deviation.
const WEIGHT_SCALE: f64 = 0.5;
/// Its degrees of freedom: a single weight is Cauchy.
const WEIGHT_DOF: f64 = 1.0;
/// Standard deviation of the intercept: vague on the standardised scale and for log odds.
const INTERCEPT_SCALE: f64 = 10.0;

const WEIGHTS: &str = "prior.weights";
const INTERCEPT: &str = "prior.intercept";

/// A linear, logistic or softmax regression whose specification has passed its checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    pub(super) task: Option<Task>,
    pub(super) intercept: bool,
    pub(super) weights: WeightPrior,
    pub(super) intercept_prior: ScalePrior,
    pub(super) residual: ResidualPrior,
    pub(super) basis: Option<BasisSpec>,
    pub(super) selection: Option<SelectionSpec>,
}

/// The prior of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WeightPrior {
    /// N(0, a²) with a common a or one per input.
    Normal { sharing: Sharing, scale: ScalePrior },
    /// N(0, σ²/ρ), the intercept included.
    Conjugate { rho: f64 },
}

impl Linear {
    /// Checks the sections `[model]`, `[prior.*]` and `[residual]` of a specification.
    ///
    /// | key | default | meaning |
    /// |---|---|---|
    /// | `model.intercept` | `true` | whether there is an intercept |
    /// | `model.basis` | | functions that take the place of every real input, [`BasisSpec`] |
    /// | `prior.weights.family` | `"normal"` | `"normal"`, `"independent"`, `"conjugate"` |
    /// | `prior.weights.sharing` | `"common"` | one scale, or one `"per-input"` |
    /// | `prior.weights.scale`, `.dof` | 0.5, 1 | inverse gamma prior of a² |
    /// | `prior.weights.fixed` | | a itself, in their place |
    /// | `prior.weights.shape`, `.rate_scale` | | independent: gamma prior of 1/a² |
    /// | `prior.weights.rho` | | conjugate: precision of the weights is ρ/σ² |
    /// | `prior.intercept.fixed` | 10 | standard deviation; or `scale` and `dof` |
    /// | `residual.scale`, `.scale_dof` | 0.05, 0.5 | inverse gamma prior of σ² |
    /// | `residual.precision` | | `{ shape, scale }` of a gamma prior of 1/σ², in their place |
    /// | `residual.family` | `"normal"` | `"normal"`, `"student-t"`, `"laplace"`, `"per-case"` |
    /// | `residual.dof` | `"unknown"` | of Student's t (4 for per-case variances) |
    /// | `residual.by` | | columns whose values have a residual scale each |
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        let not_available = |what: &str| Err(SpecError::NotAvailable { what: what.into() });
        if spec.model.kind != ModelKind::Linear {
            return not_available(&format!("kind = \"{}\"", spec.model.kind.name()));
        }
        if spec.model.hidden.is_some() || spec.model.direct.is_some() {
            return conflict("model", "hidden", "kind = \"linear\"");
        }
        let sampling = &spec.sampling;
        let of_networks = [
            ("kernel", sampling.kernel.is_some()),
            ("leapfrog_steps", sampling.leapfrog_steps.is_some()),
            ("window", sampling.window.is_some()),
            ("persistence", sampling.persistence.is_some()),
            ("temperatures", sampling.temperatures.is_some()),
            ("start", sampling.start.is_some()),
        ];
        if let Some((key, _)) = of_networks.into_iter().find(|(_, given)| *given) {
            return conflict("sampling", key, "kind = \"linear\"");
        }
        spec.refuse_process_keys()?;
        if let Some(basis) = &spec.model.basis {
            basis.check()?;
        }
        const KNOWN: [&str; 2] = ["weights", "intercept"];
        if let Some(name) = spec.prior.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            let (section, name) = ("prior", name.clone());
            return Err(SpecError::UnknownSection { section, name, known: &KNOWN });
        }
        let absent = PriorSpec::default();
        let weights = weight_prior(spec.prior.get("weights").unwrap_or(&absent))?;
        let intercept = spec.model.intercept.unwrap_or(true);
        let given = spec.prior.get("intercept");
        match (given.is_some(), intercept, weights) {
            (true, false, _) => {
                return conflict("prior", "intercept", "intercept = false in [model]");
            }
            (true, true, WeightPrior::Conjugate { .. }) => {
                return conflict("prior", "intercept", "family = \"conjugate\", which covers it");
            }
            _ => {}
        }
        match spec.model.task {
            Some(Task::Binary) => classes(spec, weights, "task = \"binary\"")?,
            Some(Task::Multiclass) => classes(spec, weights, "task = \"multiclass\"")?,
            _ => {}
        }
        let residual = residual(spec.residual.as_ref().unwrap_or(&ResidualSpec::default()))?;
        let homogeneous = residual.family == ResidualFamily::Normal && residual.by.is_empty();
        if let (WeightPrior::Conjugate { .. }, false) = (weights, homogeneous) {
            let key = "family = \"conjugate\"";
            return conflict(WEIGHTS, key, "residuals other than normal ones of one scale");
        }
        Ok(Linear {
            task: spec.model.task,
            intercept,
            weights,
            intercept_prior: intercept_prior(given.unwrap_or(&absent))?,
            residual,
            basis: spec.model.basis.clone(),
            selection: spec.selection.clone(),
        })
    }

    /// Writes every default that applies to `task` into `spec`.
    pub(crate) fn complete(&self, spec: &mut Spec, task: Task) -> Result<(), SpecError> {
        if self.task.is_some_and(|given| given != task) {
            return conflict("model", "task", "the targets, which set another one");
        }
        spec.model.task = Some(task);
        spec.model.intercept = Some(self.intercept);
        let weights = spec.prior.entry("weights".into()).or_default();
        weights.family.get_or_insert(PriorFamily::Normal);
        if let WeightPrior::Normal { sharing, scale } = self.weights {
            if let ScalePrior::Sampled(_) = scale {
                weights.sharing = Some(sharing);
                if weights.family == Some(PriorFamily::Normal) {
                    weights.scale.get_or_insert(WEIGHT_SCALE);
                    weights.dof.get_or_insert(Dof::Known(WEIGHT_DOF));
                }
            }
            if self.intercept {
                let intercept = spec.prior.entry("intercept".into()).or_default();
                intercept.family.get_or_insert(PriorFamily::Normal);
                match self.intercept_prior {
                    ScalePrior::Fixed(scale) => intercept.fixed = Some(scale),
                    ScalePrior::Sampled(_) => {
                        intercept.scale.get_or_insert(WEIGHT_SCALE);
                        intercept.dof.get_or_insert(Dof::Known(WEIGHT_DOF));
                    }
                }
            }
        }
        if task == Task::Regression {
            let residual = spec.residual.get_or_insert_default();
            // With one target there is nothing to share.
            let sharing = residual.sharing;
            self.residual.complete(residual);
            residual.sharing = sharing;
        }
        // A task that only the targets told must pass the same checks as one that was written.
        Linear::new(spec).map(|_| ())
    }
}

/// Refuses what is for real targets only.
fn classes(spec: &Spec, weights: WeightPrior, task: &'static str) -> Result<(), SpecError> {
    if spec.residual.is_some() {
        return conflict("residual", "the section", task);
    }
    if let WeightPrior::Conjugate { .. } = weights {
        return conflict(WEIGHTS, "family = \"conjugate\"", task);
    }
    Ok(())
}

fn residual(residual: &ResidualSpec) -> Result<ResidualPrior, SpecError> {
    if residual.sharing == Some(ResidualSharing::Covariance) {
        return conflict("residual", "sharing = \"covariance\"", "kind = \"linear\"");
    }
    ResidualPrior::new(residual)
}

/// Refuses keys of a weight group other than `allowed`.
fn only(
    section: &str,
    prior: &PriorSpec,
    allowed: &[&str],
    with: &'static str,
) -> Result<(), SpecError> {
    let given = [
        ("sharing", prior.sharing.is_some()),
        ("fixed", prior.fixed.is_some()),
        ("scale", prior.scale.is_some()),
        ("dof", prior.dof.is_some()),
        ("width_scaled", prior.width_scaled.is_some()),
        ("weight_dof", prior.weight_dof.is_some()),
        ("rho", prior.rho.is_some()),
        ("shape", prior.shape.is_some()),
        ("rate_scale", prior.rate_scale.is_some()),
    ];
    match given.into_iter().find(|(key, given)| *given && !allowed.contains(key)) {
        Some((key, _)) => conflict(section, key, with),
        None => Ok(()),
    }
}

fn weight_prior(prior: &PriorSpec) -> Result<WeightPrior, SpecError> {
    let sharing = prior.sharing.unwrap_or(Sharing::Common);
    if prior.top_dof.is_some() {
        return Err(SpecError::NotAvailable { what: format!("top_dof in [{WEIGHTS}]") });
    }
    let needed = |key, value: Option<f64>, with| match value {
        Some(value) => positive(WEIGHTS, key, value),
        None => Err(SpecError::Missing { section: WEIGHTS.into(), key, with }),
    };
    match prior.family.unwrap_or(PriorFamily::Normal) {
        PriorFamily::Normal => {
            let scale = normal_scale(WEIGHTS, prior, None, &["sharing"])?;
            Ok(WeightPrior::Normal { sharing, scale })
        }
        PriorFamily::Independent => {
            let with = "family = \"independent\"";
            only(WEIGHTS, prior, &["sharing", "shape", "rate_scale"], with)?;
            let shape = needed("shape", prior.shape, with)?;
            let scale = needed("rate_scale", prior.rate_scale, with)?;
            let scale = gamma(WEIGHTS, "rate_scale", shape, scale)?;
            Ok(WeightPrior::Normal { sharing, scale: ScalePrior::Sampled(scale) })
        }
        PriorFamily::Conjugate => {
            let with = "family = \"conjugate\"";
            only(WEIGHTS, prior, &["rho"], with)?;
            Ok(WeightPrior::Conjugate { rho: needed("rho", prior.rho, with)? })
        }
        _ => {
            let what = format!("this family in [{WEIGHTS}] of a linear model");
            Err(SpecError::NotAvailable { what })
        }
    }
}

fn intercept_prior(prior: &PriorSpec) -> Result<ScalePrior, SpecError> {
    if prior.top_dof.is_some() || !matches!(prior.family, None | Some(PriorFamily::Normal)) {
        let what = format!("a prior of [{INTERCEPT}] other than normal with two levels");
        return Err(SpecError::NotAvailable { what });
    }
    normal_scale(INTERCEPT, prior, Some(INTERCEPT_SCALE), &[])
}

/// The scale of a normal group: `fixed`, or `scale` and `dof`, or the default.
fn normal_scale(
    section: &str,
    prior: &PriorSpec,
    default: Option<f64>,
    also: &[&str],
) -> Result<ScalePrior, SpecError> {
    let sampled = [&["scale", "dof", "fixed"], also].concat();
    only(section, prior, &sampled, "family = \"normal\"")?;
    let absent = prior.scale.is_none() && prior.dof.is_none();
    if let Some(fixed) = prior.fixed.or(default.filter(|_| absent)) {
        only(section, prior, &["fixed"], "fixed")?;
        return positive(section, "fixed", fixed).map(ScalePrior::Fixed);
    }
    let scale = positive(section, "scale", prior.scale.unwrap_or(WEIGHT_SCALE))?;
    let dof = match &prior.dof {
        None => WEIGHT_DOF,
        Some(Dof::Known(dof)) => positive(section, "dof", *dof)?,
        Some(_) => {
            let what = format!("sampled dof in [{section}] of a linear model");
            return Err(SpecError::NotAvailable { what });
        }
    };
    inverse_gamma(section, "scale", scale, dof).map(ScalePrior::Sampled)
}

/// Gamma prior by shape and scale; a scale whose inverse overflows is out of range.
fn gamma(
    section: &str,
    key: &'static str,
    shape: f64,
    scale: f64,
) -> Result<InverseGamma, SpecError> {
    InverseGamma::from_shape_rate(shape, 1.0 / scale)
        .map_err(|_| SpecError::out_of_range(section, key, scale, "of ordinary size"))
}

/// Inverse gamma prior by scale and dof; a scale whose square overflows is out of range.
fn inverse_gamma(
    section: &str,
    key: &'static str,
    scale: f64,
    dof: f64,
) -> Result<InverseGamma, SpecError> {
    InverseGamma::new(scale, dof)
        .map_err(|_| SpecError::out_of_range(section, key, scale, "of ordinary size"))
}
