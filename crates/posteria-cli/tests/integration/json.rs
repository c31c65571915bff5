//! Hold what every command prints with `--json` against its schema in docs/schema.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::posteria::Place;

/// Few draws: what is tested are names and types.
const SHORT: &str = "--chains 2 --warmup 60 --draws 60";

/// All schemas of results; the file of what they share is not one of them.
const SCHEMAS: [&str; 21] = [
    "assess",
    "assess-log-lik",
    "check",
    "compare",
    "demo",
    "demo-list",
    "device",
    "diagnose",
    "evidence",
    "evidence-several",
    "export",
    "fit",
    "fit-dry-run",
    "plan",
    "predict",
    "report",
    "run-unit",
    "select",
    "stage",
    "summary",
    "verify",
];

/// Keywords that only explain.
const WORDS: [&str; 4] = ["$schema", "$defs", "title", "description"];

fn schema(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|_| panic!("no {file}"));
    serde_json::from_str(&text).expect("JSON")
}

/// What `reference` of a schema refers to: `common.json#/$defs/NAME`.
fn referred(reference: &Value) -> Value {
    let (file, pointer) = reference.as_str().and_then(|it| it.split_once('#')).expect("FILE#PATH");
    schema(file).pointer(pointer).unwrap_or_else(|| panic!("no {reference}")).clone()
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type is called {other}"),
    }
}

/// One name, or a list of them.
fn names(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(all) => all.iter().map(|it| it.as_str().expect("a name")).collect(),
        one => vec![one.as_str().expect("a name")],
    }
}

/// Adds to `faults` where `value`, at `place`, is not as `schema` says. Keywords that are not known
/// here panic: a schema must not seem to be checked where it is not.
fn check(value: &Value, schema: &Value, place: &str, faults: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let mut fault = |what: String| faults.push(format!("{place}: {what}"));
        match keyword.as_str() {
            word if WORDS.contains(&word) => {}
            "type" => {
                if !names(rule).iter().any(|name| is_of_type(value, name)) {
                    fault(format!("{value} is not of type {rule}"));
                }
            }
            "const" => {
                if value != rule {
                    fault(format!("{value} is not {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().expect("a list").contains(value) {
                    fault(format!("{value} is none of {rule}"));
                }
            }
            "required" => {
                for name in names(rule) {
                    if value.is_object() && value.get(name).is_none() {
                        fault(format!("{name} is missing"));
                    }
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().expect("an object") {
                    if let Some(value) = value.get(name) {
                        check(value, rule, &format!("{place}.{name}"), faults);
                    }
                }
            }
            "items" => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    check(value, rule, &format!("{place}[{index}]"), faults);
                }
            }
            "$ref" => check(value, &referred(rule), place, faults),
            other => panic!("this checker does not know {other}"),
        }
    }
}

/// The keys that a schema names at its top, also by reference.
fn described(schema: &Value) -> Vec<String> {
    let keys = |schema: &Value| -> Vec<String> {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|it| it.keys().cloned()).collect()
    };
    let mut all = keys(schema);
    all.extend(schema.get("$ref").into_iter().flat_map(|it| keys(&referred(it))));
    all
}

/// Runs `line --json`, and holds what it prints against the schema `name`.
#[track_caller]
fn hold(place: &Place, name: &str, line: &str) -> Value {
    assert!(SCHEMAS.contains(&name), "{name}");
    let outcome = place.call(&format!("{line} --json --quiet"));
    let value = outcome.json();
    let schema = schema(&format!("{name}.json"));
    let mut faults = Vec::new();
    check(&value, &schema, name, &mut faults);
    assert!(faults.is_empty(), "posteria {line}: {faults:#?}");
    let described = described(&schema);
    for key in value.as_object().expect("an object").keys() {
        assert!(described.contains(key), "{name}: the schema says nothing about {key}");
    }
    // A parser takes the last of two equal keys and does not tell.
    let warnings = outcome.stdout.matches("\"warnings\":").count();
    let nested = value.pointer("/methods").and_then(Value::as_array).map_or(0, Vec::len);
    let approximated = usize::from(value.pointer("/approximation/warnings").is_some());
    if name != "evidence-several" {
        assert_eq!(warnings, 1 + nested + approximated, "{name}: warnings are there once");
    }
    value
}

/// A place with a linear model of y and one with an input less.
fn two_runs() -> Place {
    let place = Place::with_data(40);
    let fit = format!("fit data.csv --target y {SHORT}");
    hold(&place, "fit", &format!("{fit} --inputs a b --out runs/both"));
    hold(&place, "fit", &format!("{fit} --inputs a --out runs/one"));
    place
}

#[test]
fn results_of_fits_and_of_reading_runs_are_as_their_schemas_say() {
    let place = two_runs();
    hold(&place, "fit-dry-run", "fit data.csv --target y --inputs a b --dry-run");
    let extended = hold(&place, "fit", "resume runs/both --draws 70");
    assert_eq!(extended["draws"], 70);
    hold(&place, "summary", "summary runs/both");
    hold(&place, "diagnose", "diagnose runs/both");
    let all = hold(&place, "diagnose", "diagnose runs/both --all");
    assert!(all["chains"][1]["elpd_loo"].is_number() && all["stacking"]["rows"] == 40, "{all}");
    hold(&place, "verify", "verify runs/both");
    hold(&place, "export", "export runs/both --format csv --out draws.csv");
    hold(&place, "diagnose", "diagnose draws.csv");
    hold(&place, "report", "report runs/both --out page.html");
}

#[test]
fn results_of_predictions_are_as_their_schemas_say() {
    let place = two_runs();
    let predicted = hold(&place, "predict", "predict runs/both data.csv --effects");
    assert_eq!(predicted["rows"].as_array().map(Vec::len), Some(40));
    hold(&place, "predict", "predict runs/both data.csv --chains stacked");
    let average = hold(&place, "predict", "predict runs/both runs/one data.csv --weights equal");
    assert_eq!(average["average"]["models"][1]["weight"], 0.5);
    let classes = "fit data.csv --target class --inputs a b --model mlp --hidden 2";
    hold(&place, "fit", &format!("{classes} --inference laplace --out runs/mode"));
    let predicted = hold(&place, "predict", "predict runs/mode data.csv");
    assert!(predicted["rows"][0]["prob"]["yes"].is_number());
    hold(&place, "fit", &format!("{classes} --inference committee --out runs/members"));
    hold(&place, "summary", "summary runs/members");
}

#[test]
fn results_of_assessments_are_as_their_schemas_say() {
    let place = two_runs();
    hold(&place, "assess", "assess runs/both");
    hold(&place, "assess", "assess runs/both --method kfold --folds 2");
    let table = "chain,draw,r1,r2\n1,1,-1.0,-2.0\n1,2,-1.1,-2.1\n1,3,-0.9,-2.2\n1,4,-1.2,-1.9\n";
    place.write("log_lik.csv", table);
    hold(&place, "assess-log-lik", "assess --log-lik log_lik.csv");
    let checked = hold(&place, "check", "check runs/both --statistic max(y) mean(y>0)");
    assert_eq!(checked["statistics"][1]["statistic"], "mean(y>0)");
    let compare = "compare runs/both runs/one --difference 0.1 --by class";
    let compared = hold(&place, "compare", compare);
    assert_eq!(compared["subgroups"].as_array().map(Vec::len), Some(2));
    assert!(compared["stacked"]["gain"].is_number());
    assert_eq!(compared["models"].as_array().map(Vec::len), Some(2));
}

#[test]
fn results_about_models_and_inputs_are_as_their_schemas_say() {
    let place = two_runs();
    hold(&place, "evidence", "evidence runs/both --method exact");
    hold(&place, "evidence-several", "evidence runs/both runs/one --method exact");
    let select = format!("select data.csv --target y --inputs a b {SHORT} --out runs/sets");
    hold(&place, "select", &format!("{select} --no-choice"));
    hold(&place, "select", "select runs/sets --folds 2 --fold-draws 60");
    hold(&place, "select", "select runs/sets --fold-draws 60");
}

#[test]
fn results_of_divided_work_are_as_their_schemas_say() {
    let place = two_runs();
    let folds = "runs/both --method kfold --folds 2 --fold-draws 20";
    hold(&place, "plan", &format!("plan assess {folds} -o plan --script sh"));
    let done = hold(&place, "run-unit", "run-unit plan 1 2");
    assert_eq!(done["units"][1]["unit"], 2);
    hold(&place, "assess", "collect plan");
    hold(&place, "plan", &format!("plan fit data.csv --target y {SHORT} -o chains"));
    hold(&place, "run-unit", "run-unit chains 2 1");
    hold(&place, "fit", "collect chains --out runs/chains");
    for chain in [1, 2] {
        let fit = format!("fit data.csv --target y {SHORT} --chain {chain}");
        hold(&place, "fit", &format!("{fit} --out runs/{chain}"));
    }
    hold(&place, "fit", "join runs/1 runs/2 --out runs/joined");
    let few = "--ladders 2 --warmup 40 --draws 40";
    hold(&place, "plan", &format!("plan evidence runs/both {few} -o ladders"));
    hold(&place, "run-unit", "run-unit ladders 1");
    hold(&place, "stage", "collect ladders");
    hold(&place, "run-unit", "run-unit ladders 2 3");
    hold(&place, "evidence", "collect ladders");
}

#[test]
fn results_of_demonstrations_are_as_their_schemas_say() {
    let place = Place::new();
    hold(&place, "demo-list", "demo --list");
    hold(&place, "demo", "demo line --quick");
}

#[test]
fn what_is_told_about_gpus_is_as_its_schema_says() {
    let told = hold(&Place::new(), "device", "device");
    let none = told["devices"].as_array().is_some_and(Vec::is_empty);
    assert_eq!(told["why"].is_string(), none, "{told}");
}

#[test]
fn warnings_are_objects_with_a_code() {
    let place = Place::with_data(40);
    let fit = "fit data.csv --target y --inputs a b --chains 1 --warmup 10 --draws 10 --out short";
    let value = hold(&place, "fit", fit);
    let warnings = value["warnings"].as_array().expect("a list");
    assert!(!warnings.is_empty(), "one chain of ten draws cannot be judged");
    let repeated = hold(&place, "predict", "predict short data.csv");
    assert_eq!(repeated["warnings"][0]["run"], "short", "{repeated}");
}

#[test]
fn faults_are_found() {
    let found = |value: &Value, rule: &Value| {
        let mut faults = Vec::new();
        check(value, rule, "it", &mut faults);
        faults
    };
    let rule = serde_json::json!({
        "type": "object",
        "required": ["format", "rows", "warnings"],
        "properties": {
            "format": {"const": 1},
            "rows": {"type": "array", "items": {"type": ["number", "null"]}},
            "kind": {"enum": ["a", "b"]},
            "warnings": {"$ref": "common.json#/$defs/warnings"}
        }
    });
    let good =
        serde_json::json!({"format": 1, "rows": [1, null, 0.5], "kind": "b", "warnings": []});
    assert_eq!(found(&good, &rule), Vec::<String>::new());
    let bad = serde_json::json!({
        "format": 2, "rows": [1, "x"], "kind": "c", "warnings": ["words only"]
    });
    let faults = found(&bad, &rule);
    for part in ["it.format", "it.rows[1]", "it.kind", "it.warnings[0]"] {
        assert!(faults.iter().any(|fault| fault.starts_with(part)), "{part}: {faults:?}");
    }
    assert_eq!(faults.len(), 4, "{faults:?}");
    assert_eq!(found(&serde_json::json!({}), &rule).len(), 3, "what is missing");
}

#[test]
fn every_schema_is_listed_here_and_in_the_guide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_to_string(root.join("docs/guide/json.md")).expect("the chapter");
    let mut files = 0;
    for entry in fs::read_dir(root.join("docs/schema")).expect("the schemas") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        assert!(guide.contains(&format!("(../schema/{name})")), "{name} is not in the guide");
        let listed = SCHEMAS.iter().any(|it| format!("{it}.json") == name);
        assert!(listed || name == "common.json", "{name} is not held against anything");
        files += 1;
    }
    assert_eq!(files, SCHEMAS.len() + 1);
}
