//! Check families that a specification names: links of two classes, and powers of prior and likelihood.

use std::fs;

use crate::posteria::Place;

const LINEAR: &str = "fit data.csv --target y --inputs a b";

#[test]
fn the_other_families_of_tempered_learning_are_between_their_ends() {
    let place = Place::with_data(40);
    place.write(
        "known.toml",
        "[model]\nkind = 'linear'\n[prior.weights]\nfixed = 0.1\n[prior.intercept]\nfixed = 0.1\n\
         [sampling]\nchains = 2\n",
    );
    let weight = |flags: &str, out: &str| {
        let line = format!("{LINEAR} --spec known.toml --draws 300 {flags} --out {out} --json");
        let warnings = place.call(&line).json()["warnings"].to_string();
        let summary = place.call(&format!("summary {out} --json")).json();
        let variables = summary["variables"].as_array().expect("variables").clone();
        let weight = variables.iter().find(|v| v["name"] == "weights[a]").expect("the weight");
        (weight["mean"].as_f64().expect("a number"), warnings)
    };
    let (plain, _) = weight("", "plain");
    let (mode, warned) = weight("--inverse-temperature 50 --tempering posterior", "mode");
    let (most_likely, _) = weight("--inverse-temperature 50 --tempering opposed", "ml");
    assert!(warned.contains("the prior with 50"), "{warned}");
    // The narrow prior shrinks the posterior and its mode alike; without it nothing does.
    assert!((mode / plain - 1.0).abs() < 0.1, "{plain} {mode}");
    assert!(most_likely.abs() > 1.2 * plain.abs(), "{plain} {most_likely}");
    let dry =
        format!("{LINEAR} --spec known.toml --inverse-temperature 2 --tempering opposed --dry-run");
    let dry = place.call(&dry).stdout;
    assert!(dry.contains("prior^0.5 × likelihood^2"), "{dry}");
    let line = format!("{LINEAR} --inverse-temperature 2 --tempering posterior --out no");
    let said = place.call(&line).refusal().to_string();
    assert!(said.contains("sampled") && said.contains("fixed = a number"), "{said}");
}

#[test]
fn two_classes_by_the_probit_are_fitted_by_every_inference() {
    let place = Place::with_data(60);
    let table = fs::read_to_string(place.path("data.csv")).expect("the table");
    let mut rows = table.lines();
    let header = rows.next().expect("a header");
    let place_of = |name: &str| header.split(',').position(|it| it == name).expect("a column");
    let (a, y) = (place_of("a"), place_of("y"));
    let classes: String = rows
        .enumerate()
        .map(|(row, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            // One in ten otherwise, so that nothing separates them.
            let above = (cells[y].parse::<f64>().expect("a number") > 0.0) != (row % 10 == 0);
            format!("{},{}\n", cells[a], u8::from(above))
        })
        .collect();
    place.write("classes.csv", format!("a,c\n{classes}"));
    let fit = |flags: &str, out: &str| {
        let line = format!("fit classes.csv --target c --link probit {flags} --out {out} --quiet");
        let call = place.call(&line);
        assert_eq!(call.code, 0, "{line}: {}", call.stderr);
        let line = format!("predict {out} classes.csv --quiet --out {out}.csv");
        assert_eq!(place.call(&line).code, 0, "{line}");
        let text = fs::read_to_string(place.path(&format!("{out}.csv"))).expect("predictions");
        let mut lines = text.lines();
        let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
        let at = columns.iter().position(|it| *it == "prob[1]").expect("probabilities");
        lines
            .map(|line| line.split(',').nth(at).expect("a cell").parse().expect("a probability"))
            .collect::<Vec<f64>>()
    };
    let quick = "--chains 2 --draws 300 --warmup 300";
    let chains = fit(quick, "chains");
    for (flags, out) in [
        ("--inference laplace", "laplace"),
        ("--model mlp --hidden 0 --inference laplace", "network"),
    ] {
        for (one, other) in fit(flags, out).iter().zip(&chains) {
            assert!((one - other).abs() < 0.12, "{out}: {one} {other}");
        }
    }
    let process = fit(&format!("--model gp {quick}"), "process");
    assert!(process.iter().all(|p| *p > 0.0 && *p < 1.0), "{process:?}");
    let said = place.call("assess chains --json -q").json();
    assert!(said["elpd_loo"].is_number(), "{said}");
    let dry = place.call("fit classes.csv --target c --link probit --dry-run").stdout;
    assert!(dry.contains("the probability of 1 is Φ(f)"), "{dry}");
    let line = "fit classes.csv --target c --link probit --task multiclass --out no";
    assert!(place.call(line).refusal().contains("link = \"probit\""));
}
