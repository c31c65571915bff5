//! Kill runs at random moments and continue them.

use std::fs;
use std::path::Path;

use posteria::random::{Purpose, Seed, Stream};

use super::toy::{self, create, files, options, sample, scratch, whole_run};
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

/// Spoils what a power cut may spoil: everything that is not vouched for by the checkpoint.
fn vandalise(path: &Path, crash: &Crash, stream: &mut Stream) {
    let run = Run::open(path).unwrap();
    run.verify().unwrap();
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
    kept.extend(["checkpoint", "spec.toml", "approximation.json"].map(String::from));
    let unsynced = crash.unsynced();
    let at_risk = kept.iter().find(|name| unsynced.contains(*name));
    assert_eq!(at_risk, None, "vouched for by the checkpoint, but not yet on the disk");
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
    let folder = scratch();
    let whole = folder.path().join("whole");
    whole_run(&whole, DRAWS, 1);
    let whole = files(&whole);
    let counter = crashing(i64::MAX / 2);
    let crash = counter.crash.clone();
    let steps = || (i64::MAX / 2 - crash.left()) as usize;
    let writer = create(&folder.path().join("counted"), DRAWS, counter);
    let created = steps();
    assert!(attempt(writer, 1));
    let steps = steps();
    assert!(steps - created > 1000, "{steps} operations are too few to test");

    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let mut resumed = 0;
    for case in 0..70 {
        let path = folder.path().join(format!("run{case}"));
        let threads = 1 + stream.index(2);
        // The first ten die while the folder is made, the others while it is filled.
        let at =
            if case < 10 { stream.index(created) } else { created + stream.index(steps - created) };
        let mut options = crashing(at as i64);
        let mut crash = options.crash.clone();
        attempt(create(&path, DRAWS, options), threads);
        assert_eq!(path.exists(), case >= 10, "a folder appears when it is whole");
        if !path.exists() {
            assert!(attempt(create(&path, DRAWS, toy::options()), threads));
        }
        while files(&path) != whole {
            resumed += 1;
            vandalise(&path, &crash, &mut stream);
            // Killed a few times more, also in the middle of resuming.
            let again = if stream.index(3) > 0 { stream.index(steps) as i64 } else { i64::MAX / 2 };
            options = crashing(again);
            crash = options.crash.clone();
            attempt(RunFolder::resume(&path, DRAWS, options), threads);
        }
        fs::remove_dir_all(&path).unwrap();
    }
    assert!(resumed >= 60, "{resumed}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_run_that_ends_between_two_sweeps_goes_on_from_its_checkpoint() {
    let folder = scratch();
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
fn a_run_killed_after_its_last_draw_is_closed_as_if_it_had_not_been() {
    let folder = scratch();
    let whole = folder.path().join("whole");
    whole_run(&whole, DRAWS, 1);
    let whole = files(&whole);
    // As a run that is looked at whenever its chains pause.
    let paused = |path: &Path, options: WriteOptions| {
        let Ok(writer) = create(path, DRAWS, options) else { return false };
        sample(&writer, &writer, DRAWS, 1).unwrap();
        writer.checkpoint().and_then(|()| writer.finish()).is_ok()
    };
    let counter = crashing(i64::MAX / 2);
    let crash = counter.crash.clone();
    assert!(paused(&folder.path().join("counted"), counter));
    let steps = i64::MAX / 2 - crash.left();
    let (mut unclosed, mut behind) = (0, 0);
    for before_the_end in 1..60 {
        let path = folder.path().join(format!("run{before_the_end}"));
        assert!(!paused(&path, crashing(steps - before_the_end)));
        let run = Run::open(&path).unwrap();
        if run.chain_draws() != [DRAWS; toy::CHAINS] {
            break;
        }
        assert!(!run.is_closed());
        unclosed += 1;
        let mut left = files(&path);
        left.retain(|name, _| name.starts_with("draws.zarr/") && !name.ends_with(".tmp"));
        behind += usize::from(left.iter().any(|(name, content)| whole.get(name) != Some(content)));
        RunFolder::close(&path, options()).unwrap();
        assert!(files(&path) == whole, "{before_the_end} operations before the end");
        // Of one that is closed nothing is written again.
        RunFolder::close(&path, crashing(0)).unwrap();
    }
    assert!(unclosed > 10 && behind > 5, "{unclosed} {behind}");
}

#[test]
fn the_store_can_be_read_at_every_moment() {
    // After every crash, all that the metadata shows is on the disk, and right.
    let folder = scratch();
    let whole = folder.path().join("whole");
    whole_run(&whole, DRAWS, 1);
    let whole = files(&whole);
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
            let mut names = vec![String::new()];
            for (length, chunk) in shape.iter().zip(&chunks) {
                let along = (0..length.div_ceil(*chunk)).map(|index| index.to_string());
                let along: Vec<String> = along.collect();
                names = names
                    .iter()
                    .flat_map(|name| along.iter().map(move |index| format!("{name}{index}.")))
                    .collect();
            }
            let data = ["observed_data", "constant_data"].iter().any(|it| folder.starts_with(it));
            let grows = shape.len() > 1 && !data;
            for name in names {
                let name = name.strip_suffix('.').unwrap_or("0");
                let found = fs::read(store.join(folder).join(name));
                let found = found.unwrap_or_else(|error| panic!("{case}: {folder}{name}: {error}"));
                let chunk = name.split('.').nth(1).map_or(0, |chunk| chunk.parse().unwrap());
                let shown = if grows { (shape[1] - chunk * chunks[1]).min(chunks[1]) } else { 0 };
                let bytes = if grows { found.len() / chunks[1] * shown } else { found.len() };
                let right = &whole[&format!("draws.zarr/{folder}{name}")];
                assert!(found[..bytes] == right[..bytes], "{case}: {folder}{name}");
            }
        }
    }
}

#[test]
fn a_full_disk_stops_the_chains_and_is_reported() {
    let folder = scratch();
    let path = folder.path().join("run");
    let writer = create(&path, DRAWS, crashing(400)).unwrap();
    sample(&writer, &writer, DRAWS, 2).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, StoreError::Io { doing: "write", .. }), "{error}");
    assert!(error.to_string().contains("run"), "{error}");
    assert!(attempt(RunFolder::resume(&path, DRAWS, options()), 1));
}
