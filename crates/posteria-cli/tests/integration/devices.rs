//! Where a model is computed: asked for, chosen, not to be had. What needs a GPU is in `posteria-cuda`.

use std::io::{Write, stderr};

use serde_json::json;

use crate::posteria::{Place, assert_same_files, exists};

const FIT: &str = "fit data.csv --target y --inputs a b --chains 2 --warmup 20 --draws 10";

/// Whether this machine has a GPU: then what is said where there is none is not said.
fn has_gpu() -> bool {
    let told = Place::new().call("device --json").json();
    let found = told["devices"].as_array().is_some_and(|devices| !devices.is_empty());
    if found {
        let _ = writeln!(stderr(), "skipped: this machine has a GPU");
    }
    found
}

#[test]
fn a_device_that_is_not_there_is_refused_with_a_cure() {
    let place = Place::with_data(20);
    let line = format!("{FIT} --model gp --out r --device");
    let unknown = place.call(&format!("{line} gpu"));
    assert_eq!(unknown.code, 2);
    let words = ["'gpu' is no device", "cuda:N"];
    assert!(words.iter().all(|word| unknown.stderr.contains(word)), "{}", unknown.stderr);
    if has_gpu() {
        return;
    }
    for device in ["cuda", "cuda:3"] {
        let refused = place.call(&format!("{line} {device}"));
        refused.assert_refused(device, &["NVIDIA driver", "--device cpu", "\"auto\""]);
    }
    assert!(!exists(place.path("r")), "nothing is begun");
    // Whether it is there does not matter to what no device does.
    let linear = place.call(&format!("{FIT} --model linear --device cuda --out linear"));
    assert_eq!(linear.code, 0, "{}", linear.stderr);
    assert!(linear.stderr.contains("computed by the CPU: the GPU does not do linear models"));
}

#[test]
fn the_choice_is_said_and_kept_and_the_processor_computes_as_ever() {
    if has_gpu() {
        return;
    }
    let place = Place::with_data(20);
    let auto = place.call(&format!("{FIT} --model gp --out auto --device auto --json"));
    assert!(auto.stderr.contains("computed by the CPU: no NVIDIA driver"), "{}", auto.stderr);
    assert_eq!(auto.json()["device"]["device"], "cpu");
    let plain = place.call(&format!("{FIT} --model gp --out plain --json"));
    assert_eq!(plain.json()["device"], json!(null));
    assert!(!exists(place.path("plain/device.json")));
    assert!(exists(place.path("auto/device.json")));
    assert_same_files(&place.files("auto/draws.zarr"), &place.files("plain/draws.zarr"));
    // It goes on by the processor, wherever there is a GPU by then.
    let resumed = place.call("resume auto --draws 15 --quiet");
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert_eq!(place.call("resume plain --draws 15 --quiet --device cpu").code, 0);
    assert_same_files(&place.files("auto/draws.zarr"), &place.files("plain/draws.zarr"));
    let again = place.call(&format!("{FIT} --model gp --out auto --device auto --force --quiet"));
    assert_eq!(again.code, 0, "{}", again.stderr);
}

#[test]
fn a_run_of_another_chip_goes_on_elsewhere_only_if_that_is_asked_for() {
    if has_gpu() {
        return;
    }
    let place = Place::with_data(20);
    assert_eq!(place.call(&format!("{FIT} --model gp --out r --device auto --quiet")).code, 0);
    place.write("r/device.json", r#"{"device":"cuda:0","name":"NVIDIA H200","chip":"sm_90"}"#);
    let line = "resume r --draws 15";
    place.call(line).assert_refused("other chip", &["NVIDIA H200 (sm_90)", "--device"]);
    let elsewhere = place.call(&format!("{line} --device cpu --quiet"));
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.stderr);
    let kept = std::fs::read_to_string(place.path("r/device.json")).expect("kept");
    assert!(kept.contains("cpu"), "{kept}");
    assert_eq!(place.call("resume r --draws 20 --quiet").code, 0);
}
