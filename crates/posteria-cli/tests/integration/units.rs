//! One fold or one chain of a larger job, fitted alone.

use std::fs;

use crate::posteria::Place;

#[test]
fn one_chain_has_the_draws_that_it_has_among_all() {
    let place = Place::with_data(30);
    let fit = |rest: &str| {
        let outcome = place
            .call(&format!("fit data.csv --target y --chains 3 --warmup 40 --draws 20 -q {rest}"));
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    };
    fit("--out all");
    fit("--chain 2 --out second");
    let draws = |run: &str| -> Vec<String> {
        assert_eq!(place.call(&format!("export {run} --format csv --out {run}.csv")).code, 0);
        let text = fs::read_to_string(place.path(&format!("{run}.csv"))).expect("draws");
        text.lines().skip(1).map(str::to_string).collect()
    };
    let without_chain = |line: &String| line.split_once(',').expect("columns").1.to_string();
    let (all, second) = (draws("all"), draws("second"));
    assert_eq!((all.len(), second.len()), (60, 20));
    let expected: Vec<String> = all[20..40].iter().map(without_chain).collect();
    assert_eq!(second.iter().map(without_chain).collect::<Vec<_>>(), expected);
    let refused = place.call("fit data.csv --target y --chains 3 --chain 4 --out no");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("from 1 to the number of chains"), "{}", refused.stderr);
}

#[test]
fn a_fold_is_fitted_to_the_other_rows_and_can_be_repeated() {
    let place = Place::with_data(30);
    let quick = "--chains 2 --warmup 40 --draws 20 -q";
    let fit = format!("fit data.csv --target y --fold 2/4 {quick} --out fold");
    assert_eq!(place.call(&fit).code, 0);
    let spec = fs::read_to_string(place.path("fold/spec.toml")).expect("a specification");
    for line in ["rows = 22", "index = 2", "count = 4", "by = \"random\""] {
        assert!(spec.contains(line), "{line} is not in\n{spec}");
    }
    let again = place.call("fit --spec fold/spec.toml -q --out again");
    assert_eq!(again.code, 0, "{}", again.stderr);
    let summary = |run: &str| place.call(&format!("summary {run} --json")).json();
    assert_eq!(summary("fold"), summary("again"));
    // It predicts rows that it has not seen, on its own scales.
    let predicted = place.call("predict fold data.csv --json").json();
    assert_eq!(predicted["rows"].as_array().expect("rows").len(), 30);
    for (fold, words) in [
        ("5/4", "there is no fold 5 of 4"),
        ("1/1", "K is at least 2"),
        ("a", "for example 3/10"),
        ("1/31", "30 row(s) cannot be divided into 31 folds"),
    ] {
        let refused = place.call(&format!("fit data.csv --target y --fold {fold} --out no"));
        assert_eq!(refused.code, 2, "{fold}");
        assert!(refused.stderr.contains(words), "{fold}: {}", refused.stderr);
    }
}
