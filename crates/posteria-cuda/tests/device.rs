//! Everything that needs a GPU; says that it was skipped where there is none.

use std::io::{Write, stderr};
use std::sync::Arc;

use posteria_cuda::{Cache, CudaError, Device, self_test};

/// A device, unless there is none.
fn device() -> Option<Arc<Device>> {
    let folder = std::env::temp_dir().join("posteria-cuda-tests");
    match Device::open(0, Cache::at(folder)) {
        Ok(device) => Some(Arc::new(device)),
        Err(error @ (CudaError::NoDriver | CudaError::NoDevice { .. })) => {
            let _ = writeln!(stderr(), "skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_device_computes_what_the_cpu_computes() {
    let Some(device) = device() else { return };
    let checks = self_test(&device).unwrap();
    for check in &checks {
        let verdict = if check.passed() { "" } else { "  FAILED" };
        let _ = writeln!(stderr(), "{:9.1e} {}{verdict}", check.difference, check.name);
    }
    assert!(checks.iter().all(posteria_cuda::Check::passed));
}
