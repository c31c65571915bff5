//! Write draws as one JSON object.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::WriteError;
use crate::draws::{Draws, Statistics, Variable};

/// Writes `{"chains", "draws", "variables": [{"name", "dimensions": [{"name", "labels"}]}],
/// "posterior": {name: […]}, "sample_stats": {name: […]}, "log_likelihood": […]}` with arrays
/// nested by chain, draw and the dimensions of the variable, as ArviZ orders them. The last two are
/// there only if the draws have them. JSON has no NaN and no infinity: both become null.
///
/// # Errors
/// [`WriteError::Io`].
pub fn write_json<W: Write>(draws: &Draws, writer: W) -> Result<(), WriteError> {
    Ok(serde_json::to_writer(writer, &Object(draws)).map_err(io::Error::from)?)
}

struct Object<'a>(&'a Draws);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let draws = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("chains", &draws.chains)?;
        map.serialize_entry("draws", &draws.draws)?;
        let variables: Vec<Named> = draws.layout.variables().iter().map(Named).collect();
        map.serialize_entry("variables", &variables)?;
        map.serialize_entry("posterior", &Posterior(draws))?;
        if !draws.statistics.is_empty() {
            map.serialize_entry("sample_stats", &SampleStatistics(draws))?;
        }
        if !draws.log_likelihood.is_empty() {
            let shape = [draws.rows];
            let row = |index: usize| {
                let start = index * draws.rows;
                let values = &draws.log_likelihood[start..start + draws.rows];
                Nested { values, shape: &shape }
            };
            map.serialize_entry("log_likelihood", &PerDraw { draws, of: row })?;
        }
        map.end()
    }
}

struct Named<'a>(&'a Variable);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("name", &self.0.name)?;
        map.serialize_entry("dimensions", &self.0.dimensions)?;
        map.end()
    }
}

struct Posterior<'a>(&'a Draws);

impl Serialize for Posterior<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let draws = self.0;
        let mut map = serializer.serialize_map(Some(draws.layout.variables().len()))?;
        for variable in draws.layout.variables() {
            let shape = variable.shape();
            let of = |index: usize| {
                let draw = draws.draw(index / draws.draws, index % draws.draws);
                Nested { values: &draw[variable.range()], shape: &shape }
            };
            map.serialize_entry(&variable.name, &PerDraw { draws, of })?;
        }
        map.end()
    }
}

struct SampleStatistics<'a>(&'a Draws);

impl Serialize for SampleStatistics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let draws = self.0;
        let mut map = serializer.serialize_map(Some(Statistics::LEN))?;
        for (statistic, name) in Statistics::NAMES.iter().enumerate() {
            let of = |index: usize| finite(draws.statistics[index].to_array()[statistic]);
            map.serialize_entry(name, &PerDraw { draws, of })?;
        }
        map.end()
    }
}

/// An array by chain and draw of what `of` gives for `chain * draws + draw`.
struct PerDraw<'a, F> {
    draws: &'a Draws,
    of: F,
}

impl<T: Serialize, F: Fn(usize) -> T> Serialize for PerDraw<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let draws = self.draws.draws;
        let mut chains = serializer.serialize_seq(Some(self.draws.chains))?;
        for chain in 0..self.draws.chains {
            let of = &self.of;
            chains.serialize_element(&Sequence(chain * draws..(chain + 1) * draws, of))?;
        }
        chains.end()
    }
}

struct Sequence<'a, F>(std::ops::Range<usize>, &'a F);

impl<T: Serialize, F: Fn(usize) -> T> Serialize for Sequence<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone().map(self.1))
    }
}

/// A row-major array.
struct Nested<'a> {
    values: &'a [f64],
    shape: &'a [usize],
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some((&size, shape)) = self.shape.split_first() else {
            return finite(self.values[0]).serialize(serializer);
        };
        let stride = self.values.len().checked_div(size).unwrap_or(0);
        serializer.collect_seq((0..size).map(|i| {
            let start = i * stride;
            Nested { values: &self.values[start..start + stride], shape }
        }))
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::subset::tests::counting;
    use serde_json::json;

    #[test]
    fn arrays_are_nested_by_chain_draw_and_dimension() {
        let mut draws = counting(2);
        draws.values[0] = f64::INFINITY;
        let mut out = Vec::new();
        write_json(&draws, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["posterior"]["a"], json!([[null, 2.0], [1001.0, 1002.0]]));
        assert_eq!(json["posterior"]["b"][1], json!([[100_100.0, -1001.0], [100_200.0, -1002.0]]));
        assert_eq!(json["sample_stats"]["lp"], json!([[1.0, 2.0], [1001.0, 1002.0]]));
        assert_eq!(json["log_likelihood"][0], json!([[-1.0], [-2.0]]));
        assert_eq!(
            json["variables"][1],
            json!({"name": "b", "dimensions": [{"name": "i", "labels": ["x", "y"]}]})
        );
    }
}
