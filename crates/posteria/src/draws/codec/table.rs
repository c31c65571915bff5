//! Collect rows in the order of a file and hand them out by chain and draw.

use super::ReadError;
use super::columns::{Columns, Role};
use super::number::{self, BadCell};
use crate::draws::{Draws, Statistics};

/// Most chains that an error about their lengths lists.
const LISTED: usize = 8;

/// The rows of one file.
pub(super) struct Table {
    file: String,
    columns: Columns,
    rows: Vec<Row>,
    values: Vec<f64>,
    statistics: Vec<Statistics>,
}

/// Where a row belongs.
#[derive(Clone, Copy)]
struct Row {
    chain: i64,
    draw: i64,
    line: u64,
}

impl Table {
    pub(super) fn new(file: &str, columns: Columns) -> Self {
        Table {
            file: file.to_string(),
            columns,
            rows: Vec::new(),
            values: Vec::new(),
            statistics: Vec::new(),
        }
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.names.len()
    }

    /// Reads one row of cells, one for each column.
    pub(super) fn push<'c>(
        &mut self,
        line: u64,
        cells: impl Iterator<Item = &'c [u8]>,
    ) -> Result<(), ReadError> {
        let dim = self.columns.layout.len();
        let start = self.values.len();
        self.values.resize(start + dim, f64::NAN);
        let mut row = Row { chain: 0, draw: self.rows.len() as i64, line };
        let mut statistics = [f64::NAN; Statistics::LEN];
        for (column, (cell, role)) in cells.zip(&self.columns.roles).enumerate() {
            match role {
                Role::Ignored => {}
                Role::Chain => row.chain = self.index(line, column, cell)?,
                Role::Draw => row.draw = self.index(line, column, cell)?,
                Role::Component(place) => {
                    self.values[start + place] = self.number(line, column, cell)?;
                }
                Role::Statistic(place) => statistics[*place] = self.number(line, column, cell)?,
            }
        }
        self.rows.push(row);
        if self.columns.has_statistics {
            self.statistics.push(Statistics::from_array(statistics));
        }
        Ok(())
    }

    fn number(&self, line: u64, column: usize, cell: &[u8]) -> Result<f64, ReadError> {
        number::parse(cell).map_err(|bad| {
            let (file, name) = (self.file.clone(), self.columns.names[column].clone());
            let column = column + 1;
            match bad {
                BadCell::Missing => ReadError::Missing { file, line, column, name },
                BadCell::NotANumber(cell) => {
                    ReadError::NotANumber { file, line, column, name, cell }
                }
            }
        })
    }

    fn index(&self, line: u64, column: usize, cell: &[u8]) -> Result<i64, ReadError> {
        number::parse_index(cell).map_err(|cell| ReadError::NotAnIndex {
            file: self.file.clone(),
            line,
            column: column + 1,
            name: self.columns.names[column].clone(),
            cell,
        })
    }

    /// The draws, chains by their number and each in the order of its draws; the first `warmup`
    /// rows are left out.
    pub(super) fn into_draws(mut self, warmup: usize) -> Result<Draws, ReadError> {
        let warmup = warmup.min(self.rows.len());
        let mut order: Vec<usize> = (warmup..self.rows.len()).collect();
        if order.is_empty() {
            return Err(ReadError::NoDraws { file: self.file, warmup });
        }
        let rows = &self.rows;
        let place = |&index: &usize| (rows[index].chain, rows[index].draw, index);
        if !order.is_sorted_by_key(place) {
            order.sort_unstable_by_key(place);
        }
        if self.columns.has_draw {
            self.check_repeats(&order)?;
        }
        let draws = self.count_draws(&order)?;
        let dim = self.columns.layout.len();
        let is_plain = warmup == 0 && order.iter().enumerate().all(|(i, index)| i == *index);
        if !is_plain {
            let of = |index: &usize| &self.values[index * dim..(index + 1) * dim];
            self.values = order.iter().flat_map(of).copied().collect();
            if self.columns.has_statistics {
                self.statistics = order.iter().map(|index| self.statistics[*index]).collect();
            }
        }
        Ok(Draws {
            chains: order.len() / draws,
            draws,
            values: self.values,
            statistics: self.statistics,
            ..Draws::empty(self.columns.layout, 0, 0)
        })
    }

    fn check_repeats(&self, order: &[usize]) -> Result<(), ReadError> {
        for pair in order.windows(2) {
            let (before, row) = (self.rows[pair[0]], self.rows[pair[1]]);
            if (before.chain, before.draw) == (row.chain, row.draw) {
                return Err(ReadError::DrawnTwice {
                    file: self.file.clone(),
                    line: row.line,
                    before: before.line,
                    chain: row.chain,
                    draw: row.draw,
                });
            }
        }
        Ok(())
    }

    /// Draws per chain.
    fn count_draws(&self, order: &[usize]) -> Result<usize, ReadError> {
        let same = |a: &usize, b: &usize| self.rows[*a].chain == self.rows[*b].chain;
        let chains = || order.chunk_by(same);
        let draws = chains().next().map_or(0, <[usize]>::len);
        if chains().all(|chain| chain.len() == draws) {
            return Ok(draws);
        }
        let label = |chain: &[usize]| format!("chain {}", self.rows[chain[0]].chain);
        let counts = chains().take(LISTED).map(|chain| (label(chain), chain.len())).collect();
        Err(ReadError::UnequalChains { file: self.file.clone(), counts })
    }
}
