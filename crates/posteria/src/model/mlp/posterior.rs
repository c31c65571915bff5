//! Condition a network on data.

use super::evaluator::MlpEvaluator;
use super::hierarchy::Hierarchy;
use super::layout::layout;
use super::moves::Moves;
use super::network::{Rows, Shape};
use super::observed::Observed;
use super::predictor::MlpPredictor;
use super::residual::{Noise, Residual};
use super::spec::Mlp;
use super::{start, sweep};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::draws::Layout;
use crate::model::spec::KernelChoice;
use crate::model::usable::usable;
use crate::model::{Evaluator, ModelError, Posterior};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::Sweep;

/// Most rows whose fitted values are kept with every draw, to judge convergence by.
const FITTED_ROWS: usize = 100;

/// A network conditioned on a dataset.
///
/// A draw holds the weights on the standardised scale (`input_weights[input, hidden_unit]`,
/// `hidden_bias`, `output_weights`, `output_bias`, `direct_weights`), the sampled scales of
/// their priors (`relevance[input]` or `input_weight_scale`, `hidden_bias_scale`, …), the
/// residual model in the user's unit (`residual_scale`, `residual_covariance`, `residual_dof`,
/// `case_scale`), `fitted`: the mean or the class probabilities at up to 100 training rows,
/// evenly spaced, and `training_error` (and `test_error`): the root mean square error of this
/// draw's outputs, or its share of wrongly classified rows.
///
/// Hidden units may change places and signs, so single weights are not identified; judge
/// convergence by `fitted`, the scales and the log density.
///
/// Log likelihoods are densities of the targets in the user's unit, latent κ of the residual
/// model integrated out; the log prior is that of standardised weights and log scales.
pub struct MlpPosterior {
    pub(super) shape: Shape,
    pub(super) rows: Rows,
    pub(super) hierarchy: Hierarchy,
    pub(super) observed: Observed,
    pub(super) target_scaling: Vec<Standardization>,
    pub(super) input_squares: Vec<f64>,
    pub(super) moves: Moves,
    pub(super) fitted_rows: Vec<usize>,
    /// Standardised targets o·n + i, or class codes.
    pub(super) answers: Vec<f64>,
    pub(super) test: Option<TestRows>,
    pub(super) state_len: usize,
    layout: Layout,
}

/// Rows whose error is recorded with every draw.
pub(super) struct TestRows {
    pub(super) rows: Rows,
    pub(super) answers: Vec<f64>,
}

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
            (Targets::Classes { .. }, Task::Binary) => 1,
            (Targets::Classes { labels, .. }, _) => labels.len(),
        };
        let shape = Shape {
            inputs: data.input_names.len(),
            hidden: self.hidden,
            outputs,
            direct: self.direct,
        };
        let hierarchy = Hierarchy::new(self, &shape).map_err(|_| ModelError::NotAvailable {
            what: "a prior of such extreme numbers".into(),
        })?;
        let mut state_len = hierarchy.len;
        let observed = match &data.targets {
            Targets::Real { .. } => {
                let residual = Residual::new(self, data, state_len)?;
                state_len = residual.end;
                Observed::Real(residual)
            }
            Targets::Classes { codes, .. } if data.task == Task::Binary => {
                let signs = codes.iter().map(|code| if *code == 1 { 1.0 } else { -1.0 }).collect();
                Observed::Binary { signs }
            }
            Targets::Classes { codes, .. } => {
                Observed::Multiclass { codes: codes.iter().map(|code| *code as u32).collect() }
            }
        };
        if let Observed::Real(Residual { noise: Noise::Covariance { .. }, .. }) = observed
            && self.sampling.kernel != KernelChoice::Auto
        {
            let what = "a residual covariance with a kernel other than \"auto\"".into();
            return Err(ModelError::NotAvailable { what });
        }
        let test = match test {
            None => None,
            Some(test) => {
                usable(test)?;
                Some(TestRows { rows: Rows::new(&test.inputs), answers: answers(test) })
            }
        };
        let count = data.rows();
        let kept = count.min(FITTED_ROWS);
        let fitted_rows: Vec<usize> = (0..kept).map(|index| index * count / kept).collect();
        let tested = test.is_some();
        let layout = layout(&shape, &hierarchy, &observed, data, (&fitted_rows, tested));
        let square = |column: usize| data.inputs.column(column).iter().map(|x| x * x).sum();
        Ok(MlpPosterior {
            input_squares: (0..shape.inputs).map(square).collect(),
            shape,
            rows: Rows::new(&data.inputs),
            hierarchy,
            observed,
            target_scaling: data.target_scaling.clone(),
            moves: self.sampling,
            fitted_rows,
            answers: answers(data),
            test,
            state_len,
            layout,
        })
    }
}

/// Standardised targets o·n + i, or class codes.
fn answers(data: &Dataset) -> Vec<f64> {
    match &data.targets {
        Targets::Real { values, .. } => values.values().to_vec(),
        Targets::Classes { codes, .. } => codes.iter().map(|code| *code as f64).collect(),
    }
}

impl Posterior for MlpPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        start::start(self, stream)
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::sweep(self, inverse_temperature)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(MlpEvaluator::new(self))
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(MlpPredictor::new(self, &self.layout)))
    }
}
