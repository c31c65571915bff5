//! What units have found: one file each, which appears when it is whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde::{Deserialize, Serialize};

use super::create::plain;
use super::unit::{Origin, Unit, Work};
use super::{RESULTS, RunHead, WorkError, WorkPlan, digest, to_json};
use crate::archive::{Packed, pack};
use crate::checkpoint::CHECKPOINT;
use crate::disk::failure;
use crate::folds::PartError;
use crate::staging::unique;
use crate::{Run, RunFolder, StoreError};

/// The head of a result.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultHead {
    unit: usize,
    what: String,
    of: Origin,
}

impl WorkPlan {
    /// The file of the result of a unit.
    pub fn result_file(&self, id: usize) -> PathBuf {
        self.path.join(RESULTS).join(format!("{id:06}.unit"))
    }

    /// Whether there is a result of a unit.
    pub fn has_result(&self, id: usize) -> bool {
        self.result_file(id).is_file()
    }

    /// Whether there is a whole result of a unit. One that is not what was written, as a power cut
    /// may leave it, is none: whoever does the unit again puts another in its place.
    ///
    /// # Errors
    /// [`WorkError`] if it is of something else, or cannot be read.
    pub fn has_whole_result(&self, unit: &Unit) -> Result<bool, WorkError> {
        if !self.has_result(unit.id) {
            return Ok(false);
        }
        if self.seals.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&unit.id) {
            return Ok(true);
        }
        match self.check_result(unit) {
            Err(WorkError::DamagedResult { error: StoreError::Damaged { .. }, .. }) => Ok(false),
            checked => checked.map(|()| true),
        }
    }

    /// Whether there is a whole result of each of these units.
    ///
    /// # Errors
    /// [`WorkError`] as [`WorkPlan::has_whole_result`].
    pub fn have_whole_results<'u>(
        &self,
        units: impl IntoIterator<Item = &'u Unit>,
    ) -> Result<bool, WorkError> {
        units.into_iter().try_fold(true, |all, unit| Ok(all && self.has_whole_result(unit)?))
    }

    /// The numbers of the units that have no result, in order.
    pub fn missing(&self) -> Vec<usize> {
        (1..=self.count()).filter(|id| !self.has_result(*id)).collect()
    }

    /// Puts what a unit has left in `folder` among the results.
    pub(super) fn keep(&self, unit: &Unit, folder: &Path) -> Result<(), WorkError> {
        let (what, of) = (unit.what.clone(), self.origin(unit)?);
        let head = to_json(&ResultHead { unit: unit.id, what, of })?;
        let bytes = pack(folder, &head)?;
        // Whoever was done first moves it away before a file is removed: as long as it is here,
        // nothing was missing.
        fs::symlink_metadata(folder).map_err(failure("read", folder))?;
        self.keep_bytes(unit.id, &bytes)
    }

    /// Puts a result that was made elsewhere among the results.
    ///
    /// # Errors
    /// [`WorkError`] if it is of another unit, or damaged.
    pub fn add_result(&self, id: usize, bytes: &[u8]) -> Result<(), WorkError> {
        self.checked(&self.unit(id)?, bytes)?;
        self.keep_bytes(id, bytes)
    }

    fn keep_bytes(&self, id: usize, bytes: &[u8]) -> Result<(), WorkError> {
        let path = self.result_file(id);
        let temporary = path.with_file_name(format!(".{id:06}.{}.part", unique()));
        // The disk is not waited for, which would take as long as many a unit: a result that a power
        // cut has spoilt does not fit its checksum, and its unit is done again.
        let written = fs::File::create_new(&temporary).and_then(|mut file| {
            std::io::Write::write_all(&mut file, bytes)?;
            // Whoever comes second puts the same bytes in their place.
            fs::rename(&temporary, &path)
        });
        if written.is_err() {
            // What went wrong is told; that the remains stay would only hide it.
            let _ = fs::remove_file(&temporary);
        }
        Ok(written.map_err(failure("write", &path))?)
    }

    /// The result of a unit, compared with what it must be of.
    pub(super) fn checked<'b>(
        &self,
        unit: &Unit,
        bytes: &'b [u8],
    ) -> Result<Packed<'b>, WorkError> {
        let (path, number) = (self.result_file(unit.id), unit.id);
        let wrong = |error| WorkError::DamagedResult { path: path.clone(), error, unit: number };
        let seals = || self.seals.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seals().get(&number).copied();
        let packed = Packed::read(bytes, known).map_err(wrong)?;
        seals().insert(number, packed.seal);
        let head: ResultHead = serde_json::from_str(&packed.head)
            .map_err(|error| wrong(StoreError::damaged("the head", error.to_string())))?;
        match self.origin(unit)?.differs(&head.of) {
            None => Ok(packed),
            Some(differs) => {
                let what = format!("{differs}: of {}", head.what);
                Err(WorkError::OtherResult { path, what, unit: number })
            }
        }
    }

    /// Checks the result of a unit, all of its bytes.
    ///
    /// # Errors
    /// [`WorkError`] if there is none, it is of something else, or damaged.
    pub fn check_result(&self, unit: &Unit) -> Result<(), WorkError> {
        let bytes = self.result_bytes(unit.id)?;
        self.checked(unit, &bytes).map(|_| ())
    }

    /// The bytes of the result of a unit.
    ///
    /// # Errors
    /// [`WorkError`] if it cannot be read.
    pub fn result_bytes(&self, id: usize) -> Result<Vec<u8>, WorkError> {
        let path = self.result_file(id);
        Ok(fs::read(&path).map_err(failure("read", &path))?)
    }

    /// Makes the result of a unit the folder `path`, of which nothing is there yet: at once and whole.
    ///
    /// # Errors
    /// [`WorkError`] as [`WorkPlan::check_result`], and if the folder cannot be written.
    pub fn unpack(&self, unit: &Unit, path: &Path) -> Result<(), WorkError> {
        self.unpack_part(unit, path, |_| true)
    }

    /// The same of the files that are wanted.
    pub(super) fn unpack_part(
        &self,
        unit: &Unit,
        path: &Path,
        wanted: impl Fn(&Path) -> bool,
    ) -> Result<(), WorkError> {
        let bytes = self.result_bytes(unit.id)?;
        let packed = self.checked(unit, &bytes)?;
        let parent = path.parent().unwrap_or(path);
        fs::create_dir_all(parent).map_err(failure("create", parent))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.new-{}", unique()));
        let unpacked = packed
            .unpack(&temporary, wanted)
            .and_then(|()| fs::rename(&temporary, path).map_err(failure("create", path)));
        if unpacked.is_err() {
            let _ = fs::remove_dir_all(&temporary);
        }
        Ok(unpacked?)
    }

    /// Where the run that units are parts of is now, if it is still the one that was planned for:
    /// at the name that it was given, or where it was seen from the plan.
    ///
    /// # Errors
    /// [`WorkError::OtherRun`] if it is not there, or has changed.
    pub fn origin_of(&self, run: usize) -> Result<PathBuf, WorkError> {
        let head = &self.head.runs[run];
        let named = PathBuf::from(&head.name);
        let seen = head.from.as_ref().map(|from| self.path.join(from));
        let candidates: Vec<PathBuf> =
            [Some(named.clone()), seen].into_iter().flatten().filter(|it| it.exists()).collect();
        let mut first = None;
        for path in candidates {
            match changed(head, &path)? {
                None => return Ok(path),
                Some(what) => {
                    first.get_or_insert(WorkError::OtherRun { path, what });
                }
            }
        }
        let gone = WorkError::OtherRun { path: named, what: "is not where it was when" };
        Err(first.unwrap_or(gone))
    }

    /// Where the run or specification file of this number is now: at the name that it was given, or
    /// where it was seen from the plan.
    pub fn place_of(&self, run: usize) -> Option<PathBuf> {
        let head = &self.head.runs[run];
        let seen = head.from.as_ref().map(|from| self.path.join(from));
        [Some(PathBuf::from(&head.name)), seen].into_iter().flatten().find(|it| it.exists())
    }

    /// Where a run that is made by the plan is to be: as it was called, unless the plan is elsewhere now.
    pub fn place_for(&self, run: usize) -> Option<PathBuf> {
        let head = &self.head.runs[run];
        let seen = self.path.join(head.into.as_ref()?);
        let named = PathBuf::from(&head.name);
        let [one, other] =
            [&named, &seen].map(|path| std::path::absolute(path).map(|it| plain(&it)));
        Some(if matches!((one, other), (Ok(one), Ok(other)) if one == other) {
            named
        } else {
            seen
        })
    }

    /// The run that the chains of all units make together, in the new folder `path`.
    ///
    /// # Errors
    /// [`WorkError`] as [`WorkPlan::unpack`], and if a chain is not complete.
    pub fn join_chains(&self, units: &[Unit], path: &Path) -> Result<(), WorkError> {
        if let [Unit { work: Work::Whole, .. }] = units {
            return self.unpack(&units[0], path);
        }
        let Some(first) = units.first() else { return Err(WorkError::Empty) };
        self.join_parts(&self.run_copy(first.run), units, path)
    }

    /// The run that was begun in the folder `begun` with the chains of these units, in order, in the new
    /// folder `path`.
    pub(super) fn join_parts<'u>(
        &self,
        begun: &Path,
        units: impl IntoIterator<Item = &'u Unit>,
        path: &Path,
    ) -> Result<(), WorkError> {
        let (mut folders, mut joined) = (Vec::new(), Ok(()));
        for unit in units {
            let folder = self.scratch("join", unit.id);
            joined = joined.and_then(|()| self.unpack(unit, &folder));
            folders.push(folder);
        }
        let joined = joined.and_then(|()| RunFolder::join_into((begun, path), &folders));
        for folder in folders {
            // They were there to be read only.
            let _ = fs::remove_dir_all(folder);
        }
        joined
    }
}

/// What has changed of a run since a plan was made of it.
fn changed(head: &RunHead, path: &Path) -> Result<Option<&'static str>, WorkError> {
    let run = Run::open(path)?;
    let state = fs::read(path.join(CHECKPOINT)).map_err(failure("read", path))?;
    Ok(if run.data_digest()? != head.data {
        Some("has other data than when")
    } else if digest(run.spec()) != head.specification {
        Some("has another specification than when")
    } else if digest(state) != head.state {
        Some("has gone on since")
    } else {
        None
    })
}

impl From<posteria::assess::AssessError> for WorkError {
    fn from(error: posteria::assess::AssessError) -> Self {
        PartError::from(error).into()
    }
}
