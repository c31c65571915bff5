//! Read a model from a specification, or say by name what of it the device does not do.

use posteria::data::{Dataset, Targets, Task};
use posteria::model::mlp::{Mlp, RESIDUAL_DOFS};
use posteria::model::spec::{
    Dof, Link, ModelKind, PriorFamily, PriorSpec, ResidualFamily, Sharing, Spec, Unknown,
};
use posteria_linalg::Matrix;

use super::problem::{GroupScale, MlpFold, MlpLikelihood, MlpModel, ResidualScale, ScaleSpread};
use crate::CudaError;

/// Degrees of freedom of residuals that have none, or whose targets are classes.
const NO_DOFS: [f64; 1] = [4.0];

impl MlpModel {
    /// The network of a specification given data that are encoded as it says.
    ///
    /// # Errors
    /// [`CudaError::NotAvailable`] names what the device does not do.
    pub fn of_spec(spec: &Spec, data: &Dataset) -> Result<Self, CudaError> {
        if spec.model.kind != ModelKind::Mlp {
            return refuse(format!("kind = \"{}\" in [model]", spec.model.kind.name()));
        }
        let mut spec = spec.clone();
        spec.complete(data.task).map_err(|error| not_available(error.to_string()))?;
        let checked = Mlp::new(&spec).map_err(|error| not_available(error.to_string()))?;
        let hidden = spec.model.hidden.unwrap_or(0);
        if hidden == 0 || spec.model.direct == Some(true) {
            return refuse("a network with direct weights from inputs to outputs");
        }
        if spec.selection.is_some() {
            return refuse("the selection of inputs");
        }
        let inputs = data.inputs.columns();
        let likelihood = likelihood(&spec, data)?;
        let outputs = match &data.targets {
            Targets::Classes { labels, .. } if likelihood == MlpLikelihood::Softmax => labels.len(),
            _ => 1,
        };
        let group = |name: &str| {
            let divisor = checked.width_scaling(name, inputs).map_or(1.0, |by| by.divisor());
            group_scale(name, spec.prior.get(name), divisor)
        };
        let model = MlpModel {
            inputs,
            hidden,
            outputs,
            likelihood,
            groups: [
                group("input_weights")?,
                group("hidden_bias")?,
                group("output_weights")?,
                group("output_bias")?,
            ],
            residual: residual(&spec)?,
        };
        model.check()?;
        Ok(model)
    }
}

impl MlpFold {
    /// Some rows of encoded data, or all with `None`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn of_data(data: &Dataset, rows: Option<&[usize]>, label: u32) -> Self {
        let all: Vec<usize> = (0..data.inputs.rows()).collect();
        let rows = rows.unwrap_or(&all);
        let input = |row: usize, input: usize| data.inputs[(rows[row], input)];
        let inputs = Matrix::from_fn(rows.len(), data.inputs.columns(), input);
        let target = |row: &usize| match &data.targets {
            Targets::Real { values, .. } => values[(*row, 0)],
            Targets::Classes { codes, .. } => codes[*row] as f64,
            Targets::Counts { values, .. } => values[*row],
            Targets::Durations { times, .. } => times[*row],
        };
        MlpFold { label, inputs, targets: rows.iter().map(target).collect() }
    }
}

fn not_available(what: impl Into<String>) -> CudaError {
    CudaError::NotAvailable { what: what.into() }
}

fn refuse<T>(what: impl Into<String>) -> Result<T, CudaError> {
    Err(not_available(what))
}

fn likelihood(spec: &Spec, data: &Dataset) -> Result<MlpLikelihood, CudaError> {
    match (&data.targets, data.task) {
        (Targets::Real { names, .. }, _) if names.len() > 1 => {
            refuse("a network with several real targets")
        }
        (Targets::Real { .. }, _) => {
            let residual = spec.residual.clone().unwrap_or_default();
            if residual.by.is_some() {
                return refuse("`by` in [residual]");
            }
            if residual.dof_by.is_some() {
                return refuse("`dof_by` in [residual]");
            }
            if residual.slopes.is_some() {
                return refuse("`slopes` in [residual]");
            }
            match residual.family.unwrap_or(ResidualFamily::Normal) {
                ResidualFamily::Normal => Ok(MlpLikelihood::Normal),
                ResidualFamily::StudentT => Ok(MlpLikelihood::StudentT),
                _ => refuse("a residual family other than normal and Student's t"),
            }
        }
        (Targets::Classes { .. }, Task::Ordinal) => refuse("ordered classes"),
        (Targets::Classes { .. }, Task::Binary) if spec.model.link == Some(Link::Probit) => {
            refuse("link = \"probit\" in [model]")
        }
        (Targets::Classes { .. }, Task::Binary) => Ok(MlpLikelihood::Logistic),
        (Targets::Classes { .. }, _) => Ok(MlpLikelihood::Softmax),
        (Targets::Counts { .. }, _) => refuse("counts"),
        (Targets::Durations { .. }, _) => refuse("durations"),
    }
}

/// The prior of a group, whose scale is divided by `divisor`.
fn group_scale(
    name: &str,
    prior: Option<&PriorSpec>,
    divisor: f64,
) -> Result<GroupScale, CudaError> {
    let absent = PriorSpec::default();
    let prior = prior.unwrap_or(&absent);
    if !matches!(prior.family, None | Some(PriorFamily::Normal)) {
        return refuse(format!("a family other than normal in [prior.{name}]"));
    }
    if let Some(fixed) = prior.fixed {
        return Ok(GroupScale::Fixed(fixed));
    }
    let scale = prior.scale.unwrap_or(1.0) / divisor;
    let spread = match (&prior.dof, prior.log_sd) {
        (Some(Dof::Known(dof)), _) => ScaleSpread::InverseGamma(*dof),
        (Some(_), _) => return refuse(format!("unknown degrees of freedom in [prior.{name}]")),
        (None, log_sd) => ScaleSpread::LogNormal(log_sd.unwrap_or(1.0)),
    };
    let top = match (prior.top_dof, prior.top_log_sd) {
        (Some(dof), _) => Some(ScaleSpread::InverseGamma(dof)),
        (None, log_sd) => log_sd.map(ScaleSpread::LogNormal),
    };
    match (prior.sharing, top) {
        (Some(Sharing::PerInput), Some(top)) => Ok(GroupScale::PerInput { scale, spread, top }),
        (Some(Sharing::PerInput), None) => {
            refuse(format!("a scale per input without a common one above in [prior.{name}]"))
        }
        (_, None) => Ok(GroupScale::Sampled { scale, spread }),
        (_, Some(_)) => refuse(format!("a level above one common scale in [prior.{name}]")),
    }
}

fn residual(spec: &Spec) -> Result<ResidualScale, CudaError> {
    let Some(residual) = &spec.residual else {
        let spread = ScaleSpread::LogNormal(1.0);
        return Ok(ResidualScale { scale: 1.0, spread, dofs: NO_DOFS.to_vec() });
    };
    if residual.precision.is_some() {
        return refuse("`precision` in [residual]");
    }
    let spread = match (residual.scale_dof, residual.log_sd) {
        (Some(dof), _) => ScaleSpread::InverseGamma(dof),
        (None, log_sd) => ScaleSpread::LogNormal(log_sd.unwrap_or(1.0)),
    };
    let dofs = match (residual.family, &residual.dof) {
        (Some(ResidualFamily::StudentT), Some(Dof::Known(dof))) => vec![*dof],
        (Some(ResidualFamily::StudentT), Some(Dof::Grid(values))) => values.grid.clone(),
        (Some(ResidualFamily::StudentT), None | Some(Dof::Unknown(Unknown::Unknown))) => {
            RESIDUAL_DOFS.to_vec()
        }
        (Some(ResidualFamily::StudentT), Some(_)) => {
            return refuse("a density of the degrees of freedom in [residual]");
        }
        _ => NO_DOFS.to_vec(),
    };
    Ok(ResidualScale { scale: residual.scale.unwrap_or(1.0), spread, dofs })
}
