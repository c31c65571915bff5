//! Check predictions of Gaussian processes: plain formulas, residuals, threads, draws.

use std::fs;

use serde_json::Value;

use crate::posteria::Place;

const QUICK: &str = "--chains 2 --warmup 50 --draws 60 -q";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Solves A x = b by elimination; A is positive definite.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for pivot in 0..n {
        for row in 0..n {
            if row != pivot {
                let factor = a[row][pivot] / a[pivot][pivot];
                (0..n).for_each(|k| a[row][k] -= factor * a[pivot][k]);
                b[row] -= factor * b[pivot];
            }
        }
    }
    (0..n).map(|row| b[row] / a[row][row]).collect()
}

/// With known hyperparameters there is nothing to sample: every draw predicts by the formulas
/// kᵀC⁻¹y and c - kᵀC⁻¹k + σ².
#[test]
fn known_hyperparameters_give_the_plain_formulas() {
    let place = Place::new();
    let (x, y) = ([-1.0, -0.2, 0.4, 1.3, 2.0], [0.3, -0.5, 0.1, 1.2, 0.7]);
    let rows: String = x.iter().zip(y).map(|(x, y)| format!("{x},{y}\n")).collect();
    place.write("data.csv", format!("x,y\n{rows}"));
    place.write("new.csv", "x\n-3.0\n0.1\n5.0\n");
    let spec = "[data]\npath = 'data.csv'\ntarget = ['y']\nstandardize = false\n\
                [model]\nkind = 'gp'\njitter = 0.05\n\
                [hyperparameters]\nmagnitude = 0.8\nrelevance = 0.9\nresidual = 0.2\n";
    place.write("gp.toml", spec);
    assert_eq!(place.call(&format!("fit --spec gp.toml {QUICK} --out run")).code, 0);
    let json = place.call("predict run new.csv --json").json();
    let k = |a: f64, b: f64| 0.64 * (-(0.9 * (a - b)).powi(2)).exp();
    let covariance =
        |i: usize, j: usize| k(x[i], x[j]) + if i == j { 0.05_f64.powi(2) + 0.04 } else { 0.0 };
    let c: Vec<Vec<f64>> = (0..5).map(|i| (0..5).map(|j| covariance(i, j)).collect()).collect();
    for (row, at) in [-3.0, 0.1, 5.0].into_iter().enumerate() {
        let reach: Vec<f64> = x.iter().map(|x| k(*x, at)).collect();
        let solved = solve(c.clone(), reach.clone());
        let mean: f64 = solved.iter().zip(y).map(|(s, y)| s * y).sum();
        let known: f64 = solved.iter().zip(&reach).map(|(s, k)| s * k).sum();
        let sd = (0.64 + 0.05_f64.powi(2) + 0.04 - known).sqrt();
        let found = &json["rows"][row];
        assert!((number(&found["mean"]) - mean).abs() < 1e-9, "{found} {mean}");
        assert!((number(&found["sd"]) - sd).abs() < 1e-9, "{found} {sd}");
        let upper = mean + 1.644_853_626_951_472_7 * sd;
        assert!((number(&found["q95"]) - upper).abs() < 1e-8, "{found} {upper}");
    }
    // Far away a function has its prior deviation, and functions drawn show it: 120 draws of
    // deviation 0.8; a factor 1.4 off is five errors of a sample deviation.
    assert_eq!(place.call("predict run new.csv --draws-out f.csv -q").code, 0);
    let text = fs::read_to_string(place.path("f.csv")).expect("a table");
    let column: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(4).expect("f[3]").parse().expect("a number"))
        .collect();
    let mean = column.iter().sum::<f64>() / 120.0;
    let square = column.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 119.0;
    assert!((0.57..1.12).contains(&square.sqrt()), "{square}");
}

#[test]
fn every_residual_predicts_and_threads_do_not_matter() {
    let place = Place::with_data(24);
    for residual in ["normal", "student-t", "laplace", "per-case"] {
        let fit = format!(
            "fit data.csv --target y --inputs a b --model gp --residual {residual} {QUICK} \
             --out {residual}"
        );
        assert_eq!(place.call(&fit).code, 0, "{residual}");
        let call = |threads: usize| {
            let out = format!("--out p{threads}.csv --draws-out f{threads}.csv");
            place.call(&format!("predict {residual} data.csv --json {out} --threads {threads}"))
        };
        let json = call(1).json();
        call(2);
        for name in ["p", "f"] {
            let read = |n: usize| fs::read(place.path(&format!("{name}{n}.csv"))).expect("a file");
            assert!(read(1) == read(2), "{name} of {residual}");
        }
        assert_eq!(json["rows"].as_array().expect("rows").len(), 24);
        for row in json["rows"].as_array().expect("rows") {
            let of = |key: &str| number(&row[key]);
            assert!(of("q05") < of("q50") && of("q50") < of("q95"), "{row}");
            // A draw with two degrees of freedom has no deviation, and then neither has the row.
            let heavy = ["student-t", "per-case"].contains(&residual);
            assert!(row["sd"].as_f64().map_or(heavy, |sd| sd > 0.0), "{row}");
        }
        // The noise of this table has deviation 0.14, its line explains the rest.
        assert!(number(&json["rmse"]) < 0.3, "{residual}: {}", json["rmse"]);
        // Few draws say nearly the same, and are fewer.
        let few = place.call(&format!("predict {residual} data.csv --json --draws 30")).json();
        assert!((number(&few["rmse"]) - number(&json["rmse"])).abs() < 0.1);
        assert!(few["rows"] != json["rows"]);
        let all = place.call(&format!("predict {residual} data.csv --json --draws 9999")).json();
        assert_eq!(all["rows"], json["rows"]);
    }
}

#[test]
fn several_targets_and_separate_noise_predict() {
    let place = Place::new();
    let mut text = String::from("x,group,y,z\n");
    for row in 0..20 {
        let x = f64::from(row) / 10.0 - 1.0;
        let noise = (f64::from(row) * 0.618).fract() - 0.5;
        let y = (3.0 * x).sin() + 0.2 * noise * f64::from(1 + 3 * (row % 2));
        text.push_str(&format!("{x},{},{y},{}\n", row % 2, 100.0 * x * x + noise));
    }
    place.write("data.csv", &text);
    place.write("gp.toml", "[model]\nkind = 'gp'\n[residual]\nby = ['group']\n");
    let fit = format!("fit data.csv --target y z --spec gp.toml {QUICK} --out run");
    assert_eq!(place.call(&fit).code, 0);
    let json = place.call("predict run data.csv --json").json();
    assert!(number(&json["targets"]["z"]["rmse"]) < 5.0, "{json}");
    // A group that no row had.
    place.write("new.csv", "x,group\n0.5,1\n0.5,2\n");
    let json = place.call("predict run new.csv --json").json();
    for row in json["rows"].as_array().expect("rows") {
        let y = |key: &str| number(&row[key]["y"]);
        assert!(y("q05") < y("q95"), "{row}");
    }
}
