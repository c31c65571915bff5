//! Data that leave something open: the posterior is proper all the same.

use super::*;
use crate::model::ModelError;

#[test]
fn degenerate_rows_give_a_proper_posterior() {
    let mut stream = stream(31);
    let mut normals = |count: usize| (0..count).map(|_| stream.normal()).collect::<Vec<f64>>();
    let line = normals(30);
    let twice: Vec<f64> = line.iter().map(|x| 1e6 + 2e-3 * x).collect();
    let cases: [(&str, Vec<Vec<f64>>); 7] = [
        ("one row", vec![vec![3.0], vec![-7.0]]),
        ("the same row", vec![vec![3.0; 20], vec![-7.0; 20]]),
        ("two values", vec![[vec![0.0; 9], vec![1.0; 9]].concat()]),
        ("a constant column", vec![line.clone(), vec![5.0; 30]]),
        ("collinear columns", vec![line.clone(), twice]),
        ("more columns than rows", (0..12).map(|_| normals(5)).collect()),
        ("an outlier", vec![[vec![1e9], normals(40)].concat(), normals(41)]),
    ];
    for (name, columns) in cases {
        let posterior = posterior(&columns, "components = 4");
        let found = posterior.findings();
        assert!(found.bound.is_finite() && found.effective_components >= 1, "{name}: {found:?}");
        let mut evaluator = posterior.evaluator();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut log_likelihood = vec![0.0; posterior.rows()];
        let mut parameters = vec![0.0; 4 * posterior.rows()];
        for _ in 0..50 {
            let state = posterior.start(&mut stream);
            let terms = evaluator.evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
            assert!(terms.at(1.0).is_finite() && draw.iter().all(|v| v.is_finite()), "{name}");
            posterior.predictor().unwrap().at_training_rows(&draw, &mut parameters);
            for (own, expected) in parameters.chunks(4).zip(&log_likelihood) {
                let density = crate::density::special::log_sum_exp(own);
                assert!((density - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{name}");
            }
        }
    }
}

#[test]
fn the_order_of_equal_rows_and_the_unit_do_not_matter() {
    let columns = groups(60, 2, 2, &mut stream(32));
    let found = posterior(&columns, "components = 3").findings();
    let scaled: Vec<Vec<f64>> =
        columns.iter().map(|c| c.iter().map(|x| 5.0 + 1e4 * x).collect()).collect();
    let again = posterior(&scaled, "components = 3").findings();
    let unit = 60.0 * 2.0 * 1e4f64.ln();
    assert!((found.bound - unit - again.bound).abs() < 1e-6, "{} {}", found.bound, again.bound);
    assert_eq!(found.effective_components, again.effective_components);
}

#[test]
fn what_has_no_rows_or_columns_or_has_targets_is_refused() {
    let model = model("");
    let empty = dataset(&[vec![1.0], vec![2.0]]).select(&[]);
    assert_eq!(model.condition(&empty, Seed(1)).err(), Some(ModelError::NoRows));
    let columns = vec![
        ("x".into(), Column::numbers(vec![1.0; 2])),
        ("y".into(), Column::numbers(vec![0.0; 2])),
    ];
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).unwrap();
    let error = model.condition(&data, Seed(1)).err().unwrap().to_string();
    assert!(error.contains("targets of a model without targets"), "{error}");
    let raw = Roles { standardize: false, ..Roles::default() };
    let small = Table::new("memory", vec![("x".into(), Column::numbers(vec![1.0, -1.0]))]);
    let (mut data, _) = Dataset::new(&small.unwrap(), &raw).unwrap();
    data.inputs.column_mut(0).iter_mut().for_each(|value| *value *= 1e200);
    let error = model.condition(&data, Seed(1)).err().unwrap().to_string();
    assert!(error.contains("left the range of numbers"), "{error}");
}
