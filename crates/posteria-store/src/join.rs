//! Put chains that have run by themselves together.

use std::path::{Path, PathBuf};

use posteria::model::spec::{SamplingSpec, Spec};

use crate::archive;
use crate::of_fit::kept;
use crate::staging::Staging;
use crate::work::WorkError;
use crate::{FitFolderError, PartError, Run, RunFolder, RunWriter, StoreError, WriteOptions};

impl RunFolder {
    /// Makes a run in the new folder `path` of runs that have one chain each (`only_chain` in their
    /// specifications), all of them: the run that all chains would have been together.
    ///
    /// # Errors
    /// [`WorkError::Join`] if the runs are not of the same data, specification and version, are not
    /// complete, or a chain is missing or there twice.
    pub fn join(runs: &[PathBuf], path: &Path) -> Result<(), WorkError> {
        let mut opened = Vec::with_capacity(runs.len());
        for folder in runs {
            let run = Run::open(folder)?;
            let spec = Spec::from_toml(run.spec())
                .map_err(|error| PartError::from(FitFolderError::from(error)))?;
            let refused = |what: String| WorkError::Join { path: folder.clone(), what };
            let Some(chain) = spec.sampling.only_chain else {
                return Err(refused(
                    "it is not a run of one chain among several; make such with posteria fit --chain I"
                        .into(),
                ));
            };
            let sampling = SamplingSpec { only_chain: None, ..spec.sampling };
            opened.push((chain, folder, run, Spec { sampling, ..spec }));
        }
        opened.sort_by_key(|(chain, ..)| *chain);
        let Some((_, first, run, spec)) = opened.first() else { return Err(WorkError::Empty) };
        let data = run.data_digest()?;
        for (chain, folder, other, others) in &opened {
            let refused = |what: String| Err(WorkError::Join { path: folder.to_path_buf(), what });
            let shown = first.display();
            if other.data_digest()? != data {
                return refused(format!("it has other data than {shown}"));
            }
            if others != spec {
                return refused(format!("it has another specification than {shown}"));
            }
            if other.version() != run.version() {
                return refused(format!("another version of posteria made it than {shown}"));
            }
            if other.extent().draws != run.extent().draws || !is_complete(other) {
                let of = other.extent().draws;
                return refused(format!(
                    "its chain has not all of {of} draws, or another number than {shown}; go on with \
                     posteria resume"
                ));
            }
            if opened.iter().filter(|(number, ..)| number == chain).count() > 1 {
                return refused(format!("chain {chain} is there twice"));
            }
        }
        let missing: Vec<String> = (1..=spec.sampling.chains)
            .filter(|chain| opened.iter().all(|(number, ..)| number != chain))
            .map(|chain| chain.to_string())
            .collect();
        if !missing.is_empty() {
            let (chains, missing) = (spec.sampling.chains, missing.join(", "));
            let what = format!("of {chains} chains these are missing: {missing}");
            return Err(WorkError::Join { path: first.to_path_buf(), what });
        }
        let part = |error: FitFolderError| WorkError::from(PartError::from(error));
        let prepared = run.prepared(spec.clone()).map_err(part)?;
        let mut plan = prepared.plan.with_warmup(run.extent().warmup);
        plan.draws = run.extent().draws;
        let begun = (&prepared, &plan);
        let writer = RunFolder::begin(begun, None, path, WriteOptions::default()).map_err(part)?;
        let joined = append_all(writer, opened.iter().map(|(_, _, run, _)| run));
        if joined.is_err() {
            // Half a run helps nobody.
            let _ = RunFolder::remove(path);
        }
        joined
    }

    /// The run that was begun in the folder `begun`, in the new folder `path`, with the chains that
    /// are in these folders, one in each, in order.
    pub(crate) fn join_into(
        (begun, path): (&Path, &Path),
        chains: &[PathBuf],
    ) -> Result<(), WorkError> {
        let staging = Staging::begin(path)?;
        let whole = staging.path().join("run");
        archive::copy(begun, &whole, |_| true)?;
        let draws = Run::open(&whole)?.extent().draws;
        let writer = RunFolder::resume(&whole, draws, WriteOptions::default())?;
        let runs = chains.iter().map(|it| Run::open(it)).collect::<Result<Vec<_>, StoreError>>()?;
        append_all(writer, runs.iter())?;
        staging.commit_inner("run")?;
        Ok(())
    }
}

/// Whether every chain has all its draws.
fn is_complete(run: &Run) -> bool {
    run.chain_draws().iter().all(|draws| *draws == run.extent().draws)
}

/// Appends the chain of each run, with where it ended.
fn append_all<'r>(writer: RunWriter, runs: impl Iterator<Item = &'r Run>) -> Result<(), WorkError> {
    let with_rows = writer.keeps_log_likelihoods();
    for (chain, run) in runs.enumerate() {
        let mut draws = if with_rows { run.draws()? } else { run.draws_of_variables()? };
        if !with_rows {
            draws.rows = 0;
        }
        for index in 0..draws.draws {
            writer.append(chain, &kept(&draws, 0, index))?;
        }
        if let Some(memory) = run.memories().into_iter().flatten().next() {
            writer.end_at(chain, memory)?;
        }
    }
    writer.finish()?;
    Ok(())
}
