//! Condition a network on data.

use std::ops::Range;

use super::evaluator::MlpEvaluator;
use super::hierarchy::{Hierarchy, Scale};
use super::layout::layout;
use super::network::{Rows, Shape};
use super::observed::Observed;
use super::on_device::OnDevice;
use super::predictor::MlpPredictor;
use super::spec::{Mlp, Moves};
use super::{start, sweep};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::draws::Layout;
use crate::model::accelerator::{AcceleratorError, Placement};
use crate::model::outcome::Outcomes;
use crate::model::prior::Above;
use crate::model::residual::{Noise, Residual};
use crate::model::selection::Selection;
use crate::model::spec::selection::TRIES;
use crate::model::spec::{KernelChoice, Link};
use crate::model::usable::usable;
use crate::model::{Evaluator, ModelError, Posterior, StateDensity, Tempering};
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
    /// Standardised targets o·n + i, class codes or counts.
    pub(super) answers: Vec<f64>,
    /// Index of the group of every row, if rows belong together.
    pub(super) row_groups: Option<Vec<usize>>,
    pub(super) test: Option<TestRows>,
    pub(super) state_len: usize,
    pub(super) placement: Placement,
    /// What moves chains in place of the processor.
    pub(super) device: Option<OnDevice>,
    layout: Layout,
}

/// Rows whose error is recorded with every draw.
pub(super) struct TestRows {
    pub(super) rows: Rows,
    pub(super) answers: Vec<f64>,
    /// Log exposures of counts.
    pub(super) offsets: Option<Vec<f64>>,
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
        let test = match test {
            None => None,
            Some(test) => {
                usable(test)?;
                let offsets = test.offsets.clone();
                Some(TestRows {
                    rows: Rows::new(&test.inputs),
                    answers: test.targets.answers(),
                    offsets,
                })
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
            target_scaling,
            moves: self.sampling,
            fitted_rows,
            answers: data.targets.answers(),
            row_groups: data.groups.clone(),
            test,
            state_len,
            placement: Placement::Cpu,
            device: None,
            layout,
        })
    }
}

impl Posterior for MlpPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn state_len(&self) -> usize {
        self.state_len
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        match &self.observed {
            Observed::Real(residual) => residual.cases.clone().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        start::start(self, stream)
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let own = self.device_sweep(inverse_temperature);
        own.unwrap_or_else(|| sweep::sweep(self, inverse_temperature))
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(MlpEvaluator::new(self))
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let state = self.draw_prior_state(stream)?;
        let mut draw = vec![0.0; self.layout.len()];
        MlpEvaluator::new(self).draw(&state, &mut draw);
        Some(draw)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(MlpPredictor::new(self, &self.layout)))
    }

    fn device_failure(&self) -> Option<&AcceleratorError> {
        self.failure()
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        Some(self)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        Some(self)
    }
}

impl Tempering for MlpPosterior {
    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::short_sweep(self, inverse_temperature)
    }

    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let mut state = start::from_prior(self, stream);
        if let Observed::Real(residual) = &self.observed {
            residual.draw_case_variances(&mut state, stream);
        }
        Some(state)
    }
}

impl StateDensity for MlpPosterior {
    fn density_slots(&self) -> Option<Vec<usize>> {
        let mut slots: Vec<usize> = (0..self.shape.len()).collect();
        for group in &self.hierarchy.groups {
            if group.weight_dof_slot().is_some() {
                return None;
            }
            if let Scale::Sampled(levels) = &group.scale {
                slots.extend(levels.density_slots()?);
            }
        }
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.density_slots()?);
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        Some(slots)
    }

    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        if self.hierarchy.selection.is_some() {
            return None;
        }
        let mut state = vec![0.0; self.state_len];
        let weights = self.shape.len();
        state[..weights].copy_from_slice(&draw[..weights]);
        let mut next = weights;
        let mut take = || {
            next += 1;
            draw[next - 1]
        };
        for group in &self.hierarchy.groups {
            if let Scale::Sampled(levels) = &group.scale {
                state[levels.slots.clone()].fill_with(|| take().ln());
                if let Above::Sampled { slot, .. } = levels.above {
                    state[slot] = take().ln();
                }
                if let Some(slot) = group.dof_slot() {
                    state[slot] = take();
                }
            }
            if let Some(slot) = group.weight_dof_slot() {
                state[slot] = take();
            }
        }
        if let Observed::Real(residual) = &self.observed {
            residual.restore(take, &self.target_scaling, &mut state);
        } else if let Observed::Outcomes(outcomes) = &self.observed {
            outcomes.restore(take, 0.0, &mut state);
        }
        Some(state)
    }

    fn movable_slots(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = (0..self.shape.len()).collect();
        for group in &self.hierarchy.groups {
            if let Scale::Sampled(levels) = &group.scale {
                slots.extend(levels.movable_slots());
            }
        }
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.movable_slots());
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        slots
    }
}
