//! What a Gaussian process must be, shown on small data.

mod leave_one_out;
mod prediction;
mod regression;

use super::{GaussianProcess, GpPosterior};
use crate::data::{Column, Dataset, Roles, Table};
use crate::model::spec::Spec;

/// Inputs `a` and `b`, and targets that are functions of them.
pub(super) fn data(rows: usize, targets: &[&dyn Fn(f64, f64) -> f64]) -> Dataset {
    let a: Vec<f64> = (0..rows).map(|row| (0.7 * row as f64).sin() * 2.0 + 1.0).collect();
    let b: Vec<f64> = (0..rows).map(|row| (1.3 * row as f64).cos() * 30.0).collect();
    let mut columns = vec![("a".into(), Column::numbers(a.clone()))];
    columns.push(("b".into(), Column::numbers(b.clone())));
    let mut names = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let values = a.iter().zip(&b).map(|(a, b)| target(*a, *b)).collect();
        names.push(format!("y{index}"));
        columns.push((names[index].clone(), Column::numbers(values)));
    }
    let table = Table::new("memory", columns).unwrap();
    Dataset::new(&table, &Roles { targets: names, ..Roles::default() }).unwrap().0
}

pub(super) fn posterior(text: &str, data: &Dataset) -> GpPosterior {
    let spec = Spec::from_toml(&format!("[model]\nkind = 'gp'\n{text}")).unwrap();
    GaussianProcess::new(&spec).unwrap().condition(data, None).unwrap()
}
