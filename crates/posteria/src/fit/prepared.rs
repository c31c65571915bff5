//! From a specification and a table to a posterior and a plan.

use std::num::NonZero;

use super::{
    Attained, ChainMemory, Conditioned, FitError, FittedApproximation, Outcome, Recorder,
    begin_with, run, run_committee,
};
use crate::approximate::Independent;
use crate::caution::Caution;
use crate::data::{
    Censoring, DataError, Dataset, Encoder, Ending, FoldError, FoldScheme, FoldSpec, Folds, Roles,
    Table,
};
use crate::draws::Draws;
use crate::model::ModelError;
use crate::model::accelerator::Placement;
use crate::model::spec::{DataSpec, InferenceChoice, ModelKind, Spec, SpecError};
use crate::sample::Plan;

/// Why a model cannot be conditioned on a table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The table does not fit the specification.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The specification is not valid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The model is not for these data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Rows cannot be divided as the specification says.
    #[error(transparent)]
    Folds(#[from] FoldError),
    /// Test rows for a model that does not record its error.
    #[error("test rows are for networks and Gaussian processes (mlp, gp); omit them")]
    NoTestError,
    /// Test rows without a target.
    #[error("{file}: test rows need the target {}", targets.join(", "))]
    NoTestTargets {
        /// Name of the table.
        file: String,
        /// The targets.
        targets: Vec<String>,
    },
}

/// Everything a fit needs.
pub struct Prepared {
    /// The specification with every default.
    pub spec: Spec,
    /// The data.
    pub data: Dataset,
    /// How the table became the data.
    pub encoder: Encoder,
    /// What to be careful about in the data.
    pub cautions: Vec<Caution>,
    /// The model conditioned on the data.
    pub posterior: Conditioned,
    /// How to sample.
    pub plan: Plan,
}

impl Prepared {
    /// Encodes `table` as `spec` says, completes the specification and conditions its model. Networks
    /// and Gaussian processes record their error on the `test` rows with every draw.
    ///
    /// # Errors
    /// [`PrepareError`] if specification, table and test rows do not fit together.
    pub fn new(mut spec: Spec, table: &Table, test: Option<&Table>) -> Result<Self, PrepareError> {
        if test.is_some() && !matches!(spec.model.kind, ModelKind::Mlp | ModelKind::Gp) {
            return Err(PrepareError::NoTestError);
        }
        let encoding = Encoder::fit(table, &roles(&spec))?;
        let (mut data, mut encoder) = (encoding.dataset, encoding.encoder);
        if let Some(residual) = &mut spec.residual {
            // By all rows, so that folds have the model of the whole.
            residual.tell_slopes_from_groups(&data, &encoder);
        }
        if let Some(fold) = &mut spec.data.fold {
            (data, _) = leave_out(fold, (data, encoding.rows), table, spec.data.standardize)?;
            encoder = encoder.rescaled(&data);
        }
        let test = test.map(|table| encode_test(&spec, table, (&data, &encoder))).transpose()?;
        spec.complete(data.task)?;
        spec.data.rows = Some(data.rows());
        let mut cautions = encoding.cautions;
        let tempered = spec.sampling.tempered();
        let prior_power = spec.sampling.prior_power();
        cautions.extend(
            tempered.map(|beta| Caution::Tempered { inverse_temperature: beta, prior_power }),
        );
        let prepared = Prepared::of_dataset(spec, data, encoder, test.as_ref())?;
        Ok(Prepared { cautions, ..prepared })
    }

    /// Conditions the model of a completed specification on data that are encoded already.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn of_dataset(
        spec: Spec,
        data: Dataset,
        encoder: Encoder,
        test: Option<&Dataset>,
    ) -> Result<Self, PrepareError> {
        let posterior = Conditioned::new(&spec, &data, test)?;
        let pointwise = spec.sampling.keeps_log_lik(spec.model.kind, posterior.rows());
        let fold = spec.data.fold.as_ref().map_or(0, FoldSpec::number);
        let plan = Plan { pointwise, fold, ..spec.sampling.plan()? };
        Ok(Prepared { spec, data, encoder, cautions: Vec::new(), posterior, plan })
    }

    /// The same model given the training rows of one of these `folds` of `data`, with this number
    /// of draws of every chain and no goal of its own; and all rows on the scales of those.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn of_fold(
        (spec, data, encoder): (&Spec, &Dataset, &Encoder),
        (scheme, folds, index): (&FoldScheme, &Folds, usize),
        draws: usize,
    ) -> Result<(Self, Dataset), PrepareError> {
        let mut spec = spec.clone();
        let all: Vec<usize> = (0..data.rows()).collect();
        let (training, everything) =
            divide(data, &folds.training(index), &all, spec.data.standardize);
        spec.data.rows = Some(training.rows());
        let within = spec.data.fold.take().map(Box::new);
        spec.data.fold = Some(FoldSpec { index: index + 1, scheme: scheme.clone(), within });
        spec.data.test = None;
        spec.sampling = spec.sampling.without_goal(spec.model.kind);
        spec.sampling.draws = draws;
        let encoder = encoder.rescaled(&training);
        Ok((Prepared::of_dataset(spec, training, encoder, None)?, everything))
    }
}

impl Prepared {
    /// Where the model is computed, and why there.
    pub fn placement(&self) -> Placement {
        self.posterior.placement(&self.spec.sampling)
    }

    /// Whether sampling may begin: not on a processor where a device was asked for by name.
    ///
    /// # Errors
    /// [`FitError::NoDevice`] if that is not to be had.
    pub fn check_device(&self) -> Result<(), FitError> {
        match self.placement().missing() {
            Some(why) => {
                Err(FitError::NoDevice { asked: self.spec.sampling.device(), why: why.clone() })
            }
            None => Ok(()),
        }
    }

    /// Runs the chains of `plan`, trains the committee, or draws from the `approximation` that was
    /// found in place of chains; chains start from it where they are asked to. `memories` and
    /// `recorder` as in [`run`].
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(
        &self,
        approximation: Option<&FittedApproximation<'_>>,
        plan: &Plan,
        memories: &[Option<ChainMemory>],
        threads: NonZero<usize>,
        recorder: &dyn Recorder,
    ) -> Result<Outcome, FitError> {
        let (seed, inference) = (self.spec.sampling.seed(), self.spec.sampling.inference());
        let posterior = &*self.posterior;
        if let Conditioned::Network(network) = &self.posterior
            && inference == InferenceChoice::Committee
        {
            let memory = memories[0].as_ref();
            return run_committee(network, plan.draws, seed, memory, threads, recorder);
        }
        let from = approximation.and_then(|it| it.approximation.as_deref().zip(Some(it)));
        match from {
            Some((start, _)) if inference == InferenceChoice::Mcmc => {
                let begun = begin_with((posterior, start), plan, seed)?;
                let memory = |(own, begun): (&Option<ChainMemory>, _)| own.clone().or(Some(begun));
                let memories: Vec<_> = memories.iter().zip(begun).map(memory).collect();
                run(posterior, plan, seed, &memories, threads, recorder)
            }
            Some((approximation, found)) => {
                let independent = Independent::new(posterior, approximation)
                    .linearised(found.linearised.as_ref());
                run(&independent, plan, seed, memories, threads, recorder)
            }
            None => run(posterior, plan, seed, memories, threads, recorder),
        }
    }

    /// What `draws` are worth to predictions, on so many threads.
    pub fn attained(&self, draws: &Draws, threads: NonZero<usize>) -> Attained {
        Attained::new(&*self.posterior, draws, &self.data.inputs, threads)
    }

    /// Whether each chain may run by itself, wherever: the other ones then neither end its warm-up nor
    /// say when there are enough draws, and it has the draws that it has among all.
    pub fn has_independent_chains(&self) -> bool {
        let sampling = &self.spec.sampling;
        let waits =
            sampling.settle == Some(true) || sampling.ess.is_some() || sampling.time.is_some();
        self.is_sampled() && !waits
    }

    /// Whether Markov chains draw from the posterior.
    pub fn is_sampled(&self) -> bool {
        let mcmc = self.spec.sampling.inference() == InferenceChoice::Mcmc;
        mcmc && !self.spec.model.kind.is_unsupervised()
    }

    /// Whether draws are those of chains whose predictions can be judged.
    pub fn is_judged(&self) -> bool {
        self.is_sampled()
    }
}

/// What the columns of a table are.
fn roles(spec: &Spec) -> Roles {
    Roles {
        targets: spec.data.target.clone(),
        inputs: spec.data.inputs.clone(),
        exclude: spec.data.exclude.clone(),
        group: spec.data.group.clone(),
        fold: None,
        exposure: spec.data.exposure.clone(),
        censoring: censoring(&spec.data),
        levels: spec.data.levels.clone(),
        task: spec.task(),
        standardize: spec.data.standardize,
        missing: spec.data.missing.into(),
        max_levels: spec.data.max_levels,
        // Indicators less their means add up to 0 without an intercept, too.
        reference_classes: spec.sampling.inference() == InferenceChoice::Ml
            && (spec.model.intercept != Some(false) || spec.data.standardize),
    }
}

/// Which durations are censored; the specification was checked not to say it twice.
fn censoring(data: &DataSpec) -> Option<Censoring> {
    let of = |column: &Option<String>, one_is| {
        column.as_ref().map(|column| Censoring { column: column.clone(), one_is })
    };
    of(&data.censored, Ending::Censored).or_else(|| of(&data.event, Ending::Event))
}

/// The rows of a second table, encoded like the training data.
///
/// # Errors
/// [`PrepareError`] if the table does not fit the data, or lacks their targets.
pub fn encode_test(
    spec: &Spec,
    table: &Table,
    (data, encoder): (&Dataset, &Encoder),
) -> Result<Dataset, PrepareError> {
    let encoded = encoder.encode(table, spec.data.missing.into())?;
    let targets = encoded.targets.ok_or_else(|| PrepareError::NoTestTargets {
        file: table.file().into(),
        targets: spec.data.target.clone(),
    })?;
    let (inputs, offsets) = (encoded.inputs, encoded.offsets);
    Ok(Dataset { inputs, targets, offsets, groups: None, ..data.clone() })
}

/// The rows of `data`, of these numbers in `table`, without those of `fold` and of the folds around it.
fn leave_out(
    fold: &mut FoldSpec,
    (mut data, mut rows): (Dataset, Vec<usize>),
    table: &Table,
    standardize: bool,
) -> Result<(Dataset, Vec<usize>), PrepareError> {
    if let Some(around) = &mut fold.within {
        (data, rows) = leave_out(around, (data, rows), table, standardize)?;
    }
    fold.scheme = fold.scheme.resolved(&data);
    let column = fold.scheme.column.as_ref();
    let labels = column.map(|name| table.labels(name, &rows)).transpose()?;
    let (training, _) = fold.rows(&data, labels.as_deref())?;
    let (data, _) = divide(&data, &training, &[], standardize);
    Ok((data, training.iter().map(|row| rows[*row]).collect()))
}

/// The `training` and the `held_out` rows of `data`, standardised by the former alone if data are
/// to be standardised.
fn divide(
    data: &Dataset,
    training: &[usize],
    held_out: &[usize],
    standardize: bool,
) -> (Dataset, Dataset) {
    if standardize {
        data.split(training, held_out)
    } else {
        (data.select(training), data.select(held_out))
    }
}
