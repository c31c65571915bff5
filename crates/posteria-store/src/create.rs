//! Begin a run folder.

use std::path::Path;

use posteria::draws::Layout;
use sha2::{Digest, Sha256};

use crate::chain_log::ChainRecord;
use crate::checkpoint::{CHECKPOINT, Checkpoint, Loaded};
use crate::columns::Column;
use crate::contents::Contents;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::facts::{Extent, Facts};
use crate::lock::Lock;
use crate::publish::publish;
use crate::schema::Schema;
use crate::staging::Staging;
use crate::statics::{Pointwise, StaticArray};
use crate::writer::{RunWriter, WriteOptions, encode};

/// Name of the file with the specification.
pub(crate) const SPEC: &str = "spec.toml";
/// Name of the file with what an approximation found.
pub(crate) const APPROXIMATION: &str = "approximation.json";
/// Attribute of the store with the digest of that file.
pub(crate) const APPROXIMATION_DIGEST: &str = "approximation_sha256";
/// The version that begins and continues runs.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a new run folder is made of.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The whole specification, kept as it is.
    pub spec: &'a str,
    /// Names of what a draw holds.
    pub layout: &'a Layout,
    /// How far the chains go.
    pub extent: Extent,
    /// The log likelihood of every row, if kept.
    pub pointwise: Option<&'a Pointwise>,
    /// Observed data: the targets.
    pub observed: &'a [StaticArray],
    /// Constant data: the inputs.
    pub constant: &'a [StaticArray],
    /// Attributes of the store, by name.
    pub attributes: &'a [(String, String)],
    /// What an approximation found besides draws, as JSON; none for Markov chains.
    pub approximation: Option<&'a str>,
}

/// Begins and continues run folders.
#[derive(Debug)]
pub struct RunFolder;

impl RunFolder {
    /// Creates the folder `path`, which must not exist or be empty, and locks it.
    ///
    /// It appears at once and whole, with no draws in it.
    ///
    /// # Errors
    /// [`StoreError`] if there is no room for the folder or the run does not fit into one.
    pub fn create(
        path: &Path,
        run: &NewRun<'_>,
        options: WriteOptions,
    ) -> Result<RunWriter, StoreError> {
        let (contents, [observed, constant]) = Contents::new(
            run.extent.chains,
            run.layout,
            run.pointwise,
            [run.observed, run.constant],
        )?;
        let mut attributes = run.attributes.to_vec();
        // Under the checksum of the checkpoint, where a digest can be trusted.
        attributes
            .extend(run.approximation.map(|text| (APPROXIMATION_DIGEST.to_string(), digest(text))));
        let facts = Facts {
            version: VERSION.to_string(),
            spec_digest: Sha256::digest(run.spec).into(),
            extent: run.extent,
            layout: run.layout.clone(),
            statistics: true,
            pointwise: run.pointwise.map(|it| (it.name.clone(), it.rows.coordinate())),
            observed,
            constant,
            attributes,
        };
        facts.check()?;
        let schema = Schema::new(&facts)?;
        let columns = Column::all(&schema, &facts);

        let staging = Staging::begin(path)?;
        let disk = options.disk(staging.path());
        let store = disk.store();
        let lock = Lock::take(staging.path())?;
        let static_checksums = contents.write(&store, &schema)?;
        publish(&store, &schema, &facts, 0)?;
        let chains = vec![ChainRecord::new(&columns); run.extent.chains];
        let checkpoint = Checkpoint { facts, static_checksums, closed: false, chains };
        disk.replace_durably(SPEC, run.spec.as_bytes())?;
        if let Some(text) = run.approximation {
            disk.replace_durably(APPROXIMATION, text.as_bytes())?;
        }
        disk.replace_durably(CHECKPOINT, &encode(&checkpoint))?;
        staging.commit_waiting(disk.waits)?;
        let loaded = Loaded { checkpoint, schema, columns };
        RunWriter::new(disk.moved(path), lock, loaded, options)
    }
}

/// Whether `spec` is the text that the run began with.
pub(crate) fn check_spec(disk: &Disk, facts: &Facts) -> Result<String, StoreError> {
    let bytes = disk.read(SPEC, 16 << 20)?;
    if Sha256::digest(&bytes)[..] != facts.spec_digest {
        return Err(disk.damaged(SPEC, "it is not the text that the run began with"));
    }
    String::from_utf8(bytes).map_err(|_| disk.damaged(SPEC, "it is not UTF-8 text"))
}

/// The text of what an approximation found, if the run began with one and it is still the same.
pub(crate) fn check_approximation(
    disk: &Disk,
    facts: &Facts,
) -> Result<Option<String>, StoreError> {
    let expected = facts.attributes.iter().find(|(key, _)| key == APPROXIMATION_DIGEST);
    let Some((_, expected)) = expected else { return Ok(None) };
    let damaged = || disk.damaged(APPROXIMATION, "it is not what the run began with");
    let bytes = disk.read(APPROXIMATION, 256 << 20)?;
    let text = String::from_utf8(bytes).map_err(|_| damaged())?;
    if digest(&text) == *expected { Ok(Some(text)) } else { Err(damaged()) }
}

/// SHA-256 of a text in hexadecimal digits.
fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
