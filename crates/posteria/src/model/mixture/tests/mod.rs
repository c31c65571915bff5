//! Tests of mixtures.

mod bound;
mod degenerate;
mod predictions;

use super::{Mixture, MixturePosterior};
use crate::data::{Column, Dataset, Roles, Table};
use crate::draws::Draws;
use crate::model::Posterior;
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

/// Draws of the posterior, as one chain.
fn draws(posterior: &dyn Posterior, count: usize, stream: &mut Stream) -> Draws {
    let layout = posterior.layout().clone();
    let mut state = posterior.start(stream);
    let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
    let (mut draw, mut own) = (vec![0.0; layout.len()], vec![0.0; posterior.rows()]);
    let mut values = Vec::new();
    for _ in 0..count {
        sweep.pass(&mut state, stream);
        evaluator.evaluate(&state, &mut draw, &mut own).unwrap();
        values.extend_from_slice(&draw);
    }
    Draws { draws: count, values, ..Draws::empty(layout, 1, 0) }
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
