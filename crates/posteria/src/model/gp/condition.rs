//! Condition a Gaussian process on data.

use std::sync::OnceLock;

use posteria_linalg::Matrix;

use super::covariance::{Covariance, Factor, Function};
use super::hyperparameters::Hyperparameters;
use super::layout::layout;
use super::neighbours::Neighbours;
use super::observed::{Contrasts, Observed};
use super::pilot;
use super::posterior::GpPosterior;
use super::process::Process;
use super::spec::{GaussianProcess, Known};
use crate::data::{Dataset, Targets, Task};
use crate::draws::Layout;
use crate::model::ModelError;
use crate::model::accelerator::Placement;
use crate::model::judged_rows::{TestRows, fitted_rows};
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::selection::Selection;
use crate::model::spec::selection::PROCESS_TRIES;
use crate::model::spec::{KernelChoice, MeanChoice, Processes, Sharing};
use crate::model::usable::usable;

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
        let test = test.map(|test| TestRows::new(test, Matrix::clone)).transpose()?;
        let rows = data.rows();
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
            fitted_rows: fitted_rows(rows),
            targets: data.targets.numbers(),
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
