//! Condition a linear model on data.

use std::ops::Range;

use posteria_linalg::{Matrix, NotPositiveDefinite, symmetric_rank_k, transposed_matrix_vector};

use super::closed_form::ClosedForm;
use super::coefficients::{Coefficients, GroupScale};
use super::columns::Columns;
use super::evaluator::LinearEvaluator;
use super::input_sets::{ConjugateSet, RegressionSet};
use super::layout::{check, layout};
use super::logistic::Logistic;
use super::predictor::LinearPredictor;
use super::softmax::Softmax;
use super::spec::{Linear, WeightPrior};
use super::squares::{MANY_ROWS, Squares};
use super::updates::{ConjugateUpdate, ResidualUpdate, ScalesUpdate};
use super::user_scale::UserScale;
use super::weights::WeightsUpdate;
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::density::InverseGamma;
use crate::draws::Layout;
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::selection::{Jump, Selection};
use crate::model::spec::Link;
use crate::model::spec::selection::TRIES;
use crate::model::{Evaluator, KernelFactory, ModelError, Posterior, StateDensity, Tempering};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Sweep, Update};

/// A linear, logistic, ordinal, softmax, count or duration regression conditioned on a dataset.
///
/// A draw holds, on the user's scale, `intercept`, `weights[input]` and, for a real target, the
/// residual model: `residual_scale` (of normal residuals a standard deviation in the target's
/// unit), `residual_dof`, `case_scale`. For two classes intercept and weights are log odds of the
/// second; for more there are `intercept[class]` and `weights[input, class]`, whose differences
/// between classes are log odds. Of several real targets there are `intercept[target]` and
/// `weights[input, target]`. Of ordered classes there are `weights[input]` and `cut_points[cut]` in place
/// of an intercept: the log odds of a class up to a cut are the cut point less f. With a basis the weights are those of its functions,
/// `weights[function]`. Of counts intercept and weights are those of the logarithm of the rate per unit
/// of exposure, and negative binomial ones have an `overdispersion`. Of durations they are those of the
/// logarithm's location, and `residual_scale` is that of the logarithm. Sampled scales of the weights' prior, `weight_scale` or
/// `relevance[input]`, and `intercept_scale` stay on the standardised scale, where those of
/// different inputs can be compared.
///
/// Log likelihoods are densities of the target in the user's unit, latent κ of the residual model
/// integrated out. The log prior is the density of what is sampled: standardised coefficients
/// and logarithms of scales.
pub struct LinearPosterior {
    /// The design matrix, a column of ones first if there is an intercept.
    pub(super) x: Matrix,
    /// Standardised inputs.
    pub(super) inputs: Matrix,
    pub(super) columns: Columns,
    pub(super) model: Linear,
    pub(super) coefficients: Coefficients,
    pub(super) likelihood: Likelihood,
    pub(super) user: UserScale,
    layout: Layout,
    pub(super) kernel: KernelFactory<'static>,
}

pub(super) enum Likelihood {
    Real(Box<Regression>),
    /// +1 for rows of the second class, -1 for the first.
    Logistic(Vec<f64>),
    Softmax {
        codes: Vec<u32>,
        classes: usize,
    },
    Outcomes(Box<Outcomes>),
}

/// What the conditionals of a regression need of the data.
pub(super) struct Regression {
    /// Names of the targets.
    pub(super) targets: Vec<String>,
    pub(super) residual: Residual,
    /// XᵀX.
    pub(super) gram: Matrix,
    /// Xᵀy of every target, one in a column.
    pub(super) moments: Matrix,
    /// Of every target, of many rows with one residual scale each.
    pub(super) squares: Option<Vec<Squares>>,
    pub(super) conjugate: Option<Conjugate>,
}

pub(super) struct Conjugate {
    pub(super) rho: f64,
    /// Prior of the residual variance.
    pub(super) variance: InverseGamma,
    /// Of every target.
    pub(super) closed_forms: Vec<ClosedForm>,
}

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

impl Regression {
    fn new(
        model: &Linear,
        x: &Matrix,
        (names, residual): (&[String], Residual),
    ) -> Result<Self, ModelError> {
        let dim = x.columns();
        let mut gram = Matrix::zeros(dim, dim);
        symmetric_rank_k(x, &mut gram);
        let rows = x.rows();
        let columns = || residual.targets.chunks_exact(rows);
        let mut moments = Matrix::zeros(dim, residual.outputs);
        for (output, targets) in columns().enumerate() {
            transposed_matrix_vector(x, targets, moments.column_mut(output));
        }
        let conjugate = match model.weights {
            WeightPrior::Conjugate { rho } => {
                let variance = model.residual.scale.conjugate();
                let closed_forms = closed_forms(x, &residual, (rho, variance), 1.0)
                    .map_err(|error| ModelError::NotPositiveDefinite { pivot: error.pivot })?;
                Some(Conjugate { rho, variance, closed_forms })
            }
            WeightPrior::Normal { .. } | WeightPrior::Flat => None,
        };
        let squares = (residual.is_normal_with_one_scale() && rows > MANY_ROWS)
            .then(|| {
                let of_target =
                    |(output, targets)| Squares::new(x, targets, (&gram, moments.column(output)));
                columns().enumerate().map(of_target).collect()
            })
            .flatten();
        let targets = names.to_vec();
        Ok(Regression { targets, residual, gram, moments, squares, conjugate })
    }

    /// Whether all residuals are normal with one scale.
    pub(super) fn is_homogeneous(&self) -> bool {
        self.residual.is_normal_with_one_scale()
    }
}

/// The conjugate posteriors of all targets at an inverse temperature.
fn closed_forms(
    x: &Matrix,
    residual: &Residual,
    (rho, variance): (f64, InverseGamma),
    inverse_temperature: f64,
) -> Result<Vec<ClosedForm>, NotPositiveDefinite> {
    let targets = residual.targets.chunks_exact(x.rows());
    targets.map(|y| ClosedForm::new(x, y, rho, variance, inverse_temperature)).collect()
}

impl Posterior for LinearPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.x.rows()
    }

    fn state_len(&self) -> usize {
        match (&self.coefficients.selection, &self.likelihood) {
            (Some(selection), _) => selection.slots.end,
            (None, Likelihood::Real(regression)) => regression.residual.end,
            (None, Likelihood::Outcomes(outcomes)) => outcomes.end,
            (None, _) => self.coefficients.state_len,
        }
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        match &self.likelihood {
            Likelihood::Real(regression) => regression.residual.cases.clone().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Scales about the middle of their priors, coefficients about zero.
    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut state = vec![0.0; self.state_len()];
        for group in &self.coefficients.groups {
            let scale = match group.scale {
                GroupScale::Fixed(scale) => scale,
                GroupScale::Sampled(slot, prior) => {
                    state[slot] = prior.conjugate().scale().ln() + stream.normal();
                    state[slot].exp()
                }
            };
            for slot in &mut state[group.members.clone()] {
                *slot = scale.min(1.0) * stream.normal();
            }
        }
        if let Likelihood::Real(regression) = &self.likelihood {
            regression.residual.start(&mut state, stream);
            regression.residual.start_cases(&mut state);
        }
        if let Likelihood::Outcomes(outcomes) = &self.likelihood {
            outcomes.start(&mut state, stream);
        }
        if let Some(selection) = &self.coefficients.selection {
            selection.draw_prior(&mut state, stream);
        }
        state
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let coefficients = &self.coefficients;
        let mut updates: Vec<Box<dyn Update + 'p>> = Vec::new();
        match &self.likelihood {
            Likelihood::Real(regression) => {
                if let (Some(conjugate), Some(selection)) =
                    (&regression.conjugate, &coefficients.selection)
                {
                    let x = &self.x;
                    let weights = || {
                        ConjugateSet::new(
                            (x, regression),
                            conjugate,
                            coefficients,
                            inverse_temperature,
                        )
                    };
                    return Sweep::new(vec![
                        Box::new(Jump::new(selection, weights())),
                        Box::new(weights()),
                    ]);
                }
                if let Some(Conjugate { rho, variance, .. }) = regression.conjugate {
                    let (residual, prior) = (&regression.residual, (rho, variance));
                    let exact = closed_forms(&self.x, residual, prior, inverse_temperature);
                    return Sweep::new(vec![Box::new(ConjugateUpdate::new(exact, coefficients))]);
                }
                let (x, beta) = (&self.x, inverse_temperature);
                if let Some(selection) = &coefficients.selection {
                    let weights = WeightsUpdate::new(x, regression, coefficients, beta);
                    updates.push(Box::new(Jump::new(selection, RegressionSet { weights })));
                }
                updates.push(Box::new(WeightsUpdate::new(x, regression, coefficients, beta)));
                updates.push(Box::new(ResidualUpdate::new(x, regression, coefficients, beta)));
            }
            Likelihood::Logistic(signs) => {
                let likelihood = || Logistic::new(&self.x, signs);
                self.class_updates(likelihood, inverse_temperature, &mut updates);
            }
            Likelihood::Softmax { codes, classes } => {
                let likelihood = || Softmax::new(&self.x, codes, *classes);
                self.class_updates(likelihood, inverse_temperature, &mut updates);
            }
            Likelihood::Outcomes(outcomes) => {
                updates.extend(self.outcome_updates(outcomes, inverse_temperature));
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

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let state = self.draw_prior_state(stream)?;
        let mut draw = vec![0.0; self.layout.len()];
        LinearEvaluator::new(self).write(&state, &mut draw);
        Some(draw)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(LinearPredictor::new(self)))
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        Some(self)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        Some(self)
    }
}
