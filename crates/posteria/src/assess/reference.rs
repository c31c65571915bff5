//! Compare leave-one-out, WAIC and comparisons with ArviZ on stored matrices.
//!
//! `tests/reference/loo.py` made the numbers and says which library each came from.

use std::num::NonZero;

use serde_json::Value;

use super::*;
use crate::diagnose::reference::{number, numbers};

/// Relative, and absolute for values near 0: the same formula in another order of rounding.
const EXACT: f64 = 1e-8;

/// Of weights by ArviZ's optimiser, which stops early.
const OPTIMISED: f64 = 1e-4;

fn close(here: f64, there: f64, tolerance: f64) -> bool {
    here.to_bits() == there.to_bits() || (here - there).abs() <= tolerance * there.abs().max(1.0)
}

fn check(name: &str, here: f64, there: f64) {
    assert!(close(here, there, EXACT), "{name} is {here}, ArviZ has {there}");
}

fn check_all(name: &str, here: &[f64], there: &Value) {
    let there = numbers(there);
    assert_eq!(here.len(), there.len(), "{name}");
    here.iter().zip(there).for_each(|(here, there)| check(name, *here, there));
}

fn stored() -> Value {
    serde_json::from_str(include_str!("../../tests/reference/loo.json")).expect("valid JSON")
}

fn cases() -> Vec<Value> {
    stored()["cases"].as_array().expect("a list").clone()
}

/// The matrix of a case: its values, chains, draws and rows.
fn matrix(case: &Value) -> (Vec<f64>, [usize; 3]) {
    let shape: Vec<usize> = numbers(&case["shape"]).into_iter().map(|x| x as usize).collect();
    (numbers(&case["values"]), [shape[0], shape[1], shape[2]])
}

fn check_loo(name: &str, found: &LeaveOneOut, there: &Value) {
    check(name, found.elpd, number(&there["elpd"]));
    check(name, found.p_loo, number(&there["p"]));
    check(name, found.shapes.limit, number(&there["good_k"]));
    match found.pointwise.len() {
        // ArviZ says 0 of one row, of which nothing is known.
        1 => assert!(found.se.is_nan()),
        _ => check(name, found.se, number(&there["se"])),
    }
    let elpds: Vec<f64> = found.pointwise.iter().map(|row| row.elpd).collect();
    check_all(name, &elpds, &there["pointwise"]);
    let shape = |row: &PointwiseLoo| match row.pareto_shape == f64::NEG_INFINITY {
        // ArviZ doubts rows without any tail.
        true => f64::INFINITY,
        false => row.pareto_shape,
    };
    let shapes: Vec<f64> = found.pointwise.iter().map(shape).collect();
    check_all(&format!("{name}: k"), &shapes, &there["pareto_k"]);
    let bad = numbers(&there["pareto_k"]).iter().filter(|k| **k > found.shapes.limit).count();
    let constant = found.pointwise.iter().filter(|row| row.pareto_shape == f64::NEG_INFINITY);
    assert_eq!(found.shapes.bad + constant.count(), bad, "{name}");
    assert_eq!(found.cautions.is_empty(), found.shapes.bad == 0, "{name}");
}

#[test]
fn leave_one_out_is_that_of_arviz() {
    let cases = cases();
    assert_eq!(cases.len(), 13);
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        let (values, [chains, draws, rows]) = matrix(case);
        let all = LogLikelihoods::new(&values, chains, draws, rows).expect("usable");
        for (key, relative_efficiency) in [
            ("loo", RelativeEfficiency::Pooled),
            ("loo_independent", RelativeEfficiency::Given(1.0)),
        ] {
            let options = LeaveOneOutOptions { relative_efficiency, ..Default::default() };
            let found = leave_one_out(&all, &options, NonZero::<usize>::MIN).expect("usable");
            check_loo(&format!("{name}, {key}"), &found, &case[key]);
        }
    }
    let differs = |case: &Value| case["loo"]["elpd"] != case["loo_independent"]["elpd"];
    assert!(cases.iter().any(differs), "the relative efficiency matters somewhere");
}

#[test]
fn waic_is_that_of_arviz() {
    for case in cases() {
        let name = case["name"].as_str().expect("a name");
        let (values, [chains, draws, rows]) = matrix(&case);
        let found = waic(&LogLikelihoods::new(&values, chains, draws, rows).expect("usable"));
        let there = &case["waic"];
        check(name, found.elpd, number(&there["elpd"]));
        check(name, found.p_waic, number(&there["p"]));
        if rows > 1 {
            check(name, found.se, number(&there["se"]));
        }
        let elpds: Vec<f64> = found.pointwise.iter().map(|row| row.elpd).collect();
        check_all(name, &elpds, &there["pointwise"]);
    }
}

#[test]
fn comparisons_are_those_of_arviz() {
    let stored = stored();
    let all = stored["models"].as_array().expect("a list");
    assert_eq!(all.len(), 2);
    for case in all {
        let name = case["name"].as_str().expect("a name");
        let lists = case["pointwise"].as_array().expect("a list");
        let pointwise: Vec<Vec<f64>> = lists.iter().map(numbers).collect();
        let views: Vec<&[f64]> = pointwise.iter().map(Vec::as_slice).collect();
        for (key, weighting, tolerance) in [
            ("stacking", Weighting::Stacking, OPTIMISED),
            ("pseudo_bma", Weighting::PseudoBma, EXACT),
        ] {
            let there = &case[key];
            let found = compare_elpds(&views, weighting).expect("comparable").models;
            let of = |value: fn(&ComparedModel) -> f64| -> Vec<f64> {
                found.iter().map(value).collect()
            };
            check_all(name, &of(|model| model.model as f64), &there["model"]);
            check_all(name, &of(|model| model.elpd), &there["elpd"]);
            check_all(name, &of(|model| model.se), &there["se"]);
            check_all(name, &of(|model| model.elpd_difference), &there["elpd_diff"]);
            check_all(name, &of(|model| model.difference_se), &there["dse"]);
            for (here, there) in of(|model| model.weight).iter().zip(numbers(&there["weight"])) {
                assert!(close(*here, there, tolerance), "{name}, {key}: {here}, ArviZ has {there}");
            }
        }
        let weights = stacking_weights(&views).expect("weights");
        for (here, there) in weights.iter().zip(numbers(&case["optimum"])) {
            assert!(close(*here, there, 1e-6), "{name}: {here}, the optimum has {there}");
        }
    }
}
