//! Check links of two classes.

use std::fs;

use crate::posteria::Place;

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
    place.write("classes.csv", &format!("a,c\n{classes}"));
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
