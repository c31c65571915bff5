//! Check a specification of a linear model, and fill in its defaults.

use super::scale::ScalePrior;
use crate::data::Task;
use crate::density::InverseGamma;
use crate::model::prior::ScaleDensity;
use crate::model::residual::ResidualPrior;
use crate::model::spec::checks::{conflict, positive, rounded};
use crate::model::spec::{
    BasisSpec, Dof, InferenceChoice, Link, ModelKind, PriorFamily, PriorSpec, ResidualFamily,
    SelectionSpec, Sharing, Spec, SpecError,
};

const WEIGHTS: &str = "prior.weights";
const INTERCEPT: &str = "prior.intercept";

/// A linear, logistic or softmax regression whose specification has passed its checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    pub(super) task: Option<Task>,
    pub(super) link: Link,
    pub(super) intercept: bool,
    pub(super) weights: WeightPrior,
    pub(super) intercept_prior: ScalePrior,
    pub(super) residual: ResidualPrior,
    pub(super) basis: Option<BasisSpec>,
    pub(super) selection: Option<SelectionSpec>,
    /// What was checked.
    pub(super) spec: Spec,
}

/// The prior of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WeightPrior {
    /// N(0, a²) with a common a or one per input.
    Normal { sharing: Sharing, scale: ScalePrior },
    /// N(0, σ²/ρ), the intercept included.
    Conjugate { rho: f64 },
    /// None, of the intercept and the residuals neither: maximum likelihood.
    Flat,
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
    /// | `residual.dof_by` | | columns whose values have degrees of freedom of Student's t each |
    /// | `residual.slopes` | | columns along which the log of the residual scale is linear |
    /// | `residual.slope_sd` | 0.5 | standard deviation of the normal prior of these slopes |
    /// | `residual.sharing` | `"per-target"` | `"common"`, `"per-target"`, `"covariance"` |
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        let not_available = |what: &str| Err(SpecError::NotAvailable { what: what.into() });
        if spec.model.kind != ModelKind::Linear {
            return not_available(&format!("kind = \"{}\"", spec.model.kind.name()));
        }
        spec.refuse_other_kinds()?;
        if let Some(basis) = &spec.model.basis {
            basis.check()?;
        }
        spec.refuse_other_groups(&["weights", "intercept"])?;
        let usual = |group: &str| spec.usual_prior(group);
        let weights = match spec.sampling.inference() {
            InferenceChoice::Ml => {
                refuse_priors(spec)?;
                WeightPrior::Flat
            }
            _ => weight_prior(spec.prior.get("weights"), &usual("weights"))?,
        };
        let is_ordinal = spec.task() == Some(Task::Ordinal);
        if is_ordinal && spec.model.intercept == Some(true) {
            let with = "task = \"ordinal\", whose cut points take its place";
            return conflict("model", "intercept", with);
        }
        let intercept = spec.model.intercept.unwrap_or(!is_ordinal);
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
        let conjugate = matches!(weights, WeightPrior::Conjugate { .. });
        match spec.task() {
            Some(Task::Binary) => classes(spec, weights, "task = \"binary\"")?,
            Some(Task::Multiclass) => classes(spec, weights, "task = \"multiclass\"")?,
            Some(Task::Ordinal) => classes(spec, weights, "task = \"ordinal\"")?,
            Some(Task::Count) if conjugate => {
                return conflict(WEIGHTS, "family = \"conjugate\"", "task = \"count\"");
            }
            Some(Task::Duration) if conjugate => {
                return conflict(WEIGHTS, "family = \"conjugate\"", "task = \"duration\"");
            }
            _ => {}
        }
        let residual = residual(spec, conjugate)?;
        let homogeneous = residual.family == ResidualFamily::Normal
            && residual.by.is_empty()
            && residual.slopes.is_empty();
        if let (WeightPrior::Conjugate { .. }, false) = (weights, homogeneous) {
            let key = "family = \"conjugate\"";
            return conflict(WEIGHTS, key, "residuals other than normal ones of one scale");
        }
        Ok(Linear {
            task: spec.task(),
            link: spec.link()?,
            intercept,
            weights,
            intercept_prior: intercept_prior(given, &usual("intercept"))?,
            residual,
            basis: spec.model.basis.clone(),
            selection: spec.selection.clone(),
            spec: spec.clone(),
        })
    }

    /// The model with the defaults that depend on what the targets are.
    pub(super) fn for_task(&self, task: Task) -> Result<Linear, SpecError> {
        Linear::new(&self.spec.of_task(task))
    }

    /// Writes every default that applies to `task` into `spec`.
    pub(crate) fn complete(&self, spec: &mut Spec, task: Task) -> Result<(), SpecError> {
        if self.task.is_some_and(|given| given != task) {
            return conflict("model", "task", "the targets, which set another one");
        }
        if spec.model.task.is_none() {
            spec.model.task = Some(task);
            return Linear::new(spec)?.complete(spec, task);
        }
        spec.model.intercept = Some(self.intercept);
        if !self.has_prior() {
            if !task.is_of_classes() {
                spec.residual.get_or_insert_default().family = Some(self.residual.family);
            }
            return Linear::new(spec).map(|_| ());
        }
        spec.model.priors.get_or_insert_default();
        let weights = spec.prior.entry("weights".into()).or_default();
        weights.family.get_or_insert(PriorFamily::Normal);
        if let WeightPrior::Normal { sharing, scale } = self.weights {
            if let ScalePrior::Sampled(_) = scale {
                weights.sharing = Some(sharing);
            }
            if weights.family == Some(PriorFamily::Normal) {
                write_scale(weights, scale);
            }
            if self.intercept {
                let intercept = spec.prior.entry("intercept".into()).or_default();
                intercept.family.get_or_insert(PriorFamily::Normal);
                write_scale(intercept, self.intercept_prior);
            }
        }
        if !task.is_of_classes() {
            let residual = spec.residual.get_or_insert_default();
            let sharing = residual.sharing;
            self.residual.complete(residual);
            if spec.data.target.len() < 2 {
                // With one target there is nothing to share.
                residual.sharing = sharing;
            }
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

/// Refuses what maximum likelihood does not know.
fn refuse_priors(spec: &Spec) -> Result<(), SpecError> {
    let with = "inference = \"ml\", which knows no priors";
    if let Some(group) = spec.prior.keys().next() {
        return conflict(&format!("prior.{group}"), "the section", with);
    }
    if spec.model.priors.is_some() {
        return conflict("model", "priors", with);
    }
    if spec.selection.is_some() {
        return conflict("selection", "the section", with);
    }
    let residual = spec.residual.clone().unwrap_or_default();
    let given = [
        ("scale", residual.scale.is_some()),
        ("scale_dof", residual.scale_dof.is_some()),
        ("log_sd", residual.log_sd.is_some()),
        ("slope_sd", residual.slope_sd.is_some()),
        ("precision", residual.precision.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => conflict("residual", key, with),
        None => Ok(()),
    }
}

fn residual(spec: &Spec, conjugate: bool) -> Result<ResidualPrior, SpecError> {
    if conjugate { ResidualPrior::conjugate(spec) } else { ResidualPrior::new(spec) }
}

/// Writes the scale of a normal group.
fn write_scale(prior: &mut PriorSpec, scale: ScalePrior) {
    match scale {
        ScalePrior::Fixed(fixed) => prior.fixed = Some(fixed),
        ScalePrior::Sampled(density) => {
            // What is given keeps its digits.
            let scale = match density {
                ScaleDensity::InverseGamma(variance) => {
                    prior.dof = Some(Dof::Known(variance.dof()));
                    variance.scale()
                }
                ScaleDensity::LogNormal(density) => {
                    let logarithm = density.logarithm();
                    prior.log_sd = Some(logarithm.scale());
                    rounded(logarithm.mean().exp())
                }
            };
            prior.scale.get_or_insert(scale);
        }
    }
}

fn weight_prior(given: Option<&PriorSpec>, usual: &PriorSpec) -> Result<WeightPrior, SpecError> {
    let prior = given.unwrap_or(usual);
    let sharing = prior.sharing.unwrap_or(Sharing::Common);
    if prior.top_dof.is_some() || prior.top_log_sd.is_some() {
        return Err(SpecError::NotAvailable { what: format!("top_dof in [{WEIGHTS}]") });
    }
    let needed = |key, value: Option<f64>, with| match value {
        Some(value) => positive(WEIGHTS, key, value),
        None => Err(SpecError::Missing { section: WEIGHTS.into(), key, with }),
    };
    match prior.family.unwrap_or(PriorFamily::Normal) {
        PriorFamily::Normal => {
            let scale = normal_scale(WEIGHTS, prior, usual, &["sharing"])?;
            Ok(WeightPrior::Normal { sharing, scale })
        }
        PriorFamily::Independent => {
            let with = "family = \"independent\"";
            prior.only(WEIGHTS, &["family", "sharing", "shape", "rate_scale"], with)?;
            let shape = needed("shape", prior.shape, with)?;
            let scale = needed("rate_scale", prior.rate_scale, with)?;
            let scale = gamma(WEIGHTS, "rate_scale", shape, scale)?;
            Ok(WeightPrior::Normal { sharing, scale: ScalePrior::Sampled(scale.into()) })
        }
        PriorFamily::Conjugate => {
            let with = "family = \"conjugate\"";
            prior.only(WEIGHTS, &["family", "rho"], with)?;
            Ok(WeightPrior::Conjugate { rho: needed("rho", prior.rho, with)? })
        }
        _ => {
            let what = format!("this family in [{WEIGHTS}] of a linear model");
            Err(SpecError::NotAvailable { what })
        }
    }
}

fn intercept_prior(given: Option<&PriorSpec>, usual: &PriorSpec) -> Result<ScalePrior, SpecError> {
    let prior = given.unwrap_or(usual);
    if prior.top_dof.is_some()
        || prior.top_log_sd.is_some()
        || !matches!(prior.family, None | Some(PriorFamily::Normal))
    {
        let what = format!("a prior of [{INTERCEPT}] other than normal with two levels");
        return Err(SpecError::NotAvailable { what });
    }
    normal_scale(INTERCEPT, prior, usual, &[])
}

/// The scale of a normal group: `fixed`, or `scale` with `dof` or `log_sd`, or the usual.
fn normal_scale(
    section: &str,
    prior: &PriorSpec,
    usual: &PriorSpec,
    also: &[&str],
) -> Result<ScalePrior, SpecError> {
    let sampled = [&["family", "scale", "dof", "log_sd", "fixed"], also].concat();
    prior.only(section, &sampled, "family = \"normal\"")?;
    let silent = prior.scale.is_none() && prior.dof.is_none() && prior.log_sd.is_none();
    if let Some(fixed) = prior.fixed.or(usual.fixed.filter(|_| silent)) {
        prior.only(section, &["family", "fixed"], "fixed")?;
        return positive(section, "fixed", fixed).map(ScalePrior::Fixed);
    }
    let scale = positive(section, "scale", prior.scale.or(usual.scale).unwrap_or(1.0))?;
    let spreads = prior.dof.is_some() || prior.log_sd.is_some();
    let told = if spreads { prior } else { usual };
    let density = match (&told.dof, told.log_sd) {
        (Some(_), Some(_)) => return conflict(section, "log_sd", "dof"),
        (Some(Dof::Known(dof)), None) => {
            ScaleDensity::inverse_gamma(scale, positive(section, "dof", *dof)?)
        }
        (Some(_), None) => {
            let what = format!("sampled dof in [{section}] of a linear model");
            return Err(SpecError::NotAvailable { what });
        }
        (None, log_sd) => {
            ScaleDensity::log_normal(scale, positive(section, "log_sd", log_sd.unwrap_or(1.0))?)
        }
    };
    let extreme = |_| SpecError::out_of_range(section, "scale", scale, "of ordinary size");
    density.map(ScalePrior::Sampled).map_err(extreme)
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
