//! Read run folders that were made to do harm.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::toy::{create, options, scratch, whole_run};
use crate::checkpoint::{FORMAT, Loaded, seal};
use crate::codec::Encode;
use crate::{Run, RunFolder, StoreError};

/// A finished folder and its checkpoint without the checksum.
fn folder() -> (tempfile::TempDir, std::path::PathBuf, Vec<u8>) {
    let folder = scratch();
    let path = folder.path().join("run");
    whole_run(&path, 20, 1);
    let mut bytes = fs::read(path.join("checkpoint")).unwrap();
    bytes.truncate(bytes.len() - 4);
    (folder, path, bytes)
}

fn put(path: &Path, body: &[u8]) {
    let mut bytes = body.to_vec();
    seal(&mut bytes);
    fs::write(path.join("checkpoint"), bytes).unwrap();
}

/// Everything that reads the folder, one after the other; the first complaint.
fn read_all(path: &Path) -> Result<(), StoreError> {
    let run = Run::open(path)?;
    run.status()?;
    run.draws()?;
    run.observed()?;
    run.constant()?;
    run.training_data()?;
    run.verify()?;
    Ok(())
}

#[test]
fn a_newer_format_is_named_as_such() {
    let (_folder, path, mut body) = folder();
    body[8..12].copy_from_slice(&(FORMAT + 1).to_le_bytes());
    put(&path, &body);
    let error = Run::open(&path).unwrap_err();
    let newer =
        matches!(error, StoreError::Newer { found, supported: FORMAT } if found == FORMAT + 1);
    assert!(newer, "{error}");
    body[8..12].copy_from_slice(&0u32.to_le_bytes());
    put(&path, &body);
    assert!(matches!(Run::open(&path).unwrap_err(), StoreError::Damaged { .. }));
}

#[test]
fn another_version_reads_but_does_not_continue() {
    let (_folder, path, mut body) = folder();
    let version = env!("CARGO_PKG_VERSION").len();
    // The version is the first text after magic word and format.
    body[20..20 + version].fill(b'9');
    put(&path, &body);
    Run::open(&path).unwrap().draws().unwrap();
    let error = RunFolder::resume(&path, 20, options()).unwrap_err();
    assert!(matches!(error, StoreError::OtherVersion { .. }), "{error}");
}

#[test]
fn no_length_is_believed() {
    // Every eight bytes of the checkpoint, wherever a length may stand, take extreme values.
    let (_folder, path, body) = folder();
    let extremes = [u64::MAX, 1 << 63, 1 << 61, u64::MAX / 8 + 1, 1 << 40, 1 << 24];
    let mut refused = 0;
    for position in 8..body.len() - 8 {
        // Everything up to the chains, then a part of them: they repeat.
        if position > 1500 && position % 17 != 0 {
            continue;
        }
        for extreme in extremes {
            let mut bytes = body.clone();
            bytes[position..position + 8].copy_from_slice(&extreme.to_le_bytes());
            seal(&mut bytes);
            refused += usize::from(Loaded::decode(&bytes).is_err());
        }
    }
    assert!(refused > 3000, "{refused}");
    put(&path, &body);
    read_all(&path).unwrap();
}

#[test]
fn links_are_not_followed() {
    if !cfg!(unix) {
        return;
    }
    let (folder, path, _) = folder();
    let outside = folder.path().join("outside");
    for name in [
        "checkpoint",
        "spec.toml",
        "approximation.json",
        "lock",
        "draws.zarr",
        "draws.zarr/posterior",
    ]
    .into_iter()
    .chain(["draws.zarr/sample_stats/lp", "draws.zarr/sample_stats/lp/0.0"])
    {
        let inside = path.join(name);
        fs::rename(&inside, &outside).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let error = read_all(&path).expect_err(name);
        assert!(matches!(error, StoreError::NotPlain { .. }), "{name}: {error}");
        let error = RunFolder::resume(&path, 20, options()).expect_err(name);
        assert!(matches!(error, StoreError::NotPlain { .. }), "{name}: {error}");
        fs::remove_file(&inside).unwrap();
        fs::rename(&outside, &inside).unwrap();
    }
    // A folder that only growing arrays use is checked before anything is written into it.
    let draw = path.join("draws.zarr/posterior/draw");
    fs::rename(&draw, &outside).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, &draw).unwrap();
    let error = RunFolder::resume(&path, 20, options()).unwrap_err();
    assert!(matches!(error, StoreError::NotPlain { .. }), "{error}");
    // The lock is written in place: it must not be another file's second name.
    fs::remove_file(path.join("lock")).unwrap();
    fs::hard_link(path.join("spec.toml"), path.join("lock")).unwrap();
    let error = RunFolder::resume(&path, 20, options()).unwrap_err();
    assert!(matches!(error, StoreError::NotPlain { what: "a shared file", .. }), "{error}");
}

#[test]
fn names_from_a_file_stay_inside_the_folder() {
    let (folder, path, body) = folder();
    // `weights` is a name of seven bytes; so is this way out.
    let at = body.windows(7).position(|window| window == b"weights").unwrap();
    let mut hostile = body;
    hostile[at..at + 7].copy_from_slice(b"../../x");
    put(&path, &hostile);
    let error = read_all(&path).unwrap_err();
    assert!(error.to_string().contains("draws.zarr/posterior/_._.._x"), "{error}");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn a_changed_specification_is_not_continued() {
    let (_folder, path, _) = folder();
    fs::write(path.join("spec.toml"), "[model]\nkind = \"other\"\n").unwrap();
    let error = RunFolder::resume(&path, 20, options()).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged { file, .. } if file == "spec.toml"), "{error}");
}

#[test]
fn nested_json_is_never_parsed() {
    // Metadata is compared as text, so a million brackets are just a different text.
    let (_folder, path, _) = folder();
    fs::write(path.join("draws.zarr/.zmetadata"), "[".repeat(1_000_000)).unwrap();
    let error = read_all(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_refused_with_a_cure() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch();
    let parent = folder.path().join("closed");
    fs::create_dir(&parent).unwrap();
    fs::set_permissions(&parent, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anywhere; then there is nothing to refuse.
    if fs::write(parent.join("probe"), "").is_ok() {
        return;
    }
    let error = create(&parent.join("run"), 5, options()).err().unwrap();
    assert!(error.to_string().contains("permissions"), "{error}");
}

fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, Vec<u8>)>> {
    let number = prop_oneof![
        any::<u64>().prop_map(|value| value.to_le_bytes().to_vec()),
        (0u64..64).prop_map(|value| value.to_le_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), number), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = Loaded::decode(&body);
        let mut bytes = b"POSTERIA".to_vec();
        bytes.put_u32(FORMAT);
        bytes.extend_from_slice(&body);
        seal(&mut bytes);
        prop_assert!(Loaded::decode(&bytes).is_err());
    }
}

#[test]
fn a_checkpoint_with_arbitrary_changes_never_panics() {
    let (_folder, path, body) = folder();
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() };
    proptest!(config, |(changes in mutations())| {
        let mut bytes = body.clone();
        for (at, new) in &changes {
            let at = at.index(bytes.len() - new.len());
            bytes[at..at + new.len()].copy_from_slice(new);
        }
        put(&path, &bytes);
        let _ = read_all(&path);
        let _ = RunFolder::resume(&path, 20, options());
    });
}
