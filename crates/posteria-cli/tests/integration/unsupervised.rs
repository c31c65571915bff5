//! Mixtures and principal components, from fit to prediction.

use posteria::data::recipes::{old_faithful, principal};
use posteria::data::{Column, Table};
use posteria::random::{Purpose, Seed};
use serde_json::Value;

use crate::posteria::{Place, assert_same_files};

/// A table as CSV.
fn csv(table: &Table) -> String {
    let columns: Vec<&[f64]> = table
        .columns()
        .iter()
        .map(|column| match column {
            Column::Numbers(values) => &values[..],
            Column::Text(_) => panic!("numbers"),
        })
        .collect();
    let line = |row: usize| {
        let cells: Vec<String> = columns.iter().map(|values| values[row].to_string()).collect();
        format!("{}\n", cells.join(","))
    };
    let rows: String = (0..table.rows()).map(line).collect();
    format!("{}\n{rows}", table.names().join(","))
}

fn faithful() -> Place {
    let place = Place::new();
    place.write("faithful.csv", csv(&old_faithful::rows()));
    place
}

fn number(json: &Value) -> f64 {
    json.as_f64().unwrap_or(f64::NAN)
}

#[test]
fn a_mixture_is_fitted_summarised_and_predicts() {
    let place = faithful();
    let call = place.call("fit faithful.csv --model mixture --draws 200 --out run");
    assert!(call.stdout.contains("2 of 6 components hold rows"), "{}", call.stdout);
    assert!(call.stdout.contains("800 independent draws"), "{}", call.stdout);
    assert!(call.stderr.contains("mixture of 2 columns, 272 rows"), "{}", call.stderr);
    let json = place
        .call("fit faithful.csv --model mixture --draws 200 --out again --json --quiet --threads 1")
        .json();
    assert_eq!((&json["model"], &json["inference"]), (&"mixture".into(), &"variational".into()));
    assert_eq!(json["approximation"]["effective_components"], 2);
    assert!(number(&json["max_r_hat"]) < 1.05 && number(&json["min_ess_bulk"]) > 400.0, "{json}");
    assert_eq!(json["warnings"], Value::Array(Vec::new()));
    assert_same_files(&place.files("run/draws.zarr"), &place.files("again/draws.zarr"));

    let summary = place.call("summary run --json").json();
    let of = |name: &str| {
        let rows = summary["variables"].as_array().expect("variables");
        let row = rows.iter().find(|row| row["name"] == name);
        number(&row.unwrap_or_else(|| panic!("{name} in {summary}"))["mean"])
    };
    assert!((of("mixing[1]") - 0.64).abs() < 0.03);
    assert!((of("means[1, eruptions]") - 4.29).abs() < 0.1);
    assert!((of("means[2, waiting]") - 54.5).abs() < 1.5);
    assert!(of("sds[1, waiting]") > 4.0 && of("correlations[1, eruptions:waiting]") > 0.1);

    place.write("new.csv", "eruptions,waiting\n2.0,54\n4.4,80\n9,20\n");
    let predicted = place.call("predict run new.csv --json").json();
    let rows = predicted["rows"].as_array().expect("rows");
    assert_eq!((&rows[0]["predicted"], &rows[1]["predicted"]), (&"2".into(), &"1".into()));
    assert!(number(&rows[1]["prob"]["1"]) > 0.99, "{predicted}");
    assert!(number(&rows[1]["log_density"]) > -5.0 && number(&rows[2]["log_density"]) < -20.0);
    assert!(number(&predicted["mean_log_density"]).is_finite());
    assert!(predicted["rmse"].is_null() && predicted["accuracy"].is_null(), "{predicted}");
    let text = place.call("predict run new.csv");
    assert!(text.stdout.contains("mean log density"), "{}", text.stdout);
    assert!(!text.stdout.contains("rmse"), "{}", text.stdout);
    place.call("predict run new.csv --out p.csv");
    let written = std::fs::read_to_string(place.path("p.csv")).expect("a file");
    assert!(written.starts_with("row,predicted,prob[1],prob[2],prob[3]"), "{written}");
    for flag in ["--effects", "--draws-out f.csv"] {
        let refusal = place.call(&format!("predict run new.csv {flag}"));
        assert!(refusal.refusal().contains("a mixture model has none"), "{}", refusal.stderr);
    }
    // More draws are those that a longer run would have had.
    place.call("resume run --draws 300 --quiet");
    place.call("fit faithful.csv --model mixture --draws 300 --out longer --quiet");
    assert_same_files(&place.files("run/draws.zarr"), &place.files("longer/draws.zarr"));
    let exported = place.call("export run --format csv --out draws.csv");
    assert_eq!(exported.code, 0, "{}", exported.stderr);
}

#[test]
fn principal_components_are_fitted_summarised_and_predict() {
    let place = Place::new();
    let stream = &mut Seed(5).stream(Purpose::Data, [0, 0]);
    place.write("rows.csv", csv(&principal::draw(200, &principal::THREE, stream)));
    let fit = "fit rows.csv --model pca --no-standardize --draws 100";
    let call = place.call(&format!("{fit} --out run"));
    assert!(call.stdout.contains("3 of 9 components are needed"), "{}", call.stdout);
    let json = place.call(&format!("{fit} --components 2 --out two --json --quiet")).json();
    assert_eq!(json["approximation"]["effective_dimension"], 2);
    assert_eq!(json["approximation"]["model"], "pca");
    let summary = place.call("summary run");
    assert!(summary.stdout.contains("residual_scale[x1]"), "{}", summary.stdout);
    let predicted = place.call("predict run rows.csv --json").json();
    let rows = predicted["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 200);
    assert!(rows[0].get("prob").is_none() && rows[0].get("mean").is_none(), "{}", rows[0]);
    let mean = number(&predicted["mean_log_density"]);
    // Entropy of the truth: ½ log |2πe C| = 14.19 - 7 log 2 = 9.34.
    assert!((-mean - 9.34).abs() < 0.4, "{mean}");
    let text = place.call("predict run rows.csv");
    assert!(text.stdout.contains("log_density"), "{}", text.stdout);
}

#[test]
fn dry_runs_say_what_is_fitted_and_bad_input_what_is_wrong() {
    let place = faithful();
    let words = place.call("fit faithful.csv --model mixture --dry-run --components 3").stdout;
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["3 normal components", "Dirichlet", "inverse Wishart", "1000 independent draws"] {
        assert!(words.contains(said), "{said} is missing in\n{words}");
    }
    let words = place.call("fit faithful.csv --model pca --dry-run --json").json();
    assert_eq!((&words["task"], &words["inference"]), (&"density".into(), &"variational".into()));
    for (rest, says) in [
        ("--model mixture --target waiting", "which has no targets"),
        ("--model mixture --hidden 3", "hidden in [model]"),
        ("--model mixture --warmup 100", "warmup in [sampling]"),
        ("--model mixture --inference mcmc", "known: variational"),
        ("--model mixture --inputs nothing", "nothing"),
        ("--model pca --components 2", "fewer than there are columns"),
        ("--model pca --inputs waiting", "expected 2, found 1"),
        ("--model mixture --test faithful.csv", "test in [data]"),
        ("--target waiting --components 3", "components in [model]"),
        ("--target waiting --inference variational", "known: mcmc, laplace, map"),
    ] {
        let call = place.call(&format!("fit faithful.csv {rest} --out run"));
        assert!(call.refusal().contains(says), "{rest}: {}", call.stderr);
    }
    place.write(
        "m.toml",
        "[model]\nkind = 'mixture'\ncomponents = 2\n[prior.mixing]\nshape = 1.0\n",
    );
    let json = place.call("fit faithful.csv --spec m.toml --draws 50 --out run --json -q").json();
    assert_eq!(json["approximation"]["mixing"].as_array().expect("weights").len(), 2);
    let again = "fit --spec run/spec.toml --out again --quiet";
    assert_eq!(place.call(again).code, 0);
    assert_same_files(&place.files("run/draws.zarr"), &place.files("again/draws.zarr"));
}

#[test]
fn poor_tables_are_fitted_all_the_same() {
    let place = Place::new();
    for table in ["a,b\n1,2\n", "a,b\n1,2\n1,2\n1,2\n", "a,b,c\n1,2,4\n3,2,8\n5,2,12\n7,2,16\n"] {
        place.write("t.csv", table);
        for model in ["mixture", "pca"] {
            let line = format!("fit t.csv --model {model} --draws 20 --out run --json --quiet");
            let json = place.call(&line).json();
            assert!(number(&json["approximation"]["bound"]).is_finite(), "{json}");
            let predicted = place.call("predict run t.csv --json").json();
            assert!(number(&predicted["mean_log_density"]).is_finite(), "{predicted}");
            std::fs::remove_dir_all(place.path("run")).expect("removed");
        }
    }
}

#[test]
fn demonstrations_run_and_print_what_was_published() {
    let place = Place::new();
    for (name, part, published, known) in [
        ("mixture-faithful", "components of six", Some(2.0), Some(2.0)),
        ("pca", "300 rows: components (3", None, Some(3.0)),
        ("pca", "100 rows: components (4", None, Some(4.0)),
        ("divergences", "3. KL(q‖p): mean", None, None),
    ] {
        let json = place.call(&format!("demo {name} --quick --json --quiet")).json();
        let results = json["results"].as_array().expect("results");
        let with = |r: &&Value| r["quantity"].as_str().is_some_and(|q| q.contains(part));
        let found = results.iter().find(with).unwrap_or_else(|| panic!("{name}: {part}"));
        assert_eq!(found["published"].as_f64(), published, "{found}");
        if let Some(known) = known {
            assert!((number(&found["here"]) - known).abs() < 1e-9, "{found}");
        }
        for result in results {
            assert!(number(&result["here"]).is_finite(), "{result}");
        }
        let text = place.call(&format!("demo {name} --quick"));
        assert!(text.stdout.contains(part) && !text.stdout.contains("NaN"), "{}", text.stdout);
    }
}
