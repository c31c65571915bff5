//! Condition a Gaussian process on data.

use std::ops::Range;
use std::sync::OnceLock;

use posteria_linalg::Matrix;

use super::covariance::{Covariance, Factor, Function};
use super::evaluator::LatentEvaluator;
use super::hyperparameters::Hyperparameters;
use super::integrated::IntegratedEvaluator;
use super::layout::{layout, read};
use super::neighbours::{NeighbourEvaluator, Neighbours};
use super::observed::{Contrasts, Observed};
use super::on_device::OnDevice;
use super::predictor::GpPredictor;
use super::process::Process;
use super::spec::{GaussianProcess, Known, Moves};
use super::updates::ResidualUpdate;
use super::{pilot, start, sweep};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::draws::Layout;
use crate::model::accelerator::{AcceleratorError, Placement};
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::selection::Selection;
use crate::model::spec::selection::PROCESS_TRIES;
use crate::model::spec::{KernelChoice, MeanChoice, Processes, Sharing};
use crate::model::usable::usable;
use crate::model::{Evaluator, ModelError, Posterior, StateDensity, Tempering};
use crate::predict::Predictor;
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Modes, Sweep, Update};

/// Most rows whose fitted values are kept with every draw, to judge convergence by.
const FITTED_ROWS: usize = 100;

/// A Gaussian process conditioned on a dataset.
///
/// A draw holds `magnitude` (in the unit of a real target), `relevance[input]` (inverse length scales on the
/// standardised scale, where those of different inputs can be compared), other hyperparameters of the covariance
/// function, the scales above them, and the residual model as for networks. `fitted` is a draw of the function, or
/// of the class probabilities, at up to 100 training rows, evenly spaced and jointly; `training_error` (and
/// `test_error`) is the root mean square error of this draw's function, or its share of wrongly classified rows.
///
/// With normal residuals the functions are integrated out for good. What a draw of the hyperparameters θ leaves
/// open is drawn for `fitted` alone; `fitted_mean` is E\[f | θ, y\] at the same rows, whose spread over draws is
/// far smaller than that of f, and errors are those of that mean. The log likelihood is log p(y | θ), the log prior
/// that of the log hyperparameters θ, and what is kept for row i is log p(y_i | y_-i, θ), the log density of its
/// target given all others. (So importance sampling from these numbers gives leave-one-out densities without
/// conditioning on the function [Vehtari 2001, §3.2.2].) With neighbours, the log likelihood is
/// Σ log p(y_i | y_N(i), θ), and row i has the log density given the nearest of all others. Residuals that are not
/// normal have a scale each then, `case_scale`, given which the functions are integrated out: the log likelihood
/// is given these, the log prior holds their density, and what is kept of a row is given those of the others.
///
/// Otherwise `latents`, the functions at all rows on the standardised scale, are sampled too: log likelihoods are
/// those given the function at their row, and the log prior holds the density of the latents. Densities are of the
/// targets in the user's unit.
pub struct GpPosterior {
    pub(super) inputs: Matrix,
    pub(super) covariance: Covariance,
    pub(super) jitter: f64,
    pub(super) processes: Vec<Process>,
    pub(super) observed: Observed,
    /// Entries of the state with the functions at all rows, j·n + i.
    pub(super) latents: Range<usize>,
    pub(super) target_scaling: Vec<Standardization>,
    pub(super) input_scaling: Vec<Standardization>,
    pub(super) moves: Moves,
    pub(super) neighbours: Option<Neighbours>,
    pub(super) fitted_rows: Vec<usize>,
    /// Standardised targets o·n + i, class codes or counts.
    pub(super) answers: Vec<f64>,
    pub(super) test: Option<TestRows>,
    pub(super) selection: Option<Selection>,
    pub(super) placement: Placement,
    /// What computes densities in place of the processor.
    pub(super) device: Option<OnDevice>,
    /// The same given some of the rows only, where these are many: modes are looked for there first.
    pub(super) pilot: Option<Box<GpPosterior>>,
    /// Modes of the hyperparameters that move together, functions integrated out: looked for when chains begin.
    pub(super) modes: Vec<OnceLock<Modes>>,
    layout: Layout,
}

/// Rows whose error is recorded with every draw.
pub(super) struct TestRows {
    pub(super) inputs: Matrix,
    pub(super) answers: Vec<f64>,
    /// Log exposures of counts.
    pub(super) offsets: Option<Vec<f64>>,
}

impl GaussianProcess {
    /// Conditions the model on `data`. The error on `test` rows, encoded like `data`, is
    /// recorded with every draw.
    ///
    /// # Errors
    /// [`ModelError`] if the data do not fit the model or are not usable.
    pub fn condition(
        &self,
        data: &Dataset,
        test: Option<&Dataset>,
    ) -> Result<GpPosterior, ModelError> {
        if self.task.is_none() {
            return self.for_task(data.task)?.condition(data, test);
        }
        if let Some(expected) = self.task.filter(|&task| task != data.task) {
            return Err(ModelError::Task { expected, found: data.task });
        }
        usable(data)?;
        if data.input_names.is_empty() {
            let what = "inputs of a Gaussian process".into();
            return Err(ModelError::Length { what, expected: 1, found: 0 });
        }
        let (covariance, mean_term) = self.covariance_of(data)?;
        let functions = match (&data.targets, data.task) {
            (Targets::Real { names, .. }, _) => names.len(),
            (Targets::Classes { .. }, Task::Binary | Task::Ordinal)
            | (Targets::Counts { .. } | Targets::Durations { .. }, _) => 1,
            (Targets::Classes { labels, .. }, _) => labels.len().max(2) - 1,
        };
        let extreme =
            || ModelError::NotAvailable { what: "a prior of such extreme numbers".into() };
        let known = Known::new(self, covariance.parameters(), mean_term)?;
        let separate = data.task == Task::Regression && self.processes == Processes::Separate;
        let mut processes = Vec::new();
        // First in the state, before everything that depends on it.
        let selection = self.selection.as_ref();
        let selection =
            selection.map(|spec| Selection::new(spec, data, 0, PROCESS_TRIES)).transpose()?;
        let mut next = selection.as_ref().map_or(0, |selection| selection.slots.end);
        let size = if separate { 1 } else { functions };
        for first in (0..functions).step_by(size) {
            let targets = first..first + size;
            let known = (&known, self.ties_relevances());
            let mut hyperparameters = Hyperparameters::new(&covariance, &self.priors, known, next)
                .map_err(|_| extreme())?;
            if let Some(selection) = &selection {
                hyperparameters.may_leave(&covariance, selection);
            }
            next = hyperparameters.end;
            processes.push(Process { hyperparameters, targets });
        }
        let observed = match &data.targets {
            Targets::Real { .. } => {
                let mut residual = Residual::new(&self.residual, data, next)?;
                if let Some(values) = &self.known.residual {
                    residual.know_scales(values)?;
                }
                next = residual.end;
                if self.neighbours.is_some() {
                    residual.sample_cases();
                }
                Observed::Real(Box::new(residual))
            }
            Targets::Classes { codes, .. } if data.task == Task::Binary => {
                let signs = codes.iter().map(|code| if *code == 1 { 1.0 } else { -1.0 }).collect();
                Observed::Binary { signs, link: self.link }
            }
            Targets::Classes { codes, labels, .. } if data.task == Task::Multiclass => {
                Observed::Multiclass {
                    codes: codes.iter().map(|code| *code as u32).collect(),
                    contrasts: Contrasts { classes: labels.len().max(2) },
                }
            }
            // Ordered classes too.
            _ => {
                let outcomes = Outcomes::new(&self.residual, data, next);
                next = outcomes.end;
                Observed::Outcomes(Box::new(outcomes))
            }
        };
        let target_scaling = match &observed {
            Observed::Outcomes(outcomes) => vec![outcomes.scaling()],
            _ => data.target_scaling.clone(),
        };
        if self.neighbours.is_some() && data.task != Task::Regression {
            let what =
                "neighbours in [model] for a target that is a class, a count or a duration".into();
            return Err(ModelError::NotAvailable { what });
        }
        if data.task != Task::Regression && self.moves.kernel == KernelChoice::Nuts {
            let what =
                "kernel = \"nuts\" in [sampling] for a target that is a class, a count or a duration".into();
            return Err(ModelError::NotAvailable { what });
        }
        let test = match test {
            None => None,
            Some(test) => {
                usable(test)?;
                let (inputs, offsets) = (test.inputs.clone(), test.offsets.clone());
                Some(TestRows { inputs, answers: test.targets.answers(), offsets })
            }
        };
        let rows = data.rows();
        let kept = rows.min(FITTED_ROWS);
        let latents =
            if self.samples_functions(&observed) { rows * observed.functions() } else { 0 };
        let mut posterior = GpPosterior {
            inputs: data.inputs.clone(),
            covariance,
            jitter: self.jitter(data.task),
            modes: processes.iter().map(|_| OnceLock::new()).collect(),
            processes,
            latents: next..next + latents,
            observed,
            target_scaling,
            input_scaling: data.input_scaling.clone(),
            moves: self.moves,
            neighbours: self.neighbours.map(|most| Neighbours::new(&data.inputs, most)),
            fitted_rows: (0..kept).map(|index| index * rows / kept).collect(),
            answers: data.targets.answers(),
            test,
            selection,
            placement: Placement::Cpu,
            device: None,
            pilot: None,
            layout: Layout::new(),
        };
        posterior.layout = layout(&posterior, data);
        posterior.pilot = pilot::pilot(self, data, &posterior);
        Ok(posterior)
    }

    /// Whether inputs that have one relevance in common may leave: the covariance then has one for
    /// each, those that are out being 0, and one entry of the state is all others.
    fn ties_relevances(&self) -> bool {
        self.selection.is_some() && self.sharing == Sharing::Common
    }

    /// The covariance function with the terms of the mean function, and the first of these.
    fn covariance_of(&self, data: &Dataset) -> Result<(Covariance, usize), ModelError> {
        let sharing = if self.ties_relevances() { Sharing::PerInput } else { self.sharing };
        let mut terms = Covariance::parse(&self.covariance, &data.input_names, sharing)
            .map_err(|error| ModelError::Covariance { error })?;
        let mean_term = terms.len();
        let inputs = data.input_names.len();
        if self.mean != MeanChoice::Zero {
            let (function, sharing) = (Function::Constant, Sharing::Common);
            terms.push(vec![Factor { function, inputs: Vec::new(), sharing }]);
        }
        if self.mean == MeanChoice::Linear {
            // All have the same, known scale; one each where inputs may leave.
            let sharing = match &self.selection {
                Some(_) => Sharing::PerInput,
                None => Sharing::Common,
            };
            let function = Function::Linear;
            terms.push(vec![Factor { function, inputs: (0..inputs).collect(), sharing }]);
        }
        Ok((Covariance::new(terms, inputs), mean_term))
    }
}

impl Posterior for GpPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.row_count()
    }

    fn state_len(&self) -> usize {
        self.latents.end
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        let cases = match &self.observed {
            Observed::Real(residual) => residual.cases.clone(),
            _ => None,
        };
        let latents = Some(self.latents.clone()).filter(|latents| !latents.is_empty());
        cases.into_iter().chain(latents).collect()
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        start::start(self, stream)
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::sweep(self, inverse_temperature)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        match (&self.observed, &self.neighbours) {
            (Observed::Real(residual), Some(neighbours)) => {
                Box::new(NeighbourEvaluator::new(self, residual, neighbours))
            }
            (Observed::Real(residual), None) if !self.keeps_latents() => {
                Box::new(IntegratedEvaluator::new(self, residual))
            }
            _ => Box::new(LatentEvaluator::new(self)),
        }
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        start::draw_prior(self, stream)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(GpPredictor::new(self, &self.layout)))
    }

    fn device_failure(&self) -> Option<&AcceleratorError> {
        self.device.as_ref().and_then(OnDevice::failure)
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        Some(self)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        Some(self)
    }
}

impl Tempering for GpPosterior {
    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        start::from_prior(self, stream)
    }

    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::short_sweep(self, inverse_temperature)
    }

    fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
        match &self.observed {
            Observed::Real(residual) if self.keeps_latents() => {
                let latents = self.latents.clone();
                Some(Box::new(ResidualUpdate::new(residual, latents, inverse_temperature)))
            }
            _ => None,
        }
    }
}

impl StateDensity for GpPosterior {
    fn density_slots(&self) -> Option<Vec<usize>> {
        let mut slots = Vec::new();
        for process in &self.processes {
            if process.hyperparameters.has_sampled_dof() {
                return None;
            }
            slots.extend(process.hyperparameters.slots.clone());
        }
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.density_slots()?);
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        slots.extend(self.latents.clone());
        Some(slots)
    }

    /// Of processes whose functions are integrated out: an affine map of latent values is blind to
    /// how closely their prior binds them to each other.
    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        if !self.latents.is_empty() || self.observed.needs_latents() || self.selection.is_some() {
            return None;
        }
        let mut state = vec![0.0; self.state_len()];
        let mut next = read(self, draw, &mut state);
        if let Observed::Real(residual) = &self.observed {
            let take = || {
                next += 1;
                draw[next - 1]
            };
            residual.restore(take, &self.target_scaling, &mut state);
        }
        Some(state)
    }

    fn movable_slots(&self) -> Vec<usize> {
        let of = |process: &Process| process.hyperparameters.slots.clone();
        let mut slots: Vec<usize> = self.processes.iter().flat_map(of).collect();
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.movable_slots());
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        slots
    }

    /// Known where all hyperparameters are and functions are integrated out: log p(y | θ).
    fn exact_log_evidence(&self) -> Option<f64> {
        if !self.density_slots()?.is_empty() {
            return None;
        }
        let state = start::from_prior(self, &mut Seed(0).stream(Purpose::Start, [0, 0]))?;
        let mut draw = vec![0.0; self.layout.len()];
        let mut rows = vec![0.0; self.row_count()];
        let terms = self.evaluator().evaluate(&state, &mut draw, &mut rows).ok()?;
        Some(terms.log_likelihood)
    }
}
