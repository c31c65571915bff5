//! Name what a draw of a Gaussian process holds, and write its hyperparameters.

use super::covariance::Parameter;
use super::hyperparameters::Group;
use super::observed::Observed;
use super::posterior::GpPosterior;
use super::process::Process;
use crate::data::{Dataset, Targets};
use crate::draws::{Dimension, Layout, Role};
use crate::model::prior::{Above, Levels};

/// Everything a draw holds, in its order.
pub(super) fn layout(posterior: &GpPosterior, data: &Dataset) -> Layout {
    let mut layout = Layout::new();
    let dimension = |name: &str, labels: Vec<String>| Dimension { name: name.into(), labels };
    let answer = match &data.targets {
        Targets::Real { names, .. } => dimension("target", names.clone()),
        Targets::Classes { labels, .. } => dimension("class", labels.clone()),
        Targets::Counts { name, .. } | Targets::Durations { name, .. } => {
            dimension("target", vec![name.clone()])
        }
    };
    let by_target = if posterior.processes.len() > 1 { vec![answer.clone()] } else { Vec::new() };
    for group in groups(posterior) {
        let name = name(posterior, group);
        let mut dimensions = by_target.clone();
        let parameters = &posterior.covariance.parameters()[group.parameters.clone()];
        let inputs: Option<Vec<String>> = parameters.iter().map(|p| input(p, data)).collect();
        if let Some(inputs) = inputs.filter(|_| !group.is_tied()) {
            dimensions.push(dimension("input", inputs));
        }
        layout.push(name.clone(), dimensions);
        if let Some(Levels { above: Above::Sampled { .. }, .. }) = group.levels() {
            layout.push(format!("{name}_above"), by_target.clone());
        }
        if group.levels().is_some_and(|levels| levels.spread.sampled_dof().is_some()) {
            layout.push(format!("{name}_dof"), by_target.clone());
        }
    }
    if let Some(selection) = &posterior.selection {
        selection.push_layout(&mut layout, &data.input_names);
    }
    let rows = posterior.row_count();
    let of_rows = |rows: &mut dyn Iterator<Item = usize>| rows.map(|row| row.to_string()).collect();
    let functions = posterior.observed.functions();
    if let Observed::Real(residual) = &posterior.observed {
        residual.push_layout(&mut layout, &answer);
    }
    if let Observed::Outcomes(outcomes) = &posterior.observed {
        outcomes.push_layout(&mut layout);
    }
    if posterior.keeps_latents() {
        let mut dimensions = vec![dimension("case", of_rows(&mut (0..rows)))];
        if functions > 1 {
            dimensions.push(match &posterior.observed {
                Observed::Real(_) => answer.clone(),
                _ => dimension("contrast", of_rows(&mut (0..functions))),
            });
        }
        layout.push_role(Role::Latents, dimensions);
    }
    let fitted = dimension(Dimension::ROWS, of_rows(&mut posterior.fitted_rows.iter().copied()));
    let fitted = match &posterior.observed {
        Observed::Binary { .. } => vec![fitted],
        Observed::Outcomes(it) => std::iter::once(fitted).chain(it.expected_dimension()).collect(),
        Observed::Real(_) if functions == 1 => vec![fitted],
        _ => vec![fitted, answer],
    };
    layout.push_role(Role::Fitted, fitted.clone());
    if !posterior.keeps_latents() {
        layout.push_role(Role::FittedMean, fitted);
    }
    layout.push_role(Role::TrainingError, Vec::new());
    if posterior.test.is_some() {
        layout.push_role(Role::TestError, Vec::new());
    }
    layout
}

/// The groups of sampled hyperparameters, the same in every process.
pub(super) fn groups(posterior: &GpPosterior) -> &[Group] {
    posterior.processes.first().map_or(&[], |process| &process.hyperparameters.groups)
}

/// A kind alone is named by it; several carry the number of their term, and of their factor where
/// the term has several.
fn name(posterior: &GpPosterior, group: &Group) -> String {
    let kind = group.kind.name();
    let alike: Vec<_> = groups(posterior).iter().filter(|g| g.kind == group.kind).collect();
    let (term, factor) = group.place;
    if alike.len() == 1 {
        kind.into()
    } else if alike.iter().filter(|other| other.place.0 == term).count() == 1 {
        format!("{kind}_{}", term + 1)
    } else {
        format!("{kind}_{}_{}", term + 1, factor + 1)
    }
}

/// The name of the input that a parameter belongs to.
fn input(parameter: &Parameter, data: &Dataset) -> Option<String> {
    match parameter {
        Parameter::Relevance { input: Some(input), .. } | Parameter::Period { input, .. } => {
            Some(data.input_names[*input].clone())
        }
        _ => None,
    }
}

/// The user's unit of a parameter of the covariance function.
fn unit(posterior: &GpPosterior, process: &Process, parameter: usize) -> f64 {
    match (&posterior.covariance.parameters()[parameter], &posterior.observed) {
        // A deviation of the target's, if of one target only.
        (Parameter::Magnitude { .. }, Observed::Real(_)) if process.targets.len() == 1 => {
            posterior.target_scaling[process.targets.start].scale
        }
        (Parameter::Period { input, .. }, _) => posterior.input_scaling[*input].scale,
        _ => 1.0,
    }
}

/// Writes the hyperparameters in the order of [`layout`].
pub(super) fn write(posterior: &GpPosterior, state: &[f64], mut push: impl FnMut(f64)) {
    for index in 0..groups(posterior).len() {
        for process in &posterior.processes {
            let group = &process.hyperparameters.groups[index];
            for (slot, parameter) in group.slots.clone().zip(group.parameters.clone()) {
                let unit = unit(posterior, process, parameter);
                let out = process.hyperparameters.excludes(state, parameter);
                push(if out { 0.0 } else { state[slot].exp() * unit });
            }
        }
        for process in &posterior.processes {
            let group = &process.hyperparameters.groups[index];
            if let Some(Levels { above: Above::Sampled { slot, .. }, .. }) = group.levels() {
                push(state[*slot].exp());
            }
        }
        for process in &posterior.processes {
            let group = &process.hyperparameters.groups[index];
            if let Some(slot) = group.levels().and_then(|levels| levels.spread.sampled_dof()) {
                push(state[slot]);
            }
        }
    }
    if let Some(selection) = &posterior.selection {
        selection.push(state, push);
    }
}

/// Reads the hyperparameters of a draw back into the state that [`write()`] wrote it from; returns
/// how many numbers that were.
pub(super) fn read(posterior: &GpPosterior, draw: &[f64], state: &mut [f64]) -> usize {
    let mut next = 0;
    let mut take = || {
        next += 1;
        draw[next - 1]
    };
    for index in 0..groups(posterior).len() {
        for process in &posterior.processes {
            let group = &process.hyperparameters.groups[index];
            for (slot, parameter) in group.slots.clone().zip(group.parameters.clone()) {
                let unit = unit(posterior, process, parameter);
                state[slot] = (take() / unit).ln();
            }
        }
        for process in &posterior.processes {
            let group = &process.hyperparameters.groups[index];
            if let Some(Levels { above: Above::Sampled { slot, .. }, .. }) = group.levels() {
                state[*slot] = take().ln();
            }
        }
        for process in &posterior.processes {
            let group = &process.hyperparameters.groups[index];
            if let Some(slot) = group.levels().and_then(|levels| levels.spread.sampled_dof()) {
                state[slot] = take();
            }
        }
    }
    if let Some(selection) = &posterior.selection {
        state[selection.slots.clone()].fill_with(&mut take);
        // The number of inputs that are in.
        take();
    }
    next
}
