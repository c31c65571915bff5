//! Write draws that are in memory as a finished Zarr store.

use std::path::Path;

use posteria::draws::{Draws, Statistics};

use crate::added::{self, AddedGroup};
use crate::chain_log::{ChainLog, ChainRecord};
use crate::columns::{Column, Draw};
use crate::contents::Contents;
use crate::create::VERSION;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::facts::{Extent, Facts};
use crate::metadata::documents;
use crate::publish::publish;
use crate::schema::Schema;
use crate::staging::Staging;
use crate::statics::{Axis, Pointwise, StaticArray};

/// What goes into a store besides the draws.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Name and rows of the log likelihood; `y` with numbered rows if absent.
    pub pointwise: Option<Pointwise>,
    /// Observed data: the targets.
    pub observed: Vec<StaticArray>,
    /// Constant data: the inputs.
    pub constant: Vec<StaticArray>,
    /// Sweeps of warm-up per chain.
    pub warmup: usize,
    /// Attributes of the store, by name.
    pub attributes: Vec<(String, String)>,
    /// Groups besides the posterior.
    pub added: Vec<AddedGroup>,
}

/// Writes `draws` into a new Zarr store at `path`, which must not exist or be empty.
///
/// # Errors
/// [`StoreError`] if there is no room for it, or the parts do not fit together.
///
/// ```
/// use posteria::draws::{Draws, Layout};
/// use posteria_store::{Export, write_zarr};
///
/// let mut layout = Layout::new();
/// layout.push_scalar("noise");
/// let mut draws = Draws::empty(layout, 1, 0);
/// draws.draws = 2;
/// draws.values = vec![0.5, 0.25];
///
/// let folder = tempfile::tempdir()?;
/// write_zarr(&folder.path().join("draws.zarr"), &draws, &Export::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_zarr(path: &Path, draws: &Draws, export: &Export) -> Result<(), StoreError> {
    let rows = Pointwise { name: "y".to_string(), rows: Axis::rows(draws.rows) };
    let pointwise = export.pointwise.as_ref().unwrap_or(&rows);
    let pointwise = (draws.rows > 0).then_some(pointwise);
    let all = draws.chains * draws.draws;
    let has_statistics = !draws.statistics.is_empty();
    let labelled = pointwise.map_or(0, |pointwise| pointwise.rows.labels.len());
    let shape = |name: &str, expected, found| match expected == found {
        true => Ok(()),
        false => Err(StoreError::Shape { name: name.to_string(), expected, found }),
    };
    shape("draws", all * draws.layout.len(), draws.values.len())?;
    shape("log_likelihood", all * draws.rows, draws.log_likelihood.len())?;
    shape("statistics", if has_statistics { all } else { 0 }, draws.statistics.len())?;
    shape("rows", draws.rows, labelled)?;

    let (contents, [observed, constant]) = Contents::new(
        draws.chains,
        &draws.layout,
        pointwise,
        [&export.observed, &export.constant],
    )?;
    let (warmup, thin) = (export.warmup, 1);
    let facts = Facts {
        version: VERSION.to_string(),
        spec_digest: [0; 32],
        extent: Extent { chains: draws.chains, warmup, draws: draws.draws, thin },
        layout: draws.layout.clone(),
        statistics: has_statistics,
        pointwise: pointwise.map(|it| (it.name.clone(), it.rows.coordinate())),
        observed,
        constant,
        attributes: export.attributes.clone(),
    };
    facts.check()?;
    let schema = Schema::new(&facts)?;
    let columns = Column::all(&schema, &facts);

    let staging = Staging::begin(path)?;
    let disk = Disk::new(staging.path());
    contents.write(&disk, &schema)?;
    for chain in 0..draws.chains {
        let mut log = ChainLog::new(chain, &columns, &ChainRecord::new(&columns))?;
        for draw in 0..draws.draws {
            let index = chain * draws.draws + draw;
            let statistics = draws.statistics.get(index);
            let draw = Draw {
                values: draws.draw(chain, draw),
                statistics: statistics.map_or([0.0; Statistics::LEN], |it| it.to_array()),
                log_likelihood: &draws.log_likelihood[index * draws.rows..][..draws.rows],
            };
            log.append(&columns, &disk, &draw)?;
        }
        log.write_partial_chunks(&columns, &disk)?;
    }
    publish(&disk, &schema, &facts, draws.draws)?;
    added::write(&disk, &export.added, documents(&schema, &facts, draws.draws), &facts)?;
    staging.commit()
}
