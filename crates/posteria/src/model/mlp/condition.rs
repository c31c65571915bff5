//! Condition a network on data.

use super::hierarchy::Hierarchy;
use super::layout::layout;
use super::network::{Rows, Shape};
use super::observed::Observed;
use super::posterior::MlpPosterior;
use super::spec::Mlp;
use crate::data::{Dataset, Targets, Task};
use crate::model::ModelError;
use crate::model::accelerator::Placement;
use crate::model::judged_rows::{TestRows, fitted_rows};
use crate::model::outcome::Outcomes;
use crate::model::residual::{Noise, Residual};
use crate::model::selection::Selection;
use crate::model::spec::selection::TRIES;
use crate::model::spec::{KernelChoice, Link};
use crate::model::usable::usable;

impl Mlp {
    /// Conditions the model on `data`. The error on `test` rows, encoded like `data`, is
    /// recorded with every draw.
    ///
    /// # Errors
    /// [`ModelError`] if the data do not fit the model or are not usable.
    pub fn condition(
        &self,
        data: &Dataset,
        test: Option<&Dataset>,
    ) -> Result<MlpPosterior, ModelError> {
        if self.task.is_none() {
            return self.for_task(data.task)?.condition(data, test);
        }
        if let Some(expected) = self.task.filter(|&task| task != data.task) {
            return Err(ModelError::Task { expected, found: data.task });
        }
        usable(data)?;
        if data.input_names.is_empty() {
            let what = "inputs of a network".into();
            return Err(ModelError::Length { what, expected: 1, found: 0 });
        }
        let outputs = match (&data.targets, data.task) {
            (Targets::Real { names, .. }, _) => names.len(),
            (Targets::Classes { .. }, Task::Binary | Task::Ordinal)
            | (Targets::Counts { .. } | Targets::Durations { .. }, _) => 1,
            (Targets::Classes { labels, .. }, _) => labels.len(),
        };
        let shape = Shape {
            inputs: data.input_names.len(),
            hidden: self.hidden,
            outputs,
            direct: self.direct,
        };
        let mut hierarchy = Hierarchy::new(self, &shape).map_err(|_| ModelError::NotAvailable {
            what: "a prior of such extreme numbers".into(),
        })?;
        let mut state_len = hierarchy.len;
        let observed = match &data.targets {
            Targets::Real { .. } => {
                let residual = Residual::new(&self.residual, data, state_len)?;
                state_len = residual.end;
                Observed::Real(Box::new(residual))
            }
            Targets::Classes { codes, .. }
                if data.task == Task::Binary && self.link == Link::Logit =>
            {
                let signs = codes.iter().map(|code| if *code == 1 { 1.0 } else { -1.0 }).collect();
                Observed::Binary { signs }
            }
            Targets::Classes { codes, .. } if data.task == Task::Multiclass => {
                Observed::Multiclass { codes: codes.iter().map(|code| *code as u32).collect() }
            }
            // Ordered classes too, and two classes by the probit.
            _ => {
                let outcomes = Outcomes::new(&self.residual, data, state_len);
                state_len = outcomes.end;
                Observed::Outcomes(Box::new(outcomes))
            }
        };
        let target_scaling = match &observed {
            Observed::Outcomes(outcomes) => vec![outcomes.scaling()],
            _ => data.target_scaling.clone(),
        };
        if let Some(spec) = &self.selection {
            let selection = Selection::new(spec, data, state_len, TRIES)?;
            state_len = selection.slots.end;
            hierarchy.selection = Some(selection);
        }
        if let Observed::Real(residual) = &observed
            && let Noise::Covariance { .. } = residual.noise
            && self.sampling.kernel != KernelChoice::Auto
        {
            let what = "a residual covariance with a kernel other than \"auto\"".into();
            return Err(ModelError::NotAvailable { what });
        }
        let test = test.map(|test| TestRows::new(test, Rows::new)).transpose()?;
        let fitted_rows = fitted_rows(data.rows());
        let tested = test.is_some();
        let layout = layout(&shape, &hierarchy, &observed, data, (&fitted_rows, tested));
        let square = |column: usize| data.inputs.column(column).iter().map(|x| x * x).sum();
        Ok(MlpPosterior {
            input_squares: (0..shape.inputs).map(square).collect(),
            shape,
            rows: Rows::new(&data.inputs),
            hierarchy,
            observed,
            target_scaling,
            moves: self.sampling,
            fitted_rows,
            targets: data.targets.numbers(),
            row_groups: data.groups.clone(),
            test,
            state_len,
            placement: Placement::Cpu,
            device: None,
            layout,
        })
    }
}
