//! Check a specification of a network, and fill in its defaults.

mod moves;

pub(super) use moves::Moves;

use super::defaults::{self, GROUP_DOFS, GROUPS};
use crate::data::Task;
use crate::model::prior::{DofChoice, SpreadChoice, TopChoice, dof_choice, written};
use crate::model::residual::{RESIDUAL_DOFS, ResidualPrior};
use crate::model::spec::checks::{conflict, positive};
use crate::model::spec::{
    Dof, InferenceChoice, KernelChoice, Link, ModelKind, PriorFamily, PriorSpec, ResidualSharing,
    SelectionSpec, Sharing, Spec, SpecError, WidthRule, WidthScaled,
};

/// A network whose specification has passed its checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    pub(super) task: Option<Task>,
    pub(super) link: Link,
    pub(super) hidden: usize,
    pub(super) direct: bool,
    /// Input weights, hidden bias, output weights, output bias, direct weights.
    pub(super) groups: [GroupPrior; 5],
    pub(super) residual: ResidualPrior,
    pub(super) sampling: Moves,
    pub(super) selection: Option<SelectionSpec>,
    /// What was checked.
    spec: Spec,
}

/// The prior of one group of weights.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroupPrior {
    pub(super) family: WeightFamily,
    pub(super) sharing: Sharing,
    pub(super) scale: GroupScale,
}

/// Distribution of a weight given its scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WeightFamily {
    Normal,
    Laplace,
    StudentT(DofChoice),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum GroupScale {
    Fixed(f64),
    /// `scale` is before scaling by fan-in.
    Sampled {
        scale: f64,
        spread: SpreadChoice,
        top: Option<TopChoice>,
        width: Option<WidthRule>,
    },
}

impl Mlp {
    /// Checks the sections `[model]`, `[prior.*]`, `[residual]` and the network's keys of
    /// `[sampling]`.
    ///
    /// | key | default | meaning |
    /// |---|---|---|
    /// | `model.hidden` | 10 | hidden tanh units; 0 is a generalised linear model |
    /// | `model.link` | `"logit"` | of two classes: `"logit"`, `"probit"` |
    /// | `model.direct` | `false` | weights from inputs to outputs (always with `hidden = 0`) |
    /// | `prior.GROUP.family` | `"normal"` | `"normal"`, `"laplace"`, `"student-t"` |
    /// | `prior.GROUP.weight_dof` | 4 | degrees of freedom of Student-t weights |
    /// | `prior.GROUP.sharing` | see below | `"common"`, or `"per-input"` (ARD) |
    /// | `prior.GROUP.scale` | see below | standard deviation scale of the top level |
    /// | `prior.GROUP.dof` | see below | degrees of freedom of the level of the weights' scales |
    /// | `prior.GROUP.top_dof` | 1 with ARD | degrees of freedom of the level above; absent: none |
    /// | `prior.GROUP.width_scaled` | see below | `"fbm"`, `"mcmcstuff"`, `false` |
    /// | `prior.GROUP.fixed` | | a known standard deviation in place of all these |
    /// | `residual.family` | `"normal"` | `"normal"`, `"student-t"`, `"laplace"`, `"per-case"` |
    /// | `residual.dof` | `"unknown"` | of Student's t (4 for per-case variances) |
    /// | `residual.scale`, `.scale_dof` | 0.05, 0.5 | inverse gamma prior of a variance |
    /// | `residual.by` | | columns whose values have a residual scale each |
    /// | `residual.dof_by` | | columns whose values have degrees of freedom of Student's t each |
    /// | `residual.slopes` | | columns along which the log of the residual scale is linear |
    /// | `residual.slope_sd` | 0.5 | standard deviation of the normal prior of these slopes |
    /// | `residual.sharing` | `"per-target"` | `"common"`, `"per-target"`, `"covariance"` |
    /// | `sampling.kernel` | `"auto"` | `"auto"`, `"hmc"`, `"nuts"` |
    /// | `sampling.start` | `"dispersed"` | `"dispersed"`, `"early-stopping"`, `"prior"` |
    /// | `sampling.staged` | `false` | hmc, nuts: weights alone in the first tenth of warm-up |
    /// | `sampling.inference` | `"mcmc"` | `"laplace"`, `"map"`, `"committee"` of `draws` networks |
    ///
    /// GROUP is `input_weights` (per input, width scaled), `hidden_bias`, `output_weights`
    /// (width scaled), `output_bias` or `direct_weights` (per input), with `scale = 0.05` and
    /// `dof = 0.5`: the values of [Vehtari 2001, §2.2] on the standardised scale. Biases differ:
    /// hidden ones have `scale = 1` and `dof = 4`, so that units may be centred anywhere among
    /// the rows, output ones `fixed = 100` (10 for classes; 1 for ordered ones, whose cut points take its
    /// place).
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        let not_available = |what: String| Err(SpecError::NotAvailable { what });
        if spec.model.kind != ModelKind::Mlp {
            return not_available(format!("kind = \"{}\"", spec.model.kind.name()));
        }
        spec.refuse_other_kinds()?;
        spec.refuse_other_groups(&GROUPS)?;
        let hidden = spec.model.hidden.unwrap_or(defaults::HIDDEN);
        if hidden > defaults::MOST_HIDDEN {
            let value = hidden as f64;
            return Err(SpecError::out_of_range("model", "hidden", value, "at most 1000"));
        }
        let direct = spec.model.direct.unwrap_or(hidden == 0);
        if hidden == 0 && !direct {
            return conflict("model", "direct = false", "hidden = 0, which leaves no inputs");
        }
        for (index, name) in GROUPS.iter().enumerate() {
            if spec.prior.contains_key(*name) && !present(index, hidden, direct) {
                let with = if index == 4 { "direct = false" } else { "hidden = 0" };
                return conflict(&format!("prior.{name}"), "any key", with);
            }
        }
        let is_class = spec.task().is_some_and(Task::is_of_classes);
        if is_class && spec.residual.is_some() {
            return conflict("residual", "any key", "a target that is a class");
        }
        let group = |index: usize| {
            group_prior(index, spec.prior.get(GROUPS[index]), &spec.usual_prior(GROUPS[index]))
        };
        let groups = [group(0)?, group(1)?, group(2)?, group(3)?, group(4)?];
        let residual = ResidualPrior::new(spec)?;
        if residual.sharing == ResidualSharing::Covariance
            && groups[2..].iter().any(|group| group.family != WeightFamily::Normal)
        {
            return conflict("residual", "sharing", "output weights that are not normal");
        }
        let of_kernel = |kernel| spec.sampling.kernel == Some(kernel);
        if !residual.dof_by.is_empty()
            && (of_kernel(KernelChoice::Hmc) || of_kernel(KernelChoice::Nuts))
        {
            return conflict("residual", "dof_by", "a kernel other than \"auto\"");
        }
        let committee = spec.sampling.inference() == InferenceChoice::Committee;
        if committee && !residual.slopes.is_empty() {
            let with =
                "inference = \"committee\", whose members have residual scales of groups only";
            return conflict("residual", "slopes", with);
        }
        Ok(Mlp {
            task: spec.task(),
            link: spec.link()?,
            hidden,
            direct,
            groups,
            residual,
            sampling: Moves::new(&spec.sampling)?,
            selection: spec.selection.clone(),
            spec: spec.clone(),
        })
    }

    /// The model with the defaults that depend on what the targets are.
    pub(super) fn for_task(&self, task: Task) -> Result<Mlp, SpecError> {
        Mlp::new(&self.spec.of_task(task))
    }

    /// Writes every default that applies to `task` into `spec`.
    pub(crate) fn complete(&self, spec: &mut Spec, task: Task) -> Result<(), SpecError> {
        if self.task.is_some_and(|given| given != task) {
            return conflict("model", "task", "the targets, which set another one");
        }
        if spec.model.task.is_none() {
            spec.model.task = Some(task);
            return Mlp::new(spec)?.complete(spec, task);
        }
        spec.model.priors.get_or_insert_default();
        spec.model.hidden = Some(self.hidden);
        spec.model.direct = Some(self.direct);
        for (index, name) in GROUPS.iter().enumerate() {
            if present(index, self.hidden, self.direct) {
                let prior = spec.prior.entry((*name).into()).or_default();
                *prior = completed(prior, &self.groups[index]);
            }
        }
        if !task.is_of_classes() {
            self.residual.complete(spec.residual.get_or_insert_default());
        }
        self.sampling.complete(&mut spec.sampling);
        // A task that only the targets told must pass the same checks as one that was written.
        Mlp::new(spec).map(|_| ())
    }
}

/// Whether the network has the group of this index.
fn present(index: usize, hidden: usize, direct: bool) -> bool {
    match index {
        3 => true,
        4 => direct,
        _ => hidden > 0,
    }
}

fn group_prior(
    index: usize,
    given: Option<&PriorSpec>,
    default: &PriorSpec,
) -> Result<GroupPrior, SpecError> {
    let section = format!("prior.{}", GROUPS[index]);
    let prior = given.unwrap_or(default);
    let continuous = |key| conflict(&section, key, "a density of ν, which only residuals have");
    let family = match prior.family.unwrap_or(PriorFamily::Normal) {
        PriorFamily::Normal => WeightFamily::Normal,
        PriorFamily::Laplace => WeightFamily::Laplace,
        PriorFamily::StudentT => {
            let dof = prior.weight_dof.clone().unwrap_or(Dof::Known(defaults::WEIGHT_DOF));
            match dof_choice(&section, "weight_dof", &dof, &RESIDUAL_DOFS)? {
                DofChoice::Continuous(_) => return continuous("weight_dof"),
                dof => WeightFamily::StudentT(dof),
            }
        }
        _ => {
            return conflict(&section, "family", "kind = \"mlp\"");
        }
    };
    if prior.weight_dof.is_some() && !matches!(family, WeightFamily::StudentT(_)) {
        return conflict(&section, "weight_dof", "a family that has none");
    }
    let by_input = index == 0 || index == 4;
    let sharing = prior.sharing.unwrap_or(default.sharing.unwrap_or(Sharing::Common));
    if sharing == Sharing::PerInput && !by_input {
        return conflict(&section, "sharing = \"per-input\"", "weights that come from no input");
    }
    if let Some(fixed) = prior.fixed {
        let alone = ["family", "sharing", "weight_dof", "fixed"];
        prior.only(&section, &alone, "fixed")?;
        let scale = GroupScale::Fixed(positive(&section, "fixed", fixed)?);
        return Ok(GroupPrior { family, sharing: Sharing::Common, scale });
    }
    let scale = positive(&section, "scale", prior.scale.or(default.scale).unwrap_or(1.0))?;
    let spreads = prior.dof.is_some() || prior.log_sd.is_some();
    let told = if spreads { prior } else { default };
    let spread = match (&told.dof, told.log_sd) {
        (Some(_), Some(_)) => return conflict(&section, "log_sd", "dof"),
        (Some(dof), None) => match dof_choice(&section, "dof", dof, &GROUP_DOFS)? {
            DofChoice::Continuous(_) => return continuous("dof"),
            dof => SpreadChoice::Dof(dof),
        },
        (None, log_sd) => SpreadChoice::LogSd(positive(&section, "log_sd", log_sd.unwrap_or(1.0))?),
    };
    // A group that says nothing about its levels has the usual ones.
    let silent = prior.scale.is_none() && !spreads;
    let usual = default.top_dof.map(TopChoice::Dof).or(default.top_log_sd.map(TopChoice::LogSd));
    let top = match (prior.top_dof, prior.top_log_sd) {
        (Some(_), Some(_)) => return conflict(&section, "top_log_sd", "top_dof"),
        (Some(dof), None) => Some(TopChoice::Dof(positive(&section, "top_dof", dof)?)),
        (None, Some(sd)) => Some(TopChoice::LogSd(positive(&section, "top_log_sd", sd)?)),
        (None, None) => usual.filter(|_| silent && sharing == Sharing::PerInput),
    };
    let width = match prior.width_scaled.or(default.width_scaled) {
        Some(WidthScaled::By(rule)) => Some(rule),
        Some(WidthScaled::Switch(on)) => on.then_some(WidthRule::Fbm),
        None => None,
    };
    Ok(GroupPrior { family, sharing, scale: GroupScale::Sampled { scale, spread, top, width } })
}

fn completed(given: &PriorSpec, checked: &GroupPrior) -> PriorSpec {
    let (family, weight_dof) = match &checked.family {
        WeightFamily::Normal => (PriorFamily::Normal, None),
        WeightFamily::Laplace => (PriorFamily::Laplace, None),
        WeightFamily::StudentT(dof) => {
            (PriorFamily::StudentT, given.weight_dof.clone().or(Some(written(dof))))
        }
    };
    let base = PriorSpec { family: Some(family), weight_dof, ..PriorSpec::default() };
    match &checked.scale {
        GroupScale::Fixed(fixed) => PriorSpec { fixed: Some(*fixed), ..base },
        GroupScale::Sampled { scale, spread, top, width } => PriorSpec {
            sharing: Some(checked.sharing),
            scale: Some(*scale),
            dof: match spread {
                SpreadChoice::Dof(dof) => given.dof.clone().or(Some(written(dof))),
                SpreadChoice::LogSd(_) => None,
            },
            log_sd: match spread {
                SpreadChoice::Dof(_) => None,
                SpreadChoice::LogSd(log_sd) => Some(*log_sd),
            },
            top_dof: top.and_then(TopChoice::dof),
            top_log_sd: top.and_then(TopChoice::log_sd),
            width_scaled: Some(width.map_or(WidthScaled::Switch(false), WidthScaled::By)),
            ..base
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_biases_have_the_defaults_of_their_task() {
        for (priors, regression, classes) in
            [("mcmcstuff", 100.0, 10.0), ("weakly-informative", 1.5, 3.0)]
        {
            for (task, expected) in [
                (Task::Regression, regression),
                (Task::Binary, classes),
                (Task::Multiclass, classes),
            ] {
                let text = format!("[model]\nkind = 'mlp'\npriors = '{priors}'");
                let mut spec = Spec::from_toml(&text).unwrap();
                let silent = Mlp::new(&spec).unwrap().for_task(task).unwrap();
                assert_eq!(silent.groups[3].scale, GroupScale::Fixed(expected));
                spec.complete(task).unwrap();
                assert_eq!(spec.prior["output_bias"].fixed, Some(expected), "{task:?}");
                assert_eq!(spec.prior["hidden_bias"].scale, Some(1.0));
                let vague = priors == "mcmcstuff";
                assert_eq!(spec.prior["hidden_bias"].dof, vague.then_some(Dof::Known(4.0)));
                let residual = spec.residual.and_then(|residual| residual.scale);
                let scale = if vague { 0.05 } else { 0.3 };
                assert_eq!(residual, (task == Task::Regression).then_some(scale));
            }
        }
    }

    #[test]
    fn given_biases_keep_what_is_given() {
        let text = "[model]\nkind = 'mlp'\n[prior.hidden_bias]\ndof = 2.0\n\
                    [prior.output_bias]\nfixed = 3.0";
        let model = Mlp::new(&Spec::from_toml(text).unwrap()).unwrap();
        let model = model.for_task(Task::Binary).unwrap();
        assert_eq!(model.groups[3].scale, GroupScale::Fixed(3.0));
        let GroupScale::Sampled { scale, spread, .. } = &model.groups[1].scale else {
            panic!("a scale that is sampled")
        };
        let expected = SpreadChoice::Dof(DofChoice::Known(2.0));
        assert_eq!((Some(*scale), spread), (Some(1.0), &expected));
    }
}
