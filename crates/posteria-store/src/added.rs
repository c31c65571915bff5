//! Add groups of draws to a store whose chains are done: what the model predicts, its prior.
//!
//! They follow from draws, data and seed, so a checkpoint is silent about them: a run that goes on
//! drops them, and whoever ends it adds them again. A list of checksums, written when everything
//! else is there, says that a group is whole.

use std::fs;
use std::path::Path;

use crate::create::RunFolder;
use crate::disk::{Disk, failure, plain_folder};
use crate::error::StoreError;
use crate::facts::Facts;
use crate::lock::Lock;
use crate::metadata::{
    CONSOLIDATED, Document, GROUP, MOST_METADATA, array_text, consolidated, dimensions_text,
    group_text, shows_group,
};
use crate::names::Names;
use crate::run::Run;
use crate::schema::{CHUNK_BYTES, Element};
use crate::statics::{Axis, Labels, label_bytes, label_width, number_bytes};

/// Most bytes of the draws of one predictive group, whose size is draws × rows: of more, draws are
/// left out evenly, and of too many rows for one draw of every chain nothing is kept.
pub const MOST_PREDICTIVE_BYTES: usize = 64 << 20;

/// The file of a group that lists its other files with their CRC-32.
const CHECKSUMS: &str = ".checksums";
/// Most bytes of that list.
const LONGEST_LIST: u64 = 64 << 20;

/// A group that is added; named as ArviZ does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// New targets at the rows of the fit, one for every draw.
    PosteriorPredictive,
    /// Draws of the parameters from their prior.
    Prior,
    /// New targets at the rows of the fit, one for every draw of the prior.
    PriorPredictive,
}

impl Added {
    const ALL: [Added; 3] = [Added::PosteriorPredictive, Added::Prior, Added::PriorPredictive];

    /// Its name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Added::PosteriorPredictive => "posterior_predictive",
            Added::Prior => "prior",
            Added::PriorPredictive => "prior_predictive",
        }
    }
}

/// A group of draws.
#[derive(Clone, Debug)]
pub struct AddedGroup {
    /// Which.
    pub group: Added,
    /// Number of chains.
    pub chains: usize,
    /// The number of every draw within its chain.
    pub draws: Vec<usize>,
    /// Its arrays.
    pub arrays: Vec<AddedArray>,
}

/// Draws of something.
#[derive(Clone, Debug)]
pub struct AddedArray {
    /// Name of the array.
    pub name: String,
    /// Its axes after chain and draw.
    pub axes: Vec<Axis>,
    /// Whether its values are whole numbers, as those of classes are.
    pub whole: bool,
    /// Values by chain, draw and axes, in row-major order.
    pub values: Vec<f64>,
}

impl RunFolder {
    /// Adds groups to a run folder that no process writes; those of the same names are replaced,
    /// others dropped.
    ///
    /// # Errors
    /// [`StoreError`] if another process writes the folder, if it is damaged, or the parts of a
    /// group do not fit together.
    pub fn add(path: &Path, groups: &[AddedGroup]) -> Result<(), StoreError> {
        let _lock = Lock::take(path)?;
        let run = Run::open(path)?;
        let documents = run.documents();
        remove(&run.store)?;
        write(&run.store, groups, documents, &run.loaded.checkpoint.facts)
    }
}

impl Run {
    /// Whether a group was added, is whole, and is in the consolidated metadata: whoever was killed
    /// while adding it may have left the list of its checksums and not that.
    pub fn has(&self, group: Added) -> bool {
        let list = format!("{}/{CHECKSUMS}", group.name());
        let is_whole =
            fs::symlink_metadata(self.store.path(&list)).is_ok_and(|found| found.is_file());
        let shown = || self.store.read(CONSOLIDATED, MOST_METADATA).unwrap_or_default();
        is_whole && shows_group(&shown(), group.name())
    }
}

/// Writes groups into a store whose own metadata, the consolidated ones last, are `documents`.
pub(crate) fn write(
    disk: &Disk,
    groups: &[AddedGroup],
    mut documents: Vec<Document>,
    facts: &Facts,
) -> Result<(), StoreError> {
    let Some(whole) = documents.pop() else { return Ok(()) };
    for group in groups {
        documents.extend(group.write(disk, facts)?);
    }
    disk.replace(&whole.file, consolidated(&documents).as_bytes())
}

/// Removes the added groups from what other readers see.
pub(crate) fn remove(disk: &Disk) -> Result<(), StoreError> {
    for group in Added::ALL {
        let path = disk.path(group.name());
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        plain_folder(&path, &found)?;
        let list = path.join(CHECKSUMS);
        if list.exists() {
            fs::remove_file(&list).map_err(failure("remove", &list))?;
        }
        fs::remove_dir_all(&path).map_err(failure("remove", &path))?;
    }
    Ok(())
}

/// Compares the files of all groups that are whole with their checksums; the metadata among them,
/// and how many files there are.
pub(crate) fn verify(disk: &Disk) -> Result<(Vec<Document>, usize), StoreError> {
    let (mut documents, mut files) = (Vec::new(), 0);
    for group in Added::ALL {
        let list = format!("{}/{CHECKSUMS}", group.name());
        if fs::symlink_metadata(disk.path(&list)).is_err() {
            continue;
        }
        let damaged = || disk.damaged(&list, "it is not a list of checksums");
        let text = String::from_utf8(disk.read(&list, LONGEST_LIST)?).map_err(|_| damaged())?;
        for line in text.lines() {
            let mut parts = line.splitn(3, ' ');
            let mut next = || parts.next().ok_or_else(damaged);
            let checksum = u32::from_str_radix(next()?, 16).map_err(|_| damaged())?;
            let length: usize = next()?.parse().map_err(|_| damaged())?;
            let name = next()?;
            // Names are never believed: only files of the group itself are looked at.
            let inside = name.strip_prefix(group.name()).is_some_and(|rest| rest.starts_with('/'));
            if !inside || name.split('/').any(|part| part == "..") {
                return Err(damaged());
            }
            let bytes = disk.read_exactly(name, length)?;
            if crc32fast::hash(&bytes) != checksum {
                return Err(disk.damaged(name, "its content does not fit its checksum"));
            }
            let last = name.rsplit('/').next().unwrap_or_default();
            if [".zgroup", ".zattrs", ".zarray"].contains(&last) {
                let text = String::from_utf8(bytes).map_err(|_| damaged())?;
                documents.push(Document { file: name.to_string(), text, grows: false });
            }
            files += 1;
        }
        files += 1;
    }
    Ok((documents, files))
}

/// The files of a group as they are written.
struct Files<'d> {
    disk: &'d Disk,
    documents: Vec<Document>,
    list: String,
}

impl Files<'_> {
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.disk.replace(name, bytes)?;
        self.list += &format!("{:08x} {} {name}\n", crc32fast::hash(bytes), bytes.len());
        Ok(())
    }

    fn document(&mut self, file: String, text: String) -> Result<(), StoreError> {
        self.put(&file, text.as_bytes())?;
        self.documents.push(Document { file, text, grows: false });
        Ok(())
    }

    fn array(
        &mut self,
        folder: &str,
        element: Element,
        (shape, chunks): (&[usize], &[usize]),
        (dimensions, called): (&[String], Option<&str>),
    ) -> Result<(), StoreError> {
        self.disk.create_folder(folder)?;
        self.document(format!("{folder}/.zarray"), array_text(element, shape, chunks))?;
        self.document(format!("{folder}/.zattrs"), dimensions_text(dimensions, called, true))
    }

    fn coordinate(
        &mut self,
        folder: &str,
        element: Element,
        length: usize,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let own = folder.rsplit('/').next().unwrap_or_default().to_string();
        self.array(folder, element, (&[length], &[length.max(1)]), (&[own], None))?;
        if length > 0 { self.put(&format!("{folder}/0"), bytes) } else { Ok(()) }
    }
}

impl AddedGroup {
    fn write(&self, disk: &Disk, facts: &Facts) -> Result<Vec<Document>, StoreError> {
        let group = self.group.name();
        disk.create_folder(group)?;
        let mut files = Files { disk, documents: Vec::new(), list: String::new() };
        files.document(format!("{group}/.zgroup"), GROUP.to_string())?;
        files.document(format!("{group}/.zattrs"), group_text(facts))?;
        let mut names = Names::default();
        let [chain, draw] = ["chain", "draw"].map(|name| names.take(name));
        let whole = Element::Whole;
        let chains = number_bytes(0, self.chains);
        files.coordinate(&format!("{group}/{chain}"), whole, self.chains, &chains)?;
        let numbers: Vec<u8> =
            self.draws.iter().flat_map(|number| (*number as i64).to_le_bytes()).collect();
        files.coordinate(&format!("{group}/{draw}"), whole, self.draws.len(), &numbers)?;
        let mut seen: Vec<(&Axis, String)> = Vec::new();
        for array in &self.arrays {
            let mut dimensions = vec![chain.clone(), draw.clone()];
            for axis in &array.axes {
                if let Some((_, name)) = seen.iter().find(|(other, _)| *other == axis) {
                    dimensions.push(name.clone());
                    continue;
                }
                let name = names.take(&axis.name);
                let (element, bytes) = match &axis.labels {
                    Labels::Numbered(count) => (whole, number_bytes(0, *count)),
                    Labels::Named(labels) => {
                        let width = label_width(labels);
                        (Element::Text(width), label_bytes(labels, width))
                    }
                };
                let folder = format!("{group}/{name}");
                files.coordinate(&folder, element, axis.labels.len(), &bytes)?;
                dimensions.push(name.clone());
                seen.push((axis, name));
            }
            self.write_array(&mut files, array, &names.take(&array.name), &dimensions)?;
        }
        disk.replace(&format!("{group}/{CHECKSUMS}"), files.list.as_bytes())?;
        Ok(files.documents)
    }

    fn write_array(
        &self,
        files: &mut Files<'_>,
        array: &AddedArray,
        name: &str,
        dimensions: &[String],
    ) -> Result<(), StoreError> {
        let inner: Vec<usize> = array.axes.iter().map(|axis| axis.labels.len()).collect();
        let each: usize = inner.iter().product();
        let (draws, expected) = (self.draws.len(), self.chains * self.draws.len() * each);
        if array.values.len() != expected {
            let (name, found) = (array.name.clone(), array.values.len());
            return Err(StoreError::Shape { name, expected, found });
        }
        let at_once = (CHUNK_BYTES / (8 * each).max(1)).clamp(1, draws.max(1));
        let folder = format!("{}/{name}", self.group.name());
        let element = if array.whole { Element::Whole } else { Element::Real };
        let shape = [&[self.chains, draws][..], &inner].concat();
        let full: Vec<usize> = inner.iter().map(|length| (*length).max(1)).collect();
        let chunks = [&[1, at_once][..], &full].concat();
        let called = (name != array.name).then_some(array.name.as_str());
        files.array(&folder, element, (&shape, &chunks), (dimensions, called))?;
        if each == 0 {
            return Ok(());
        }
        let zeros = ".0".repeat(inner.len());
        for (chain, values) in array.values.chunks(draws.max(1) * each).enumerate() {
            for (chunk, values) in values.chunks(at_once * each).enumerate() {
                let missing = at_once * each - values.len();
                let bytes: Vec<u8> = match array.whole {
                    true => {
                        let whole = values.iter().map(|value| *value as i64);
                        whole
                            .chain(std::iter::repeat_n(0, missing))
                            .flat_map(i64::to_le_bytes)
                            .collect()
                    }
                    false => {
                        let values = values.iter().copied();
                        values
                            .chain(std::iter::repeat_n(f64::NAN, missing))
                            .flat_map(f64::to_le_bytes)
                            .collect()
                    }
                };
                files.put(&format!("{folder}/{chain}.{chunk}{zeros}"), &bytes)?;
            }
        }
        Ok(())
    }
}
