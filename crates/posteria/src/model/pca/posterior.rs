//! Condition principal components on rows.

use posteria_linalg::Matrix;

use super::approximation::PcaApproximation;
use super::ascent::{self, Prior};
use super::evaluator::PcaEvaluator;
use super::predictor::PcaPredictor;
use super::scatter::Scatter;
use super::spec::{Pca, precision};
use crate::data::{Dataset, Standardization};
use crate::draws::{Dimension, Layout, Role};
use crate::model::independent_draw::IndependentDraw;
use crate::model::usable::usable_rows;
use crate::model::{Evaluator, ModelError, Posterior};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::Sweep;

/// Principal components conditioned on the inputs of a dataset, with the approximation of their
/// posterior.
///
/// A draw holds `mean[column]`, `loadings[column, component]` and `residual_scale[column]` (the
/// standard deviation of the noise) on the user's scale, and `loading_scale[component]`, the
/// prior standard deviation of the loadings of a component, on the standardised one. Components
/// are in the order of decreasing size. Every draw is an independent one from the approximation,
/// and no temperature changes it.
///
/// Log likelihoods are densities of rows in the user's units, scores integrated out. The log
/// prior is the density of standardised means and loadings and of logarithms of precisions.
pub struct PcaPosterior {
    pub(super) inputs: Matrix,
    pub(super) scaling: Vec<Standardization>,
    pub(super) prior: Prior,
    approximation: PcaApproximation,
    layout: Layout,
}

impl Pca {
    /// Conditions the model on the inputs of `data` and finds the approximation.
    ///
    /// # Errors
    /// [`ModelError`] if the data are not usable, or have one column only.
    pub fn condition(&self, data: &Dataset) -> Result<PcaPosterior, ModelError> {
        usable_rows(data)?;
        let dim = data.input_names.len();
        if dim < 2 {
            let what = "columns of principal components (at least)".into();
            return Err(ModelError::Length { what, expected: 2, found: dim });
        }
        let components = self.components.unwrap_or(dim - 1);
        if components >= dim {
            let what = "components in [model] (fewer than there are columns)".into();
            return Err(ModelError::Length { what, expected: dim - 1, found: components });
        }
        let out_of_range = || ModelError::OutOfRange { what: "principal components" };
        let prior = Prior {
            components,
            mean_precision: 1.0 / (self.mean_sd * self.mean_sd),
            loadings: precision(&self.loadings).map_err(|_| out_of_range())?,
            noise: precision(&self.noise).map_err(|_| out_of_range())?,
        };
        let scatter = Scatter::of(&data.inputs);
        let (best, climbs) = ascent::best(&scatter, &prior).map_err(|_| out_of_range())?;
        let approximation = PcaApproximation::new(best, climbs).map_err(|_| out_of_range())?;
        Ok(PcaPosterior {
            inputs: data.inputs.clone(),
            scaling: data.input_scaling.clone(),
            prior,
            approximation,
            layout: layout(components, &data.input_names),
        })
    }
}

impl PcaPosterior {
    /// What takes the place of the posterior.
    pub fn approximation(&self) -> &PcaApproximation {
        &self.approximation
    }

    pub(super) fn components(&self) -> usize {
        self.prior.components
    }

    pub(super) fn dim(&self) -> usize {
        self.scaling.len()
    }

    pub(super) fn rows_count(&self) -> usize {
        self.inputs.rows()
    }

    /// log |dx/dx'|: what a log density on the standardised scale has too much.
    pub(super) fn log_unit(&self) -> f64 {
        Standardization::log_unit(&self.scaling)
    }

    pub(super) fn standardized(&self, row: &[f64]) -> Vec<f64> {
        Standardization::apply_to_row(&self.scaling, row)
    }
}

impl Posterior for PcaPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.rows_count()
    }

    fn state_len(&self) -> usize {
        self.approximation.state_len()
    }

    /// An independent draw.
    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut state = vec![0.0; self.state_len()];
        self.approximation.draw(stream, &mut state);
        state
    }

    fn sweep<'p>(&'p self, _inverse_temperature: f64) -> Sweep<'p> {
        Sweep::new(vec![Box::new(IndependentDraw(|state: &mut [f64], stream: &mut Stream| {
            self.approximation.draw(stream, state);
        }))])
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(PcaEvaluator::new(self))
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(PcaPredictor::new(self)))
    }
}

fn layout(components: usize, columns: &[String]) -> Layout {
    let component = || Dimension {
        name: "component".into(),
        labels: (1..=components).map(|k| k.to_string()).collect(),
    };
    let column = || Dimension { name: "column".into(), labels: columns.to_vec() };
    let mut layout = Layout::new();
    layout.push("mean", vec![column()]);
    layout.push("loadings", vec![column(), component()]);
    layout.push("loading_scale", vec![component()]);
    layout.push_role(Role::ResidualScale, vec![column()]);
    layout
}
