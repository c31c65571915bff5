//! Write a plan: copies of the runs, and the units that they are divided into.

use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use posteria::fit::{Fit, Prepared};
use posteria::model::spec::InferenceChoice;
use posteria::sample::Plan;
use serde_json::Value;

use super::unit::{PlannedDivision, Unit, Work};
use super::{
    DIVISIONS, EXACT, FORMAT, Head, PARQUET, PLAN, PlannedLadders, RESULTS, RUNS, RunHead, TABLES,
    TEMPERATURES, TEXT, UNITS, WORK, WorkError, WorkPlan, digest, exact, to_json, write_text,
};
use crate::archive;
use crate::checkpoint::CHECKPOINT;
use crate::create::{APPROXIMATION, SPEC, VERSION};
use crate::disk::{DRAWS, failure};
use crate::error::StoreError;
use crate::folds::{PartError, division_name};
use crate::staging::Staging;
use crate::{FitFolderError, Run, RunFolder, WriteOptions};

/// What a plan is made of.
pub struct NewPlan<'a> {
    /// The name of the command that is divided.
    pub action: &'a str,
    /// Its arguments, for whoever collects.
    pub arguments: Value,
    /// The runs that units are parts of.
    pub runs: Vec<PlannedRun<'a>>,
}

/// A run of a plan.
pub struct PlannedRun<'a> {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub source: RunSource<'a>,
    /// Where a run that is made by the plan is to be, if that is known already.
    pub into: Option<PathBuf>,
    /// How its rows are divided, for folds, with the number of training rows of each fold; none for a
    /// fit itself.
    pub divisions: Vec<(PlannedDivision, Vec<usize>)>,
    /// Whether each chain of a fold is a unit of its own, where there are several.
    pub each_chain: bool,
    /// How long a sweep of a chain takes, in seconds, where that is known.
    pub pace: Option<f64>,
    /// The ladders of its evidence, if that is asked for.
    pub ladders: Option<PlannedLadders>,
}

/// Where a run of a plan comes from.
#[derive(Clone, Copy)]
pub enum RunSource<'a> {
    /// A run folder.
    Folder(&'a Path),
    /// A fit in memory.
    Fit(&'a Fit),
    /// A fit that is to be made by this plan, of the table in this file.
    New(&'a Prepared, &'a Plan, &'a Path),
    /// A fit that is to be made by this plan, of data in memory.
    Chains(&'a Prepared, &'a Plan),
    /// A model of data, which came from this run folder or specification file; its draws do not matter.
    Model(&'a Prepared, Option<&'a Path>),
}

impl<'a> PlannedRun<'a> {
    /// A run of this name, of which nothing else is known.
    pub fn of(name: &str, source: RunSource<'a>) -> Self {
        let (name, divisions) = (name.to_string(), Vec::new());
        PlannedRun {
            name,
            source,
            into: None,
            divisions,
            each_chain: false,
            pace: None,
            ladders: None,
        }
    }

    /// The chains of what was prepared in memory.
    pub fn of_chains(name: &str, prepared: &'a Prepared) -> Self {
        PlannedRun::of(name, RunSource::Chains(prepared, &prepared.plan))
    }
}

impl WorkPlan {
    /// Writes a plan into the folder `path`, which must not exist or be empty. It appears at once and
    /// whole.
    ///
    /// # Errors
    /// [`WorkError`] if there is no room for it, a run cannot be copied, or there are no units.
    pub fn create(path: &Path, new: &NewPlan<'_>) -> Result<Self, WorkError> {
        let staging = Staging::begin(path)?;
        let root = staging.path();
        for name in [RUNS, TABLES, DIVISIONS, TEMPERATURES, WORK, RESULTS] {
            let folder = root.join(name);
            fs::create_dir(&folder).map_err(failure("create", &folder))?;
        }
        let (action, arguments) = (new.action.to_string(), new.arguments.clone());
        let mut head = Head {
            format: FORMAT,
            version: VERSION.to_string(),
            action,
            arguments,
            stages: 1,
            runs: Vec::with_capacity(new.runs.len()),
            divisions: 0,
            units: 0,
        };
        let lines = add((root, path), &mut head, &new.runs)?;
        if head.units == 0 {
            return Err(WorkError::Empty);
        }
        write_text(&root.join(UNITS), &lines)?;
        write_text(&root.join(PLAN), &(to_json(&head)? + "\n"))?;
        staging.commit()?;
        Ok(WorkPlan { path: path.to_path_buf(), head, seals: Arc::default() })
    }
}

/// Puts runs with their divisions into the folder `root`, from where they come into that of the plan,
/// `path`; the lines of their units.
pub(super) fn add(
    (root, path): (&Path, &Path),
    head: &mut Head,
    runs: &[PlannedRun<'_>],
) -> Result<String, WorkError> {
    let mut lines = String::new();
    for planned in runs {
        let number = head.runs.len();
        let copy = root.join(RUNS).join((number + 1).to_string());
        let from = put(planned.source, path, &copy)?;
        let mut table = None;
        if let RunSource::New(prepared, _, file) = planned.source {
            table = Some(put_table((root, path), (prepared, number), file)?);
        }
        let run = Run::open(&copy)?;
        let state = fs::read(copy.join(CHECKPOINT)).map_err(failure("read", &copy))?;
        let (specification, mut data) = (digest(run.spec()), run.data_digest()?);
        let in_memory = match planned.source {
            RunSource::Fit(fit) => Some(&fit.prepared.data),
            RunSource::Model(prepared, _) | RunSource::Chains(prepared, _) => Some(&prepared.data),
            RunSource::Folder(_) | RunSource::New(..) => None,
        };
        if let Some(dataset) = in_memory {
            let bytes = exact::encode(dataset);
            let file = root.join(TABLES).join(format!("{}.{EXACT}", number + 1));
            fs::write(&file, &bytes).map_err(failure("write", &file))?;
            data = digest(bytes);
        }
        let (name, state) = (planned.name.clone(), digest(state));
        let ladders = planned.ladders.clone();
        let into = planned.into.as_ref().and_then(|into| relative(path, into));
        head.runs.push(RunHead { name, from, into, specification, data, state, table, ladders });
        let first = head.divisions;
        for (division, _) in &planned.divisions {
            head.divisions += 1;
            let file = root.join(DIVISIONS).join(format!("{}.json", head.divisions));
            write_text(&file, &to_json(division)?)?;
        }
        for unit in units_of(planned, &run, (number, first))? {
            head.units += 1;
            let line = to_json(&Unit { id: head.units, ..unit })?;
            // Writing to a text cannot fail.
            let _ = writeln!(lines, "{line}");
        }
    }
    Ok(lines)
}

/// Copies a table, once for all runs that are made of it; under which name.
fn put_table(
    (root, path): (&Path, &Path),
    (prepared, number): (&Prepared, usize),
    file: &Path,
) -> Result<String, WorkError> {
    let is_parquet = file.extension().is_some_and(|it| it == "parquet");
    let ending = if is_parquet { PARQUET } else { TEXT };
    let name = match &prepared.spec.data.sha256 {
        Some(digest) => format!("{}.{ending}", digest.get(..16).unwrap_or(digest)),
        None => format!("{}.{ending}", number + 1),
    };
    let there = |folder: &Path| folder.join(TABLES).join(&name).is_file();
    if !there(root) && !there(path) {
        fs::copy(file, root.join(TABLES).join(&name)).map_err(failure("copy", file))?;
    }
    Ok(name)
}

/// Puts a run into the plan; where it is, from the folder of the plan.
fn put(source: RunSource<'_>, plan: &Path, copy: &Path) -> Result<Option<String>, WorkError> {
    let part = |error: FitFolderError| WorkError::from(PartError::from(error));
    match source {
        RunSource::Folder(run) => {
            // Refuses what is no run before anything is copied.
            Run::open(run)?;
            let own = [CHECKPOINT, SPEC, APPROXIMATION, DRAWS];
            archive::copy(run, copy, |name| {
                name.components()
                    .next()
                    .is_some_and(|first| own.iter().any(|it| first.as_os_str() == *it))
            })?;
            return Ok(relative(plan, run));
        }
        RunSource::Fit(fit) => RunFolder::save(fit, copy).map_err(part)?,
        RunSource::New(prepared, plan, _) | RunSource::Chains(prepared, plan) => {
            let begun = (prepared, plan);
            let writer =
                RunFolder::begin(begun, None, copy, WriteOptions::default()).map_err(part)?;
            // As a folder that has been begun, and not as one that was left.
            drop(writer);
        }
        RunSource::Model(prepared, from) => {
            let begun = (prepared, &prepared.plan);
            let writer =
                RunFolder::begin(begun, None, copy, WriteOptions::default()).map_err(part)?;
            drop(writer);
            return Ok(from.and_then(|from| relative(plan, from)));
        }
    }
    Ok(None)
}

/// The units of a run.
fn units_of(
    planned: &PlannedRun<'_>,
    run: &Run,
    (number, first): (usize, usize),
) -> Result<Vec<Unit>, WorkError> {
    let (extent, name) = (run.extent(), &planned.name);
    let spec = posteria::model::spec::Spec::from_toml(run.spec())
        .map_err(|error| PartError::from(FitFolderError::from(error)))?;
    let seed = spec.sampling.seed;
    let unit = |what, work, cost| Unit { id: 0, what, run: number, work, seed, cost };
    if let RunSource::New(prepared, plan, _) | RunSource::Chains(prepared, plan) = planned.source {
        let rows = prepared.data.rows();
        let pace = planned.pace.unwrap_or_else(|| usual_pace(rows, run.layout().len()));
        let cost = pace * plan.iterations() as f64;
        // Members are trained one after the other, and an approximation is found once for all.
        if !prepared.has_independent_chains() {
            let work = plan.chains as f64 * cost;
            return Ok(vec![unit(format!("all of {name}"), Work::Whole, work)]);
        }
        let each = (0..plan.chains).map(|index| {
            let what = format!("chain {} of {} of {name}", index + 1, plan.chains);
            unit(what, Work::Chain { index }, cost)
        });
        return Ok(each.collect());
    }
    let rows = run.data_rows();
    if let Some(ladders) = &planned.ladders {
        let pace = usual_pace(rows, run.layout().len());
        return Ok(ladders.first_units((name, number), pace));
    }
    let pace = planned.pace.unwrap_or_else(|| usual_pace(rows, run.layout().len()));
    let mut units = Vec::new();
    // What takes the place of chains is found once for all.
    let apart = planned.each_chain
        && spec.sampling.inference() == InferenceChoice::Mcmc
        && extent.chains > 1;
    for (place, (division, training)) in planned.divisions.iter().enumerate() {
        let (count, scheme) = (division.folds, &division.scheme);
        for (index, kept) in training.iter().enumerate() {
            let fold = index + 1;
            let divided = division_name(scheme, count);
            let what = format!("fold {fold} of {count} of {name} ({divided})");
            let sweeps = extent.warmup + division.draws * extent.thin;
            let cost = pace * sweeps as f64 * *kept as f64 / rows.max(1) as f64;
            let (division, chains) = (first + place, extent.chains);
            if !apart {
                units.push(unit(what, Work::Fold { division, index }, cost * chains as f64));
                continue;
            }
            let each = (0..chains).map(|chain| {
                let what = format!("chain {} of {chains} of {what}", chain + 1);
                unit(what, Work::FoldChain { division, index, chain }, cost)
            });
            units.extend(each);
        }
    }
    Ok(units)
}

/// In proportion to which a sweep takes time where that is not known.
fn usual_pace(rows: usize, state: usize) -> f64 {
    1e-8 * rows.max(1) as f64 * state.max(1) as f64
}

/// The way from one folder to another, as the parts of both are written; `None` if there is none.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let [from, to] = [from, to].map(|path| std::path::absolute(path).ok().map(|it| plain(&it)));
    let (from, to) = (from?, to?);
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.components().count() - common);
    let down = to.components().skip(common).map(|part| part.as_os_str().to_str());
    let down = down.collect::<Option<Vec<_>>>()?;
    Some(up.chain(down).collect::<Vec<_>>().join("/"))
}

/// Without `..`, as far as the names alone tell.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

impl Run {
    /// SHA-256 of the data that the run was fitted to.
    pub(crate) fn data_digest(&self) -> Result<String, StoreError> {
        let mut all = Vec::new();
        let checksums = &self.loaded.checkpoint.static_checksums;
        for ((array, chunk), checksum) in self.loaded.schema.static_files().zip(checksums) {
            if array.is_data() {
                let name = array.static_file(chunk);
                let bytes = self.read_chunk(&name, array.chunk_bytes(), *checksum)?;
                all.extend_from_slice(digest(name).as_bytes());
                all.extend_from_slice(digest(bytes).as_bytes());
            }
        }
        Ok(digest(all))
    }

    /// Rows of the data that the run was fitted to.
    fn data_rows(&self) -> usize {
        let arrays = self.loaded.schema.arrays.iter().filter(|array| array.is_data());
        arrays.filter_map(|array| array.shape(0).first().copied()).max().unwrap_or(0)
    }
}
