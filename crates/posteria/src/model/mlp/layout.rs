//! Name the parts of a draw of a network.

use super::hierarchy::{Hierarchy, Scale};
use super::network::Shape;
use super::observed::Observed;
use crate::data::{Dataset, Targets};
use crate::draws::{Dimension, Layout, Role};
use crate::model::prior::Above;

/// The layout of a draw: weights, scales, residual model, fitted values, errors.
pub(super) fn layout(
    shape: &Shape,
    hierarchy: &Hierarchy,
    observed: &Observed,
    data: &Dataset,
    (fitted, tested): (&[usize], bool),
) -> Layout {
    let mut layout = Layout::new();
    let dimension = |name: &str, labels: Vec<String>| Dimension { name: name.into(), labels };
    let input = dimension("input", data.input_names.clone());
    let unit = dimension("hidden_unit", (0..shape.hidden).map(|h| h.to_string()).collect());
    let output = match &data.targets {
        Targets::Real { names, .. } => dimension("target", names.clone()),
        // One output: the log odds of the second class.
        Targets::Classes { name, .. } if shape.outputs == 1 => {
            dimension("target", vec![name.clone()])
        }
        Targets::Classes { labels, .. } => dimension("class", labels.clone()),
        Targets::Counts { name, .. } | Targets::Durations { name, .. } => {
            dimension("target", vec![name.clone()])
        }
    };
    for group in &hierarchy.groups {
        let dimensions = match group.name {
            "input_weights" => vec![input.clone(), unit.clone()],
            "hidden_bias" => vec![unit.clone()],
            "output_weights" => vec![unit.clone(), output.clone()],
            "output_bias" => vec![output.clone()],
            _ => vec![input.clone(), output.clone()],
        };
        layout.push(group.name, dimensions);
        // With hidden units, they may change places and signs; without, weights mean themselves.
        if shape.hidden > 0 && group.name != "output_bias" && group.name != "direct_weights" {
            layout.set_unidentified(group.name);
        }
    }
    for group in &hierarchy.groups {
        let name = match group.name {
            "input_weights" => "input_weight",
            "output_weights" => "output_weight",
            "direct_weights" => "direct_weight",
            other => other,
        };
        if let Scale::Sampled(levels) = &group.scale {
            match (levels.slots.len() > 1 || group.per_input, group.name) {
                (true, "input_weights") => {
                    layout.push_role(Role::Relevance, vec![input.clone()]);
                }
                (true, _) => {
                    layout.push(format!("{name}_scale"), vec![input.clone()]);
                }
                _ => {
                    layout.push_scalar(format!("{name}_scale"));
                }
            }
            if let Above::Sampled { .. } = levels.above {
                layout.push_scalar(format!("{name}_scale_above"));
            }
            if group.dof_slot().is_some() {
                layout.push_scalar(format!("{name}_scale_dof"));
            }
        }
        if group.weight_dof_slot().is_some() {
            layout.push_scalar(format!("{name}_dof"));
        }
    }
    if let Observed::Real(residual) = observed {
        residual.push_layout(&mut layout, &output);
    }
    if let Observed::Outcomes(outcomes) = observed {
        outcomes.push_layout(&mut layout);
    }
    if let Some(selection) = &hierarchy.selection {
        selection.push_layout(&mut layout, &data.input_names);
    }
    let rows = dimension(Dimension::ROWS, fitted.iter().map(|row| row.to_string()).collect());
    match observed {
        Observed::Real(_) if shape.outputs == 1 => layout.push_role(Role::Fitted, vec![rows]),
        Observed::Binary { .. } => layout.push_role(Role::Fitted, vec![rows]),
        Observed::Outcomes(outcomes) => {
            let dimensions = std::iter::once(rows).chain(outcomes.expected_dimension());
            layout.push_role(Role::Fitted, dimensions.collect())
        }
        _ => layout.push_role(Role::Fitted, vec![rows, output]),
    };
    layout.push_role(Role::TrainingError, Vec::new());
    if tested {
        layout.push_role(Role::TestError, Vec::new());
    }
    layout
}
