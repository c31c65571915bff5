//! Tell what devices there are and whether they compute as they should.

use std::sync::Arc;

use serde::Serialize;

use crate::{Cache, Check, CudaError, Device, DeviceInfo, devices, self_test};

/// The devices of a machine, tested.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceReport {
    /// Every device.
    pub devices: Vec<TestedDevice>,
    /// Why there is none, if there is none.
    pub why: Option<String>,
}

/// A device, and what its self-test found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestedDevice {
    /// What is known about it.
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// Whether it computes what the CPU computes.
    pub usable: bool,
    /// Why it is of no use, if it is of none.
    pub why: Option<String>,
    /// Number of comparisons made.
    pub checks: usize,
    /// Those that did not agree.
    pub failed: Vec<Check>,
}

impl DeviceReport {
    /// Looks for devices and tests each; what is compiled is kept in `cache`.
    ///
    /// # Errors
    /// [`CudaError`] if a driver is there and does not answer. That there is no driver, or no
    /// device, is no error.
    pub fn new(cache: &Cache) -> Result<Self, CudaError> {
        match devices() {
            Ok(found) => {
                let devices = found.into_iter().map(|info| TestedDevice::new(info, cache));
                let devices: Vec<TestedDevice> = devices.collect();
                let why = devices.is_empty().then(|| "the NVIDIA driver counts no GPU".into());
                Ok(DeviceReport { devices, why })
            }
            Err(error @ (CudaError::NoDriver | CudaError::NoDevice { .. })) => {
                Ok(DeviceReport { devices: Vec::new(), why: Some(error.to_string()) })
            }
            Err(error) => Err(error),
        }
    }
}

impl TestedDevice {
    fn new(info: DeviceInfo, cache: &Cache) -> Self {
        let tested = Device::open(info.ordinal, cache.clone())
            .and_then(|device| self_test(&Arc::new(device)));
        let (checks, failed, mut why) = match tested {
            Ok(checks) => {
                let count = checks.len();
                let failed: Vec<Check> = checks.into_iter().filter(|it| !it.passed()).collect();
                (count, failed, None)
            }
            Err(error) => (0, Vec::new(), Some(error.to_string())),
        };
        if !failed.is_empty() {
            why = Some("it does not compute what the CPU computes".into());
        }
        TestedDevice { info, usable: why.is_none(), why, checks, failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_devices_has_a_report_that_says_why() {
        let report = DeviceReport::new(&Cache::none()).unwrap();
        assert_eq!(report.why.is_some(), report.devices.is_empty());
        assert!(report.devices.iter().all(|device| device.usable != device.why.is_some()));
    }
}
