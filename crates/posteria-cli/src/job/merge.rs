//! Put flags in place of what the specification file says.

use posteria::data::{FoldScheme, FoldSpec, Task};
use posteria::model::spec::{
    InferenceChoice, KernelChoice, Link, MissingPolicy, ModelKind, PriorSpec, Priors,
    ResidualFamily, SamplingSpec, Sharing, Spec, StartChoice, TemperingChoice,
};

use crate::args;

/// Puts flags in place of what `spec` says; flags win.
pub(super) fn merge(spec: &mut Spec, flags: &args::Fit, seed: Option<u64>) {
    if !flags.target.is_empty() {
        spec.data.target.clone_from(&flags.target);
    }
    if !flags.inputs.is_empty() {
        spec.data.inputs = Some(flags.inputs.clone());
    }
    if !flags.exclude.is_empty() {
        spec.data.exclude.clone_from(&flags.exclude);
    }
    if let Some(group) = &flags.group {
        spec.data.group = Some(group.clone());
    }
    if let Some(exposure) = &flags.exposure {
        spec.data.exposure = Some(exposure.clone());
    }
    if !flags.levels.is_empty() {
        spec.data.levels = Some(flags.levels.clone());
    }
    if let Some(censored) = &flags.censored {
        (spec.data.censored, spec.data.event) = (Some(censored.clone()), None);
    }
    if let Some(event) = &flags.event {
        (spec.data.censored, spec.data.event) = (None, Some(event.clone()));
    }
    if let Some(missing) = flags.missing {
        spec.data.missing = match missing {
            args::Missing::Error => MissingPolicy::Error,
            args::Missing::Drop => MissingPolicy::Drop,
        };
    }
    spec.data.max_levels = flags.max_levels.map(|n| n.get()).or(spec.data.max_levels);
    if flags.no_standardize {
        spec.data.standardize = false;
    }
    if flags.header || flags.no_header {
        spec.data.header = Some(flags.header);
    }
    // Whatever the method, and whatever becomes of its numbers.
    let device = spec.sampling.device;
    let kind = spec.model.kind;
    if let Some(kind) = flags.model {
        spec.model.kind = match kind {
            args::ModelKind::Linear => ModelKind::Linear,
            args::ModelKind::Mlp => ModelKind::Mlp,
            args::ModelKind::Gp => ModelKind::Gp,
            args::ModelKind::Mixture => ModelKind::Mixture,
            args::ModelKind::Pca => ModelKind::Pca,
        };
    }
    if let Some(hidden) = flags.hidden {
        spec.model.hidden = Some(hidden);
        if flags.model.is_none() && flags.spec.is_none() {
            spec.model.kind = ModelKind::Mlp;
        }
    }
    if let Some(basis) = &flags.basis {
        spec.model.basis = Some(basis.clone());
    }
    if let Some(link) = flags.link {
        spec.model.link = Some(match link {
            args::Link::Logit => Link::Logit,
            args::Link::Probit => Link::Probit,
        });
    }
    if flags.covariance.is_some() || flags.neighbours.is_some() {
        if flags.model.is_none() && flags.spec.is_none() {
            spec.model.kind = ModelKind::Gp;
        }
        if let Some(covariance) = &flags.covariance {
            spec.model.covariance = Some(vec![covariance.clone()]);
        }
        let neighbours = flags.neighbours.map(|n| n.get());
        spec.model.neighbours = neighbours.or(spec.model.neighbours);
    }
    if let Some(priors) = flags.priors {
        spec.model.priors = Some(match priors {
            args::Priors::WeaklyInformative => Priors::WeaklyInformative,
            args::Priors::Mcmcstuff => Priors::Mcmcstuff,
            args::Priors::Fbm => Priors::Fbm,
        });
    }
    if let Some(components) = flags.components {
        spec.model.components = Some(components.get());
    }
    change_numbers(&mut spec.sampling, kind, spec.model.kind);
    if let Some(test) = &flags.test {
        spec.data.test = Some(test.display().to_string());
    }
    if let Some(task) = flags.task {
        spec.model.task = Some(match task {
            args::Task::Regression => Task::Regression,
            args::Task::Binary => Task::Binary,
            args::Task::Multiclass => Task::Multiclass,
            args::Task::Ordinal => Task::Ordinal,
            args::Task::Count => Task::Count,
            args::Task::Duration => Task::Duration,
        });
    }
    if let Some(relevance) = flags.relevance {
        let group = match spec.model.kind {
            ModelKind::Mlp => "input_weights",
            ModelKind::Gp => "relevance",
            _ => "weights",
        };
        let weights: &mut PriorSpec = spec.prior.entry(group.into()).or_default();
        weights.sharing = Some(match relevance {
            args::Relevance::PerInput => Sharing::PerInput,
            args::Relevance::Common => Sharing::Common,
        });
    }
    if let Some(residual) = flags.residual {
        spec.residual.get_or_insert_default().family = Some(match residual {
            args::Residual::Normal => ResidualFamily::Normal,
            args::Residual::StudentT => ResidualFamily::StudentT,
            args::Residual::Laplace => ResidualFamily::Laplace,
            args::Residual::PerCase => ResidualFamily::PerCase,
            args::Residual::Poisson => ResidualFamily::Poisson,
            args::Residual::NegativeBinomial => ResidualFamily::NegativeBinomial,
            args::Residual::Weibull => ResidualFamily::Weibull,
            args::Residual::LogNormal => ResidualFamily::LogNormal,
        });
    }
    if !flags.residual_by.is_empty() {
        spec.residual.get_or_insert_default().by = Some(flags.residual_by.clone());
    }
    if !flags.dof_by.is_empty() {
        spec.residual.get_or_insert_default().dof_by = Some(flags.dof_by.clone());
    }
    merge_sampling(spec, flags, seed);
    spec.sampling.device = flags.device.or(device);
}

/// The usual numbers of one kind of model become those of another.
fn change_numbers(sampling: &mut SamplingSpec, from: ModelKind, to: ModelKind) {
    let (usual, new) = (SamplingSpec::usual(from), SamplingSpec::usual(to));
    if sampling.chains == usual.chains {
        sampling.chains = new.chains;
    }
    if (sampling.warmup, sampling.settle) == (usual.warmup, usual.settle) {
        (sampling.warmup, sampling.settle) = (new.warmup, new.settle);
    }
    if (sampling.draws, sampling.ess) == (usual.draws, usual.ess) {
        (sampling.draws, sampling.ess) = (new.draws, new.ess);
    } else if let Some(ess) = sampling.ess.filter(|_| new.ess.is_some())
        && *sampling == sampling.with_goal(ess, from)
    {
        *sampling = sampling.with_goal(ess, to);
    }
}

/// A number that is given is meant; a goal has a limit of its own unless both are given.
fn merge_goal(sampling: &mut SamplingSpec, flags: &args::Fit, kind: ModelKind) {
    if let Some(chain) = flags.chain {
        *sampling = SamplingSpec { only_chain: Some(chain.get()), ..sampling.without_goal(kind) };
    }
    sampling.time = flags.time.or(sampling.time);
    if flags.warmup.is_some() {
        sampling.settle = None;
    }
    match (flags.ess, flags.draws) {
        (Some(ess), _) => *sampling = sampling.with_goal(ess, kind),
        (None, Some(_)) => sampling.ess = None,
        (None, None) => {}
    }
}

fn merge_sampling(spec: &mut Spec, flags: &args::Fit, seed: Option<u64>) {
    let sampling = &mut spec.sampling;
    // The numbers of the file are those of its own method.
    if let Some(inference) = flags.inference {
        let inference = match inference {
            args::Inference::Mcmc => InferenceChoice::Mcmc,
            args::Inference::Laplace => InferenceChoice::Laplace,
            args::Inference::Variational => InferenceChoice::Variational,
            args::Inference::Map => InferenceChoice::Map,
            args::Inference::Ml => InferenceChoice::Ml,
            args::Inference::Committee => InferenceChoice::Committee,
        };
        if inference != sampling.inference() {
            *sampling = SamplingSpec::of_inference(inference, spec.model.kind, sampling.seed);
        } else if spec.model.kind.is_unsupervised() {
            // Named, so that it can be refused.
            sampling.inference = Some(inference);
        }
    }
    sampling.inverse_temperature = flags.inverse_temperature.or(sampling.inverse_temperature);
    if let Some(tempering) = flags.tempering {
        sampling.tempering = Some(match tempering {
            args::Tempering::Likelihood => TemperingChoice::Likelihood,
            args::Tempering::Posterior => TemperingChoice::Posterior,
            args::Tempering::Opposed => TemperingChoice::Opposed,
        });
    }
    sampling.log_lik_limit = flags.log_lik_limit.or(sampling.log_lik_limit);
    if let Some(kernel) = flags.kernel {
        sampling.kernel = Some(match kernel {
            args::Kernel::Auto => KernelChoice::Auto,
            args::Kernel::Hmc => KernelChoice::Hmc,
            args::Kernel::Nuts => KernelChoice::Nuts,
        });
        if kernel != args::Kernel::Hmc {
            // They belong to the kernel that the flag replaces.
            (sampling.window, sampling.persistence) = (None, None);
        }
        if kernel == args::Kernel::Nuts {
            sampling.leapfrog_steps = None;
        }
    }
    if let Some(start) = flags.start {
        sampling.start = Some(match start {
            args::Start::Dispersed => StartChoice::Dispersed,
            args::Start::EarlyStopping => StartChoice::EarlyStopping,
            args::Start::Prior => StartChoice::Prior,
            args::Start::Variational => StartChoice::Variational,
        });
    }
    if let Some(temperatures) = flags.temperatures {
        sampling.temperatures = Some(temperatures.get());
    }
    merge_goal(sampling, flags, spec.model.kind);
    let counts = [
        (flags.chains.map(|n| n.get()), &mut sampling.chains),
        (flags.warmup, &mut sampling.warmup),
        (flags.draws.map(|n| n.get()), &mut sampling.draws),
        (flags.thin.map(|n| n.get()), &mut sampling.thin),
    ];
    for (flag, value) in counts {
        *value = flag.unwrap_or(*value);
    }
    sampling.seed = seed.unwrap_or(sampling.seed);
    if let Some((index, count)) = flags.fold {
        let scheme = FoldScheme::new(count, sampling.seed);
        spec.data.fold = Some(FoldSpec { index, scheme, within: None });
    }
}
