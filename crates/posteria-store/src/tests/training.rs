//! Give training data to a folder and get them back.

use std::fs;

use posteria::data::{Dataset, Encoder, Missing, Roles, Table, Targets, Task, TextFormat};
use posteria::draws::Layout;

use super::toy::{options, scratch, whole_run};
use crate::{Extent, NewRun, Run, RunFolder, StoreError, TrainingArrays};

const NUMBERS: &str = "x,colour,sex,y,z,g\n0.1,red,m,10,1e-150,u\n0.7,blue,f,30,2e-150,v\n\
                       1e9,green,m,20,-5e-150,u\n-3,red,m,5,7e-150,u\n";
const CLASSES: &str = "a,b,y\n1.5,3,no\n2.5,1,yes\n0.1,2,no\n7,9,maybe\n";

fn table(text: &str) -> Table {
    Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap()
}

fn encoding(text: &str, roles: &Roles) -> (Dataset, Encoder) {
    let encoding = Encoder::fit(&table(text), roles).unwrap();
    (encoding.dataset, encoding.encoder)
}

fn roles(targets: &[&str]) -> Roles {
    Roles { targets: targets.iter().map(ToString::to_string).collect(), ..Roles::default() }
}

fn keep(path: &std::path::Path, arrays: &TrainingArrays) {
    let mut layout = Layout::new();
    layout.push_scalar("noise");
    let run = NewRun {
        spec: "",
        layout: &layout,
        extent: Extent { chains: 1, warmup: 1, draws: 1, thin: 1 },
        pointwise: None,
        observed: &arrays.observed,
        constant: &arrays.constant,
        attributes: &[("model".into(), "linear".into()), arrays.attribute.clone()],
        approximation: None,
    };
    drop(RunFolder::create(path, &run, options()).unwrap());
}

/// The same to some units in the last place of the standardised values.
fn assert_same(found: &Dataset, expected: &Dataset) {
    let near = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0));
        }
    };
    near(found.inputs.values(), expected.inputs.values());
    match (&found.targets, &expected.targets) {
        (Targets::Real { values: found, .. }, Targets::Real { values: expected, .. }) => {
            near(found.values(), expected.values());
        }
        (found, expected) => assert_eq!(found, expected),
    }
    assert_eq!(found.input_names, expected.input_names);
    assert_eq!(found.input_scaling, expected.input_scaling);
    assert_eq!(found.target_scaling, expected.target_scaling);
    assert_eq!((&found.groups, found.task), (&expected.groups, expected.task));
}

#[test]
fn training_data_come_back_and_new_tables_are_encoded_as_before() {
    let folder = scratch();
    let with_group = Roles { group: Some("g".into()), ..roles(&["y", "z"]) };
    let raw = Roles { standardize: false, ..roles(&["y"]) };
    let cases = [
        (NUMBERS, with_group, Task::Regression),
        (CLASSES, roles(&["y"]), Task::Multiclass),
        ("x,y\n0.3,1\n0.7,2\n", raw, Task::Regression),
        ("k,y\nb,a\na,b\n", roles(&["y"]), Task::Binary),
    ];
    for (index, (text, roles, task)) in cases.into_iter().enumerate() {
        let path = folder.path().join(index.to_string());
        let (data, encoder) = encoding(text, &roles);
        keep(&path, &TrainingArrays::new(&data, &encoder));
        let run = Run::open(&path).unwrap();
        assert_eq!(run.attribute("model"), Some("linear"));
        let kept = run.training_data().unwrap().unwrap();
        assert_eq!(kept.encoder, encoder);
        assert_eq!(kept.dataset.task, task);
        assert_same(&kept.dataset, &data);
        // Bit for bit: the encoder is what it was.
        let again = kept.encoder.encode(&table(text), Missing::Error).unwrap();
        assert_eq!(again.inputs, data.inputs);
        assert_eq!(again.targets.as_ref(), Some(&data.targets));
        run.verify().unwrap();
    }
}

#[test]
fn arrays_come_back_as_they_were_given() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 5, 1);
    let run = Run::open(&path).unwrap();
    let (observed, constant) = (run.observed().unwrap(), run.constant().unwrap());
    let names: Vec<&str> = observed.iter().chain(&constant).map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["y", "obs_id", "inputs", "offset"]);
    assert_eq!((&observed[0].shape[..], observed[0].values.len()), (&[5][..], 5));
    // Several chunks, the last one filled up.
    assert_eq!(constant[0].shape, [5, 3]);
    assert_eq!(constant[0].values, (0..15).map(f64::from).collect::<Vec<_>>());
    assert_eq!((constant[1].shape.len(), &constant[1].values[..]), (0, &[2.5][..]));
    assert_eq!(run.training_data().unwrap(), None, "a folder without an encoder");
}

#[test]
fn changed_data_are_found() {
    let folder = scratch();
    let path = folder.path().join("run");
    let (data, encoder) = encoding(NUMBERS, &roles(&["y"]));
    keep(&path, &TrainingArrays::new(&data, &encoder));
    for name in ["observed_data/y/0", "constant_data/inputs/0.0"] {
        let file = path.join("draws.zarr").join(name);
        let content = fs::read(&file).unwrap();
        let mut changed = content.clone();
        changed[3] ^= 1;
        fs::write(&file, changed).unwrap();
        let error = Run::open(&path).unwrap().training_data().unwrap_err();
        assert!(
            matches!(&error, StoreError::Damaged { file, .. } if file.contains(name)),
            "{error}"
        );
        fs::write(&file, &content[..content.len() - 1]).unwrap();
        let error = Run::open(&path).unwrap().training_data().unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        fs::remove_file(&file).unwrap();
        let error = Run::open(&path).unwrap().training_data().unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
        fs::write(&file, content).unwrap();
    }
    Run::open(&path).unwrap().training_data().unwrap();
}

#[test]
fn encoders_made_to_do_harm_are_refused() {
    let (data, encoder) = encoding(CLASSES, &roles(&["y"]));
    let good = TrainingArrays::new(&data, &encoder);
    let json = &good.attribute.1;
    let replaced = |from: &str, to: &str| {
        assert!(json.contains(from), "{from} in {json}");
        json.replacen(from, to, 1)
    };
    let scale = format!("{:?}", data.input_scaling[0].scale);
    let mut hostile = vec![
        String::new(),
        "null".into(),
        "[".repeat(1_000_000),
        replaced(&scale, "0.0"),
        replaced(&scale, "-1.0"),
        replaced(&scale, "1e999"),
        replaced(&scale, "null"),
        replaced("\"column\":\"b\"", "\"column\":\"a\""),
        replaced("\"column\":\"b\"", "\"column\":\"y\""),
        replaced("multiclass", "regression"),
        replaced("multiclass", "binary"),
        replaced("[\"maybe\",\"no\",\"yes\"]", "[\"maybe\"]"),
        replaced("[\"maybe\",\"no\",\"yes\"]", "[]"),
    ];
    let (other, other_encoder) = encoding(NUMBERS, &roles(&["y", "z"]));
    hostile.push(other_encoder.to_json());
    let folder = scratch();
    for (index, text) in hostile.into_iter().enumerate() {
        let path = folder.path().join(index.to_string());
        let mut arrays = good.clone();
        arrays.attribute.1 = text;
        keep(&path, &arrays);
        let error = Run::open(&path).unwrap().training_data().unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{index}: {error}");
    }
    // Numbers that do not fit the encoder.
    let mut cases: Vec<TrainingArrays> = vec![good.clone(); 5];
    cases[0].observed[0].values[1] = 0.5;
    cases[1].observed[0].values[1] = f64::NAN;
    cases[2].constant[0].values[1] = f64::INFINITY;
    cases[3].constant.clear();
    cases[4].observed = TrainingArrays::new(&other, &other_encoder).observed;
    for (index, arrays) in cases.iter().enumerate() {
        let path = folder.path().join(format!("numbers{index}"));
        keep(&path, arrays);
        let error = Run::open(&path).unwrap().training_data().unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{index}: {error}");
    }
}
