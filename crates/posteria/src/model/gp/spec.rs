//! Check a specification of a Gaussian process, and fill in its defaults.

mod known;
mod prior;

pub(super) use known::Known;
pub(super) use prior::{GroupPrior, GroupPriors};

use super::covariance::{Covariance, CovarianceError};
use super::observed::Observed;
use crate::data::Task;
use crate::model::residual::ResidualPrior;
use crate::model::spec::checks::{conflict, positive};
use crate::model::spec::{
    HyperparametersSpec, InferenceChoice, KernelChoice, LatentsChoice, Link, MeanChoice, ModelKind,
    Processes, ResidualSharing, SamplingSpec, SelectionSpec, Sharing, Spec, SpecError, StartChoice,
};

/// The covariance function of a specification that names none.
const COVARIANCE: &str = "squared-exponential";
/// Jitter of real targets: well below any noise, well above rounding.
const REAL_JITTER: f64 = 0.01;
/// Jitter of the latent values of classes: a little noise of the labels' own [Neal 1999].
const CLASS_JITTER: f64 = 0.1;
/// Standard deviation of the coefficients of a mean function: vague on the standardised scale.
pub(super) const MEAN_SCALE: f64 = 10.0;
/// Sections `[prior.NAME]`.
const PRIORS: [&str; 6] = ["magnitude", "relevance", "shape", "period", "bias", "mean"];

/// A Gaussian process whose specification has passed its checks.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianProcess {
    pub(super) task: Option<Task>,
    /// As the specification says it, terms joined by `+`.
    pub(super) covariance: String,
    /// Whether every input has its own relevance.
    pub(super) sharing: Sharing,
    pub(super) mean: MeanChoice,
    /// Standard deviation of the coefficients of the mean function.
    pub(super) mean_scale: f64,
    jitter: Option<f64>,
    pub(super) link: Link,
    pub(super) processes: Processes,
    pub(super) neighbours: Option<usize>,
    pub(super) priors: GroupPriors,
    pub(super) known: HyperparametersSpec,
    pub(super) residual: ResidualPrior,
    pub(super) moves: Moves,
    pub(super) selection: Option<SelectionSpec>,
    /// What was checked.
    spec: Spec,
}

/// How hyperparameters and latent values are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moves {
    pub(super) kernel: KernelChoice,
    pub(super) leapfrog_steps: Option<usize>,
    pub(super) start: StartChoice,
    pub(super) latents: LatentsChoice,
    /// Temperatures of replica exchange; 1 is none.
    pub(super) temperatures: usize,
}

impl GaussianProcess {
    /// Checks the sections `[model]`, `[prior.*]`, `[hyperparameters]`, `[residual]` and the
    /// process's keys of `[sampling]`.
    ///
    /// | key | default | meaning |
    /// |---|---|---|
    /// | `model.covariance` | `["squared-exponential"]` | sum of these; factors of a product are joined by `*`, see [`Covariance::parse`] |
    /// | `model.mean` | `"zero"` | `"zero"`, `"constant"`, `"linear"`: coefficients are normal and integrated out |
    /// | `model.jitter` | 0.01; classes 0.1 | standard deviation added on the diagonal |
    /// | `model.link` | `"logit"` | of two classes: `"logit"`, `"probit"` |
    /// | `model.processes` | `"separate"` | several targets: `"separate"` or `"shared"` hyperparameters |
    /// | `model.neighbours` | | number of nearest rows that a row depends on, in place of all |
    /// | `prior.KIND.family` | `"inverse-gamma"` | `"inverse-gamma"`, `"half-student-t"`, `"log-normal"`, `"gamma"`, `"log-uniform"` |
    /// | `prior.KIND.scale`, `.dof`, `.top_dof` | 0.05, 0.5, 1 (relevance) | inverse gamma: of the square, and of the level above |
    /// | `prior.KIND.log_sd`, `.shape`, `.lower`, `.upper` | | of the other families |
    /// | `prior.relevance.sharing` | `"per-input"` | `"per-input"` (ARD), `"common"` |
    /// | `prior.mean.fixed` | 10 | standard deviation of the mean function's coefficients |
    /// | `hyperparameters.KIND`, `.residual` | | a known value in place of a prior |
    /// | `residual.*` | | as for networks, without `sharing = "covariance"` |
    /// | `sampling.inference` | `"mcmc"` | `"laplace"`, `"map"` of the hyperparameters |
    /// | `sampling.kernel` | `"auto"` | `"auto"`, `"hmc"`, `"nuts"` |
    /// | `sampling.temperatures` | 1 | temperatures of replica exchange; 1 is none |
    /// | `sampling.inverse_temperature` | 1 | power of the likelihood given the functions, which are sampled then |
    /// | `sampling.latents` | `"auto"` | classes: `"auto"`, `"elliptical"`, `"metropolis"` |
    /// | `sampling.start` | `"dispersed"` | `"dispersed"`, `"prior"` |
    ///
    /// KIND is `magnitude`, `relevance`, `shape` (rational quadratic), `period` (periodic) or
    /// `bias` (neural network). Values are on the standardised scale. The defaults of
    /// magnitudes, relevances and residuals are those of the MCMCstuff manual §4.3; shapes,
    /// periods and biases are log-normal about 1.
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        if spec.model.kind != ModelKind::Gp {
            let what = format!("kind = \"{}\"", spec.model.kind.name());
            return Err(SpecError::NotAvailable { what });
        }
        spec.refuse_other_kinds()?;
        spec.refuse_other_groups(&PRIORS)?;
        if spec.sampling.log_lik_limit.is_some() {
            let with = "kind = \"gp\", whose log likelihoods are always kept";
            return conflict("sampling", "log_lik_limit", with);
        }
        let covariance = match &spec.model.covariance {
            Some(terms) if !terms.is_empty() => terms.join("+"),
            _ => COVARIANCE.into(),
        };
        check_covariance(&covariance)?;
        if let Some(jitter) = spec.model.jitter
            && !(0.0..1e100).contains(&jitter)
        {
            return Err(SpecError::out_of_range("model", "jitter", jitter, "at least 0"));
        }
        if spec.model.neighbours == Some(0) {
            return Err(SpecError::out_of_range("model", "neighbours", 0.0, "at least 1"));
        }
        let mean = spec.model.mean.unwrap_or_default();
        let priors = GroupPriors::new(spec)?;
        let known = spec.hyperparameters.clone().unwrap_or_default();
        known::check(&known)?;
        if spec.model.neighbours.is_some() && spec.sampling.tempered().is_some() {
            let with =
                "neighbours in [model], which leave no functions for a likelihood to be given";
            return conflict("sampling", "inverse_temperature", with);
        }
        let real = spec.task().is_none_or(|task| task == Task::Regression);
        if spec.task().is_some_and(Task::is_of_classes) && spec.residual.is_some() {
            return conflict("residual", "any key", "a target that is a class");
        }
        if !real && known.residual.is_some() {
            return conflict("hyperparameters", "residual", "a target that is a class or a count");
        }
        let residual = ResidualPrior::new(spec)?;
        if known.residual.is_some() && !residual.by.is_empty() {
            return conflict("hyperparameters", "residual", "by in [residual]");
        }
        if known.residual.is_some() && !residual.slopes.is_empty() {
            return conflict("hyperparameters", "residual", "slopes in [residual]");
        }
        if residual.sharing == ResidualSharing::Covariance {
            return conflict("residual", "sharing = \"covariance\"", "kind = \"gp\"");
        }
        Ok(GaussianProcess {
            task: spec.task(),
            covariance,
            sharing: spec
                .prior
                .get("relevance")
                .and_then(|p| p.sharing)
                .unwrap_or(Sharing::PerInput),
            mean,
            mean_scale: prior::mean_scale(spec, mean)?,
            jitter: spec.model.jitter,
            link: spec.link()?,
            processes: spec.model.processes.unwrap_or_default(),
            neighbours: spec.model.neighbours,
            priors,
            known,
            residual,
            moves: Moves::new(spec)?,
            selection: spec.selection.clone(),
            spec: spec.clone(),
        })
    }

    /// Whether functions at the rows are sampled, of what has been `observed`: with normal residuals they
    /// need not be, unless the likelihood given them is to a power.
    pub(super) fn samples_functions(&self, observed: &Observed) -> bool {
        let is_tempered = self.spec.sampling.tempered().is_some();
        self.neighbours.is_none() && (is_tempered || observed.needs_latents())
    }

    /// Standard deviation of the jitter.
    pub(super) fn jitter(&self, task: Task) -> f64 {
        self.jitter.unwrap_or(if task == Task::Regression { REAL_JITTER } else { CLASS_JITTER })
    }

    /// The model with the defaults that depend on what the targets are.
    pub(super) fn for_task(&self, task: Task) -> Result<GaussianProcess, SpecError> {
        GaussianProcess::new(&self.spec.of_task(task))
    }

    /// Writes every default that applies to `task` into `spec`.
    pub(crate) fn complete(&self, spec: &mut Spec, task: Task) -> Result<(), SpecError> {
        if self.task.is_some_and(|given| given != task) {
            return conflict("model", "task", "the targets, which set another one");
        }
        if spec.model.task.is_none() {
            spec.model.task = Some(task);
            return GaussianProcess::new(spec)?.complete(spec, task);
        }
        spec.model.priors.get_or_insert_default();
        let model = &mut spec.model;
        model.covariance =
            Some(self.covariance.split('+').map(|term| term.trim().into()).collect());
        model.mean = Some(self.mean);
        model.jitter = Some(self.jitter(task));
        if task == Task::Binary {
            model.link = Some(self.link);
        }
        if !task.is_of_classes() {
            self.residual.complete(spec.residual.get_or_insert_default());
        }
        self.priors.complete(spec, self);
        let inference = spec.sampling.inference();
        spec.sampling.inference = Some(inference);
        if inference == InferenceChoice::Map {
            match task {
                Task::Regression => spec.sampling.refuse_more_points()?,
                // Functions are uncertain at the mode of the hyperparameters.
                _ if spec.sampling.chains * spec.sampling.draws == 1 => {
                    let (laplace, seed) = (InferenceChoice::Laplace, spec.sampling.seed);
                    spec.sampling = SamplingSpec {
                        inference: Some(inference),
                        ..SamplingSpec::of_inference(laplace, spec.model.kind, seed)
                    };
                }
                _ => {}
            }
        }
        if inference == InferenceChoice::Mcmc {
            spec.sampling.kernel = Some(self.moves.kernel);
            spec.sampling.start = Some(self.moves.start);
            if task != Task::Regression {
                spec.sampling.latents = Some(self.moves.latents);
            }
        }
        // A task that only the targets told must pass the same checks as one that was written.
        GaussianProcess::new(spec).map(|_| ())
    }
}

impl Moves {
    fn new(spec: &Spec) -> Result<Self, SpecError> {
        let sampling = &spec.sampling;
        let kernel = sampling.kernel.unwrap_or(KernelChoice::Auto);
        if sampling.leapfrog_steps.is_some() && kernel == KernelChoice::Nuts {
            return conflict("sampling", "leapfrog_steps", "kernel = \"nuts\"");
        }
        if let Some(steps) = sampling.leapfrog_steps.filter(|steps| !(1..=100_000).contains(steps))
        {
            let (section, key) = ("sampling", "leapfrog_steps");
            let must_be = "between 1 and 100000";
            return Err(SpecError::out_of_range(section, key, steps as f64, must_be));
        }
        let temperatures = sampling.temperatures.unwrap_or(1);
        if !(1..=100_000).contains(&temperatures) {
            let must_be = "between 1 and 100000";
            let (section, value) = ("sampling", temperatures as f64);
            return Err(SpecError::out_of_range(section, "temperatures", value, must_be));
        }
        let start = sampling.start.unwrap_or(StartChoice::Dispersed);
        if start == StartChoice::EarlyStopping {
            return conflict("sampling", "start = \"early-stopping\"", "kind = \"gp\"");
        }
        if start == StartChoice::Variational {
            return conflict("sampling", "start = \"variational\"", "kind = \"gp\"");
        }
        let real = spec.task() == Some(Task::Regression);
        if real && sampling.latents.is_some() {
            return conflict(
                "sampling",
                "latents",
                "real targets, whose latents are drawn exactly",
            );
        }
        let class = spec.task().is_some_and(|task| task != Task::Regression);
        if class && kernel == KernelChoice::Nuts {
            return conflict(
                "sampling",
                "kernel = \"nuts\"",
                "a target that is a class or a count",
            );
        }
        let about_prior = sampling.latents.is_some_and(|latents| latents != LatentsChoice::Auto);
        if class && kernel == KernelChoice::Hmc && about_prior {
            return conflict("sampling", "kernel = \"hmc\"", "latents other than \"auto\"");
        }
        Ok(Moves {
            kernel,
            leapfrog_steps: sampling.leapfrog_steps,
            start,
            latents: sampling.latents.unwrap_or_default(),
            temperatures,
        })
    }
}

/// Reads the covariance function as far as is possible without the names of the inputs.
fn check_covariance(text: &str) -> Result<(), SpecError> {
    match Covariance::parse(text, &["x".into()], Sharing::Common) {
        Ok(_) | Err(CovarianceError::UnknownInput { .. }) => Ok(()),
        Err(error) => Err(SpecError::Covariance { message: error.to_string() }),
    }
}

/// A positive number of `[prior.NAME]`.
fn of_prior(name: &str, key: &'static str, value: f64) -> Result<f64, SpecError> {
    positive(&format!("prior.{name}"), key, value)
}
