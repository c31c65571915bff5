//! Say in words what a network is: its function, its priors, its residuals, how it is sampled.

use posteria::data::{Dataset, Targets, Task};
use posteria::draws::{Layout, Role};
use posteria::model::mlp::{
    GROUP_DOFS, JOINT_STEPS, JOINT_STEPS_OF_REPLICAS, Mlp, RESIDUAL_DOFS, WEIGHT_STEPS,
    WidthScaling,
};
use posteria::model::spec::{
    InferenceChoice, KernelChoice, PriorFamily, PriorSpec, ResidualSharing, SamplingSpec, Sharing,
    Spec, StartChoice, WidthRule,
};

use super::residual::{
    location_of_durations, mean_of_counts, order_of_classes, residuals, sampled_dof, second_class,
};
use super::{Part, dof_words, log_normal_words, number};
use crate::text;

/// Groups of weights, in the order of the network.
const GROUPS: [&str; 5] =
    ["input_weights", "hidden_bias", "output_weights", "output_bias", "direct_weights"];

/// The parts of a network. `spec` is complete, `layout` that of its draws.
pub(super) fn parts(spec: &Spec, data: &Dataset, layout: &Layout) -> Vec<Part> {
    let mut parts = vec![Part { name: "network", words: network(spec, data) }];
    let model = Mlp::new(spec).ok();
    for name in GROUPS {
        let (Some(prior), Some(weights)) = (spec.prior.get(name), layout.variable(name)) else {
            continue;
        };
        let scaling = model.as_ref().and_then(|m| m.width_scaling(name, data.input_names.len()));
        let words = format!(
            "{}, {}",
            text::count(weights.len(), if name.ends_with("bias") { "bias" } else { "weight" }),
            group(prior, scaling, data.input_names.len())
        );
        parts.push(Part { name, words });
    }
    if let Some(residual) = &spec.residual {
        parts.push(Part { name: "residual", words: residuals(residual, data, layout) });
    }
    parts.push(Part { name: "parameters", words: counts(spec, data, layout) });
    if spec.sampling.inference() == InferenceChoice::Mcmc {
        parts.push(Part { name: "kernel", words: kernel(&spec.sampling, data.task) });
    }
    parts
}

fn network(spec: &Spec, data: &Dataset) -> String {
    let hidden = spec.model.hidden.unwrap_or(0);
    let mut words = String::from("f = output bias");
    if hidden > 0 {
        words.push_str(&format!(
            " + sum over {} of output weight × tanh(hidden bias + sum of input weight × input)",
            text::count(hidden, "hidden unit")
        ));
    }
    if spec.model.direct == Some(true) {
        words.push_str(" + sum of direct weight × input");
    }
    if hidden == 0 {
        words.push_str(" (a generalised linear model)");
    }
    match (&data.targets, data.task) {
        (Targets::Real { names, .. }, _) if names.len() > 1 => {
            words.push_str(&format!("; one f for each of {}", names.join(", ")));
        }
        (Targets::Classes { labels, .. }, Task::Binary) => {
            let second = labels.get(1).map_or("the second class", String::as_str);
            words.push_str(&second_class(spec, second));
        }
        (Targets::Classes { labels, .. }, Task::Ordinal) => {
            words.push_str(&format!("; {}", order_of_classes(labels)));
        }
        (Targets::Classes { labels, .. }, _) => words.push_str(&format!(
            "; one f for each of {}, the probabilities of the classes are their softmax",
            labels.join(", ")
        )),
        (Targets::Counts { .. }, _) => words.push_str(&format!("; {}", mean_of_counts(spec))),
        (Targets::Durations { name, .. }, _) => {
            words.push_str(&format!("; {}", location_of_durations(name)));
        }
        _ => {}
    }
    words
}

fn group(prior: &PriorSpec, scaling: Option<WidthScaling>, inputs: usize) -> String {
    let family = match prior.family {
        Some(PriorFamily::Laplace) => "Laplace about 0".into(),
        Some(PriorFamily::StudentT) => {
            let dof = prior.weight_dof.as_ref().map(|dof| sampled_dof(dof, &RESIDUAL_DOFS));
            format!("Student's t about 0 with {}", dof.unwrap_or_default())
        }
        _ => "normal about 0".into(),
    };
    if let Some(fixed) = prior.fixed {
        let scale = match prior.family {
            Some(PriorFamily::Normal) | None => "standard deviation",
            _ => "scale",
        };
        return format!("{family} with {scale} {}, fixed", number(fixed));
    }
    let scale = prior.scale.unwrap_or(f64::NAN);
    let top = match scaling {
        Some(scaling) if scaling.fan_in > 1 => {
            let rule = match scaling.rule {
                WidthRule::Fbm => "FBM",
                WidthRule::Mcmcstuff => "MCMCstuff",
            };
            let scaled = number(scale / scaling.divisor());
            let square = if prior.log_sd.is_some() { "" } else { "²" };
            format!("({} / {scaling} = {scaled}){square} [width scaled: {rule}]", number(scale))
        }
        _ if prior.log_sd.is_some() => number(scale),
        _ => format!("{}²", number(scale)),
    };
    let whose = match prior.sharing {
        Some(Sharing::PerInput) if inputs > 1 => {
            format!("one scale for each of {inputs} inputs")
        }
        _ => "one scale".into(),
    };
    if let Some(log_sd) = prior.log_sd {
        return match prior.top_log_sd {
            None => format!("{family}; {whose}: {}", log_normal_words(&top, log_sd)),
            Some(above) => format!(
                "{family}; {whose}: {}; the common scale: {}",
                log_normal_words("a common scale", log_sd),
                log_normal_words(&top, above)
            ),
        };
    }
    let dof = prior.dof.as_ref().map(|dof| sampled_dof(dof, &GROUP_DOFS)).unwrap_or_default();
    match prior.top_dof {
        None => format!("{family}; {whose}: variance inverse gamma about {top} with {dof}"),
        Some(above) => format!(
            "{family}; {whose}: variance inverse gamma about that of a common scale with {dof}; the \
             common scale: variance inverse gamma about {top} with {}",
            dof_words(above)
        ),
    }
}

/// How many numbers are sampled.
fn counts(spec: &Spec, data: &Dataset, layout: &Layout) -> String {
    let (mut weights, mut hyperparameters) = (0, 0);
    let targets = data.target_scaling.len().max(1);
    let sharing = spec.residual.as_ref().and_then(|residual| residual.sharing);
    for variable in layout.variables() {
        match variable.role {
            _ if GROUPS.contains(&variable.name.as_str()) => weights += variable.len(),
            Role::CaseScale => {}
            role if role.is_derived() => {}
            // One number, shown in the unit of every target.
            Role::ResidualScaleAbove => hyperparameters += 1,
            Role::ResidualScale if sharing == Some(ResidualSharing::Common) => {
                hyperparameters += variable.len() / targets;
            }
            Role::ResidualCovariance => hyperparameters += targets * (targets + 1) / 2,
            _ => hyperparameters += variable.len(),
        }
    }
    let [weights, hyperparameters] = [(weights, "weight"), (hyperparameters, "hyperparameter")]
        .map(|(n, it)| text::count(n, it));
    match spec.sampling.inference() {
        InferenceChoice::Mcmc => format!("{weights} and {hyperparameters} are sampled"),
        _ => format!("{weights} and {hyperparameters}"),
    }
}

fn kernel(sampling: &SamplingSpec, task: Task) -> String {
    let temperatures = sampling.temperatures.unwrap_or(1);
    let steps =
        |default: usize| format!("{} leapfrog steps", sampling.leapfrog_steps.unwrap_or(default));
    let mut words = match (sampling.kernel, task) {
        (Some(KernelChoice::Hmc), _) => format!(
            "hybrid Monte Carlo on the weights given their scales, {}, window {}, persistence {}; \
             scales drawn from their conditionals and moved with their weights",
            steps(WEIGHT_STEPS),
            sampling.window.unwrap_or(1),
            number(sampling.persistence.unwrap_or(0.0))
        ),
        (Some(KernelChoice::Nuts), _) => {
            "No-U-Turn trajectories of the weights given their scales; \
             scales drawn from their conditionals and moved with their weights"
                .into()
        }
        (_, Task::Regression) => format!(
            "hidden weights and all scales move together along trajectories ({}) with the output \
             weights integrated out, with smaller steps where they are rejected outright; output \
             weights and scales are drawn from their conditionals; single hidden units are \
             proposed anew",
            match sampling.leapfrog_steps {
                Some(chosen) => steps(chosen),
                None => "number of leapfrog steps found in warm-up".into(),
            }
        ),
        _ => format!(
            "weights and scales move together along trajectories ({}), in turn with the output \
             weights in units of their scales and in their own, with smaller steps where they are \
             rejected outright; scales are also drawn from their conditionals and moved with their \
             weights",
            // Many exchanges between short trajectories are worth more than long ones.
            steps(if temperatures > 1 { JOINT_STEPS_OF_REPLICAS } else { JOINT_STEPS })
        ),
    };
    if temperatures > 1 {
        words.push_str(&format!("; replica exchange between {temperatures} temperatures"));
    }
    words.push_str(match sampling.start {
        Some(StartChoice::Prior) => "; chains start at draws from the prior",
        Some(StartChoice::EarlyStopping) => {
            "; chains start at weights trained with early stopping on a random half of the rows"
        }
        Some(StartChoice::Variational) => {
            "; chains start at draws from the variational ensemble, which is learned first"
        }
        _ => "; chains start at small random weights",
    });
    words
}
