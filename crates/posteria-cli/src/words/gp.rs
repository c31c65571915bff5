//! Say in words what a Gaussian process is: its covariance, its priors, how it is sampled.

use posteria::data::{Dataset, Targets, Task};
use posteria::draws::{Layout, Role};
use posteria::model::gp::covariance::{Covariance, Factor, Function};
use posteria::model::mlp::GROUP_DOFS;
use posteria::model::spec::{
    Dof, HyperparametersSpec, InferenceChoice, KernelChoice, LatentsChoice, Link, MeanChoice,
    PriorFamily, PriorSpec, Processes, ResidualSharing, Sharing, Spec, StartChoice, Values,
    WidthScaled,
};

use super::residual::{
    family, location_of_durations, mean_of_counts, order_of_classes, residuals, sampled_dof,
};
use super::{Part, dof_words, in_unit, log_normal_words, number};
use crate::text;

/// What a way without chains does: `draws` of what.
pub(super) fn without_chains(inference: InferenceChoice, draws: &str, seed: u64) -> String {
    match inference {
        InferenceChoice::Map => format!(
            "{draws}, seed {seed}: where the density of their logarithms given the targets is highest, \
             functions integrated out; how uncertain they are plays no part"
        ),
        _ => format!(
            "{draws}, seed {seed}: drawn from Student's t distributions about the modes of the density of \
             their logarithms given the targets, functions integrated out, and weighted by that density"
        ),
    }
}

/// The parts of a Gaussian process. `spec` is complete, `layout` that of its draws.
pub(super) fn parts(spec: &Spec, data: &Dataset, layout: &Layout) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut push = |name, words: String| parts.push(Part { name, words });
    push("function", function(spec, data));
    let sharing = spec.prior.get("relevance").and_then(|p| p.sharing).unwrap_or(Sharing::PerInput);
    let text = spec.model.covariance.clone().unwrap_or_default().join("+");
    let covariance = Covariance::parse(&text, &data.input_names, sharing)
        .map(|terms| Covariance::new(terms, data.input_names.len()));
    if let Ok(covariance) = &covariance {
        push("covariance", formula(covariance, &data.input_names));
    }
    push("mean", mean(spec));
    let jitter = spec.model.jitter.unwrap_or(f64::NAN);
    let unit = in_unit(jitter, data);
    push(
        "jitter",
        format!("standard deviation {}{unit} on the diagonal of the covariance", number(jitter)),
    );
    let known = spec.hyperparameters.clone().unwrap_or_default();
    for name in ["magnitude", "relevance", "shape", "period", "bias"] {
        // Several of a kind carry numbers after its name.
        let has = |name: &str| layout.variables().iter().any(|v| v.name.starts_with(name));
        match (values(&known, name), spec.prior.get(name)) {
            (Some(values), _) => push(name, known_words(values)),
            (None, Some(prior)) if has(name) => push(name, prior_words(name, prior, data)),
            _ => {}
        }
    }
    if let Some(residual) = &spec.residual {
        let words = match &known.residual {
            Some(scale) => format!("{}; scale {}", family(residual), known_words(scale)),
            None => residuals(residual, data, layout),
        };
        push("residual", words);
    }
    if let Some(neighbours) = spec.model.neighbours {
        let words = "nearest of the rows before it, in place of all";
        push("neighbours", format!("a row depends on the {neighbours} {words}"));
    }
    push("parameters", counts(spec, data, layout));
    push("kernel", kernel(spec, data.task));
    parts
}

fn function(spec: &Spec, data: &Dataset) -> String {
    let whose = match spec.model.processes {
        Some(Processes::Shared) => "the same hyperparameters",
        _ => "hyperparameters of its own",
    };
    let words = "f is a Gaussian process: at any rows it is normal with the covariance below";
    match (&data.targets, data.task) {
        (Targets::Real { names, .. }, _) if names.len() > 1 => {
            format!("{words}; one f for each of {}, with {whose}", names.join(", "))
        }
        (Targets::Real { .. }, _) => words.into(),
        (Targets::Counts { .. }, _) => format!("{words}; {}", mean_of_counts(spec)),
        (Targets::Durations { name, .. }, _) => format!("{words}; {}", location_of_durations(name)),
        (Targets::Classes { labels, .. }, Task::Binary) => {
            let second = labels.get(1).map_or("the second class", String::as_str);
            match spec.model.link {
                Some(Link::Probit) => format!(
                    "{words}; the probability of {second} is Φ(f), the normal distribution function"
                ),
                _ => format!("{words}; f is the log odds of {second}"),
            }
        }
        (Targets::Classes { labels, .. }, Task::Ordinal) => {
            format!("{words}; {}", order_of_classes(labels))
        }
        (Targets::Classes { labels, .. }, _) => format!(
            "{words}; one f for each of {}, with the same hyperparameters, and the probabilities of \
             the classes are their softmax",
            labels.join(", ")
        ),
    }
}

/// The text of the covariance function and what it means.
fn formula(covariance: &Covariance, names: &[String]) -> String {
    let several = covariance.terms().len() > 1;
    let mut stationary = false;
    let mut terms = Vec::new();
    for (index, factors) in covariance.terms().enumerate() {
        let alone = factors.len() == 1 && factors[0].function == Function::Linear;
        let magnitude = match (alone, several) {
            (true, _) => Vec::new(),
            (false, false) => vec!["η²".to_string()],
            (false, true) => vec![format!("η_{}²", index + 1)],
        };
        let constant = |factor: &&Factor| factor.function == Function::Constant;
        stationary |= factors.iter().any(|factor| uses_distance(factor.function));
        let parts = factors.iter().filter(|f| !constant(f)).map(|f| expression(f.function).into());
        terms.push(magnitude.into_iter().chain(parts).collect::<Vec<_>>().join(" "));
    }
    let mut words = format!("{}: {}", covariance.name(names), terms.join(" + "));
    if stationary {
        words.push_str(", r² = Σ ρ² (x - x')² over its inputs");
    }
    words
}

fn uses_distance(function: Function) -> bool {
    use Function::{Exponential, Matern32, Matern52, RationalQuadratic, SquaredExponential};
    matches!(function, SquaredExponential | Matern32 | Matern52 | Exponential | RationalQuadratic)
}

fn expression(function: Function) -> &'static str {
    match function {
        Function::SquaredExponential => "exp(-r²)",
        Function::Matern32 => "(1 + √3 r) exp(-√3 r)",
        Function::Matern52 => "(1 + √5 r + 5r²/3) exp(-√5 r)",
        Function::Exponential => "exp(-r)",
        Function::RationalQuadratic => "(1 + r²/α)^(-α)",
        Function::Periodic => "exp(-Σ ρ² sin²(π(x - x')/period))",
        Function::Linear => "Σ ρ² x x'",
        Function::NeuralNetwork => "(2/π) asin(of infinitely many hidden units)",
        _ => "1",
    }
}

fn mean(spec: &Spec) -> String {
    let scale = spec.prior.get("mean").and_then(|prior| prior.fixed).unwrap_or(f64::NAN);
    let integrated = format!("normal with standard deviation {}, integrated out", number(scale));
    match spec.model.mean {
        Some(MeanChoice::Constant) => format!("an unknown constant, {integrated}"),
        Some(MeanChoice::Linear) => {
            format!("an unknown linear function of the inputs, coefficients {integrated}")
        }
        _ => "zero".into(),
    }
}

fn values<'a>(known: &'a HyperparametersSpec, name: &str) -> Option<&'a Values> {
    match name {
        "magnitude" => known.magnitude.as_ref(),
        "relevance" => known.relevance.as_ref(),
        "shape" => known.shape.as_ref(),
        "period" => known.period.as_ref(),
        _ => known.bias.as_ref(),
    }
}

fn known_words(values: &Values) -> String {
    let list = match values {
        Values::One(value) => number(*value),
        Values::Each(values) => values.iter().map(|v| number(*v)).collect::<Vec<_>>().join(", "),
    };
    format!("{list}, known and not sampled")
}

/// The prior of the hyperparameters of a kind.
fn prior_words(name: &str, prior: &PriorSpec, data: &Dataset) -> String {
    let inputs = data.input_names.len();
    let meaning = match name {
        "magnitude" => "η, a standard deviation of f",
        "relevance" => match prior.sharing {
            Some(Sharing::Common) => "ρ, an inverse length scale, one for all inputs",
            _ if inputs > 1 => "ρ, an inverse length scale for each input",
            _ => "ρ, an inverse length scale",
        },
        "shape" => "α",
        "period" => "of each input",
        _ => "standard deviation of the hidden units' bias",
    };
    let scale = number(prior.scale.unwrap_or(f64::NAN));
    let dof = match &prior.dof {
        Some(Dof::Known(dof)) => dof_words(*dof),
        Some(dof) => sampled_dof(dof, &GROUP_DOFS),
        None => String::new(),
    };
    let number_of = |value: Option<f64>| number(value.unwrap_or(f64::NAN));
    let unit = match name {
        "magnitude" => in_unit(prior.scale.unwrap_or(f64::NAN), data),
        _ => String::new(),
    };
    let words = match prior.family {
        Some(PriorFamily::HalfStudentT) => {
            format!("half Student's t with scale {scale}{unit} and {dof}")
        }
        Some(PriorFamily::LogNormal) => {
            let by_root = matches!(prior.width_scaled, Some(WidthScaled::By(_))) && inputs > 1;
            let about = match by_root {
                true => {
                    let value = prior.scale.unwrap_or(f64::NAN) / (inputs as f64).sqrt();
                    format!("{scale} / {inputs}^(1/2) = {}", number(value))
                }
                false => format!("{scale}{unit}"),
            };
            let log_sd = prior.log_sd.unwrap_or(f64::NAN);
            match prior.top_log_sd {
                None => log_normal_words(&about, log_sd),
                Some(above) => format!(
                    "{}; the common value: {}",
                    log_normal_words("a common value", log_sd),
                    log_normal_words(&about, above)
                ),
            }
        }
        Some(PriorFamily::Gamma) => {
            format!("gamma with shape {} and scale {scale}{unit}", number_of(prior.shape))
        }
        Some(PriorFamily::LogUniform) => {
            let [lower, upper] = [prior.lower, prior.upper].map(number_of);
            format!("log-uniform between {lower} and {upper}")
        }
        _ => match prior.top_dof {
            None => format!("square inverse gamma about {scale}²{unit} with {dof}"),
            Some(above) => format!(
                "square inverse gamma about that of a common scale with {dof}; the common scale: \
                 square inverse gamma about {scale}² with {}",
                dof_words(above)
            ),
        },
    };
    format!("{meaning}: {words}")
}

/// How many numbers are sampled.
fn counts(spec: &Spec, data: &Dataset, layout: &Layout) -> String {
    let targets = data.target_scaling.len().max(1);
    let sharing = spec.residual.as_ref().and_then(|residual| residual.sharing);
    let known = spec.hyperparameters.as_ref().is_some_and(|known| known.residual.is_some());
    let of = |role: Role, components: usize| match role {
        Role::ResidualScale if known => 0,
        // One number, shown in the unit of every target.
        Role::ResidualScale if sharing == Some(ResidualSharing::Common) => components / targets,
        Role::ResidualScaleAbove => 1,
        Role::Latents | Role::CaseScale => 0,
        role if role.is_derived() => 0,
        _ => components,
    };
    let count: usize = layout.variables().iter().map(|v| of(v.role, v.len())).sum();
    let hyperparameters = text::count(count, "hyperparameter");
    if spec.model.neighbours.is_some() {
        return format!("{hyperparameters} are sampled");
    }
    let functions = match &data.targets {
        Targets::Real { names, .. } => names.len(),
        Targets::Classes { labels, .. } => labels.len().max(2) - 1,
        Targets::Counts { .. } | Targets::Durations { .. } => 1,
    };
    let rows = text::count(data.rows() * functions, "function value");
    format!("{hyperparameters} and {rows} are sampled")
}

fn kernel(spec: &Spec, task: Task) -> String {
    let sampling = &spec.sampling;
    let steps = match sampling.leapfrog_steps {
        Some(steps) => format!(" of {}", text::count(steps, "leapfrog step")),
        None => String::new(),
    };
    let moved = match sampling.kernel {
        Some(KernelChoice::Nuts) => "along No-U-Turn trajectories with a dense metric".into(),
        Some(KernelChoice::Hmc) => format!("along trajectories{steps} with a dense metric"),
        _ => format!(
            "along trajectories{steps} with a dense metric, and while they are few also by guesses \
             from a Student-t distribution fitted in warm-up"
        ),
    };
    let mut words = match (task, sampling.latents) {
        (Task::Regression, _) => {
            let drawn = match spec.model.neighbours {
                Some(_) => "",
                None => "; f is then drawn exactly",
            };
            format!(
                "hyperparameters and residual scales move {moved}, with f integrated out{drawn}"
            )
        }
        (_, Some(LatentsChoice::Elliptical)) => {
            format!("f moves by elliptical slice sampling; hyperparameters move {moved}")
        }
        (_, Some(LatentsChoice::Metropolis)) => {
            format!("f moves by Metropolis steps that keep its prior; hyperparameters move {moved}")
        }
        _ => format!(
            "f and hyperparameters move in coordinates of a normal approximation of the posterior; \
             hyperparameters {moved}"
        ),
    };
    if let Some(count) = sampling.temperatures.filter(|count| *count > 1) {
        words.push_str(&format!("; replica exchange between {count} temperatures"));
    }
    words.push_str(match sampling.start {
        Some(StartChoice::Prior) => "; chains start at draws from the prior",
        _ => "; chains start at moderate hyperparameters, different for every chain",
    });
    words
}
