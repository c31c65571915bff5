//! Make, read and refuse run folders.

use std::fs;

use posteria::draws::Draws;

use super::toy::{self, create, expected, files, options, same, sample, scratch, whole_run};
use crate::checkpoint::seal;
use crate::{Export, Extent, Run, RunFolder, StoreError, write_zarr};

#[test]
fn draws_come_back_as_the_chains_gave_them() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.spec(), toy::SPEC);
    assert_eq!(run.extent().draws, 37);
    assert_eq!(run.chain_draws(), [37; toy::CHAINS]);
    assert_eq!(run.chain_iterations(), [20 + 2 * 37; toy::CHAINS]);
    assert!(run.status().unwrap().complete && !run.status().unwrap().locked);
    let draws = run.draws().unwrap();
    assert!(same(&draws, &expected(37)));
    let variables = run.draws_of_variables().unwrap();
    assert!(draws.rows > 0 && variables.rows == 0 && variables.log_likelihood.is_empty());
    let without = Draws { rows: 0, log_likelihood: Vec::new(), ..draws };
    assert!(same(&variables, &without));
    let verified = run.verify().unwrap();
    assert!(verified.derived.is_some());
    // Everything but the lock was looked at.
    assert_eq!(verified.immutable + verified.derived.unwrap(), files(&path).len());
}

#[test]
fn the_store_is_laid_out_as_xarray_reads_it() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let files = files(&path.join("draws.zarr"));
    let text = |name: &str| std::str::from_utf8(&files[name]).unwrap();
    let array = |shape: &str, chunks: &str, element: &str, fill: &str| {
        let rest = r#""order":"C","filters":null,"dimension_separator":".""#;
        format!(
            r#"{{"zarr_format":2,"shape":{shape},"chunks":{chunks},"dtype":"{element}","compressor":null,"fill_value":{fill},{rest}}}"#
        )
    };
    // A fill value that is a number would be a missing value to xarray, hence null.
    for (name, expected) in [
        ("posterior/weights", array("[3, 37, 2, 2]", "[1, 8, 2, 2]", "<f8", "\"NaN\"")),
        ("posterior/nothing", array("[3, 37, 0]", "[1, 16, 1]", "<f8", "\"NaN\"")),
        ("posterior/input", array("[2]", "[2]", "<U7", "null")),
        ("posterior/chain", array("[3]", "[3]", "<i8", "null")),
        ("posterior/draw", array("[37]", "[32]", "<i8", "null")),
        ("sample_stats/diverging", array("[3, 37]", "[1, 16]", "|b1", "null")),
        ("sample_stats/tree_depth", array("[3, 37]", "[1, 16]", "<i8", "null")),
        ("observed_data/obs_id_2", array("[5]", "[5]", "<f8", "\"NaN\"")),
        ("constant_data/inputs", array("[5, 3]", "[2, 3]", "<f8", "\"NaN\"")),
        ("constant_data/offset", array("[]", "[]", "<f8", "\"NaN\"")),
    ] {
        assert_eq!(text(&format!("{name}/.zarray")), expected, "{name}");
    }
    assert_eq!(
        text("posterior/re_levance/.zattrs"),
        r#"{"_ARRAY_DIMENSIONS":["chain","draw","input"],"long_name":"re/levance"}"#
    );
    assert_eq!(
        text("posterior/weights/.zattrs"),
        r#"{"_ARRAY_DIMENSIONS":["chain","draw","input","unit"],"identified":false}"#
    );
    // Draws 32 to 36, then missing values up to the size of the chunk.
    let last: Vec<f64> = files["posterior/noise/2.2"].chunks(8).map(crate::codec::float).collect();
    let draws = expected(37);
    let noise = (0..16).map(|draw| match draw {
        0..5 => draws.draw(2, 32 + draw)[0],
        _ => f64::NAN,
    });
    assert!(last.iter().map(|value| value.to_bits()).eq(noise.map(f64::to_bits)));
    // The consolidated metadata are all the others.
    let all: serde_json::Value = serde_json::from_str(text(".zmetadata")).unwrap();
    for (name, document) in all["metadata"].as_object().unwrap() {
        let own: serde_json::Value = serde_json::from_str(text(name)).unwrap();
        assert_eq!(*document, own, "{name}");
    }
    let documents = files.keys().filter(|name| name.contains(".z")).count();
    assert_eq!(all["metadata"].as_object().unwrap().len() + 1, documents);
}

#[test]
fn a_folder_of_the_first_format_opens_and_goes_on() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 20, 1);
    assert!(!Run::open(&path).unwrap().layout().variable("weights").unwrap().identified);
    let mut bytes = fs::read(path.join("checkpoint")).unwrap();
    bytes.truncate(bytes.len() - 4);
    // Format 1 had no flag after the names of variables.
    for name in ["noise", "weights", "re/levance", "nothing"] {
        let mut text = (name.len() as u64).to_le_bytes().to_vec();
        text.extend_from_slice(name.as_bytes());
        let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
        bytes.remove(at + text.len());
    }
    // Nor, before format 3, the length of a window after the memory of the last update.
    for memory in Run::open(&path).unwrap().memories().into_iter().flatten() {
        let mut text = 1u64.to_le_bytes().to_vec();
        text.extend_from_slice(&memory.updates[0][0].to_le_bytes());
        let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
        bytes.drain(at + text.len()..at + text.len() + 8);
    }
    bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
    seal(&mut bytes);
    fs::write(path.join("checkpoint"), bytes).unwrap();
    let run = Run::open(&path).unwrap();
    assert!(run.layout().variables().iter().all(|variable| variable.identified));
    assert_eq!(run.draws().unwrap().values, expected(20).values);
    let writer = RunFolder::resume(&path, 30, options()).unwrap();
    sample(&writer, &writer, 30, 1).unwrap();
    writer.finish().unwrap();
    assert_eq!(Run::open(&path).unwrap().draws().unwrap().values, expected(30).values);
}

#[test]
fn the_folder_does_not_depend_on_the_number_of_threads() {
    let folder = scratch();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    whole_run(&one, 50, 1);
    for _ in 0..3 {
        whole_run(&two, 50, 2);
        assert!(files(&one) == files(&two));
        fs::remove_dir_all(&two).unwrap();
    }
}

#[test]
fn chains_that_pause_and_go_on_leave_what_they_would_have_left_at_once() {
    let folder = scratch();
    let [once, paused] = ["once", "paused"].map(|name| folder.path().join(name));
    whole_run(&once, 50, 1);
    let mut writer = create(&paused, 30, options()).unwrap();
    for (draws, pause) in [(30, 7), (30, 7), (30, 25), (30, usize::MAX), (50, usize::MAX)] {
        let extent = Extent { draws, ..writer.extent() };
        writer.set_extent(extent).unwrap();
        writer.pause_at(pause);
        sample(&writer, &writer, draws, 2).unwrap();
        writer.checkpoint().unwrap();
        let reached = pause.min(extent.warmup + extent.thin * draws);
        assert_eq!(Run::open(&paused).unwrap().chain_iterations(), [reached; toy::CHAINS]);
    }
    let fewer = Extent { draws: 49, ..writer.extent() };
    assert!(matches!(writer.set_extent(fewer), Err(StoreError::Fewer { done: 50, asked: 49 })));
    assert!(writer.finish().unwrap().complete);
    assert!(files(&once) == files(&paused));
}

#[test]
fn a_longer_run_is_the_shorter_one_continued() {
    let folder = scratch();
    let [short, long] = ["short", "long"].map(|name| folder.path().join(name));
    whole_run(&short, 20, 1);
    whole_run(&long, 50, 1);
    let writer = RunFolder::resume(&short, 50, options()).unwrap();
    // From here on the files for other readers may be ahead of the checkpoint.
    assert_eq!(Run::open(&short).unwrap().verify().unwrap().derived, None);
    sample(&writer, &writer, 50, 2).unwrap();
    assert!(writer.finish().unwrap().complete);
    assert!(files(&short) == files(&long));
    let error = RunFolder::resume(&short, 49, options()).unwrap_err();
    assert!(matches!(error, StoreError::Fewer { done: 50, asked: 49 }));
}

#[test]
fn an_exported_store_is_that_of_the_run() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let draws = Run::open(&path).unwrap().draws().unwrap();
    let target = folder.path().join("out.zarr");
    write_zarr(&target, &draws, &Export { warmup: 20, ..Export::default() }).unwrap();
    let exported = files(&target);
    let own = files(&path.join("draws.zarr"));
    let chunks = |name: &str| name.starts_with("posterior/") || name.starts_with("sample_stats/");
    for name in own.keys().filter(|name| chunks(name)) {
        assert!(exported[name] == own[name], "{name}");
    }
    let error = write_zarr(&target, &draws, &Export::default()).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }));
    // Someone else's draws come without statistics and log likelihoods.
    let bare = posteria::draws::Draws {
        statistics: Vec::new(),
        rows: 0,
        log_likelihood: Vec::new(),
        ..draws
    };
    let target = folder.path().join("bare.zarr");
    write_zarr(&target, &bare, &Export::default()).unwrap();
    assert!(!target.join("sample_stats").exists() && target.join("posterior").exists());
}

#[test]
fn one_process_writes_and_others_read() {
    let folder = scratch();
    let path = folder.path().join("run");
    let writer = create(&path, 10, options()).unwrap();
    match RunFolder::resume(&path, 10, options()).unwrap_err() {
        StoreError::Locked { pid, .. } => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other}"),
    }
    let run = Run::open(&path).unwrap();
    let status = run.status().unwrap();
    assert!(status.locked && !status.complete);
    assert_eq!(status.pid, Some(std::process::id()));
    assert_eq!(run.draws().unwrap().draws, 0);
    assert_eq!(run.verify().unwrap().derived, None);
    drop(writer);
    assert!(!run.status().unwrap().locked);
    RunFolder::resume(&path, 10, options()).unwrap();
}

#[test]
fn log_likelihoods_of_some_rows_are_those_of_all() {
    let folder = scratch();
    let [stopped, whole] = ["stopped", "whole"].map(|name| folder.path().join(name));
    whole_run(&whole, 37, 1);
    let writer = create(&stopped, 30, options()).unwrap();
    let stop = super::Halt::after(&writer, 200, true);
    sample(&writer, &stop, 30, 2).unwrap();
    writer.finish().unwrap();
    for path in [whole, stopped] {
        let run = Run::open(&path).unwrap();
        let draws = run.draws().unwrap();
        assert!(draws.rows > 1);
        let rows = [draws.rows - 1, 0];
        let found = run.log_likelihoods_of(&rows).unwrap();
        let expected = rows.iter().flat_map(|row| {
            draws.log_likelihood.iter().skip(*row).step_by(draws.rows).map(|it| it.to_bits())
        });
        assert!(found.iter().map(|it| it.to_bits()).eq(expected));
        assert!(run.log_likelihoods_of(&[]).unwrap().is_empty());
    }
}

#[test]
fn a_stopped_run_keeps_its_draws_and_goes_on() {
    let folder = scratch();
    let [stopped, whole] = ["stopped", "whole"].map(|name| folder.path().join(name));
    whole_run(&whole, 30, 1);
    let writer = create(&stopped, 30, options()).unwrap();
    let stop = super::Halt::after(&writer, 100, true);
    sample(&writer, &stop, 30, 2).unwrap();
    assert!(!writer.finish().unwrap().complete);
    let run = Run::open(&stopped).unwrap();
    // Nothing that was drawn before the stop is lost.
    assert!(run.chain_iterations().iter().sum::<usize>() >= 100);
    run.verify().unwrap().derived.unwrap();
    let mut prefix = expected(30);
    let draws = run.draws().unwrap();
    let width = prefix.layout.len();
    let values: Vec<f64> = (0..toy::CHAINS)
        .flat_map(|chain| prefix.values[chain * 30 * width..][..draws.draws * width].to_vec())
        .collect();
    prefix.values = values;
    assert_eq!(draws.values, prefix.values);
    let writer = RunFolder::resume(&stopped, 30, options()).unwrap();
    sample(&writer, &writer, 30, 1).unwrap();
    writer.finish().unwrap();
    assert!(files(&stopped) == files(&whole));
}

#[test]
fn places_that_cannot_hold_a_run_are_refused() {
    let folder = scratch();
    let refused = |path: &std::path::Path| create(path, 5, options()).err().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(refused(&file), StoreError::FileInTheWay { .. }));
    assert!(matches!(refused(&file.join("run")), StoreError::FileInTheWay { .. }));
    assert!(
        matches!(refused(&file.join("no/run")), StoreError::FileInTheWay { path } if path == file)
    );
    assert!(matches!(refused(folder.path()), StoreError::Exists { .. }));
    assert!(matches!(refused("/".as_ref()), StoreError::Io { .. }));
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    drop(create(&empty, 5, options()).unwrap());
    assert!(matches!(refused(&empty), StoreError::Exists { .. }));
    let error = Run::open(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, StoreError::NoFolder { .. }), "{error}");
    let error = Run::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NotARun { .. }), "{error}");
    let error = Run::open(&file).unwrap_err();
    assert!(matches!(error, StoreError::NotARun { .. }), "{error}");
    // Nothing half-made is left beside them.
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn parent_folders_are_made() {
    let folder = scratch();
    let path = folder.path().join("some/new/run");
    drop(create(&path, 5, options()).unwrap());
    assert!(Run::open(&path).is_ok());
}

#[test]
fn a_run_is_replaced_and_nothing_else() {
    let folder = scratch();
    let path = folder.path().join("run");
    let writer = create(&path, 5, options()).unwrap();
    let locked = RunFolder::check_place(&path, true).unwrap_err();
    assert!(matches!(locked, StoreError::Locked { .. }), "{locked}");
    drop(writer);
    let taken = RunFolder::check_place(&path, false).unwrap_err();
    assert!(matches!(taken, StoreError::Exists { is_run: true, .. }), "{taken}");
    let notes = path.join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    for refused in [RunFolder::check_place(&path, true), RunFolder::remove(&path)] {
        assert!(matches!(refused, Err(StoreError::Foreign { name, .. }) if name == "notes.txt"));
    }
    fs::remove_file(&notes).unwrap();
    RunFolder::check_place(&path, true).unwrap();
    RunFolder::remove(&path).unwrap();
    RunFolder::remove(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // A folder that holds no run stays.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("x"), "mine").unwrap();
    let other = RunFolder::remove(&path).unwrap_err();
    assert!(matches!(other, StoreError::Exists { is_run: false, .. }), "{other}");
}

#[test]
fn chains_of_another_run_are_refused() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 10, 1);
    let writer = RunFolder::resume(&path, 20, options()).unwrap();
    // Started afresh instead of from the memories: the first draw is not the eleventh.
    let threads = std::num::NonZero::<usize>::MIN;
    let none = vec![None; toy::CHAINS];
    let (posterior, plan) = (toy::Toy::new(), toy::plan(20));
    posteria::fit::run(&posterior, &plan, posteria::random::Seed(5), &none, threads, &writer)
        .unwrap();
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, StoreError::OutOfStep { expected: 10, found: 0, .. }), "{error}");
}
