//! Add groups to finished runs: laid out for ArviZ, checked, dropped when a run goes on.

use std::fs;

use super::toy::{self, expected, files, options, same, sample, scratch, whole_run};
use crate::{
    Added, AddedArray, AddedGroup, Axis, Export, Labels, Run, RunFolder, StoreError, write_zarr,
};

/// Seven draws of three chains of five rows, and of classes.
fn group(group: Added) -> AddedGroup {
    let values: Vec<f64> = (0..3 * 7 * 5).map(f64::from).collect();
    let array = |name: &str, whole| AddedArray {
        name: name.into(),
        axes: vec![Axis::rows(5)],
        whole,
        values: values.clone(),
    };
    let draws = (0..7).map(|index| 5 * index + 4).collect();
    AddedGroup { group, chains: 3, draws, arrays: vec![array("a/y", false), array("class", true)] }
}

#[test]
fn groups_are_laid_out_as_xarray_reads_them() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let before = files(&path);
    assert!(!Run::open(&path).unwrap().has(Added::PosteriorPredictive));
    RunFolder::add(&path, &[group(Added::PosteriorPredictive)]).unwrap();
    let run = Run::open(&path).unwrap();
    assert!(run.has(Added::PosteriorPredictive) && !run.has(Added::Prior));
    assert!(same(&run.draws().unwrap(), &expected(37)));
    let after = files(&path);
    for (name, content) in &before {
        assert!(name.ends_with(".zmetadata") || after[name] == *content, "{name}");
    }
    let text = |name: &str| {
        let name = format!("draws.zarr/posterior_predictive/{name}");
        String::from_utf8(after[&name].clone()).unwrap()
    };
    // 256 bytes hold six draws of five numbers.
    assert!(text("a_y/.zarray").contains(r#""shape":[3, 7, 5],"chunks":[1, 6, 5],"dtype":"<f8""#));
    assert_eq!(
        text("a_y/.zattrs"),
        r#"{"_ARRAY_DIMENSIONS":["chain","draw","obs_id"],"long_name":"a/y"}"#
    );
    assert!(text("class/.zarray").contains(r#""dtype":"<i8","compressor":null,"fill_value":null"#));
    let bytes = |name: &str| &after[&format!("draws.zarr/posterior_predictive/{name}")];
    let last: Vec<f64> = bytes("a_y/1.1.0").chunks(8).map(crate::codec::float).collect();
    assert_eq!(last[..5], [65.0, 66.0, 67.0, 68.0, 69.0]);
    assert!(last.len() == 30 && last[5..].iter().all(|value| value.is_nan()));
    let numbers: Vec<i64> = bytes("draw/0")
        .chunks(8)
        .map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(numbers, [4, 9, 14, 19, 24, 29, 34]);
    // The consolidated metadata are all the others.
    let all: serde_json::Value = serde_json::from_slice(&after["draws.zarr/.zmetadata"]).unwrap();
    let all = all["metadata"].as_object().unwrap();
    for name in after.keys().filter_map(|name| name.strip_prefix("draws.zarr/")) {
        let last = name.rsplit('/').next().unwrap();
        if [".zgroup", ".zarray", ".zattrs"].contains(&last) {
            let document: serde_json::Value =
                serde_json::from_slice(&after[&format!("draws.zarr/{name}")]).unwrap();
            assert_eq!(all[name], document, "{name}");
        }
    }
    let verified = run.verify().unwrap();
    assert_eq!(verified.immutable + verified.derived.unwrap(), after.len());
}

#[test]
fn every_damaged_file_of_a_group_is_found() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let before = files(&path);
    RunFolder::add(&path, &[group(Added::Prior)]).unwrap();
    let added = files(&path);
    for (name, content) in added.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let mut changed = content.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 4;
        for damage in [Some(changed), Some(content[1..].to_vec()), None] {
            match &damage {
                Some(bytes) => fs::write(path.join(name), bytes).unwrap(),
                None if name.ends_with(".checksums") => continue,
                None => fs::remove_file(path.join(name)).unwrap(),
            }
            let error = Run::open(&path).unwrap().verify().expect_err(name);
            assert!(matches!(error, StoreError::Damaged { .. }), "{name}: {error}");
        }
        fs::write(path.join(name), content).unwrap();
    }
    // A list that leads elsewhere is not followed.
    let list = path.join("draws.zarr/prior/.checksums");
    for name in ["../checkpoint", "prior/../.zattrs", "priory/.zgroup", "/etc/hostname"] {
        fs::write(&list, format!("00000000 3 {name}\n")).unwrap();
        let error = Run::open(&path).unwrap().verify().expect_err(name).to_string();
        assert!(error.contains("not a list"), "{error}");
    }
}

#[test]
fn a_run_that_goes_on_drops_them_and_they_come_back_the_same() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    RunFolder::add(&path, &[group(Added::PosteriorPredictive)]).unwrap();
    let whole = files(&path);
    RunFolder::add(&path, &[group(Added::PosteriorPredictive)]).unwrap();
    assert_eq!(files(&path), whole, "adding again changes nothing");
    let writer = RunFolder::resume(&path, 40, options()).unwrap();
    assert!(!Run::open(&path).unwrap().has(Added::PosteriorPredictive));
    let refused = RunFolder::add(&path, &[group(Added::Prior)]).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    sample(&writer, &writer, 40, 1).unwrap();
    assert!(writer.finish().unwrap().complete);
    let run = Run::open(&path).unwrap();
    run.verify().unwrap();
    assert!(same(&run.draws().unwrap(), &expected(40)));
    RunFolder::add(&path, &[group(Added::PosteriorPredictive)]).unwrap();
    Run::open(&path).unwrap().verify().unwrap();
}

#[test]
fn a_group_that_missed_the_consolidated_metadata_is_no_damage() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let metadata = fs::read(path.join("draws.zarr/.zmetadata")).unwrap();
    RunFolder::add(&path, &[group(Added::Prior)]).unwrap();
    let whole = files(&path);
    // As a kill in between leaves it.
    fs::write(path.join("draws.zarr/.zmetadata"), metadata).unwrap();
    let run = Run::open(&path).unwrap();
    run.verify().unwrap();
    // Whoever asks for it adds it again, and nothing tells that it was killed.
    assert!(!run.has(Added::Prior), "it is not there for other readers");
    RunFolder::add(&path, &[group(Added::Prior)]).unwrap();
    assert!(files(&path) == whole && Run::open(&path).unwrap().has(Added::Prior));
}

#[test]
fn exports_hold_them_and_shapes_must_fit() {
    let folder = scratch();
    let path = folder.path().join("draws.zarr");
    let draws = expected(3);
    let added = vec![group(Added::PosteriorPredictive), group(Added::Prior)];
    write_zarr(&path, &draws, &Export { added, ..Export::default() }).unwrap();
    let text = fs::read_to_string(path.join(".zmetadata")).unwrap();
    for name in ["posterior_predictive/class/.zarray", "prior/draw/.zattrs", "posterior/.zgroup"] {
        assert!(text.contains(name), "{name}");
    }
    let mut wrong = group(Added::Prior);
    wrong.arrays[0].values.pop();
    let other = folder.path().join("other.zarr");
    let export = Export { added: vec![wrong], ..Export::default() };
    let error = write_zarr(&other, &draws, &export).unwrap_err();
    assert!(matches!(error, StoreError::Shape { .. }), "{error}");
    assert!(!other.exists());
    let names = Labels::Named(vec!["p".into(), "q".into()]);
    let scales = AddedArray {
        name: "scale".into(),
        axes: vec![Axis { name: "input".into(), labels: names }],
        whole: false,
        values: vec![1.0; 2],
    };
    let prior = AddedGroup { group: Added::Prior, chains: 1, draws: vec![0], arrays: vec![scales] };
    write_zarr(&other, &draws, &Export { added: vec![prior], ..Export::default() }).unwrap();
    assert_eq!(fs::read(other.join("prior/input/0")).unwrap()[..4], [b'p', 0, 0, 0]);
    assert_eq!(toy::CHAINS, draws.chains);
}
