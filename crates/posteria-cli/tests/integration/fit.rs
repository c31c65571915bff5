//! Check what a fit prints and writes.

use crate::posteria::{Place, assert_same_files};

const QUICK: &str = "--chains 2 --warmup 100 --draws 200";

#[test]
fn a_fit_prints_the_promised_object_and_writes_a_run_folder() {
    let place = Place::with_data(40);
    let json = place
        .call(&format!("fit data.csv --target y --inputs a b {QUICK} --out run --json"))
        .json();
    for key in [
        "run",
        "model",
        "chains",
        "draws",
        "max_r_hat",
        "min_ess_bulk",
        "divergences",
        "accept_rate",
        "seconds",
    ] {
        assert!(json.get(key).is_some(), "{key} is missing in {json}");
    }
    assert_eq!(json["run"], "run");
    assert_eq!(json["model"], "linear");
    assert_eq!(json["chains"], 2);
    assert_eq!(json["draws"], 200);
    assert_eq!(json["divergences"], 0);
    assert!(json["max_r_hat"].as_f64().expect("a number") < 1.1);
    for name in ["run/spec.toml", "run/checkpoint", "run/draws.zarr/.zgroup"] {
        assert!(place.path(name).exists(), "{name}");
    }
    let spec = std::fs::read_to_string(place.path("run/spec.toml")).expect("a spec");
    for key in ["sha256 = ", "version = ", "rows = 40", "seed = 1", "kind = \"linear\""] {
        assert!(spec.contains(key), "{key} is missing in\n{spec}");
    }
}

#[test]
fn the_slopes_are_found() {
    let place = Place::with_data(200);
    place.call(&format!("fit data.csv --target y --inputs a b {QUICK} --out run --quiet"));
    let json = place.call("summary run --json").json();
    let of = |name: &str| {
        let variables = json["variables"].as_array().expect("variables").clone();
        let row = variables.into_iter().find(|row| row["name"] == name).expect("the variable");
        (row["mean"].as_f64().expect("mean"), row["sd"].as_f64().expect("sd"))
    };
    // Five standard deviations of the posterior: the noise is quasi-random, hence closer.
    for (name, truth) in [("weights[a]", 2.0), ("weights[b]", -1.0), ("intercept", 1.0)] {
        let (mean, sd) = of(name);
        assert!((mean - truth).abs() < 5.0 * sd, "{name}: {mean} ± {sd}");
        assert!(sd < 0.1);
    }
}

#[test]
fn classes_give_a_logistic_regression() {
    let place = Place::with_data(80);
    let fit = place.call(&format!("fit data.csv --target class --inputs a b {QUICK} --out run"));
    assert_eq!(fit.code, 0, "{}", fit.stderr);
    assert!(fit.stdout.contains("2 chains of 200 draws"), "{}", fit.stdout);
    let json = place.call("summary run --json").json();
    let names: Vec<&str> = json["variables"]
        .as_array()
        .expect("variables")
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert!(names.contains(&"weights[a]") && names.contains(&"intercept"), "{names:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let place = Place::with_data(30);
    for target in ["y", "class"] {
        let line = |threads: usize, out: &str| {
            format!(
                "fit data.csv --target {target} --inputs a b --chains 3 --warmup 150 --draws 100 \
                 --threads {threads} --out {target}{out} --quiet"
            )
        };
        assert_eq!(place.call(&line(1, "1")).code, 0);
        assert_eq!(place.call(&line(2, "2")).code, 0);
        let [one, two] = ["1", "2"].map(|out| place.files(&format!("{target}{out}/draws.zarr")));
        assert!(one.len() > 20);
        assert_same_files(&one, &two);
    }
}

#[test]
fn the_saved_specification_repeats_the_run_and_another_seed_does_not() {
    let place = Place::with_data(30);
    let fit = format!("fit data.csv --target y --inputs a b {QUICK} --seed 9 --out first -q");
    assert_eq!(place.call(&fit).code, 0);
    assert_eq!(place.call("fit --spec first/spec.toml --out second -q").code, 0);
    assert_eq!(place.call("fit --spec first/spec.toml --seed 10 --out third -q").code, 0);
    let [first, second, third] =
        ["first", "second", "third"].map(|run| place.files(&format!("{run}/draws.zarr")));
    assert_same_files(&first, &second);
    let spec = |run: &str| std::fs::read(place.path(&format!("{run}/spec.toml"))).expect("a spec");
    assert_eq!(spec("first"), spec("second"));
    assert!(first != third);
}

#[test]
fn more_chains_and_draws_leave_the_earlier_ones_alone() {
    let place = Place::with_data(25);
    let fit = |chains: usize, draws: usize, out: &str| {
        let line = format!(
            "fit data.csv --target y --inputs a b --chains {chains} --warmup 50 --draws {draws} \
             --out {out} -q"
        );
        assert_eq!(place.call(&line).code, 0);
        let export = format!("export {out} --format csv --out {out}.csv -q");
        assert_eq!(place.call(&export).code, 0);
        std::fs::read_to_string(place.path(&format!("{out}.csv"))).expect("draws")
    };
    let (small, large) = (fit(2, 60, "small"), fit(3, 90, "large"));
    let rows = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    let large = rows(&large);
    for row in rows(&small) {
        assert!(large.contains(&row), "{row} is not among the draws of the larger run");
    }
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let place = Place::with_data(12);
    let dry = place.call("fit data.csv --target y --inputs a b --dry-run");
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    for words in ["linear regression of y on 2 inputs, 12 rows", "weights", "residual", "4 chains"]
    {
        assert!(dry.stdout.contains(words), "{words} is missing in\n{}", dry.stdout);
    }
    let json = place.call("fit data.csv --target y --inputs a b --dry-run --json").json();
    assert_eq!(json["inputs"], serde_json::json!(["a", "b"]));
    assert!(json["priors"].as_array().expect("priors").len() > 2);
    assert_eq!(json["prior_functions"]["input"], "a");
    assert_eq!(place.names(), ["data.csv"], "nothing was written");
}

#[test]
fn linear_models_have_residuals_functions_and_classes() {
    let place = Place::new();
    let mut text = "x,g,c,y\n".to_string();
    for row in 0..24 {
        let x = f64::from(row) / 4.0;
        let class = ["low", "middle", "high"][row as usize / 8];
        text.push_str(&format!("{x},{},{class},{}\n", row % 2, x * x + f64::from(row % 5)));
    }
    place.write("d.csv", &text);
    let dry = place.call(
        "fit d.csv --target y --inputs x g --residual student-t --residual-by g \
         --basis polynomial:2 --dry-run",
    );
    for words in ["square of x less its mean", "Student's t", "2 groups by g"] {
        assert!(dry.stdout.contains(words), "{words} is missing in\n{}", dry.stdout);
    }
    let slopes = place.call("fit d.csv --target y --inputs x g --residual-by x --dry-run");
    let said = slopes.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "where x has its mean; log scale linear in x: slope normal about 0 with standard \
                 deviation 0.5";
    assert!(said.contains(words), "{said}");
    for (line, says) in [
        ("--residual-by x --inference ml", "one scale for each target"),
        ("--residual-by x c", "c in residual.by is not an input"),
    ] {
        let call = place.call(&format!("fit d.csv --target y --inputs x g {line} --out run"));
        assert!(call.refusal().contains(says), "{line}: {}", call.refusal());
    }
    for (line, names) in [
        ("--target y --inputs x --basis gaussian:1:0,3,6", vec!["gaussian(x at 3)"]),
        ("--target y --inputs x g --residual laplace --residual-by g", vec!["residual_scale[g=1]"]),
        (
            "--target y --inputs x g --residual student-t --residual-by g x --dof-by g",
            vec!["residual_scale[g=1]", "residual_log_slope[x]", "residual_dof[g=0]"],
        ),
        ("--target y --inputs x --residual per-case --basis fourier:3:1", vec!["weights[cos1(x)]"]),
        ("--target c --inputs x", vec!["weights[x, low]", "intercept[middle]"]),
    ] {
        let fit = place.call(&format!("fit d.csv {line} {QUICK} --out run --json"));
        assert_eq!(fit.code, 0, "{line}: {}", fit.stderr);
        let summary = place.call("summary run --json").stdout;
        assert!(names.iter().all(|name| summary.contains(name)), "{line}: {summary}");
        // A run predicts without its table.
        let predicted = place.call("predict run d.csv --json").json();
        assert!(predicted["mean_log_density"].is_number(), "{line}");
        std::fs::remove_dir_all(place.path("run")).expect("a run");
    }
    let spline = place.call("fit d.csv --target y --inputs x --basis spline:3 --out run");
    assert!(spline.code == 2 && spline.stderr.contains("polynomial:DEGREE"), "{}", spline.stderr);
    for (line, says) in [
        ("--basis polynomial:0", "between 1 and 20"),
        ("--basis gaussian:0:1", "width = 0"),
        ("--basis polynomial:2 --model mlp", "basis"),
    ] {
        let call = place.call(&format!("fit d.csv --target y --inputs x {line} --out run"));
        let refusal = call.refusal();
        assert!(refusal.contains(says), "{line}: {refusal}");
    }
}

#[test]
fn missing_rows_can_be_dropped_and_constant_columns_are_kept() {
    let place = Place::new();
    place.write("d.csv", "x,c,y\n1,5,2\n2,5,4\nNA,5,1\n4,5,7\n5,5,11\n");
    let fit = place.call(&format!("fit d.csv --target y --missing drop {QUICK} --out run --json"));
    let json = fit.json();
    let warnings = json["warnings"].to_string();
    assert!(
        warnings.contains("1 of 5 rows were dropped") && warnings.contains("column c"),
        "{warnings}"
    );
}

#[test]
fn strict_makes_doubtful_results_a_failure() {
    let place = Place::with_data(20);
    let fit = |rest: &str| {
        place.call(&format!("fit data.csv --target y --inputs a b --warmup 20 --draws 6 {rest}"))
    };
    assert_eq!(fit("--chains 2 --out lenient").code, 0);
    let strict = fit("--chains 2 --out strict --strict");
    assert_eq!(strict.code, 3, "{}", strict.stderr);
    assert!(strict.stderr.contains("warning:"), "{}", strict.stderr);
    assert!(place.path("strict/checkpoint").exists(), "the work is kept");
    assert_eq!(place.call("summary strict --strict").code, 3);
    assert_eq!(place.call("summary strict").code, 0);
}

#[test]
fn a_prior_too_wide_for_many_inputs_is_named_with_a_scale_that_cures_it() {
    let place = Place::new();
    let inputs = 1500;
    let header: String = (0..inputs).map(|index| format!("c{index},")).collect();
    let mut text = format!("{header}y\n");
    for row in 0..12 {
        let cell = |index: usize| format!("{},", (row * 7 + index * index) * 31 % 97);
        text.push_str(&(0..inputs).map(cell).collect::<String>());
        text.push_str(&format!("{}.5\n", row * row % 7));
    }
    place.write("wide.csv", text);
    let fit = "fit wide.csv --target y --dry-run";
    let told = place.call(fit).stderr;
    assert!(told.contains("a hundred times the standard deviation of y; give the"), "{told}");
    assert!(!told.contains("--priors weakly-informative"), "it has these: {told}");
    let scale = told.split("scale = ").nth(1).and_then(|rest| rest.split(' ').next());
    let scale = scale.expect("a scale in the cure");
    place.write("narrow.toml", format!("[prior.weights]\nscale = {scale}\n"));
    let cured = place.call(&format!("{fit} --spec narrow.toml"));
    assert!(cured.code == 0 && !cured.stderr.contains("warning"), "{}", cured.stderr);
    let vague = place.call(&format!("{fit} --priors fbm")).stderr;
    assert!(vague.contains("use --priors weakly-informative, or give"), "{vague}");
}
