//! Check what a run's store tells of functions and predictions: exact figures, names, repeats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::posteria::{Place, assert_same_files, signal};

const X: [f64; 5] = [-1.0, -0.2, 0.4, 1.3, 2.0];
const Y: [f64; 5] = [0.3, -0.5, 0.1, 1.2, 0.7];
const JITTER: f64 = 0.05;
const NOISE: f64 = 0.2;

/// A process of known hyperparameters, so that draws of f are independent and normal.
fn known() -> Place {
    let place = Place::new();
    let rows: String = X.iter().zip(Y).map(|(x, y)| format!("{x},{y}\n")).collect();
    place.write("data.csv", format!("x,y\n{rows}"));
    let spec = format!(
        "[data]\npath = 'data.csv'\ntarget = ['y']\nstandardize = false\n\
         [model]\nkind = 'gp'\njitter = {JITTER}\n\
         [hyperparameters]\nmagnitude = 0.8\nrelevance = 0.9\nresidual = {NOISE}\n"
    );
    place.write("gp.toml", spec);
    place
}

fn covariance(i: usize, j: usize) -> f64 {
    let own = if i == j { JITTER * JITTER } else { 0.0 };
    0.64 * (-(0.9 * (X[i] - X[j])).powi(2)).exp() + own
}

/// Means and covariances of f at the rows given y, by elimination.
fn exact() -> ([f64; 5], [[f64; 5]; 5]) {
    // (C | K | y) with C = K + σ² becomes (I | C⁻¹K | C⁻¹y).
    let mut table = [[0.0; 11]; 5];
    for (i, row) in table.iter_mut().enumerate() {
        for j in 0..5 {
            row[j] = covariance(i, j) + if i == j { NOISE * NOISE } else { 0.0 };
            row[5 + j] = covariance(i, j);
        }
        row[10] = Y[i];
    }
    for pivot in 0..5 {
        let own = table[pivot].map(|value| value / table[pivot][pivot]);
        for (i, row) in table.iter_mut().enumerate() {
            let factor = if i == pivot { row[pivot] - 1.0 } else { row[pivot] };
            row.iter_mut().zip(own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    let mut means = [0.0; 5];
    let mut covariances = [[0.0; 5]; 5];
    for i in 0..5 {
        means[i] = (0..5).map(|k| covariance(i, k) * table[k][10]).sum();
        for j in 0..5 {
            let known: f64 = (0..5).map(|k| covariance(i, k) * table[k][5 + j]).sum();
            covariances[i][j] = covariance(i, j) - known;
        }
    }
    (means, covariances)
}

/// The numbers of an array of one chunk per chain, by chain, in the store of `run`.
fn numbers(place: &Place, run: &str, array: &str, chain: usize) -> Vec<f64> {
    let file = format!("{run}/{array}/{chain}.0.0");
    let bytes = std::fs::read(place.path(&file)).unwrap_or_else(|_| panic!("no {file}"));
    bytes.chunks_exact(8).map(|it| f64::from_le_bytes(it.try_into().expect("eight"))).collect()
}

/// Means and covariances of draws within five standard errors: of 40 figures, a false alarm in
/// 40 000.
fn assert_normal(draws: &[Vec<f64>], means: [f64; 5], covariances: [[f64; 5]; 5], what: &str) {
    let count = draws.len() as f64;
    for i in 0..5 {
        let mean = draws.iter().map(|draw| draw[i]).sum::<f64>() / count;
        let error = (covariances[i][i] / count).sqrt();
        assert!((mean - means[i]).abs() < 5.0 * error, "{what} {i}: {mean} {}", means[i]);
        for j in 0..=i {
            let product = |draw: &Vec<f64>| (draw[i] - means[i]) * (draw[j] - means[j]);
            let found = draws.iter().map(product).sum::<f64>() / count;
            let expected = covariances[i][j];
            let square = covariances[i][i] * covariances[j][j] + expected * expected;
            let error = (square / count).sqrt();
            assert!((found - expected).abs() < 5.0 * error, "{what} {i}, {j}: {found} {expected}");
        }
    }
}

#[test]
fn fitted_values_and_predictions_of_a_process_are_joint_draws() {
    let place = known();
    let fit = "fit --spec gp.toml --chains 2 --warmup 20 --draws 1000 -q --out run";
    assert_eq!(place.call(fit).code, 0);
    let (means, mut covariances) = exact();
    let of = |array: &str| -> Vec<Vec<f64>> {
        let chains = (0..2).flat_map(|chain| numbers(&place, "run/draws.zarr", array, chain));
        let all: Vec<f64> = chains.filter(|value| !value.is_nan()).collect();
        all.chunks_exact(5).map(<[f64]>::to_vec).collect()
    };
    let fitted = of("posterior/fitted");
    assert_eq!(fitted.len(), 2000);
    assert_normal(&fitted, means, covariances, "fitted");
    for mean in of("posterior/fitted_mean") {
        for (found, expected) in mean.iter().zip(means) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
    let predicted = of("posterior_predictive/y");
    assert_eq!(predicted.len(), 2000);
    (0..5).for_each(|i| covariances[i][i] += NOISE * NOISE);
    assert_normal(&predicted, means, covariances, "posterior_predictive");
    assert_eq!(place.call("verify run").code, 0);
    // From the prior: f ~ N(0, K).
    let export = "export run --format zarr --prior 1000 --out checks.zarr -q";
    assert_eq!(place.call(export).code, 0);
    let prior = numbers(&place, "checks.zarr", "prior_predictive/y", 0);
    let prior: Vec<Vec<f64>> = prior.chunks_exact(5).map(<[f64]>::to_vec).collect();
    for (i, row) in covariances.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            // No jitter in functions of the prior.
            let own = if i == j { NOISE * NOISE - JITTER * JITTER } else { 0.0 };
            *value = covariance(i, j) + own;
        }
    }
    assert_normal(&prior, [0.0; 5], covariances, "prior_predictive");
}

/// Files of the added group alone.
fn predictive(place: &Place, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = format!("{run}/draws.zarr/posterior_predictive");
    place.files(&folder)
}

#[test]
fn predictions_are_the_same_for_any_threads_and_after_a_kill() {
    let place = Place::with_data(30);
    for (model, inputs) in [("linear", "a b"), ("gp", "a b"), ("mlp --hidden 3", "a b")] {
        let fit = format!(
            "fit data.csv --target y --inputs {inputs} --model {model} --chains 2 --warmup 60 \
             --draws 150 -q"
        );
        assert_eq!(place.call(&format!("{fit} --threads 1 --out one")).code, 0);
        assert_eq!(place.call(&format!("{fit} --threads 2 --out two")).code, 0);
        assert_same_files(&predictive(&place, "one"), &predictive(&place, "two"));
        let mut child = place.start(&format!("{fit} --out killed"));
        place.wait_for("killed/checkpoint");
        signal(&child, "KILL");
        child.wait().expect("it ends");
        assert_eq!(place.call("resume killed -q").code, 0);
        assert_same_files(&predictive(&place, "one"), &predictive(&place, "killed"));
        // Draws that are there already keep their predictions when a run is extended.
        let before = numbers(&place, "one/draws.zarr", "posterior_predictive/y", 1);
        assert_eq!(place.call("resume one --draws 160 -q").code, 0);
        let after = numbers(&place, "one/draws.zarr", "posterior_predictive/y", 1);
        assert_eq!(before[..150 * 30], after[..150 * 30], "{model}");
        assert_eq!(place.call("verify one").code, 0);
        for run in ["one", "two", "killed"] {
            std::fs::remove_dir_all(place.path(run)).expect("removed");
        }
    }
}

#[test]
fn classes_are_whole_numbers_and_models_without_targets_have_no_predictions() {
    let place = Place::with_data(30);
    let quick = "--chains 2 --warmup 40 --draws 50 -q";
    let fit = format!("fit data.csv --target class --inputs a b {quick} --out run");
    assert_eq!(place.call(&fit).code, 0);
    let file = place.path("run/draws.zarr/posterior_predictive/class/0.0.0");
    let bytes = std::fs::read(file).expect("draws");
    let codes = bytes.chunks_exact(8).map(|it| i64::from_le_bytes(it.try_into().expect("eight")));
    let codes: Vec<i64> = codes.collect();
    assert!(codes.iter().all(|code| (0..2).contains(code)) && codes.contains(&1));
    let mixture = "fit data.csv --inputs a b --model mixture -q --out mixture";
    assert_eq!(place.call(mixture).code, 0);
    assert!(!place.path("mixture/draws.zarr/posterior_predictive").exists());
    let said = place.call("export run --format csv --prior 5 --out prior.csv");
    said.assert_refused("--prior", &["--format zarr"]);
    let said = place.call("export mixture --format zarr --prior 5 --out prior.zarr");
    said.assert_refused("--prior", &["mixture", "prior"]);
}

/// The effects of a process that is a straight line are those of a linear model, and as certain.
#[test]
fn effects_of_a_process_are_as_certain_as_those_of_a_linear_model() {
    let place = Place::with_data(40);
    let quick = "--chains 2 --warmup 200 --draws 300 -q";
    let fit = format!("fit data.csv --target y --inputs a b {quick}");
    assert_eq!(place.call(&format!("{fit} --out linear")).code, 0);
    let gp = format!("{fit} --model gp --covariance linear+constant --out gp");
    assert_eq!(place.call(&gp).code, 0);
    let effects = |run: &str| -> Vec<Value> {
        let json = place.call(&format!("predict {run} data.csv --effects --json")).json();
        json["effects"].as_array().expect("effects").clone()
    };
    for (linear, gp) in effects("linear").iter().zip(effects("gp")) {
        let figure = |of: &Value, key: &str| of["comparison"][key].as_f64().expect("a number");
        let [mean, sd] = ["mean", "sd"].map(|key| (figure(linear, key), figure(&gp, key)));
        assert!((mean.0 - mean.1).abs() < sd.0, "{linear} {gp}");
        // Standard deviations of 200 draws: 5 % each; priors of the noise differ a little.
        assert!((sd.1 / sd.0 - 1.0).abs() < 0.3, "{linear} {gp}");
    }
    let rough = format!("{fit} --model gp --covariance exponential --out rough");
    assert_eq!(place.call(&rough).code, 0);
    for effect in effects("rough") {
        assert!(effect["rms_derivative"].is_null(), "no derivative: {effect}");
        assert!(effect["comparison"]["sd"].as_f64().expect("a number") > 0.0);
    }
}

#[test]
fn counts_of_parameters_say_what_they_count() {
    let place = Place::with_data(30);
    let fit = "fit data.csv --target y --inputs a b --model gp --chains 2 --warmup 60 --draws 60 \
               -q --out gp";
    assert_eq!(place.call(fit).code, 0);
    let counts = |json: &Value, method: &str| {
        let all = json["effective_parameters"].as_array().expect("a list").clone();
        let own = all.into_iter().find(|it| it["method"] == method).expect("a count");
        (own["counts"].as_str().expect("words").to_string(), own["value"].as_f64().expect("it"))
    };
    let loo = counts(&place.call("assess gp --json -q").json(), "loo");
    let kfold = counts(&place.call("assess gp --method kfold --folds 3 --json -q").json(), "kfold");
    assert_eq!((&*loo.0, &*kfold.0), ("hyperparameters", "function and hyperparameters"));
    assert!(loo.1 < kfold.1, "{loo:?} {kfold:?}");
    place.call("assess gp -q").assert_says(&["effective hyperparameters", "integrated out"]);
}

/// A Python that knows ArviZ: that of `POSTERIA_PYTHON`, or `python3`; `None` if there is none.
pub fn python() -> Option<String> {
    let python = std::env::var("POSTERIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let knows =
        Command::new(&python).args(["-c", "import arviz, xarray, zarr, matplotlib"]).output();
    knows.is_ok_and(|done| done.status.success()).then_some(python)
}

/// Runs a Python program in a folder.
#[track_caller]
pub fn run_python(python: &str, folder: &Path, program: &str) {
    let mut command = Command::new(python);
    command.args(["-W", "ignore", "-c", program]).current_dir(folder).env("MPLBACKEND", "Agg");
    let done = command.output().expect("Python");
    assert!(done.status.success(), "{program}\n{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn arviz_reads_every_group() {
    let Some(python) = python() else { return };
    let place = Place::with_data(30);
    let quick = "--chains 2 --warmup 100 --draws 100 -q";
    for (run, flags) in [
        ("linear", "--target y"),
        ("mlp", "--target y --model mlp --hidden 3"),
        ("gp", "--target y --model gp"),
        ("class", "--target class --model gp"),
    ] {
        let fit = format!("fit data.csv --inputs a b {flags} {quick} --out {run}");
        assert_eq!(place.call(&fit).code, 0, "{run}");
        let export = format!("export {run} --format zarr --prior 50 --out {run}.zarr -q");
        assert_eq!(place.call(&export).code, 0, "{run}");
        let program = format!(
            "
import arviz as az, numpy as np, xarray as xr
y = 'class' if '{run}' == 'class' else 'y'
for path in ['{run}/draws.zarr', '{run}.zarr']:
    tree = xr.open_datatree(path, engine='zarr')
    idata = az.InferenceData.from_datatree(tree)
    new = idata.posterior_predictive[y]
    assert new.dims == ('chain', 'draw', 'obs_id') and new.shape == (2, 100, 30), new
    assert bool(np.isfinite(new).all())
    assert new.dtype.kind == ('i' if y == 'class' else 'f'), new.dtype
    for group in ['observed_data', 'log_likelihood', 'posterior_predictive']:
        rows = idata[group][y].obs_id.values
        assert rows.dtype.kind == 'i' and list(rows) == list(range(30)), rows
    if 'fitted' in idata.posterior:
        fitted = idata.posterior.fitted
        assert 'obs_id' in fitted.dims and fitted.obs_id.dtype.kind == 'i', fitted
    az.plot_ppc(idata)
    if y == 'y':
        hat = 'y_loo' if '{run}' == 'gp' else y
        az.plot_loo_pit(idata, y=y, y_hat=hat)
        # 30 levels: their standard deviation is .289, give or take .024 (four of these).
        pit = az.loo_pit(idata, y=y, y_hat=hat)
        assert abs(pit.std() - .289) < .1, pit.std()
    assert np.isfinite(az.loo(idata, var_name=y).elpd_loo)
assert idata.prior.sizes['draw'] == 50 and idata.prior_predictive[y].shape == (1, 50, 30)
az.plot_ppc(idata, group='prior')
"
        );
        run_python(&python, &place.path(""), &program);
    }
}
