//! Condition a mixture on rows.

use posteria_linalg::{Cholesky, Matrix};

use super::approximation::{MixtureApproximation, block_len};
use super::ascent::Prior;
use super::evaluator::MixtureEvaluator;
use super::predictor::MixturePredictor;
use super::spec::Mixture;
use super::start;
use crate::data::{Dataset, Standardization};
use crate::draws::{Dimension, Layout};
use crate::model::independent_draw::IndependentDraw;
use crate::model::usable::usable_rows;
use crate::model::{Evaluator, ModelError, Posterior};
use crate::predict::Predictor;
use crate::random::{Seed, Stream};
use crate::sample::Sweep;

/// A mixture conditioned on the inputs of a dataset, with the approximation of its posterior.
///
/// A draw holds, on the user's scale and with components in the order of decreasing weight,
/// `mixing[component]`, `means[component, column]`, `sds[component, column]` and
/// `correlations[component, pair]`. Every draw is an independent one from the approximation,
/// and no temperature changes it.
///
/// Components that the rows leave empty have draws from the prior: a weight of next to nothing,
/// and a mean that may be anywhere.
///
/// Log likelihoods are densities of rows in the user's units, components summed over. The log
/// prior is the density of log ratios of mixing weights, standardised means and precision
/// matrices.
pub struct MixturePosterior {
    pub(super) inputs: Matrix,
    /// Row by row.
    pub(super) rows: Vec<f64>,
    pub(super) scaling: Vec<Standardization>,
    pub(super) prior: Prior,
    approximation: MixtureApproximation,
    layout: Layout,
}

impl Mixture {
    /// Conditions the model on the inputs of `data` and finds the approximation; the starts of
    /// the climb depend on `seed`.
    ///
    /// # Errors
    /// [`ModelError`] if the data are not usable.
    pub fn condition(&self, data: &Dataset, seed: Seed) -> Result<MixturePosterior, ModelError> {
        let rows = usable_rows(data)?;
        let out_of_range = |_| ModelError::OutOfRange { what: "a mixture" };
        let dim = data.input_names.len();
        let prior = Prior::new(self, dim).map_err(out_of_range)?;
        let (best, climbs) = start::best(&rows, &prior, seed).map_err(out_of_range)?;
        let approximation = MixtureApproximation::new(best, climbs).map_err(out_of_range)?;
        Ok(MixturePosterior {
            inputs: data.inputs.clone(),
            rows,
            scaling: data.input_scaling.clone(),
            prior,
            approximation,
            layout: layout(self.components, &data.input_names),
        })
    }
}

impl MixturePosterior {
    /// What takes the place of the posterior.
    pub fn approximation(&self) -> &MixtureApproximation {
        &self.approximation
    }

    pub(super) fn concentration(&self) -> f64 {
        self.prior.concentration
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

impl Posterior for MixturePosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.rows_count()
    }

    fn state_len(&self) -> usize {
        self.components() * (1 + block_len(self.dim()))
    }

    /// An independent draw.
    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut state = vec![0.0; self.state_len()];
        self.approximation.draw(stream, &mut state, &mut Cholesky::identity(self.dim()));
        state
    }

    fn sweep<'p>(&'p self, _inverse_temperature: f64) -> Sweep<'p> {
        let mut factor = Cholesky::identity(self.dim());
        Sweep::new(vec![Box::new(IndependentDraw(
            move |state: &mut [f64], stream: &mut Stream| {
                self.approximation.draw(stream, state, &mut factor);
            },
        ))])
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(MixtureEvaluator::new(self))
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(MixturePredictor::new(self)))
    }
}

fn layout(components: usize, columns: &[String]) -> Layout {
    let component = || Dimension {
        name: "component".into(),
        labels: (1..=components).map(|k| k.to_string()).collect(),
    };
    let column = || Dimension { name: "column".into(), labels: columns.to_vec() };
    let mut layout = Layout::new();
    layout.push("mixing", vec![component()]);
    layout.push("means", vec![component(), column()]);
    layout.push("sds", vec![component(), column()]);
    let pairs: Vec<String> = (1..columns.len())
        .flat_map(|second| (0..second).map(move |first| (first, second)))
        .map(|(first, second)| format!("{}:{}", columns[first], columns[second]))
        .collect();
    if !pairs.is_empty() {
        let pair = Dimension { name: "pair".into(), labels: pairs };
        layout.push("correlations", vec![component(), pair]);
    }
    layout
}
