//! Turn draws into the bytes of the arrays that grow, and back.

use std::ops::Range;

use posteria::draws::{Draws, Statistics};

use crate::codec::float;
use crate::error::StoreError;
use crate::facts::Facts;
use crate::schema::{Array, Element, Origin, Schema};

/// One draw of one chain, as a chain hands it over.
#[derive(Clone, Copy)]
pub(crate) struct Draw<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) statistics: [f64; Statistics::LEN],
    pub(crate) log_likelihood: &'a [f64],
}

/// The draws of all chains while they are read, statistics still as numbers.
pub(crate) struct Reading {
    pub(crate) draws: Draws,
    pub(crate) statistics: Vec<[f64; Statistics::LEN]>,
}

/// An array that every draw adds to.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) array: Array,
    /// Components of a draw that belong to it.
    range: Range<usize>,
    /// Bytes that a draw adds; 0 for a variable without components, which has no files.
    pub(crate) draw_bytes: usize,
    chunk_draws: usize,
}

impl Column {
    pub(crate) fn all(schema: &Schema, facts: &Facts) -> Vec<Column> {
        let column = |array: &Array| {
            let range = match array.origin {
                Origin::Variable(index) => facts.layout.variables()[index].range(),
                Origin::LogLikelihood => 0..facts.rows(),
                _ => 0..1,
            };
            let draw_bytes = range.len() * array.element.size();
            let chunk_draws = array.chunks[1];
            Column { array: array.clone(), range, draw_bytes, chunk_draws }
        };
        schema.columns().map(column).collect()
    }

    /// Bytes of a chunk file.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.draw_bytes * self.chunk_draws
    }

    /// Full chunks among `draws` draws.
    pub(crate) fn full_chunks(&self, draws: usize) -> usize {
        if self.draw_bytes == 0 { 0 } else { draws / self.chunk_draws }
    }

    /// Bytes of the draws after the last full chunk.
    pub(crate) fn tail_bytes(&self, draws: usize) -> usize {
        draws % self.chunk_draws * self.draw_bytes
    }

    /// Appends one draw to the bytes of a chunk.
    pub(crate) fn encode(
        &self,
        chain: usize,
        draw: &Draw<'_>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        match self.array.origin {
            Origin::Variable(_) => encode_floats(&draw.values[self.range.clone()], bytes),
            Origin::LogLikelihood => encode_floats(draw.log_likelihood, bytes),
            Origin::Statistic(index) => {
                let value = draw.statistics[index];
                match self.array.element {
                    Element::Real => bytes.extend_from_slice(&value.to_le_bytes()),
                    element => {
                        let whole = value as i64;
                        let known = element == Element::Whole || (0..=1).contains(&whole);
                        if !known || value.is_nan() || (whole as f64 - value).abs() > 0.0 {
                            let statistic = Statistics::NAMES[index];
                            return Err(StoreError::NotWhole { statistic, chain, value });
                        }
                        bytes.extend_from_slice(&whole.to_le_bytes()[..element.size()]);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Fills a chunk up to its full size with missing values.
    pub(crate) fn pad(&self, bytes: &mut Vec<u8>) {
        let size = self.chunk_bytes();
        match self.array.element {
            Element::Real => {
                while bytes.len() < size {
                    bytes.extend_from_slice(&f64::NAN.to_le_bytes());
                }
            }
            _ => bytes.resize(size, 0),
        }
    }

    /// Puts the draws of chunk number `chunk` of a chain where they belong; draws beyond those
    /// that all chains have are left out.
    pub(crate) fn decode(&self, chain: usize, chunk: usize, bytes: &[u8], into: &mut Reading) {
        if self.draw_bytes == 0 {
            return;
        }
        let draws = &mut into.draws;
        let first = chunk * self.chunk_draws;
        for (draw, bytes) in (first..draws.draws).zip(bytes.chunks_exact(self.draw_bytes)) {
            let index = chain * draws.draws + draw;
            match self.array.origin {
                Origin::Variable(_) => {
                    let start = index * draws.layout.len() + self.range.start;
                    decode_floats(bytes, &mut draws.values[start..start + self.range.len()]);
                }
                Origin::LogLikelihood => {
                    let start = index * draws.rows;
                    decode_floats(bytes, &mut draws.log_likelihood[start..start + draws.rows]);
                }
                Origin::Statistic(statistic) => {
                    into.statistics[index][statistic] = match self.array.element {
                        Element::Real => float(bytes),
                        Element::Whole => {
                            i64::from_le_bytes(bytes.try_into().expect("eight bytes")) as f64
                        }
                        _ => f64::from(bytes[0]),
                    };
                }
                _ => {}
            }
        }
    }
}

fn encode_floats(values: &[f64], bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.resize(start + values.len() * 8, 0);
    for (value, bytes) in values.iter().zip(bytes[start..].chunks_exact_mut(8)) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}

fn decode_floats(bytes: &[u8], values: &mut [f64]) {
    for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(8)) {
        *value = float(bytes);
    }
}
