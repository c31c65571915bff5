//! Name what a draw of a linear model holds, and check that data fit the model.

use super::coefficients::{Coefficients, GroupScale};
use super::columns::Columns;
use super::posterior::Likelihood;
use super::spec::{Linear, WeightPrior};
use super::user_scale::UserScale;
use crate::data::{Dataset, Targets, Task};
use crate::draws::{Dimension, Layout, Role};
use crate::model::ModelError;
use crate::model::spec::{ResidualSharing, Sharing};
use crate::model::usable::usable;

/// Names everything in a draw.
pub(super) fn layout(
    model: &Linear,
    (coefficients, columns): (&Coefficients, &Columns),
    user: &UserScale,
    likelihood: &Likelihood,
    data: &Dataset,
) -> Layout {
    let mut layout = Layout::new();
    let outputs = match (&data.targets, likelihood) {
        (Targets::Classes { labels, .. }, Likelihood::Softmax { .. }) => {
            Some(Dimension { name: "class".into(), labels: labels.clone() })
        }
        (Targets::Real { names, .. }, _) if names.len() > 1 => {
            Some(Dimension { name: "target".into(), labels: names.clone() })
        }
        _ => None,
    };
    user.push_names(&mut layout, columns, outputs.as_ref());
    let first = usize::from(model.intercept) * coefficients.outputs;
    let sampled = |at: usize| {
        coefficients.groups.iter().any(|group| {
            group.members.contains(&at) && matches!(group.scale, GroupScale::Sampled(..))
        })
    };
    if coefficients.count > first && sampled(first) {
        match model.weights {
            WeightPrior::Normal { sharing: Sharing::PerInput, .. } => {
                let labels = data.input_names.clone();
                layout.push_role(Role::Relevance, vec![Dimension { name: "input".into(), labels }]);
            }
            _ => {
                layout.push_scalar("weight_scale");
            }
        }
    }
    if model.intercept && sampled(0) {
        layout.push_scalar("intercept_scale");
    }
    if let Likelihood::Real(regression) = likelihood {
        // Of one target nothing has a dimension.
        let target =
            outputs.unwrap_or_else(|| Dimension { name: "target".into(), labels: Vec::new() });
        regression.residual.push_layout(&mut layout, &target);
    }
    if let Likelihood::Outcomes(outcomes) = likelihood {
        outcomes.push_layout(&mut layout);
    }
    if let Some(selection) = &coefficients.selection {
        selection.push_layout(&mut layout, &data.input_names);
    }
    layout
}

/// Checks that the model can be conditioned on `data`.
pub(super) fn check(model: &Linear, data: &Dataset) -> Result<(), ModelError> {
    if let Some(expected) = model.task.filter(|&task| task != data.task) {
        return Err(ModelError::Task { expected, found: data.task });
    }
    usable(data)?;
    let has_level = model.intercept || data.task == Task::Ordinal;
    if data.input_names.is_empty() && !has_level {
        let what = "inputs of a model without an intercept".into();
        return Err(ModelError::Length { what, expected: 1, found: 0 });
    }
    match &data.targets {
        Targets::Real { names, .. } => {
            let conjugate = matches!(model.weights, WeightPrior::Conjugate { .. });
            let own = model.residual.sharing == ResidualSharing::PerTarget;
            if names.len() > 1 && conjugate && !own {
                let what = "the conjugate prior where several targets share residuals \
                            (give every target its own scale by sharing = \"per-target\", or the \
                            weights another prior)";
                return Err(ModelError::NotAvailable { what: what.into() });
            }
        }
        Targets::Classes { .. } | Targets::Counts { .. } | Targets::Durations { .. } => {
            if let WeightPrior::Conjugate { .. } = model.weights {
                let what =
                    "the conjugate prior for a target with classes, counts or durations".into();
                return Err(ModelError::NotAvailable { what });
            }
        }
    }
    Ok(())
}
