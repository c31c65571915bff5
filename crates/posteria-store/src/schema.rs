//! Lay out the arrays of a store: groups, names, types, shapes, chunks.

use std::collections::HashMap;

use posteria::draws::Statistics;

use crate::error::StoreError;
use crate::facts::{Coordinate, Facts, StaticGroup};
use crate::names::Names;
use crate::statics::{label_width, row_numbers};

// Tests of this crate use small chunks, so that short runs fill many.
/// Most bytes of a chunk of draws, if a single draw is not larger.
pub(crate) const CHUNK_BYTES: usize = if cfg!(test) { 256 } else { 1 << 20 };
/// Most draws of a chunk.
const CHUNK_DRAWS: usize = if cfg!(test) { 16 } else { 1024 };
/// Most bytes of a chunk of static data.
const STATIC_BYTES: usize = if cfg!(test) { 64 } else { 8 << 20 };
/// Draws of a chunk of the coordinate `draw`.
pub(crate) const COORDINATE_DRAWS: usize = if cfg!(test) { 32 } else { 4096 };

/// Statistics that count, in the order of [`Statistics::NAMES`]; the others are real.
const COUNTS: [&str; 3] = ["n_steps", "tree_depth", "infeasible"];
const FLAG: &str = "diverging";

/// Type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Real,
    Whole,
    Flag,
    /// Text of this many characters.
    Text(usize),
}

impl Element {
    pub(crate) fn size(self) -> usize {
        match self {
            Element::Real | Element::Whole => 8,
            Element::Flag => 1,
            Element::Text(width) => width.saturating_mul(4),
        }
    }
}

/// What an array holds; decides whether and how it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Numbers of the chains.
    Chain,
    /// Numbers of the draws; grows.
    Draw,
    /// Labels of one dimension of one variable.
    Dimension { variable: usize, dimension: usize },
    /// Draws of a variable; grows.
    Variable(usize),
    /// A statistic of every draw; grows.
    Statistic(usize),
    /// Labels of the rows.
    Rows,
    /// Log likelihood of every row; grows.
    LogLikelihood,
    /// A coordinate of the observed (0) or constant (1) data.
    StaticCoordinate { group: usize, index: usize },
    /// An array of the observed (0) or constant (1) data.
    Static { group: usize, index: usize },
}

/// One Zarr array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) group: &'static str,
    /// Name of its folder.
    pub(crate) name: String,
    /// What it is called, where the folder had to be called otherwise.
    pub(crate) called: Option<String>,
    /// Whether its values mean the same in every chain.
    pub(crate) identified: bool,
    pub(crate) origin: Origin,
    pub(crate) element: Element,
    pub(crate) dimensions: Vec<String>,
    /// Shape; the axis `draw` has length 0 here.
    shape: Vec<usize>,
    pub(crate) chunks: Vec<usize>,
}

impl Array {
    /// Whether every draw adds to the array (the coordinate `draw` is not meant).
    pub(crate) fn is_column(&self) -> bool {
        matches!(self.origin, Origin::Variable(_) | Origin::Statistic(_) | Origin::LogLikelihood)
    }

    pub(crate) fn is_static(&self) -> bool {
        !self.is_column() && self.origin != Origin::Draw
    }

    /// Whether it is part of the data that a run was fitted to.
    pub(crate) fn is_data(&self) -> bool {
        matches!(self.origin, Origin::Static { .. } | Origin::StaticCoordinate { .. })
    }

    pub(crate) fn shape(&self, draws: usize) -> Vec<usize> {
        let mut shape = self.shape.clone();
        match self.origin {
            Origin::Draw => shape[0] = draws,
            _ if self.is_column() => shape[1] = draws,
            _ => {}
        }
        shape
    }

    /// Folder of the array inside the store.
    pub(crate) fn folder(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// File of a chunk of draws.
    pub(crate) fn draws_file(&self, chain: usize, chunk: usize) -> String {
        let inner = ".0".repeat(self.shape.len() - 2);
        format!("{}/{}/{chain}.{chunk}{inner}", self.group, self.name)
    }

    /// Files of static data, in order; chunks divide the first axis only.
    pub(crate) fn static_files(&self) -> usize {
        if self.shape.contains(&0) {
            return 0;
        }
        self.shape.first().map_or(1, |length| length.div_ceil(self.chunks[0]))
    }

    pub(crate) fn static_file(&self, chunk: usize) -> String {
        let inner = ".0".repeat(self.shape.len().saturating_sub(1));
        format!("{}/{}/{chunk}{inner}", self.group, self.name)
    }

    /// Bytes of a chunk file.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.element.size() * self.chunks.iter().product::<usize>()
    }
}

/// The arrays of a store.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Groups, in order.
    pub(crate) groups: Vec<&'static str>,
    /// Arrays, group by group; their order is the order of every list in a checkpoint.
    pub(crate) arrays: Vec<Array>,
}

impl Schema {
    /// # Errors
    /// [`StoreError::Limit`] if an array is larger than memory can be addressed.
    pub(crate) fn new(facts: &Facts) -> Result<Self, StoreError> {
        let mut schema = Schema { groups: Vec::new(), arrays: Vec::new() };
        schema.posterior(facts)?;
        if facts.statistics {
            schema.statistics(facts)?;
        }
        if let Some((name, rows)) = &facts.pointwise {
            schema.log_likelihood(facts.extent.chains, name, rows)?;
        }
        for (group, (name, content)) in
            [("observed_data", &facts.observed), ("constant_data", &facts.constant)]
                .into_iter()
                .enumerate()
        {
            if !content.arrays.is_empty() {
                schema.statics(group, name, content)?;
            }
        }
        Ok(schema)
    }

    /// Arrays that every draw adds to.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().filter(|array| array.is_column())
    }

    /// Every file of static data, with its array.
    pub(crate) fn static_files(&self) -> impl Iterator<Item = (&Array, usize)> {
        let statics = self.arrays.iter().filter(|array| array.is_static());
        statics.flat_map(|array| (0..array.static_files()).map(move |chunk| (array, chunk)))
    }

    fn posterior(&mut self, facts: &Facts) -> Result<(), StoreError> {
        let mut group = Group::begin(self, "posterior", facts.extent.chains)?;
        let variables = facts.layout.variables();
        // Variables share a coordinate if its name and all its labels are the same.
        let mut seen: HashMap<(&str, &[String]), String> = HashMap::new();
        let mut dimensions_of = Vec::with_capacity(variables.len());
        for (index, variable) in variables.iter().enumerate() {
            let mut dimensions = Vec::with_capacity(variable.dimensions.len());
            for (position, dimension) in variable.dimensions.iter().enumerate() {
                let key = (dimension.name.as_str(), dimension.labels.as_slice());
                if let Some(name) = seen.get(&key) {
                    dimensions.push(name.clone());
                    continue;
                }
                let numbers = row_numbers(dimension).is_some();
                let coordinate = Coordinate {
                    name: dimension.name.clone(),
                    length: dimension.labels.len(),
                    width: (!numbers).then(|| label_width(&dimension.labels)),
                };
                let origin = Origin::Dimension { variable: index, dimension: position };
                let name = group.coordinate(origin, &coordinate)?;
                seen.insert(key, name.clone());
                dimensions.push(name);
            }
            dimensions_of.push(dimensions);
        }
        for (index, (variable, dimensions)) in variables.iter().zip(dimensions_of).enumerate() {
            let inner = (dimensions, variable.shape());
            group.column(&variable.name, Origin::Variable(index), Element::Real, inner)?;
            let array = group.schema.arrays.last_mut().expect("just pushed");
            array.identified = variable.identified;
        }
        Ok(())
    }

    fn statistics(&mut self, facts: &Facts) -> Result<(), StoreError> {
        let mut group = Group::begin(self, "sample_stats", facts.extent.chains)?;
        for (index, name) in Statistics::NAMES.into_iter().enumerate() {
            let element = match name {
                _ if COUNTS.contains(&name) => Element::Whole,
                FLAG => Element::Flag,
                _ => Element::Real,
            };
            group.column(name, Origin::Statistic(index), element, Default::default())?;
        }
        Ok(())
    }

    fn log_likelihood(
        &mut self,
        chains: usize,
        name: &str,
        rows: &Coordinate,
    ) -> Result<(), StoreError> {
        let mut group = Group::begin(self, "log_likelihood", chains)?;
        let inner = (vec![group.coordinate(Origin::Rows, rows)?], vec![rows.length]);
        group.column(name, Origin::LogLikelihood, Element::Real, inner)
    }

    fn statics(
        &mut self,
        index: usize,
        name: &'static str,
        content: &StaticGroup,
    ) -> Result<(), StoreError> {
        self.groups.push(name);
        let mut group = Group { schema: self, name, names: Names::default(), chains: 0 };
        let mut dimensions = Vec::with_capacity(content.coordinates.len());
        for (position, coordinate) in content.coordinates.iter().enumerate() {
            let origin = Origin::StaticCoordinate { group: index, index: position };
            dimensions.push(group.coordinate(origin, coordinate)?);
        }
        for (position, array) in content.arrays.iter().enumerate() {
            let shape: Vec<usize> =
                array.axes.iter().map(|axis| content.coordinates[*axis].length).collect();
            let names = array.axes.iter().map(|axis| dimensions[*axis].clone()).collect();
            let mut chunks: Vec<usize> = shape.iter().map(|length| (*length).max(1)).collect();
            if let Some((first, inner)) = chunks.split_first_mut() {
                let row = inner.iter().try_fold(8usize, |product, n| product.checked_mul(*n));
                let most = STATIC_BYTES / row.unwrap_or(usize::MAX).max(1);
                *first = (*first).min(most.max(1));
            }
            let origin = Origin::Static { group: index, index: position };
            group.push(&array.name, origin, Element::Real, (names, shape), chunks)?;
        }
        Ok(())
    }
}

/// A group that arrays are added to.
struct Group<'s> {
    schema: &'s mut Schema,
    name: &'static str,
    names: Names,
    chains: usize,
}

impl<'s> Group<'s> {
    /// A group of draws with its coordinates `chain` and `draw`.
    fn begin(
        schema: &'s mut Schema,
        name: &'static str,
        chains: usize,
    ) -> Result<Self, StoreError> {
        schema.groups.push(name);
        let mut group = Group { schema, name, names: Names::default(), chains };
        let one = |name: &str, length| (vec![name.to_string()], vec![length]);
        let whole = Element::Whole;
        group.push("chain", Origin::Chain, whole, one("chain", chains), vec![chains.max(1)])?;
        group.push("draw", Origin::Draw, whole, one("draw", 0), vec![COORDINATE_DRAWS])?;
        Ok(group)
    }

    fn coordinate(
        &mut self,
        origin: Origin,
        coordinate: &Coordinate,
    ) -> Result<String, StoreError> {
        let element = coordinate.width.map_or(Element::Whole, Element::Text);
        let chunks = vec![coordinate.length.max(1)];
        let shape = (Vec::new(), vec![coordinate.length]);
        self.push(&coordinate.name, origin, element, shape, chunks)?;
        let array = self.schema.arrays.last_mut().expect("just pushed");
        array.dimensions.push(array.name.clone());
        Ok(array.name.clone())
    }

    fn column(
        &mut self,
        name: &str,
        origin: Origin,
        element: Element,
        (inner_names, inner): (Vec<String>, Vec<usize>),
    ) -> Result<(), StoreError> {
        let components = inner.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
        let draw_bytes = components.unwrap_or(usize::MAX).saturating_mul(element.size());
        let most = (CHUNK_BYTES / draw_bytes.max(1)).clamp(1, CHUNK_DRAWS);
        let mut chunks = vec![1, 1 << most.ilog2()];
        chunks.extend(inner.iter().map(|length| (*length).max(1)));
        let mut dimensions = vec!["chain".to_string(), "draw".to_string()];
        dimensions.extend(inner_names);
        let mut shape = vec![self.chains, 0];
        shape.extend(inner);
        self.push(name, origin, element, (dimensions, shape), chunks)
    }

    fn push(
        &mut self,
        name: &str,
        origin: Origin,
        element: Element,
        (dimensions, shape): (Vec<String>, Vec<usize>),
        chunks: Vec<usize>,
    ) -> Result<(), StoreError> {
        let file = self.names.take(name);
        let called = (file != name).then(|| name.to_string());
        let most = isize::MAX as usize;
        let size = |lengths: &[usize]| {
            lengths.iter().try_fold(element.size(), |product, n| product.checked_mul(*n))
        };
        if [&shape, &chunks].iter().any(|lengths| size(lengths).is_none_or(|size| size > most)) {
            return Err(StoreError::Limit { what: "the size of an array", limit: most });
        }
        self.schema.arrays.push(Array {
            group: self.name,
            name: file,
            called,
            identified: true,
            origin,
            element,
            dimensions,
            shape,
            chunks,
        });
        Ok(())
    }
}
