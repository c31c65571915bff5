//! Kill runs at random moments and continue them.

use std::fs;
use std::path::Path;

use posteria::random::{Purpose, Seed, Stream};

use super::toy::{create, files, options, sample, whole_run};
use super::{Crash, Halt};
use crate::{Run, RunFolder, RunWriter, StoreError, WriteOptions};

const DRAWS: usize = 45;

fn crashing(steps: i64) -> WriteOptions {
    WriteOptions { crash: Crash::after(steps), ..options() }
}

/// Runs until the planned crash, or to the end; whether it got there.
fn attempt(writer: Result<RunWriter, StoreError>, threads: usize) -> bool {
    let Ok(writer) = writer else { return false };
    sample(&writer, &writer, DRAWS, threads).unwrap();
    writer.finish().is_ok()
}

/// Spoils what a crash may spoil: everything that is not vouched for by the checkpoint.
fn vandalise(path: &Path, stream: &mut Stream) {
    let run = Run::open(path).unwrap();
    let mut kept = Vec::new();
    let all = usize::MAX;
    run.each_chunk(all, |name, _, _| {
        kept.push(format!("draws.zarr/{name}"));
        Ok(())
    })
    .unwrap();
    let schema = &run.loaded.schema;
    kept.extend(
        schema
            .static_files()
            .map(|(array, chunk)| format!("draws.zarr/{}", array.static_file(chunk))),
    );
    kept.extend(["checkpoint", "spec.toml"].map(String::from));
    for (name, content) in files(path) {
        if !kept.contains(&name) {
            match stream.index(4) {
                0 => fs::remove_file(path.join(name)).unwrap(),
                1 => fs::write(path.join(name), &content[..content.len() / 2]).unwrap(),
                _ => {}
            }
        }
    }
    fs::write(path.join(".checkpoint.tmp"), b"POSTERIA and then nothing").unwrap();
}

#[test]
fn a_run_killed_anywhere_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    whole_run(&whole, DRAWS, 1);
    let whole = files(&whole);
    let counter = crashing(i64::MAX / 2);
    let crash = counter.crash.clone();
    assert!(attempt(create(&folder.path().join("counted"), DRAWS, counter), 1));
    let steps = (i64::MAX / 2 - crash.left()) as usize;
    assert!(steps > 500, "{steps} operations are too few to test");

    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let mut resumed = 0;
    for case in 0..60 {
        let path = folder.path().join(format!("run{case}"));
        let threads = 1 + stream.index(2);
        let done = attempt(create(&path, DRAWS, crashing(stream.index(steps) as i64)), threads);
        assert!(!done || threads > 1, "the crash was to come before the end");
        if !path.exists() {
            assert!(attempt(create(&path, DRAWS, options()), threads));
        }
        while files(&path) != whole {
            resumed += 1;
            vandalise(&path, &mut stream);
            // Killed a few times more, also in the middle of resuming.
            let again = if stream.index(3) > 0 { stream.index(steps) as i64 } else { i64::MAX / 2 };
            attempt(RunFolder::resume(&path, DRAWS, crashing(again)), threads);
        }
        fs::remove_dir_all(&path).unwrap();
    }
    assert!(resumed > 60, "{resumed}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_run_that_ends_between_two_sweeps_goes_on_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    whole_run(&whole, DRAWS, 1);
    let whole = files(&whole);
    let mut stream = Seed(2).stream(Purpose::Data, [0, 0]);
    for case in 0..20 {
        let path = folder.path().join(format!("run{case}"));
        let mut writer = create(&path, DRAWS, options()).unwrap();
        loop {
            let halt = Halt::after(&writer, 1 + stream.index(200), false);
            sample(&writer, &halt, DRAWS, 1 + stream.index(2)).unwrap();
            if halt.done() {
                drop(writer);
                writer = RunFolder::resume(&path, DRAWS, options()).unwrap();
            } else {
                writer.finish().unwrap();
                break;
            }
        }
        assert!(files(&path) == whole, "case {case}");
    }
}

#[test]
fn the_store_can_be_read_at_every_moment() {
    // After every crash, all that the metadata shows is on the disk.
    let folder = tempfile::tempdir().unwrap();
    let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
    for case in 0..30 {
        let path = folder.path().join(format!("run{case}"));
        attempt(create(&path, DRAWS, crashing(150 + stream.index(700) as i64)), 2);
        if !path.exists() {
            continue;
        }
        let run = Run::open(&path).unwrap();
        run.verify().unwrap();
        run.draws().unwrap();
        let store = path.join("draws.zarr");
        let text = fs::read_to_string(store.join(".zmetadata")).unwrap();
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut least = usize::MAX;
        for (name, array) in all["metadata"].as_object().unwrap() {
            let Some(folder) = name.strip_suffix(".zarray") else { continue };
            let lengths = |key: &str| -> Vec<usize> {
                let list = array[key].as_array().unwrap().iter();
                list.map(|length| length.as_u64().unwrap() as usize).collect()
            };
            let (shape, chunks) = (lengths("shape"), lengths("chunks"));
            if shape.contains(&0) {
                continue;
            }
            if folder.ends_with("/draw/") {
                least = least.min(shape[0]);
            }
            let mut names = vec![String::new()];
            for (length, chunk) in shape.iter().zip(&chunks) {
                let along = (0..length.div_ceil(*chunk)).map(|index| index.to_string());
                let along: Vec<String> = along.collect();
                names = names
                    .iter()
                    .flat_map(|name| along.iter().map(move |index| format!("{name}{index}.")))
                    .collect();
            }
            for name in names {
                let name = name.strip_suffix('.').unwrap_or("0");
                let found = store.join(folder).join(name);
                assert!(found.exists(), "case {case}: {} is missing", found.display());
            }
        }
        assert!(least >= run.draws().unwrap().draws || least == usize::MAX);
    }
}

#[test]
fn a_full_disk_stops_the_chains_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let writer = create(&path, DRAWS, crashing(400)).unwrap();
    sample(&writer, &writer, DRAWS, 2).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, StoreError::Io { doing: "write", .. }), "{error}");
    assert!(error.to_string().contains("run"), "{error}");
    assert!(attempt(RunFolder::resume(&path, DRAWS, options()), 1));
}
