//! Condition a linear model on data.

use posteria_linalg::Matrix;

use super::coefficients::Coefficients;
use super::columns::Columns;
use super::layout::{check, layout};
use super::posterior::{Likelihood, LinearPosterior, Regression};
use super::spec::Linear;
use super::user_scale::UserScale;
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::selection::Selection;
use crate::model::spec::Link;
use crate::model::spec::selection::TRIES;
use crate::model::{KernelFactory, ModelError};

impl Linear {
    /// Conditions the model on `data`. The kernels that `kernel` builds move the weights of a
    /// logistic or softmax regression; those of a regression are drawn exactly.
    ///
    /// # Errors
    /// [`ModelError`] if the data do not fit the model or are not usable.
    pub fn condition(
        &self,
        data: &Dataset,
        kernel: KernelFactory<'static>,
    ) -> Result<LinearPosterior, ModelError> {
        if self.task.is_none() {
            return self.for_task(data.task)?.condition(data, kernel);
        }
        check(self, data)?;
        let columns = Columns::new(self.basis.as_ref(), data)?;
        let first = usize::from(self.intercept);
        let mut x = Matrix::zeros(data.rows(), first + columns.len());
        (0..first).for_each(|ones| x.column_mut(ones).fill(1.0));
        columns.write(&data.inputs, first, &mut x);
        let outputs = match &data.targets {
            Targets::Classes { labels, .. } if data.task == Task::Multiclass => labels.len(),
            Targets::Real { names, .. } => names.len(),
            _ => 1,
        };
        let mut coefficients = Coefficients::new(self, &columns, outputs);
        let (likelihood, scaling) = match &data.targets {
            Targets::Real { names, .. } => {
                let residual = Residual::new(&self.residual, data, coefficients.state_len)?;
                let regression = Regression::new(self, &x, (names, residual))?;
                (Likelihood::Real(Box::new(regression)), data.target_scaling.clone())
            }
            Targets::Classes { codes, .. }
                if data.task == Task::Binary && self.link == Link::Logit =>
            {
                let sign = |&code: &usize| if code == 1 { 1.0 } else { -1.0 };
                let signs = codes.iter().map(sign).collect();
                (Likelihood::Logistic(signs), vec![Standardization::IDENTITY; outputs])
            }
            Targets::Classes { codes, .. } if data.task == Task::Multiclass => {
                let codes = codes.iter().map(|code| *code as u32).collect();
                let likelihood = Likelihood::Softmax { codes, classes: outputs };
                (likelihood, vec![Standardization::IDENTITY; outputs])
            }
            // Ordered classes too, and two classes by the probit.
            _ => {
                let outcomes = Outcomes::new(&self.residual, data, coefficients.state_len);
                let scaling = vec![outcomes.scaling()];
                (Likelihood::Outcomes(Box::new(outcomes)), scaling)
            }
        };
        let end = match &likelihood {
            Likelihood::Real(regression) => regression.residual.end,
            Likelihood::Outcomes(outcomes) => outcomes.end,
            _ => coefficients.state_len,
        };
        coefficients.selection = self
            .selection
            .as_ref()
            .map(|spec| Selection::new(spec, data, end, TRIES))
            .transpose()?;
        let user = UserScale::new(scaling, &columns, self.intercept);
        let user = match &likelihood {
            Likelihood::Outcomes(it) if it.are_ordered() => user.without_intercept(),
            _ => user,
        };
        let layout = layout(self, (&coefficients, &columns), &user, &likelihood, data);
        let (inputs, model) = (data.inputs.clone(), self.clone());
        Ok(LinearPosterior {
            x,
            inputs,
            columns,
            model,
            coefficients,
            likelihood,
            user,
            layout,
            kernel,
        })
    }
}
