//! Keep what a run was computed by, so that it goes on the same way.

use std::fs;
use std::path::Path;

use posteria::fit::Prepared;
use posteria::model::accelerator::Placement;
use posteria::model::spec::{DeviceChoice, SamplingSpec};
use serde::{Deserialize, Serialize};

use crate::failure::{Classify, Failure, Result};
use crate::file::write_json;
use crate::output;

/// Name of the file of a run folder.
const FILE: &str = "device.json";
/// What a device is called that is none.
const CPU: &str = "cpu";

/// What computed a run, the last time. Runs that were asked for nothing but the processor have no such file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDevice {
    /// As `device` in `[sampling]` spells it.
    device: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The kind of chip on which the run goes on bit for bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chip: Option<String>,
    /// Why it is the processor in place of what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl RunDevice {
    /// Of what was prepared; `None` if nothing but the processor was asked for.
    pub fn of(prepared: &Prepared) -> Option<Self> {
        prepared.spec.sampling.device?;
        let on_cpu = |why| RunDevice { device: CPU.into(), name: None, chip: None, why };
        Some(match prepared.placement() {
            Placement::Cpu => on_cpu(None),
            Placement::Instead { why, .. } => on_cpu(Some(why.to_string())),
            Placement::Device(it) => RunDevice {
                device: it.device.to_string(),
                name: Some(it.name),
                chip: Some(it.chip),
                why: None,
            },
        })
    }

    /// What the run in `folder` was computed by the last time, if that is written there.
    fn read(folder: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }

    /// Keeps it with the run in `folder`.
    pub fn keep(prepared: &Prepared, folder: &Path) -> Result<()> {
        match RunDevice::of(prepared) {
            Some(device) => write_json(&folder.join(FILE), &device),
            // One that went on by the processor alone.
            None if folder.join(FILE).exists() => fs::remove_file(folder.join(FILE)).running(),
            None => Ok(()),
        }
    }

    /// What numbers are reproducible on.
    fn kind(&self) -> &str {
        self.chip.as_deref().unwrap_or(CPU)
    }

    fn words(&self) -> String {
        match (&self.name, &self.chip) {
            (Some(name), Some(chip)) => format!("{name} ({chip})"),
            _ => "the CPU".into(),
        }
    }
}

/// Where the run in `folder` goes on: where it is asked to, or as before.
pub fn resumed(
    folder: &Path,
    own: &SamplingSpec,
    asked: Option<DeviceChoice>,
) -> Option<DeviceChoice> {
    let before = || match RunDevice::read(folder) {
        Some(before) if before.kind() == CPU => Some(DeviceChoice::Cpu),
        Some(_) if own.device() == DeviceChoice::Cpu => Some(DeviceChoice::Cuda(None)),
        _ => own.device,
    };
    asked.or_else(before)
}

/// Refuses to go on elsewhere than before unless a device was asked for: the numbers would be others.
pub fn check_resumed(
    folder: &Path,
    prepared: &Prepared,
    asked: Option<DeviceChoice>,
) -> Result<()> {
    prepared.check_device().bad_input()?;
    let (None, Some(before)) = (asked, RunDevice::read(folder)) else { return Ok(()) };
    let now = RunDevice::of(prepared);
    if now.as_ref().map_or(CPU, RunDevice::kind) == before.kind() {
        return Ok(());
    }
    let now = now.map_or_else(|| "the CPU".into(), |now| now.words());
    Err(Failure::bad_input(format!(
        "{} was computed by {}, and would go on with {now}, bit for bit on the same kind of chip only; go \
         on there, or say --device to have other draws of the same posterior from here on",
        folder.display(),
        before.words(),
    )))
}

/// Says where a run that is read is computed, if that is not where it asks for.
pub fn tell_of_read(prepared: &Prepared) {
    if let Some(why) = prepared.placement().missing() {
        let asked = prepared.spec.sampling.device();
        output::news(&format!("the run says device = \"{asked}\"; here the CPU computes: {why}"));
    }
}
