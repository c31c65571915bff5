//! Say in words what a specification means.

use posteria::data::{Dataset, Targets, Task};
use posteria::model::spec::{Dof, PriorFamily, PriorSpec, Sharing, Spec};
use serde::Serialize;

use crate::text;

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
    priors: Vec<Prior>,
    inference: &'static str,
    chains: usize,
    warmup: usize,
    draws: usize,
    thin: usize,
    seed: u64,
}

#[derive(Debug, Serialize)]
struct Prior {
    name: &'static str,
    words: String,
}

impl Words {
    /// Describes a fit of `spec`, as [`Spec::complete`] left it, to `data`.
    pub fn new(spec: &Spec, data: &Dataset) -> Self {
        let (task, target) = match (&data.targets, data.task) {
            (Targets::Real { names, .. }, _) => ("regression", names.clone()),
            (Targets::Classes { name, .. }, Task::Multiclass) => ("multiclass", vec![name.clone()]),
            (Targets::Classes { name, .. }, _) => ("binary", vec![name.clone()]),
        };
        let sampling = spec.sampling;
        Words {
            model: spec.model.kind.name(),
            task,
            rows: data.rows(),
            target,
            inputs: data.input_names.clone(),
            priors: priors(spec, data),
            inference: if sampling.is_committee() { "committee" } else { "mcmc" },
            chains: sampling.chains,
            warmup: sampling.warmup,
            draws: sampling.draws,
            thin: sampling.thin,
            seed: sampling.seed,
        }
    }

    /// The description as text.
    pub fn render(&self) -> String {
        let mut lines = format!(
            "{} {} of {} on {}, {}\n",
            self.model,
            self.task,
            text::printable(&self.target.join(", ")),
            text::count(self.inputs.len(), "input"),
            text::count(self.rows, "row")
        );
        let mut line = |name: &str, words: &str| {
            lines.push_str(&format!("{:<10} {}\n", name, text::printable(words)));
        };
        let mut inputs = self.inputs[..self.inputs.len().min(LISTED)].join(", ");
        if self.inputs.len() > LISTED {
            inputs.push_str(", …");
        }
        line("inputs", &inputs);
        for prior in &self.priors {
            line(prior.name, &prior.words);
        }
        if self.inference == "committee" {
            let members = text::committee(self.draws);
            line(
                "inference",
                &format!(
                    "{members}, each trained on its own random half of the rows and stopped by \
                     the other, seed {}; priors take no part",
                    self.seed
                ),
            );
            return lines;
        }
        let thinned = match self.thin {
            1 => String::new(),
            thin => format!(", one in {thin} sweeps"),
        };
        line(
            "sampling",
            &format!(
                "{}, {} of warm-up, {} each{thinned}, seed {}",
                text::count(self.chains, "chain"),
                text::count(self.warmup, "sweep"),
                text::count(self.draws, "draw"),
                self.seed
            ),
        );
        lines
    }
}

fn priors(spec: &Spec, data: &Dataset) -> Vec<Prior> {
    let mut priors = Vec::new();
    let mut push = |name, words: String| priors.push(Prior { name, words });
    push(
        "output",
        match data.task {
            Task::Regression => "f = intercept + sum of weight × input".into(),
            _ => "f = intercept + sum of weight × input, the log odds of the second class".into(),
        },
    );
    for (name, key) in [("weights", "weights"), ("intercept", "intercept")] {
        if let Some(prior) = spec.prior.get(key) {
            push(name, weight_words(prior));
        } else if key == "intercept" && spec.model.intercept == Some(false) {
            push(name, "none".into());
        }
    }
    if let Some(residual) = &spec.residual {
        let variance = match (residual.precision, residual.scale, residual.scale_dof) {
            (Some(gamma), ..) => {
                format!("precision gamma with shape {} and scale {}", gamma.shape, gamma.scale)
            }
            (None, Some(scale), Some(dof)) => variance_words(scale, dof),
            _ => "variance with its default prior".into(),
        };
        push("residual", format!("normal, {variance}"));
    }
    push(
        "scale",
        if spec.data.standardize {
            "priors hold for inputs and targets standardised to mean 0 and deviation 1".into()
        } else {
            "priors hold for inputs and targets as they are".into()
        },
    );
    priors
}

fn weight_words(prior: &PriorSpec) -> String {
    let whose = match prior.sharing {
        Some(Sharing::PerInput) => "one variance per input",
        _ => "a common variance",
    };
    match (prior.family, prior.fixed, prior.rho) {
        (_, Some(fixed), _) => format!("normal about 0 with standard deviation {fixed}"),
        (Some(PriorFamily::Conjugate), _, Some(rho)) => {
            format!("normal about 0 with precision {rho} times that of the residual")
        }
        (Some(PriorFamily::Independent), ..) => format!(
            "normal about 0, {whose} whose inverse is gamma with shape {} and scale {}",
            prior.shape.unwrap_or(f64::NAN),
            prior.rate_scale.unwrap_or(f64::NAN)
        ),
        _ => match (prior.scale, &prior.dof) {
            (Some(scale), Some(Dof::Known(dof))) => {
                format!("normal about 0, {whose}: {}", variance_words(scale, *dof))
            }
            _ => "normal about 0".into(),
        },
    }
}

fn variance_words(scale: f64, dof: f64) -> String {
    format!(
        "variance inverse gamma about {scale}² with {dof} degree{} of freedom",
        if (dof - 1.0).abs() < f64::EPSILON { "" } else { "s" }
    )
}
