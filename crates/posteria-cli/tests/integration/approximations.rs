//! Check approximations in the place of chains, from fit to prediction.

use std::fs;

use crate::posteria::Place;

const LINEAR: &str = "fit data.csv --target y --inputs a b";
const NETWORK: &str = "fit data.csv --target y --inputs a b --model mlp --hidden 3";

fn draws(place: &Place, run: &str) -> String {
    assert_eq!(place.call(&format!("export {run} --format csv --out {run}.csv -q")).code, 0);
    fs::read_to_string(place.path(&format!("{run}.csv"))).expect("draws")
}

#[test]
fn a_linear_model_has_its_evidence_and_draws_at_the_mode() {
    let place = Place::with_data(60);
    let json = place.call(&format!("{LINEAR} --inference laplace --out run --json")).json();
    assert_eq!(json["inference"], "laplace");
    assert_eq!((&json["chains"], &json["draws"]), (&4.into(), &250.into()));
    assert_eq!(json["warnings"], serde_json::json!([]));
    assert!((0.99..1.02).contains(&json["max_r_hat"].as_f64().expect("R-hat")), "{json}");
    let found = &json["approximation"];
    assert_eq!(found["method"], "laplace");
    assert_eq!(found["converged"], true);
    assert!(found["effective_parameters"].as_f64().expect("γ") > 2.5);
    assert_eq!(found["curve"].as_array().expect("a curve").len(), 21);
    let file = fs::read_to_string(place.path("run/approximation.json")).expect("the file");
    let kept: serde_json::Value = serde_json::from_str(&file).expect("JSON");
    // The folder keeps values; what is said about them is told when they are shown.
    assert!(kept.get("words").is_none() && kept["doubts"] == serde_json::json!([]), "{kept}");
    let shown = found.as_object().expect("an object").iter();
    for (key, value) in shown.filter(|(key, _)| !["words", "warnings"].contains(&key.as_str())) {
        assert_eq!(&kept[key], value, "{key}");
    }
    assert!(!found["words"].as_array().expect("sentences").is_empty());
    let spec = fs::read_to_string(place.path("run/spec.toml")).expect("a spec");
    assert!(spec.contains("inference = \"laplace\"") && spec.contains("warmup = 0"), "{spec}");

    // The same as the chains find, with so many rows.
    assert_eq!(place.call(&format!("{LINEAR} --out chains -q")).code, 0);
    let of = |run: &str, name: &str| {
        let summary = place.call(&format!("summary {run} --json")).json();
        let variables = summary["variables"].as_array().expect("variables").clone();
        let variable = variables.iter().find(|v| v["name"] == name).expect("the variable").clone();
        ["mean", "sd"].map(|key| variable[key].as_f64().expect("a number"))
    };
    for name in ["weights[a]", "weights[b]", "intercept"] {
        let ([mean, sd], [exact, exact_sd]) = (of("run", name), of("chains", name));
        assert!((mean - exact).abs() < 0.3 * exact_sd, "{name}: {mean} {exact}");
        assert!((sd / exact_sd - 1.0).abs() < 0.15, "{name}: {sd} {exact_sd}");
    }
    let text = place.call("summary run --strict");
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(
        text.stdout.starts_with("1000 independent draws from the normal distribution at the mode")
    );
    assert!(text.stdout.contains("log evidence"), "{}", text.stdout);
    assert_eq!(place.call("verify run -q").code, 0);
    fs::write(place.path("run/approximation.json"), file.replace("laplace", "Laplace"))
        .expect("written");
    assert!(place.call("verify run").refusal().contains("approximation.json"));
}

#[test]
fn maximum_likelihood_is_told_kept_and_predicted_with() {
    let place = Place::with_data(60);
    let json = place.call(&format!("{LINEAR} --inference ml --out run --json")).json();
    assert_eq!((&json["inference"], &json["draws"]), (&"ml".into(), &1.into()));
    let found = &json["approximation"];
    for key in ["aic", "bic", "nic", "fpe", "gpe"] {
        assert!(found["criteria"][key].is_f64(), "{key}: {found}");
    }
    assert!(found["aicc"].as_f64() < found["criteria"]["aic"].as_f64(), "{found}");
    let slope = &found["coefficients"][1];
    assert_eq!(slope["name"], "weights[a]");
    assert!(slope["standard_error"].as_f64().expect("a number") > 0.0);
    let summary = place.call("summary run --json").json();
    let variables = summary["variables"].as_array().expect("variables").clone();
    let kept = variables.iter().find(|v| v["name"] == "weights[a]").expect("the variable");
    assert_eq!(kept["mean"], slope["estimate"]);
    assert!(kept["hdi_3%"].is_null() && kept["sd"].is_null(), "a point has no interval: {kept}");
    let spec = fs::read_to_string(place.path("run/spec.toml")).expect("a spec");
    assert!(spec.contains("inference = \"ml\"") && !spec.contains("prior"), "{spec}");
    let text = place.call("summary run").stdout;
    assert!(text.starts_with("the maximum of the likelihood (ml)"), "{text}");
    assert!(text.contains("(standard error ") && text.contains("AICc"), "{text}");
    assert!(!text.contains("hdi") && text.matches("weights[a]").count() == 1, "{text}");
    assert_eq!(place.call("predict run data.csv -q").code, 0);
    let assessed = place.call("assess run");
    assert!(assessed.code == 0 && assessed.stderr.contains("kfold"), "{}", assessed.stderr);
    // One point counts no parameters, and has no weights.
    for words in ["parameters", "Pareto", "waic"] {
        assert!(!assessed.stdout.contains(words), "{words}: {}", assessed.stdout);
    }
    let json = place.call("assess run --json").json();
    assert!(json["p_loo"].is_null() && json["elpd_loo"].is_f64(), "{json}");
    let folds = place.call("assess run --method kfold --folds 5 --json").json();
    assert!(folds["p_kfold"].as_f64() > Some(0.0), "{folds}");
    for (command, said) in [
        (format!("{LINEAR} --inference ml --draws 9 --out more"), "one point"),
        (format!("{LINEAR} --inference ml --priors fbm --out more"), "no priors"),
        (format!("{LINEAR} --inference ml --residual laplace --out more"), "ml"),
        (format!("{NETWORK} --inference ml --out more"), "known: mcmc, laplace"),
        ("resume run --draws 9".into(), "one point"),
        ("evidence run".into(), "ml"),
    ] {
        let called = place.call(&command);
        let refusal = called.refusal();
        assert!(refusal.contains(said), "{command}: {refusal}");
    }
}

#[test]
fn without_priors_the_first_class_of_a_column_is_the_reference() {
    let place = Place::new();
    let groups = [("a", 2.0), ("b", 6.0), ("c", 12.0)];
    let rows = groups.iter().flat_map(|(class, mean)| {
        [-1.0, 0.0, 1.0].map(|around| format!("{class},{}\n", mean + around))
    });
    place.write("g.csv", format!("g,y\n{}", rows.collect::<String>()));
    let fit = place.call("fit g.csv --target y --model linear --inference ml --out run --json");
    let found = &fit.json()["approximation"];
    // The means of the groups, and by hand √(R/(n - 3)) = 1 and standard errors of differences of
    // means √(2/3), with R/n in place of R/(n - 3).
    for (k, (name, estimate, error)) in [
        ("intercept", 2.0, 1.0 / 3.0_f64),
        ("weights[g[b]]", 4.0, 2.0 / 3.0),
        ("weights[g[c]]", 10.0, 2.0 / 3.0),
    ]
    .into_iter()
    .enumerate()
    {
        let one = &found["coefficients"][k];
        assert_eq!(one["name"], name);
        let numbers =
            ["estimate", "standard_error"].map(|key| one[key].as_f64().expect("a number"));
        assert!((numbers[0] - estimate).abs() < 1e-6, "{one}");
        assert!((numbers[1] - (error * 6.0 / 9.0).sqrt()).abs() < 1e-6, "{one}");
    }
    assert_eq!(found["reference_classes"][0]["class"], "a");
    let text = place.call("summary run").stdout;
    assert!(text.contains("g: a is the reference"), "{text}");
    place.write("new.csv", "g\nc\na\n");
    let predicted = place.call("predict run new.csv").stdout;
    assert!(predicted.contains("12.0") && predicted.contains("2.0"), "{predicted}");
    // Without an intercept, also of inputs less their means, every class has a weight.
    let text = "[data]\nstandardize = false\n[model]\nkind = 'linear'\nintercept = false\n";
    place.write("m.toml", text);
    let all =
        place.call("fit g.csv --spec m.toml --target y --inference ml --out all --json").json();
    let names = all["approximation"]["coefficients"].to_string();
    assert!(names.contains("g[a]") && !names.contains("intercept"), "{names}");
}

#[test]
fn a_network_is_approximated_predicted_and_continued() {
    let place = Place::with_data(60);
    let fit = |count: usize, threads: usize, out: &str| {
        let line = format!(
            "{NETWORK} --inference laplace --draws {count} --threads {threads} --seed 4 --out {out} --json"
        );
        place.call(&line).json()
    };
    let json = fit(30, 1, "one");
    let found = &json["approximation"];
    assert!(found["log_symmetries"].as_f64().expect("a number") > 3.0);
    let names: Vec<&str> = found["weight_groups"]
        .as_array()
        .expect("groups")
        .iter()
        .filter_map(|group| group["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["input_weights[a]", "input_weights[b]", "hidden_bias", "output_weights", "output_bias"]
    );
    fit(30, 2, "two");
    fit(12, 2, "grown");
    let grown = place.call("resume grown --draws 30 --json").json();
    assert_eq!(grown["draws"], 30);
    assert_eq!(grown["approximation"], *found);
    assert_eq!(draws(&place, "one"), draws(&place, "two"));
    assert_eq!(draws(&place, "one"), draws(&place, "grown"));
    // Input and output weights of a linear table are determined in products only: what predicts is linear.
    let warned = json["warnings"][0].to_string();
    assert!(warned.contains("linear in its weights") && warned.contains("evidence"), "{warned}");
    assert!(!warned.contains("worse than it promises"), "{warned}");
    let predicted = place.call("predict one data.csv --json").json();
    assert!(predicted["rmse"].as_f64().expect("a number") < 0.5, "{predicted}");
    assert!(place.call("diagnose one").refusal().contains("independent draws"));
}

#[test]
fn classes_are_approximated_too() {
    let place = Place::with_data(80);
    for (out, model) in [("linear", "--model linear"), ("mlp", "--model mlp --hidden 2")] {
        let fit = format!("fit data.csv --target class --inputs a b {model} --inference laplace");
        let json = place.call(&format!("{fit} --draws 200 --out {out} --json")).json();
        assert_eq!(json["approximation"]["residual_groups"], serde_json::json!([]));
        let predicted = place.call(&format!("predict {out} data.csv --json")).json();
        assert!(predicted["accuracy"].as_f64().expect("a number") > 0.75, "{predicted}");
    }
}

#[test]
fn the_mode_is_one_draw_with_criteria() {
    let place = Place::with_data(60);
    let told = place.call(&format!("{NETWORK} --inference map --out run"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.starts_with("run: the mode (map)"), "{}", told.stdout);
    for word in ["AIC", "BIC", "NIC", "FPE", "GPE"] {
        assert!(told.stdout.contains(word), "{word} in {}", told.stdout);
    }
    assert_eq!(draws(&place, "run").lines().count(), 2);
    let predicted = place.call("predict run data.csv --json").json();
    assert!(predicted["rmse"].as_f64().expect("a number") < 0.2, "{predicted}");
    assert!(place.call("resume run --draws 3").refusal().contains("one point"));
    let dry = place.call(&format!("{NETWORK} --inference map --dry-run")).stdout;
    assert!(dry.contains("penalised maximum") && !dry.contains("warm-up"), "{dry}");
    let dry = place.call(&format!("{LINEAR} --inference laplace --dry-run")).stdout;
    assert!(dry.contains("re-estimated") && dry.contains("1000 independent draws"), "{dry}");
}

#[test]
fn a_process_has_weighted_hyperparameters_or_their_mode() {
    let place = Place::with_data(40);
    let process = format!("{LINEAR} --model gp");
    let fit = |flags: &str, out: &str| {
        let call = place.call(&format!("{process} --inference laplace {flags} --out {out} --json"));
        call.json()["approximation"].clone()
    };
    let found = fit("--threads 1", "one");
    assert_eq!((&found["method"], &found["hyperparameters"]), (&"laplace".into(), &5.into()));
    let [worth, k, limit] = ["effective_size", "pareto_shape", "pareto_limit"]
        .map(|key| found[key].as_f64().expect("a number"));
    assert!(worth > 50.0 && k < limit, "{found}");
    fit("--threads 2", "two");
    fit("--threads 2 --draws 40", "grown");
    assert_eq!(place.call("resume grown --draws 100 --json").json()["approximation"], found);
    assert_eq!(draws(&place, "one"), draws(&place, "two"));
    assert_eq!(draws(&place, "one"), draws(&place, "grown"));
    let text = place.call("summary one --strict");
    assert_eq!(text.code, 0, "{}", text.stderr);
    for words in ["400 independent draws from the hyperparameters", "log evidence", "Pareto k"] {
        assert!(text.stdout.contains(words), "{words} in {}", text.stdout);
    }
    let short = "--ladders 2 --rungs 8 --draws 50";
    let evidence =
        place.call(&format!("evidence one --method bridge --seed 3 {short} --json")).json();
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (one, other) = (number(&found["log_evidence"]), number(&evidence["log_evidence"]));
    assert!((one - other).abs() < 1.0, "{one} {other}");
    for line in ["check one", "report one -q", "predict one data.csv --effects", "verify one -q"] {
        let done = place.call(line);
        assert_eq!(done.code, 0, "{line}: {}", done.stderr);
    }
    let told = place.call(&format!("{process} --inference map --out mode"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.starts_with("mode: the mode of the hyperparameters (map)"),
        "{}",
        told.stdout
    );
    assert_eq!(draws(&place, "mode").lines().count(), 2);
    assert!(place.call("assess mode").stderr.contains("found with all rows"));
    let dry = place.call(&format!("{process} --inference laplace --dry-run")).stdout;
    assert!(dry.contains("weighted by that density"), "{dry}");
}

#[test]
fn a_power_of_the_likelihood_is_sampled_and_said_to_be_no_posterior() {
    let place = Place::with_data(40);
    let sd = |flags: &str, out: &str| {
        let call = place.call(&format!("{LINEAR} {flags} --out {out} --json"));
        let json = call.json();
        let summary = place.call(&format!("summary {out} --json")).json();
        let variables = summary["variables"].as_array().expect("variables").clone();
        let weight = variables.iter().find(|v| v["name"] == "weights[a]").expect("the weight");
        (weight["sd"].as_f64().expect("a number"), json["warnings"].to_string())
    };
    let (plain, none) = sd("", "plain");
    assert_eq!(none, "[]");
    let (cold, warned) = sd("--inverse-temperature 16", "cold");
    // The posterior of a weight is about normal: β = 16 makes it four times as narrow.
    assert!((plain / cold / 4.0 - 1.0).abs() < 0.2, "{plain} {cold}");
    assert!(warned.contains("not draws of the posterior"), "{warned}");
    let dry = place.call(&format!("{LINEAR} --inverse-temperature 2 --dry-run"));
    assert!(dry.stdout.contains("likelihood^2"), "{}", dry.stdout);
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::with_data(20);
    let refusal = |line: &str| place.call(line).refusal().to_string();
    for (line, says) in [
        (format!("{LINEAR} --inference variational"), "known: mcmc, laplace, map"),
        (format!("{LINEAR} --model gp --inference variational"), "known: mcmc, laplace, map"),
        (format!("{LINEAR} --model gp --inference laplace --residual student-t"), "not normal"),
        (format!("{NETWORK} --inference laplace --warmup 10"), "independent"),
        (format!("{NETWORK} --inference map --draws 10"), "one point"),
        (format!("{NETWORK} --inference laplace --residual student-t"), "residual family"),
        (format!("{LINEAR} --inverse-temperature 0"), "above 0"),
        (
            format!("{LINEAR} --model gp --inverse-temperature 2 --tempering posterior"),
            "kind = \"gp\"",
        ),
        (format!("{LINEAR} --inference laplace --inverse-temperature 2"), "inverse_temperature"),
    ] {
        let said = refusal(&format!("{line} --out run"));
        assert!(said.contains(says), "{line}: {said}");
    }
    assert!(!place.path("run").exists());
}

#[test]
fn networks_predict_as_if_linear_about_a_mode_and_by_draws_of_an_ensemble() {
    let place = Place::with_data(30);
    let predict = |inference: &str, by: &str| {
        let line = format!("predict {inference} data.csv {by} --json");
        place.call(&line).json()
    };
    let rmse = |json: &serde_json::Value| json["rmse"].as_f64().expect("a number");
    for inference in ["laplace", "variational"] {
        let fit = format!("{NETWORK} --inference {inference} --out {inference} --json");
        let json = place.call(&fit).json();
        let found = &json["approximation"];
        assert!(found["effective_parameters"].as_f64().expect("γ") > 2.0, "{found}");
        if inference == "variational" {
            // What draws are worth is told, and doubted where it is little.
            let shape = found["worth"]["pareto_shape"].as_f64().expect("a shape");
            let warned = json["warnings"].to_string().contains("Pareto k");
            assert_eq!(warned, shape > 0.7, "{json}");
        }
        drawn_functions_are_those_predicted(&place, inference);
        let dry = place.call(&format!("{NETWORK} --inference {inference} --dry-run"));
        assert_eq!(dry.code, 0, "{}", dry.stderr);
    }
    let usual = predict("laplace", "");
    assert_eq!(usual, predict("laplace", "--by linearised"));
    assert!(rmse(&usual) < rmse(&predict("laplace", "--by draws")));
    let drawn = predict("variational", "");
    assert_eq!(drawn, predict("variational", "--by draws"));
    assert!(rmse(&drawn) < 1.2 * rmse(&usual), "{drawn} {usual}");
    let said = place.call("predict variational data.csv --by linearised").refusal().to_string();
    assert!(said.contains("--inference laplace"), "{said}");
    let weighted = place.call("predict variational data.csv --by importance --json").json();
    let worth = weighted["importance"]["effective_size"].as_f64().expect("a size");
    assert!(worth > 0.0 && worth < 20_000.0, "{worth}");
    let said = place.call("predict laplace data.csv --by importance").refusal().to_string();
    assert!(said.contains("--inference variational"), "{said}");
    let start = format!("{NETWORK} --start variational --chains 2 --warmup 50 --draws 20");
    let dry = place.call(&format!("{start} --dry-run"));
    dry.assert_says(&["start at draws from the variational ensemble"]);
    let [one, two] = ["1", "2"].map(|threads| {
        let out = format!("started{threads}");
        let json = place.call(&format!("{start} --threads {threads} --out {out} --json")).json();
        assert!(json["approximation"].is_null(), "{json}");
        json["min_ess_bulk"].clone()
    });
    assert_eq!(one, two);
    assert_eq!(place.call(&format!("{LINEAR} --draws 20 --out chains -q")).code, 0);
    let said = place.call("predict chains data.csv --by linearised").refusal().to_string();
    assert!(said.contains("--inference laplace"), "{said}");
    let classes = "fit data.csv --target class --inputs a b --model mlp --hidden 2";
    let fit = place.call(&format!("{classes} --inference variational --out c --json")).json();
    assert!(fit["approximation"]["worth"]["effective_size"].as_f64() > Some(1.0), "{fit}");
    let counts = "fit data.csv --target count --task count --inputs a b --model mlp --hidden 2";
    let said = place.call(&format!("{counts} --inference variational --out d"));
    assert!(said.code != 0 && !place.path("d").exists(), "{}", said.stderr);
}

/// Means of the functions that are drawn at the rows within six of their standard errors of those
/// predicted (1 in 10 million), and spread less than targets, which have a residual.
fn drawn_functions_are_those_predicted(place: &Place, run: &str) {
    let call = format!("predict {run} data.csv --quiet --draws-out f.csv --out p.csv");
    assert_eq!(place.call(&call).code, 0, "{run}");
    let numbers = |file: &str| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(place.path(file)).expect("the file");
        let cells = |line: &str| line.split(',').map(|it| it.parse().unwrap_or(0.0)).collect();
        text.lines().skip(1).map(cells).collect()
    };
    let (draws, predicted) = (numbers("f.csv"), numbers("p.csv"));
    let count = draws.len() as f64;
    let first = draws[0].len() - predicted.len();
    for (row, predicted) in predicted.iter().enumerate() {
        let f = || draws.iter().map(|draw| draw[first + row]);
        let mean = f().sum::<f64>() / count;
        let sd = (f().map(|f| (f - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let off = (mean - predicted[1]).abs();
        assert!(off < 6.0 * sd / count.sqrt(), "{run} {row}: {mean} ± {sd}, {predicted:?}");
        assert!(sd < predicted[2], "{run} {row}: ± {sd}, {predicted:?}");
    }
}
