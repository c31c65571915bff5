//! Condition a linear model on data.

use posteria_linalg::{Matrix, symmetric_rank_k, transposed_matrix_vector};

use super::closed_form::{ClosedForm, StudentT};
use super::coefficients::{Coefficients, GroupScale, UserScale};
use super::evaluator::LinearEvaluator;
use super::logistic::LogisticConditional;
use super::predictor::LinearPredictor;
use super::spec::{Linear, WeightPrior};
use super::updates::{ConjugateUpdate, ResidualUpdate, ScalesUpdate, WeightsUpdate};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::density::InverseGamma;
use crate::draws::Layout;
use crate::model::spec::Sharing;
use crate::model::usable::usable;
use crate::model::{Evaluator, KernelFactory, ModelError, Posterior};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Block, Sweep, Update};

/// A linear or logistic regression conditioned on a dataset.
///
/// A draw holds, on the user's scale, `intercept`, `weights[input]` and, for a real target,
/// `residual_scale` (a standard deviation in the target's unit); for a binary target intercept
/// and weights are log odds of the second class. Sampled scales of the weights' prior,
/// `weight_scale` or `relevance[input]`, and `intercept_scale` stay on the standardised scale,
/// where those of different inputs can be compared.
///
/// Log likelihoods are densities of the target in the user's unit. The log prior is the
/// density of what is sampled: standardised coefficients and logarithms of scales.
pub struct LinearPosterior {
    pub(super) x: Matrix,
    pub(super) coefficients: Coefficients,
    pub(super) likelihood: Likelihood,
    pub(super) user: UserScale,
    layout: Layout,
    kernel: KernelFactory<'static>,
}

pub(super) enum Likelihood {
    Normal(Regression),
    /// +1 for rows of the second class, -1 for the first.
    Logistic(Vec<f64>),
}

/// What the conditionals of a regression need of the data.
pub(super) struct Regression {
    pub(super) targets: Vec<f64>,
    /// XᵀX.
    pub(super) gram: Matrix,
    /// Xᵀy.
    pub(super) moment: Vec<f64>,
    pub(super) residual: InverseGamma,
    pub(super) conjugate: Option<Conjugate>,
}

pub(super) struct Conjugate {
    pub(super) rho: f64,
    pub(super) closed_form: ClosedForm,
}

impl Linear {
    /// Conditions the model on `data`. The kernels that `kernel` builds move the weights of a
    /// logistic regression; those of a regression are drawn exactly.
    ///
    /// # Errors
    /// [`ModelError`] if the data do not fit the model or are not usable.
    pub fn condition(
        &self,
        data: &Dataset,
        kernel: KernelFactory<'static>,
    ) -> Result<LinearPosterior, ModelError> {
        check(self, data)?;
        let coefficients = Coefficients::new(self, data.input_names.len());
        let first = usize::from(self.intercept);
        let x = Matrix::from_fn(data.rows(), coefficients.count, |row, column| {
            if column < first { 1.0 } else { data.inputs[(row, column - first)] }
        });
        let (likelihood, target) = match &data.targets {
            Targets::Real { values, .. } => {
                let regression = Regression::new(self, &x, values.column(0).to_vec())?;
                (Likelihood::Normal(regression), data.target_scaling[0])
            }
            Targets::Classes { codes, .. } => {
                let sign = |&code: &usize| if code == 1 { 1.0 } else { -1.0 };
                let signs = codes.iter().map(sign).collect();
                (Likelihood::Logistic(signs), Standardization::IDENTITY)
            }
        };
        let user = UserScale::new(target, data.input_scaling.clone(), self.intercept);
        let layout = layout(self, &coefficients, &user, data);
        Ok(LinearPosterior { x, coefficients, likelihood, user, layout, kernel })
    }
}

impl Regression {
    fn new(model: &Linear, x: &Matrix, targets: Vec<f64>) -> Result<Self, ModelError> {
        let dim = x.columns();
        let mut gram = Matrix::zeros(dim, dim);
        symmetric_rank_k(x, &mut gram);
        let mut moment = vec![0.0; dim];
        transposed_matrix_vector(x, &targets, &mut moment);
        let conjugate = match model.weights {
            WeightPrior::Conjugate { rho } => {
                let closed_form = ClosedForm::new(x, &targets, rho, model.residual, 1.0)
                    .map_err(|error| ModelError::NotPositiveDefinite { pivot: error.pivot })?;
                Some(Conjugate { rho, closed_form })
            }
            WeightPrior::Normal { .. } => None,
        };
        Ok(Regression { targets, gram, moment, residual: model.residual, conjugate })
    }
}

impl LinearPosterior {
    /// The exact posterior on the standardised scale, under the conjugate prior.
    pub fn closed_form(&self) -> Option<&ClosedForm> {
        match &self.likelihood {
            Likelihood::Normal(regression) => {
                regression.conjugate.as_ref().map(|conjugate| &conjugate.closed_form)
            }
            Likelihood::Logistic(_) => None,
        }
    }

    /// Log evidence of the targets in the user's unit, under the conjugate prior.
    pub fn log_evidence(&self) -> Option<f64> {
        let rows = self.x.rows() as f64;
        // One factor dy'/dy = 1/scale per row.
        self.closed_form().map(|exact| exact.log_evidence() - rows * self.user.target.scale.ln())
    }

    /// Exact predictive distribution, in the user's unit, of the target of a new row whose
    /// `inputs` are on the user's scale; under the conjugate prior.
    ///
    /// # Panics
    /// If there is not one value per input.
    pub fn predictive(&self, inputs: &[f64]) -> Option<StudentT> {
        let exact = self.closed_form()?;
        let mut row = vec![0.0; self.coefficients.count];
        self.user.design_row(inputs, &mut row);
        let standardized = exact.predictive(&row);
        Some(StudentT {
            dof: standardized.dof,
            location: self.user.target.invert(standardized.location),
            scale: self.user.target.scale * standardized.scale,
        })
    }
}

impl Posterior for LinearPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.x.rows()
    }

    fn state_len(&self) -> usize {
        self.coefficients.state_len + usize::from(matches!(self.likelihood, Likelihood::Normal(_)))
    }

    /// Scales about the middle of their priors, coefficients about zero.
    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut state = vec![0.0; self.coefficients.state_len];
        for group in &self.coefficients.groups {
            let scale = match group.scale {
                GroupScale::Fixed(scale) => scale,
                GroupScale::Sampled(slot, prior) => {
                    state[slot] = prior.scale().ln() + stream.normal();
                    state[slot].exp()
                }
            };
            for slot in &mut state[group.members.clone()] {
                *slot = scale.min(1.0) * stream.normal();
            }
        }
        if let Likelihood::Normal(_) = self.likelihood {
            // Standardised targets: a residual scale about 1 can start from any coefficients.
            state.push(0.5 * stream.normal());
        }
        state
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let coefficients = &self.coefficients;
        let mut updates: Vec<Box<dyn Update + 'p>> = Vec::new();
        match &self.likelihood {
            Likelihood::Normal(regression) => {
                if let Some(Conjugate { rho, .. }) = regression.conjugate {
                    let (targets, residual) = (&regression.targets, regression.residual);
                    let closed_form =
                        ClosedForm::new(&self.x, targets, rho, residual, inverse_temperature);
                    return Sweep::new(vec![Box::new(ConjugateUpdate { closed_form })]);
                }
                updates.push(Box::new(WeightsUpdate::new(
                    regression,
                    coefficients,
                    inverse_temperature,
                )));
                updates.push(Box::new(ResidualUpdate::new(
                    &self.x,
                    regression,
                    coefficients,
                    inverse_temperature,
                )));
            }
            Likelihood::Logistic(signs) => {
                let conditional =
                    LogisticConditional::new(&self.x, signs, coefficients, inverse_temperature);
                let kernel = (self.kernel)(coefficients.count);
                updates.push(Box::new(Block::new("weights", 0, conditional, kernel)));
            }
        }
        if coefficients.state_len > coefficients.count {
            updates.push(Box::new(ScalesUpdate { coefficients }));
        }
        Sweep::new(updates)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(LinearEvaluator::new(self))
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(LinearPredictor::new(self)))
    }
}

fn layout(model: &Linear, coefficients: &Coefficients, user: &UserScale, data: &Dataset) -> Layout {
    let mut layout = Layout::new();
    user.push_names(&mut layout, &data.input_names);
    let first = usize::from(model.intercept);
    let sampled = |at: usize| {
        coefficients.groups.iter().any(|group| {
            group.members.contains(&at) && matches!(group.scale, GroupScale::Sampled(..))
        })
    };
    if coefficients.count > first && sampled(first) {
        match model.weights {
            WeightPrior::Normal { sharing: Sharing::PerInput, .. } => {
                layout.push_vector("relevance", "input", data.input_names.clone());
            }
            _ => {
                layout.push_scalar("weight_scale");
            }
        }
    }
    if model.intercept && sampled(0) {
        layout.push_scalar("intercept_scale");
    }
    if data.task == Task::Regression {
        layout.push_scalar("residual_scale");
    }
    layout
}

fn check(model: &Linear, data: &Dataset) -> Result<(), ModelError> {
    if let Some(expected) = model.task.filter(|&task| task != data.task) {
        return Err(ModelError::Task { expected, found: data.task });
    }
    usable(data)?;
    if data.input_names.is_empty() && !model.intercept {
        let what = "inputs of a model without an intercept".into();
        return Err(ModelError::Length { what, expected: 1, found: 0 });
    }
    match &data.targets {
        Targets::Real { values, .. } => {
            if values.columns() != 1 {
                let what = format!("a linear model of {} targets", values.columns());
                return Err(ModelError::NotAvailable { what });
            }
        }
        Targets::Classes { name, labels, .. } => {
            if data.task != Task::Binary {
                let what = format!("a linear model of {name} with {} classes", labels.len());
                return Err(ModelError::NotAvailable { what });
            }
            if let WeightPrior::Conjugate { .. } = model.weights {
                let what = "the conjugate prior for a binary target".into();
                return Err(ModelError::NotAvailable { what });
            }
        }
    }
    Ok(())
}
