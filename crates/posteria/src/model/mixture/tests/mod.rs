//! Tests of mixtures.

mod bound;
mod degenerate;
mod predictions;

use super::{Mixture, MixturePosterior};
use crate::data::{Column, Dataset, Roles, Table};
use crate::model::spec::Spec;
use crate::random::{Purpose, Seed, Stream};

fn stream(index: u64) -> Stream {
    Seed(77).stream(Purpose::Data, [index, 0])
}

/// A dataset without targets.
fn dataset(columns: &[Vec<f64>]) -> Dataset {
    let named = columns.iter().enumerate();
    let named = named.map(|(k, values)| (format!("x{k}"), Column::numbers(values.clone())));
    let table = Table::new("memory", named.collect()).unwrap();
    Dataset::new(&table, &Roles::default()).unwrap().0
}

fn model(rest: &str) -> Mixture {
    Mixture::new(&Spec::from_toml(&format!("[model]\nkind = 'mixture'\n{rest}")).unwrap()).unwrap()
}

fn posterior(columns: &[Vec<f64>], rest: &str) -> MixturePosterior {
    model(rest).condition(&dataset(columns), Seed(1)).unwrap()
}

/// Rows of `groups` normal groups with centres some deviations apart, as columns.
fn groups(rows: usize, dim: usize, groups: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let centres: Vec<f64> = (0..groups * dim).map(|_| 4.0 * stream.normal()).collect();
    let mut columns = vec![Vec::new(); dim];
    for _ in 0..rows {
        let group = stream.index(groups);
        for (column, values) in columns.iter_mut().enumerate() {
            values.push(centres[group * dim + column] + stream.normal());
        }
    }
    columns
}
