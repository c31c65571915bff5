//! Check what a report answers first: comparisons, and rows that were left out.

use std::fs;

use crate::posteria::Place;
use crate::predict::{QUICK, number};

/// Few rows of classes that no input knows anything about, so that a fit flatters itself.
fn noise() -> String {
    let mut text = String::from("a,b,c,d,e,f,g,class\n");
    for row in 0..36_u32 {
        let part = |step: f64| format!("{:.4}", 2.0 * (f64::from(row) * step).fract() - 1.0);
        let steps = [0.618_034, 0.754_878, 0.569_84, 0.819_173, 0.671_044, 0.549_701, 0.391_7];
        let cells: Vec<String> = steps.map(part).into();
        let class = if (f64::from(row) * 0.285_3).fract() > 0.5 { "yes" } else { "no" };
        text.push_str(&format!("{},{class}\n", cells.join(",")));
    }
    text
}

fn page(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).expect("a page")
}

#[track_caller]
fn assert_order(page: &str, all: &[&str]) {
    let mut last = 0;
    for words in all {
        let at = page.find(words).unwrap_or_else(|| panic!("{words:?} is missing"));
        assert!(at >= last, "{words:?} comes too early");
        last = at;
    }
}

#[test]
fn a_comparison_is_in_the_report_that_follows() {
    let place = Place::with_data(40);
    for (name, inputs) in [("one", "a"), ("two", "a b")] {
        let fit = format!("fit data.csv --target y --inputs {inputs} {QUICK} --out {name}");
        assert_eq!(place.call(&fit).code, 0);
    }
    // Without a comparison the page makes its own, by leave-one-out.
    assert_eq!(place.call("report one two -o first.html -q").code, 0);
    let first = page(&place, "first.html");
    assert!(
        first.contains("elpd difference to the best model") && !first.contains("than the column")
    );
    let compared = place.call("compare one two --utility elpd mae --json -q").json();
    assert_eq!(place.call("report one two -o both.html --figures pictures -q").code, 0);
    let both = page(&place, "both.html");
    assert_order(
        &both,
        &[
            "Which model predicts better?</h3>",
            "elpd difference to the best model",
            "mae: probability that the row is better than the column",
            "Predictions and data</h3>",
            "are the intervals right? (leave-one-out PIT)",
            "Expected utilities</h3>",
            "<h2>one</h2>",
            "Posterior</h3>",
            "Convergence</h3>",
            "Model</h3>",
        ],
    );
    // The numbers are those that compare printed.
    let best = &compared["table"][0];
    let elpd = number(&best["elpd"]);
    assert!(both.contains(&format!("<td>{}</td>", best["model"].as_str().expect("a name"))));
    assert!(both.contains(&format!("{:.1}", elpd)), "{elpd}");
    assert!(place.path("pictures/elpd-differences.svg").exists());
    assert!(place.path("pictures/pit-ecdf-y.png").exists());
    assert!(place.path("pictures/two-trace-log-density.svg").exists(), "{:?}", place.names());
    // Folders that were moved together still belong together; one of them alone does not.
    fs::create_dir(place.path("moved")).expect("a folder");
    for name in ["one", "two"] {
        fs::rename(place.path(name), place.path(&format!("moved/{name}"))).expect("moved");
    }
    assert_eq!(place.call("report moved/two moved/one -o moved.html -q").code, 0);
    assert!(page(&place, "moved.html").contains("mae: probability that the row is better"));
    assert_eq!(place.call("report moved/one -o alone.html -q").code, 0);
    assert!(!page(&place, "alone.html").contains("better than the column"));
    // A run that has gone on since is compared anew.
    assert_eq!(place.call("resume moved/one --draws 250 -q").code, 0);
    assert_eq!(place.call("report moved/two moved/one -o later.html -q").code, 0);
    let later = page(&place, "later.html");
    assert!(later.contains("elpd difference") && !later.contains("better than the column"));
}

#[test]
fn classes_are_counted_by_rows_that_were_left_out() {
    let place = Place::new();
    place.write("noise.csv", noise());
    let fit = format!("fit noise.csv --target class {QUICK} --seed 3 --out run");
    assert_eq!(place.call(&fit).code, 0);
    assert_eq!(place.call("report run -q").code, 0);
    let page = page(&place, "report.html");
    for words in [
        "classified right, leave-one-out",
        "are predicted probabilities right? (leave-one-out)",
        "area under the ROC curve",
        "average precision",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("rows of the fit classified") && !page.contains("has seen"));
    // As many as assess counts, but for a row at the edge: draws are thinned.
    let assessed = place.call("assess run --utility accuracy --json -q").json();
    let expected = number(&assessed["utilities"][0]["mean"]);
    let fitted = place.call("assess run --utility accuracy --method posterior --json -q").json();
    let flattering = number(&fitted["utilities"][0]["mean"]);
    let title = page.find(" of the rows classified right, leave-one-out").expect("a title");
    let told: f64 = page[..title]
        .trim_end_matches("%")
        .trim_end_matches(['\u{a0}', ' '])
        .rsplit(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    assert!((told / 100.0 - expected).abs() < 0.06, "{told} {expected}");
    assert!(flattering - told / 100.0 > 0.1, "{told} {flattering}: the test must be able to fail");
}

#[test]
fn rows_that_cannot_be_left_out_are_called_rows_of_the_fit() {
    let place = Place::with_data(40);
    let fit = "fit data.csv --target y --inputs a b --model mlp --hidden 3 --inference laplace -q --out run";
    assert_eq!(place.call(fit).code, 0);
    assert_eq!(place.call("report run -q").code, 0);
    let page = page(&place, "report.html");
    assert!(page.contains("(rows of the fit)") && page.contains("which the model has seen"));
    assert!(!page.contains("leave-one-out)") && !page.contains("Leave-one-out:"));
    // Nor is such a run compared with another by weights of its draws.
    let other = format!("fit data.csv --target y --inputs a b {QUICK} --out other");
    assert_eq!(place.call(&other).code, 0);
    assert_eq!(place.call("report run other -o both.html -q").code, 0);
    let both = fs::read_to_string(place.path("both.html")).expect("a page");
    assert!(both.contains("Not known yet: run posteria compare run other"));
    assert!(!both.contains("elpd difference"));
}

#[test]
fn figures_have_the_same_names_whatever_the_draws_are() {
    let place = Place::with_data(40);
    let mut names = Vec::new();
    for seed in [1, 2] {
        let fit =
            format!("fit data.csv --target y --inputs a b {QUICK} --seed {seed} --out run{seed}");
        assert_eq!(place.call(&fit).code, 0);
        let call = format!("report run{seed} -o r.html --figures pictures{seed} -q");
        assert_eq!(place.call(&call).code, 0);
        let folder = fs::read_dir(place.path(&format!("pictures{seed}"))).expect("pictures");
        let mut own: Vec<String> = folder
            .map(|entry| entry.expect("a file").file_name().into_string().expect("a name"))
            // Which variables converge worst is a matter of the draws.
            .filter(|name| !name.starts_with("trace-") && !name.starts_with("ranks-"))
            .collect();
        own.sort();
        names.push(own);
    }
    assert_eq!(names[0], names[1]);
    for name in ["r-hat.svg", "effective-draws.png", "surface-y.svg", "pit-histogram-y.svg"] {
        assert!(names[0].iter().any(|own| own == name), "{name} of {:?}", names[0]);
    }
}
