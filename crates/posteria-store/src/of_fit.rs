//! Keep a fit that is in memory in a run folder, and get one back.

use std::path::Path;

use posteria::draws::Draws;
use posteria::fit::{ApproximationResult, Fit, KeptDraw, PrepareError, Prepared};
use posteria::model::spec::{Spec, SpecError};
use posteria::sample::Plan;

use crate::{
    Axis, NewRun, Pointwise, Run, RunFolder, RunWriter, StoreError, TrainingArrays, TrainingData,
    WriteOptions,
};

/// Why a fit cannot be kept in a folder, or not be had back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitFolderError {
    /// The folder cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its specification is not one.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Its model is not for its data.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// It has no data.
    #[error("the run was made by a posteria that did not keep the data in the run folder")]
    NoData,
    /// Its draws are those of another model.
    #[error("the draws do not belong to the specification and data of the run")]
    OtherDraws,
    /// What an approximation found cannot be written.
    #[error("what the approximation found cannot be written: {message}")]
    Json {
        /// Why.
        message: String,
    },
    /// Nobody knows where the chains of the fit ended.
    #[error("the fit does not know where its chains ended, so that no run could go on from there")]
    NoMemories,
    /// What an approximation found besides its draws is not known any more.
    #[error(
        "a fit that was loaded from the folder of an earlier version does not know what its \
         approximation found; copy that folder"
    )]
    Approximation,
}

impl RunFolder {
    /// Begins a run folder for what was prepared and will be sampled by `plan`; `approximation` is what
    /// one found besides draws.
    ///
    /// # Errors
    /// [`FitFolderError`] if there is no room for the folder, or the specification cannot be written.
    pub fn begin(
        (prepared, plan): (&Prepared, &Plan),
        approximation: Option<&ApproximationResult>,
        path: &Path,
        options: WriteOptions,
    ) -> Result<RunWriter, FitFolderError> {
        let spec = prepared.spec.to_toml()?;
        let approximation = approximation.map(ApproximationResult::to_json).transpose();
        let approximation =
            approximation.map_err(|error| FitFolderError::Json { message: error.to_string() })?;
        let training = TrainingArrays::new(&prepared.data, &prepared.encoder);
        let rows = prepared.posterior.rows();
        let pointwise = (rows > 0 && plan.pointwise).then(|| Pointwise {
            name: training.observed.first().map_or("y", |array| &array.name).to_string(),
            rows: Axis::rows(rows),
        });
        let attributes = [
            ("model".to_string(), prepared.spec.model.kind.name().to_string()),
            ("seed".to_string(), prepared.spec.sampling.seed.to_string()),
            training.attribute,
        ];
        let run = NewRun {
            spec: &spec,
            layout: prepared.posterior.layout(),
            extent: plan.into(),
            pointwise: pointwise.as_ref(),
            observed: &training.observed,
            constant: &training.constant,
            attributes: &attributes,
            approximation: approximation.as_deref(),
        };
        Ok(RunFolder::create(path, &run, options)?)
    }

    /// Keeps a fit in the folder `path`, which must not exist or be empty:
    /// a run like any other, which can go on. Its data are in the folder; the table is not named.
    ///
    /// # Errors
    /// [`FitFolderError`] if the folder cannot be written, or no run could go on from the fit.
    pub fn save(fit: &Fit, path: &Path) -> Result<(), FitFolderError> {
        let Fit { prepared, draws, ahead, memories, warmup, .. } = fit;
        let is_approximation = prepared.spec.sampling.inference().is_approximation();
        let result = fit.approximation.as_ref().filter(|_| is_approximation);
        if is_approximation && result.is_none() {
            return Err(FitFolderError::Approximation);
        }
        if memories.len() != draws.chains {
            return Err(FitFolderError::NoMemories);
        }
        let own = prepared.plan.with_warmup(*warmup);
        // Chains that were stopped at different places are a run that is not complete.
        let further = ahead.iter().map(|chain| chain.draws).max().unwrap_or(0);
        let plan = Plan { draws: draws.draws + further, pointwise: draws.rows > 0, ..own };
        let writer = RunFolder::begin((prepared, &plan), result, path, WriteOptions::default())?;
        for (chain, memory) in memories.iter().enumerate() {
            for index in 0..draws.draws {
                writer.append(chain, &kept(draws, chain, index))?;
            }
            for index in 0..ahead.get(chain).map_or(0, |more| more.draws) {
                let more = kept(&ahead[chain], 0, index);
                writer.append(chain, &KeptDraw { index: draws.draws + index, ..more })?;
            }
            writer.end_at(chain, memory.clone())?;
        }
        writer.finish()?;
        Ok(())
    }

    /// The fit of the run in the folder `path`, with all of its draws.
    ///
    /// # Errors
    /// [`FitFolderError`] if there is no such run, or it is damaged or of an early version.
    pub fn load(path: &Path) -> Result<Fit, FitFolderError> {
        let run = Run::open(path)?;
        let prepared = run.prepared(Spec::from_toml(run.spec())?)?;
        let draws = run.draws()?.laid_out_as(prepared.posterior.layout());
        // Where chains stand that are further than the draws that all of them have is of no use here.
        let is_even = run.chain_draws().iter().all(|own| *own == draws.draws);
        let memories = run.memories().into_iter().flatten().filter(|_| is_even).collect();
        // An earlier version kept sentences in place of values.
        let approximation =
            run.approximation().and_then(|it| ApproximationResult::from_json(it).ok());
        let fit = Fit::new(prepared, draws, memories, run.extent().warmup);
        Ok(Fit { approximation, ..fit })
    }
}

impl Run {
    /// What the run was fitted to and its model, by its specification.
    ///
    /// # Errors
    /// [`FitFolderError`] if it has no data, or its draws are those of another model.
    pub fn prepared(&self, spec: Spec) -> Result<Prepared, FitFolderError> {
        let kept = self.training_data()?.ok_or(FitFolderError::NoData)?;
        let TrainingData { encoder, dataset } = kept;
        // Whatever the test rows were, their error has a place in every draw.
        let test = spec.data.test.as_ref().map(|_| dataset.clone());
        let prepared = Prepared::of_dataset(spec, dataset, encoder, test.as_ref())?;
        match prepared.posterior.layout().reads(self.layout()) {
            true => Ok(prepared),
            false => Err(FitFolderError::OtherDraws),
        }
    }
}

/// A draw as a chain kept it.
pub(crate) fn kept(draws: &Draws, chain: usize, index: usize) -> KeptDraw<'_> {
    let place = chain * draws.draws + index;
    KeptDraw {
        index,
        draw: draws.draw(chain, index),
        statistics: draws.statistics[place],
        log_likelihood: &draws.log_likelihood[place * draws.rows..][..draws.rows],
    }
}
