//! Change single bits of a finished run folder and see every one found.

use std::fs;

use posteria::random::{Purpose, Seed};

use super::toy::{expected, files, same, scratch, whole_run};
use crate::{Run, StoreError};

#[test]
fn every_changed_bit_is_found_and_no_wrong_number_is_read() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let original: Vec<(String, Vec<u8>)> = files(&path).into_iter().collect();
    let truth = expected(37);
    let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
    let bytes: usize = original.iter().map(|(_, content)| content.len()).sum();
    for case in 0..400 {
        // Half of the cases by file, so that small files are met; half by byte.
        let (file, position) = if case % 2 == 0 {
            let file = stream.index(original.len());
            (file, stream.index(original[file].1.len()))
        } else {
            let mut position = stream.index(bytes);
            let holds = |(_, content): &(String, Vec<u8>)| {
                let inside = position < content.len();
                position -= if inside { 0 } else { content.len() };
                inside
            };
            (original.iter().position(holds).unwrap(), position)
        };
        let (name, content) = &original[file];
        let mut changed = content.clone();
        changed[position] ^= 1 << stream.index(8);
        fs::write(path.join(name), changed).unwrap();
        let verdict = Run::open(&path).and_then(|run| run.verify());
        let error = verdict.expect_err(name);
        let StoreError::Damaged { file, .. } = &error else { panic!("{name}: {error}") };
        assert_eq!(file, name);
        if let Ok(draws) = Run::open(&path).and_then(|run| run.draws()) {
            assert!(same(&draws, &truth), "{name} gave wrong numbers");
        }
        fs::write(path.join(name), content).unwrap();
    }
    Run::open(&path).unwrap().verify().unwrap();
}

#[test]
fn files_that_are_missing_or_cut_are_found() {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 37, 1);
    let truth = expected(37);
    for (index, (name, content)) in files(&path).into_iter().enumerate() {
        let cuts = [Some(content.len() / 2), Some(content.len() - 1), Some(0), None];
        let all = ["checkpoint", "spec.toml", "draws.zarr/.zmetadata"].contains(&name.as_str());
        for cut in cuts.into_iter().skip(if all { 0 } else { index % 4 }) {
            match cut {
                Some(length) => fs::write(path.join(&name), &content[..length]).unwrap(),
                None => fs::remove_file(path.join(&name)).unwrap(),
            }
            let error = Run::open(&path).and_then(|run| run.verify()).expect_err(&name);
            let gone = cut.is_none() && name == "checkpoint";
            let known = matches!(&error, StoreError::Damaged { file, .. } if *file == name)
                || (gone && matches!(error, StoreError::NotARun { .. }));
            assert!(known, "{name}: {error}");
            if let Ok(draws) = Run::open(&path).and_then(|run| run.draws()) {
                assert!(same(&draws, &truth), "{name} gave wrong numbers");
            }
            if !all {
                break;
            }
        }
        fs::write(path.join(&name), &content).unwrap();
    }
}
