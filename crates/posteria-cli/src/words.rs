//! Say in words what a specification means.

mod gp;
mod linear;
mod mlp;
mod prior;
mod residual;
mod selection;
mod unsupervised;

use posteria::data::{Dataset, Targets, Task};
use posteria::fit::Prepared;
use posteria::model::spec::{InferenceChoice, Link, ModelKind, SamplingSpec, TimeBudget};
use serde::Serialize;

pub use self::prior::PriorFunctions;
use crate::approximation;
use crate::text;

/// Characters of a line.
const WIDTH: usize = 100;
/// Inputs that are listed by name.
const LISTED: usize = 12;

/// A completed specification in words.
#[derive(Debug, Serialize)]
pub struct Words {
    model: &'static str,
    task: &'static str,
    rows: usize,
    target: Vec<String>,
    inputs: Vec<String>,
    /// One sentence per part of the model.
    priors: Vec<Part>,
    /// Functions drawn from the prior, if they were asked for and the model can.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior_functions: Option<PriorFunctions>,
    inference: &'static str,
    chains: usize,
    /// Sweeps, the most if the chains may settle earlier.
    warmup: usize,
    settle: bool,
    /// Of each chain, the most if there is a goal.
    draws: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ess: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeBudget>,
    thin: usize,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    inverse_temperature: Option<f64>,
    #[serde(skip)]
    prior_power: f64,
    #[serde(skip)]
    is_probit: bool,
    /// What a way without Markov chains does.
    #[serde(skip)]
    without_chains: Option<String>,
}

/// One part of a model in words.
#[derive(Debug, Serialize)]
struct Part {
    name: &'static str,
    words: String,
}

impl Words {
    /// Describes a fit of what was prepared.
    pub fn new(prepared: &Prepared) -> Self {
        let Prepared { spec, data, .. } = prepared;
        let kind = spec.model.kind;
        let (task, target) = match (&data.targets, data.task) {
            _ if kind.is_unsupervised() => ("density", Vec::new()),
            (Targets::Real { names, .. }, _) => ("regression", names.clone()),
            (Targets::Classes { name, .. }, Task::Multiclass) => ("multiclass", vec![name.clone()]),
            (Targets::Classes { name, .. }, Task::Ordinal) => ("ordinal", vec![name.clone()]),
            (Targets::Classes { name, .. }, _) => ("binary", vec![name.clone()]),
            (Targets::Counts { name, .. }, _) => ("count", vec![name.clone()]),
            (Targets::Durations { name, .. }, _) => ("duration", vec![name.clone()]),
        };
        let mut priors = match spec.model.kind {
            ModelKind::Mlp => mlp::parts(spec, data, prepared.posterior.layout()),
            ModelKind::Gp => gp::parts(spec, data, prepared.posterior.layout()),
            ModelKind::Mixture => unsupervised::mixture(spec),
            ModelKind::Pca => unsupervised::components(spec, data),
            ModelKind::Linear => linear::parts(spec, data, prepared.posterior.layout()),
        };
        priors.extend(spec.selection.as_ref().and_then(|spec| selection::part(spec, data)));
        let words = if kind.is_unsupervised() {
            unsupervised::scale(spec.data.standardize)
        } else if spec.data.standardize {
            "priors hold for inputs and targets standardised to mean 0 and deviation 1"
        } else {
            "priors hold for inputs and targets as they are"
        };
        if spec.sampling.inference() != InferenceChoice::Ml {
            priors.push(Part { name: "scale", words: words.into() });
        }
        let sampling = spec.sampling;
        Words {
            model: spec.model.kind.name(),
            task,
            rows: data.rows(),
            target,
            inputs: data.input_names.clone(),
            priors,
            prior_functions: None,
            inference: sampling.inference().name(),
            chains: sampling.chains,
            warmup: sampling.warmup,
            settle: sampling.settle == Some(true),
            draws: sampling.draws,
            ess: sampling.ess,
            time: sampling.time,
            thin: sampling.thin,
            seed: sampling.seed,
            inverse_temperature: sampling.inverse_temperature,
            prior_power: sampling.prior_power(),
            is_probit: spec.model.link == Some(Link::Probit),
            without_chains: without_chains(spec.model.kind, &sampling, data.task),
        }
    }

    /// The same with functions drawn from the prior, where the model can.
    #[must_use]
    pub fn with_prior_functions(self, prepared: &Prepared) -> Self {
        Words { prior_functions: PriorFunctions::draw(prepared, prior::SHOWN), ..self }
    }

    /// Why the prior is not one of these data, if its functions were drawn.
    pub fn prior_doubt(&self) -> Option<&str> {
        self.prior_functions.as_ref().and_then(PriorFunctions::doubt)
    }

    /// The model by its usual name, its target and the size of the data.
    pub fn headline(&self) -> String {
        let rows = text::count(self.rows, "row");
        let name = match (self.model, self.task) {
            ("linear", "regression") => "linear regression",
            ("linear", "binary") if self.is_probit => "probit regression",
            ("linear", "binary") => "logistic regression",
            ("linear", "count") => "count regression",
            ("mlp", "count") => "neural network count regression",
            ("gp", "count") => "Gaussian process count regression",
            ("linear", "duration") => "duration regression",
            ("linear", "ordinal") => "ordinal regression",
            ("mlp", "duration") => "neural network duration regression",
            ("gp", "duration") => "Gaussian process duration regression",
            ("linear", _) => "multinomial logistic regression",
            ("mlp", "regression") => "neural network regression",
            ("mlp", _) => "neural network classification",
            ("gp", "regression") => "Gaussian process regression",
            ("gp", _) => "Gaussian process classification",
            ("pca", _) => "principal components",
            (other, _) => other,
        };
        if self.target.is_empty() {
            return format!("{name} of {}, {rows}", text::count(self.inputs.len(), "column"));
        }
        let inputs = text::count(self.inputs.len(), "input");
        format!("{name} of {} on {inputs}, {rows}", self.target.join(", "))
    }

    /// The model and how it is inferred, in two lines.
    pub fn short(&self) -> String {
        let how = match self.inference {
            "mcmc" => self.chain_words(),
            "committee" => text::committee(self.draws),
            other => format!("--inference {other}, seed {}", self.seed),
        };
        format!("{}\n{how}", self.headline())
    }

    fn chain_words(&self) -> String {
        let thinned = match self.thin {
            1 => String::new(),
            thin => format!(", one in {thin} sweeps"),
        };
        let warmup = match (self.settle, text::count(self.warmup, "sweep")) {
            (true, most) => format!("warm-up until they have settled (at most {most})"),
            (false, sweeps) => format!("{sweeps} of warm-up"),
        };
        let draws = match (self.ess, text::count(self.draws, "draw")) {
            (Some(ess), most) => {
                format!("{ess} effective draws of the predictions (at most {most} each)")
            }
            (None, draws) => format!("{draws} each"),
        };
        let time = self.time.map_or(String::new(), |time| format!(", at most {time}"));
        format!(
            "{}, {warmup}, {draws}{thinned}{time}, seed {}",
            text::count(self.chains, "chain"),
            self.seed
        )
    }

    /// The parts of the model, and how it is inferred: names and words.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let mut inputs = self.inputs[..self.inputs.len().min(LISTED)].join(", ");
        if self.inputs.len() > LISTED {
            inputs.push_str(", …");
        }
        let mut parts = vec![(if self.target.is_empty() { "columns" } else { "inputs" }, inputs)];
        parts.extend(self.priors.iter().map(|part| (part.name, part.words.clone())));
        if let Some(words) = &self.without_chains {
            parts.push(("inference", words.clone()));
            return parts;
        }
        parts.push(("sampling", self.chain_words()));
        if let Some(beta) = self.inverse_temperature.filter(|beta| (beta - 1.0).abs() > 0.0) {
            let prior = match (self.prior_power - 1.0).abs() > 0.0 {
                true => format!("prior^{}", number(self.prior_power)),
                false => "prior".into(),
            };
            let words = format!(
                "{prior} × likelihood^{}, which is not the posterior (inverse temperature 1)",
                number(beta)
            );
            parts.push(("tempered", words));
        }
        parts
    }

    /// The description as text.
    pub fn render(&self) -> String {
        let mut lines = format!("{}\n", text::printable(&self.headline()));
        let parts = self.parts();
        let width = parts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, words) in &parts {
            let words = text::wrapped(&text::printable(words), width + 2, WIDTH);
            lines.push_str(&format!("{name:<width$}  {words}\n"));
        }
        if let Some(functions) = &self.prior_functions {
            lines.push_str(&functions.render());
        }
        lines
    }
}

/// What a way without Markov chains does; `None` for chains.
fn without_chains(kind: ModelKind, sampling: &SamplingSpec, task: Task) -> Option<String> {
    let seed = sampling.seed;
    let count = sampling.chains * sampling.draws;
    let draws = approximation::draws_words(sampling.inference(), kind, count);
    let noise = if task == Task::Regression { " and of the residuals" } else { "" };
    Some(match (sampling.inference(), draws) {
        (InferenceChoice::Mcmc, _) => return None,
        (InferenceChoice::Committee, _) => format!(
            "{}, each trained on its own random half of the rows and stopped by the other, seed \
             {seed}; priors take no part",
            text::committee(sampling.draws)
        ),
        (inference, Some(draws)) if kind == ModelKind::Gp => {
            gp::without_chains(inference, &draws, seed)
        }
        (InferenceChoice::Laplace, Some(draws)) => format!(
            "{draws} of the weights, seed {seed}; the scales of the weights{noise} are re-estimated \
             by the evidence framework, in place of their priors, unless they are fixed"
        ),
        (InferenceChoice::Map, Some(draws)) => {
            let noise = match task {
                Task::Regression => "; the residual scale is at its mode with them",
                _ => "",
            };
            format!(
                "{draws} of the weights, one draw, seed {seed}: the penalised maximum of the \
                 likelihood, with the scales of the weights that are fixed, or at the scale of their \
                 priors (at 1 where a prior of less than one degree of freedom tells none){noise}"
            )
        }
        (InferenceChoice::Ml, _) => {
            let noise = match task {
                Task::Regression => " and the residual scale",
                _ => "",
            };
            format!(
                "the maximum of the likelihood of the weights{noise}, one draw, seed {seed}; there \
                 are no priors"
            )
        }
        (other, draws) => format!("{}, seed {seed}", draws.unwrap_or(other.name().into())),
    })
}

/// A number as a sentence shows it: no more digits than it has, four if it has many.
fn number(value: f64) -> String {
    let short = format!("{value}");
    if short.len() <= 6 { short } else { text::significant(value, 3) }
}

/// An inverse gamma prior of a variance.
fn variance_words(scale: f64, dof: f64) -> String {
    format!("variance inverse gamma about {}² with {}", number(scale), dof_words(dof))
}

/// A log-normal prior of a scale.
fn log_normal_words(scale: &str, log_sd: f64) -> String {
    let factor = text::significant((1.645 * log_sd).exp(), 2);
    format!("log-normal about {scale}, nine in ten within a factor of {factor}")
}

/// The prior of a scale by degrees of freedom or by the deviation of its logarithm.
fn scale_words(scale: f64, dof: Option<f64>, log_sd: Option<f64>) -> String {
    match (dof, log_sd) {
        (None, Some(log_sd)) => log_normal_words(&number(scale), log_sd),
        (dof, _) => variance_words(scale, dof.unwrap_or(f64::NAN)),
    }
}

/// A number of degrees of freedom.
fn dof_words(dof: f64) -> String {
    let plural = if (dof - 1.0).abs() < f64::EPSILON { "" } else { "s" };
    format!("{} degree{plural} of freedom", number(dof))
}

/// What a scale on the standardised scale is in the unit of the target, if that is another and
/// there is one target only.
fn in_unit(scale: f64, data: &Dataset) -> String {
    match (&data.targets, &data.target_scaling[..]) {
        (Targets::Real { names, .. }, [scaling]) if (scaling.scale - 1.0).abs() > 1e-12 => {
            format!(" ({} in the unit of {})", number(scale * scaling.scale), names[0])
        }
        (Targets::Durations { name, .. }, [scaling]) => {
            format!(" ({} of log {name})", number(scale * scaling.scale))
        }
        _ => String::new(),
    }
}
