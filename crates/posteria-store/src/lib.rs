//! Keep a run in a folder: its specification, its draws as Zarr, its checkpoint, its lock.
//!
//! ```text
//! RUN/spec.toml    what was asked for, as given; its SHA-256 is in the checkpoint
//! RUN/approximation.json
//!                  what an approximation in place of Markov chains found besides draws, if
//!                  there is one; its SHA-256 is in the checkpoint
//! RUN/draws.zarr   groups posterior, sample_stats, log_likelihood, observed_data,
//!                  constant_data: Zarr v2, opens in xarray and ArviZ at any moment; and
//!                  posterior_predictive once the chains are done
//! RUN/checkpoint   the single source of truth, replaced atomically
//! RUN/lock         held by the process that writes, with its process id inside
//! ```
//!
//! Three kinds of files follow from that. *Data given once* (labels, observed data) and *full
//! chunks* of draws never change: the checkpoint holds their CRC-32 and they reach the disk
//! before it does. *Derived files* (all Zarr metadata, chunks not yet full) are there for other
//! readers; everything they say can be made again from the checkpoint, which also holds the
//! draws since the last full chunk. So a kill at any moment costs the sweeps since the last
//! checkpoint and nothing else: resuming rewrites what came later with the same bytes.
//!
//! Start with [`RunFolder::create`], run the chains with the [`RunWriter`] as their recorder,
//! and read with [`Run::open`].
#![forbid(unsafe_code)]

mod added;
mod archive;
mod chain_log;
mod checkpoint;
mod codec;
mod columns;
mod contents;
mod create;
mod disk;
mod error;
mod export;
mod facts;
mod folds;
mod join;
mod lock;
mod metadata;
mod names;
mod of_fit;
mod pointwise;
mod publish;
mod replace;
mod resume;
mod run;
mod schedule;
mod schema;
mod staging;
mod statics;
mod stored;
mod training;
mod verify;
mod work;
mod writer;

#[cfg(test)]
mod tests;

pub use added::{Added, AddedArray, AddedGroup, MOST_PREDICTIVE_BYTES};
pub use create::{NewRun, RunFolder};
pub use error::StoreError;
pub use export::{Export, write_zarr};
pub use facts::Extent;
pub use folds::{FoldRun, PartError, PartOptions, ReadTable, division_name, fold_folder};
pub use of_fit::FitFolderError;
pub use run::{Run, Status};
pub use schedule::Cadence;
pub use statics::{Axis, Labels, Pointwise, StaticArray};
pub use stored::StoredArray;
pub use training::{TrainingArrays, TrainingData};
pub use verify::Verified;
pub use work::{
    NewPlan, PlanFits, PlanFolds, PlannedDivision, PlannedLadders, PlannedRun, Ran, RunSource,
    Unit, Work, WorkError, WorkPlan,
};
pub use writer::{RunSummary, RunWriter, WriteOptions};
