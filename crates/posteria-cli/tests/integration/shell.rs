//! Check demonstrations, help, and what happens when nobody listens.

use std::process::Stdio;

use crate::posteria::Place;

#[test]
fn every_command_has_short_and_long_help_with_examples() {
    let place = Place::new();
    for command in
        ["demo", "fit", "resume", "summary", "diagnose", "predict", "assess", "export", "verify"]
    {
        for flag in ["-h", "--help"] {
            let help = place.call(&format!("{command} {flag}"));
            assert_eq!(help.code, 0);
            assert!(help.stdout.contains(&format!("posteria {command} ")), "{}", help.stdout);
            assert!(help.stdout.contains("Example"), "{command} {flag}");
        }
        assert_eq!(place.call(&format!("man {command}")).code, 0);
    }
    let help = place.call("fit --help").stdout;
    assert!(!help.contains("iter_warmup"), "{help}");
    for shown in [
        "Data:",
        "Model:",
        "Residual:",
        "Sampling:",
        "--residual-by",
        "--hidden",
        "--covariance",
        "--neighbours",
        "--components",
        "--test",
        "--kernel",
        "--start",
        "--temperatures",
    ] {
        assert!(help.contains(shown), "{shown} is missing in\n{help}");
    }
    assert!(place.call("--version").stdout.starts_with("posteria "));
    assert!(place.call("completions zsh").stdout.contains("#compdef posteria"));
    assert!(place.call("man").stdout.contains(".TH"));
}

#[test]
fn the_tour_runs_twice_and_touches_only_its_own_folder() {
    let place = Place::new();
    let tour = place.call("demo --quick");
    assert_eq!(tour.code, 0, "{}", tour.stderr);
    for words in ["P(row better than column)", "residual_scale", "mean log density"] {
        assert!(tour.stdout.contains(words), "{words} is missing in {}", tour.stdout);
    }
    assert!(tour.stderr.contains("posteria fit YOUR.csv"), "{}", tour.stderr);
    // It ran what it printed: typed again, its commands give the same runs.
    let fits = tour.stderr.lines().filter_map(|line| line.strip_prefix("$ posteria fit "));
    let fits: Vec<&str> = fits.collect();
    assert_eq!(fits.len(), 4, "{}", tour.stderr);
    for (number, fit) in fits.into_iter().enumerate() {
        let (options, out) = fit.split_once(" --out ").expect("a folder");
        let again = format!("again-{number}");
        assert_eq!(place.call(&format!("fit {options} --out {again} -q")).code, 0, "{fit}");
        let summary =
            |run: &str| place.call(&format!("summary {run} --json")).json()["variables"].clone();
        assert_eq!(summary(out), summary(&again), "{fit}");
        std::fs::remove_dir_all(place.path(&again)).expect("removed");
    }
    let other = place.call("demo evidence-sinusoid --quick -q");
    assert_eq!(other.code, 0, "{}", other.stderr);
    let json = place.call("demo --quick --json").json();
    assert_eq!(json["name"], "tour");
    let page = place.path("posteria-demo/evidence-sinusoid/report.html");
    assert!(page.exists(), "the tour replaces its own files alone");
    let page = std::fs::read_to_string(place.path("posteria-demo/report.html")).expect("a page");
    assert!(page.contains("Which model predicts better?"));
    assert_eq!(json["report"], "posteria-demo/report.html");
    let results = json["results"].as_array().expect("results");
    // With next to no draws importance weights may fail, and probabilities are withheld.
    let distances = results.iter().filter(|it| it["quantity"].to_string().contains("RMSE"));
    assert!(distances.clone().count() == 4 && distances.clone().all(|it| it["here"].is_number()));
    assert_eq!(place.names(), ["posteria-demo"]);

    let other = Place::new();
    std::fs::create_dir(other.path("posteria-demo")).expect("a folder");
    other.write("posteria-demo/thesis.tex", "precious");
    assert!(other.call("demo -q").refusal().contains("posteria-demo"));
    assert!(other.path("posteria-demo/thesis.tex").exists());
}

#[test]
fn demonstrations_put_the_published_figure_beside_ours() {
    let place = Place::new();
    let list = place.call("demo --list --json").json();
    let names: Vec<&str> = list["demos"]
        .as_array()
        .expect("demos")
        .iter()
        .filter_map(|d| d["name"].as_str())
        .collect();
    let networks = crate::demonstrations::NAMES;
    let modes = crate::demonstrations::MODES;
    let others = ["samplers", "neuron", "mixture-faithful", "pca", "divergences", "hysteresis"];
    let sources =
        list["demos"].as_array().expect("demos").iter().filter_map(|d| d["source"].as_str());
    assert!(sources.clone().count() == names.len() && sources.clone().all(|it| it.contains(' ')));
    for name in networks.iter().chain(&modes).chain(&others) {
        assert_eq!(names.iter().filter(|it| *it == name).count(), 1, "{name} in {names:?}");
    }
    let json = place.call("demo samplers --json").json();
    assert_eq!(json["name"], "samplers");
    assert_eq!(json["report"], "posteria-demo/samplers/report.html");
    let results = json["results"].as_array().expect("results");
    for result in results {
        let number = |key: &str| result[key].as_f64();
        let (here, sd) = (number("here").expect("here"), number("sd").expect("sd"));
        let name = result["quantity"].as_str().expect("a name");
        let Some(published) = number("published") else { continue };
        if name.contains("per independent draw") || name.contains("cost over") {
            // Rules of thumb: right within a factor of ten.
            let ratio = here / published;
            assert!((0.1..10.0).contains(&ratio), "{name}: {here}, published {published}");
        } else {
            // One published run against the distribution of such runs.
            let z = (here - published) / sd;
            assert!(z.abs() < 4.0, "{name}: {here} ± {sd}, published {published}");
        }
    }
    // From rho = 0.8 to 0.99 the ratio of the widths grows from 3 to 14.1, its square from 9 to 199.
    // The costs of random walks grow like the square, that of trajectories like the ratio; 16 long
    // chains know the growth to 10 %.
    let growth = |method: &str| {
        let cost = |rho: &str| {
            let found = results.iter().find(|result| {
                let name = result["quantity"].as_str().expect("a name");
                name.starts_with(method)
                    && name.ends_with(&format!("independent draw, rho = {rho}"))
            });
            found.expect("the cost")["here"].as_f64().expect("a number")
        };
        cost("0.99") / cost("0.8")
    };
    assert!(growth("Metropolis") > 11.0 && growth("Langevin") > 11.0);
    assert!(growth("hybrid") < 9.0);
    assert_eq!(place.names(), ["posteria-demo"]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let place = Place::with_data(10);
    let fit = "fit data.csv --target y --inputs a --chains 1 --warmup 5 --draws 20 --out run -q";
    assert_eq!(place.call(fit).code, 0);
    for line in ["summary run", "diagnose run --json", "completions bash", "man", "--help"] {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut child = place
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
        assert!(!stderr.contains("error") && !stderr.contains("panicked"), "{line}: {stderr}");
    }
}

#[test]
fn nothing_is_coloured_when_nobody_looks() {
    let place = Place::with_data(10);
    let fit =
        place.call("fit data.csv --target y --inputs a --chains 1 --warmup 5 --draws 20 --out run");
    let summary = place.call("summary run");
    for text in [&fit.stdout, &fit.stderr, &summary.stdout, &summary.stderr] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
