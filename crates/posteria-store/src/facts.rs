//! Hold what a checkpoint must know of a run to lay out its files again.

use posteria::draws::{Dimension, Layout};
use posteria::sample::Plan;

use crate::codec::{Decoder, Encode};
use crate::error::StoreError;
use crate::names::LONGEST_NAME;

/// Most arrays or coordinates of a group: names are compared pairwise.
const MOST_ARRAYS: usize = 10_000;
/// Most dimensions of an array.
const MOST_DIMENSIONS: usize = 16;

/// How far the chains of a run go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of chains.
    pub chains: usize,
    /// Sweeps of warm-up per chain.
    pub warmup: usize,
    /// Draws to keep per chain.
    pub draws: usize,
    /// Sweeps per kept draw.
    pub thin: usize,
}

impl From<&Plan> for Extent {
    fn from(plan: &Plan) -> Self {
        let warmup = plan.warmup_iterations();
        Extent { chains: plan.chains, warmup, draws: plan.draws, thin: plan.thin }
    }
}

impl Extent {
    /// Sweeps per chain, or `None` beyond what can be counted.
    pub(crate) fn iterations(&self) -> Option<usize> {
        self.draws.checked_mul(self.thin)?.checked_add(self.warmup)
    }

    /// Draws kept after `iteration` sweeps.
    pub(crate) fn draws_after(&self, iteration: usize) -> usize {
        iteration.saturating_sub(self.warmup) / self.thin.max(1)
    }
}

/// Name, length and kind of one coordinate; `width` in characters, `None` for numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coordinate {
    pub(crate) name: String,
    pub(crate) length: usize,
    pub(crate) width: Option<usize>,
}

/// One array of a static group: its name and the coordinates of its axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StaticFact {
    pub(crate) name: String,
    pub(crate) axes: Vec<usize>,
}

/// A group of arrays that do not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StaticGroup {
    pub(crate) coordinates: Vec<Coordinate>,
    pub(crate) arrays: Vec<StaticFact>,
}

/// Everything that decides which files a run folder has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The posteria that began the run.
    pub(crate) version: String,
    /// SHA-256 of `spec.toml`.
    pub(crate) spec_digest: [u8; 32],
    pub(crate) extent: Extent,
    pub(crate) layout: Layout,
    /// Whether draws come with statistics: always in a run folder, so a checkpoint is silent.
    pub(crate) statistics: bool,
    pub(crate) pointwise: Option<(String, Coordinate)>,
    pub(crate) observed: StaticGroup,
    pub(crate) constant: StaticGroup,
    /// Attributes of the Zarr root.
    pub(crate) attributes: Vec<(String, String)>,
}

impl Facts {
    pub(crate) fn rows(&self) -> usize {
        self.pointwise.as_ref().map_or(0, |(_, rows)| rows.length)
    }

    /// # Errors
    /// [`StoreError::Limit`] if a reader would refuse the facts.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let limit = |what, found, limit| {
            if found > limit { Err(StoreError::Limit { what, limit }) } else { Ok(()) }
        };
        limit("the number of variables", self.layout.variables().len(), MOST_ARRAYS)?;
        let mut names: Vec<&str> = Vec::new();
        for variable in self.layout.variables() {
            limit("the number of dimensions", variable.dimensions.len(), MOST_DIMENSIONS)?;
            names.push(&variable.name);
            names.extend(variable.dimensions.iter().map(|dimension| dimension.name.as_str()));
        }
        for group in [&self.observed, &self.constant] {
            limit("the number of data arrays", group.arrays.len(), MOST_ARRAYS)?;
            limit("the number of data coordinates", group.coordinates.len(), MOST_ARRAYS)?;
            for array in &group.arrays {
                limit("the number of dimensions", array.axes.len(), MOST_DIMENSIONS)?;
                names.push(&array.name);
            }
            names.extend(group.coordinates.iter().map(|coordinate| coordinate.name.as_str()));
        }
        if let Some((name, rows)) = &self.pointwise {
            names.extend([name.as_str(), rows.name.as_str()]);
        }
        let longest = names.iter().map(|name| name.len()).max().unwrap_or(0);
        limit("the length of a name in bytes", longest, LONGEST_NAME)?;
        let iterations = if self.extent.thin == 0 { None } else { self.extent.iterations() };
        limit("the number of sweeps", iterations.unwrap_or(usize::MAX), usize::MAX / 2)
    }

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.put_text(&self.version);
        bytes.extend_from_slice(&self.spec_digest);
        for number in [self.extent.chains, self.extent.warmup, self.extent.draws, self.extent.thin]
        {
            bytes.put_count(number);
        }
        bytes.put_count(self.layout.variables().len());
        for variable in self.layout.variables() {
            bytes.put_text(&variable.name);
            bytes.put_u8(variable.identified.into());
            bytes.put_count(variable.dimensions.len());
            for dimension in &variable.dimensions {
                bytes.put_text(&dimension.name);
                bytes.put_count(dimension.labels.len());
                dimension.labels.iter().for_each(|label| bytes.put_text(label));
            }
        }
        bytes.put_u8(self.pointwise.is_some().into());
        if let Some((name, rows)) = &self.pointwise {
            bytes.put_text(name);
            rows.encode(bytes);
        }
        self.observed.encode(bytes);
        self.constant.encode(bytes);
        bytes.put_count(self.attributes.len());
        for (key, value) in &self.attributes {
            bytes.put_text(key);
            bytes.put_text(value);
        }
    }

    /// Reads the facts of a checkpoint of this format.
    pub(crate) fn decode(from: &mut Decoder<'_>, format: u32) -> Result<Self, StoreError> {
        let version = from.text("the version")?;
        let spec_digest = from.bytes(32, "the digest of spec.toml")?.try_into().expect("32 bytes");
        let extent = Extent {
            chains: from.number("the number of chains")?,
            warmup: from.number("the warm-up")?,
            draws: from.number("the number of draws")?,
            thin: from.number("the thinning")?,
        };
        let layout = decode_layout(from, format)?;
        let pointwise = if from.flag("the flag of log likelihoods")? {
            Some((from.text("the name of the log likelihood")?, Coordinate::decode(from)?))
        } else {
            None
        };
        let observed = StaticGroup::decode(from)?;
        let constant = StaticGroup::decode(from)?;
        let count = from.count(16, "the number of attributes")?;
        let attributes = (0..count)
            .map(|_| Ok((from.text("an attribute's name")?, from.text("an attribute")?)))
            .collect::<Result<_, StoreError>>()?;
        let facts = Facts {
            version,
            spec_digest,
            extent,
            layout,
            statistics: true,
            pointwise,
            observed,
            constant,
            attributes,
        };
        facts.check().map_err(|error| from.damaged(error.to_string()))?;
        Ok(facts)
    }
}

/// Rebuilds the layout piece by piece: offsets and lengths are computed, never believed.
fn decode_layout(from: &mut Decoder<'_>, format: u32) -> Result<Layout, StoreError> {
    let count = from.count(16, "the number of variables")?;
    if count > MOST_ARRAYS {
        return Err(from.damaged(format!("{count} variables are beyond the limit")));
    }
    let mut layout = Layout::new();
    for _ in 0..count {
        let name = from.text("a variable's name")?;
        // Format 1 knew only models whose variables all mean themselves.
        let identified = format < 2 || from.flag("a variable's flag")?;
        let rank = from.count(16, "a number of dimensions")?;
        let mut dimensions = Vec::with_capacity(rank);
        let mut components = Some(1usize);
        for _ in 0..rank {
            let name = from.text("a dimension's name")?;
            let length = from.count(8, "a number of labels")?;
            // Sized at once: collecting would grow in doubles, beyond the promised memory.
            let mut labels = Vec::with_capacity(length);
            for _ in 0..length {
                labels.push(from.text("a label")?);
            }
            components = components.and_then(|product| product.checked_mul(length));
            dimensions.push(Dimension { name, labels });
        }
        let end = components.and_then(|components| components.checked_add(layout.len()));
        if end.is_none_or(|end| end > isize::MAX as usize / 8) {
            return Err(from.damaged(format!("variable {name:?} has too many components")));
        }
        if layout.variable(&name).is_some() {
            return Err(from.damaged(format!("variable {name:?} is there twice")));
        }
        layout.push(name.clone(), dimensions);
        if !identified {
            layout.set_unidentified(&name);
        }
    }
    Ok(layout)
}

impl Coordinate {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.put_text(&self.name);
        bytes.put_count(self.length);
        bytes.put_count(self.width.unwrap_or(0));
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, StoreError> {
        let name = from.text("a coordinate's name")?;
        let length = from.number("a coordinate's length")?;
        let width = from.number("a coordinate's width")?;
        Ok(Coordinate { name, length, width: (width > 0).then_some(width) })
    }
}

impl StaticGroup {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.put_count(self.coordinates.len());
        self.coordinates.iter().for_each(|coordinate| coordinate.encode(bytes));
        bytes.put_count(self.arrays.len());
        for array in &self.arrays {
            bytes.put_text(&array.name);
            bytes.put_count(array.axes.len());
            array.axes.iter().for_each(|axis| bytes.put_count(*axis));
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, StoreError> {
        let count = from.count(24, "the number of data coordinates")?;
        let coordinates =
            (0..count).map(|_| Coordinate::decode(from)).collect::<Result<Vec<_>, _>>()?;
        let count = from.count(16, "the number of data arrays")?;
        let mut arrays = Vec::with_capacity(count);
        for _ in 0..count {
            let name = from.text("a data array's name")?;
            let rank = from.count(8, "a number of axes")?;
            let axes = (0..rank).map(|_| from.number("an axis")).collect::<Result<Vec<_>, _>>()?;
            if axes.iter().any(|axis| *axis >= coordinates.len()) {
                return Err(from.damaged(format!("data array {name:?} has an unknown axis")));
            }
            arrays.push(StaticFact { name, axes });
        }
        Ok(StaticGroup { coordinates, arrays })
    }
}
