//! Name where a model is computed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SamplingSpec;

/// Where a model is computed: by the processor, or by an accelerator beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// By the processor.
    #[default]
    Cpu,
    /// By an accelerator, if there is one that does this model and it pays.
    Auto,
    /// By a GPU of NVIDIA, the one of this number if one is given.
    Cuda(Option<usize>),
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no device; known: auto, cpu, cuda, cuda:N for GPU number N, from 0")]
pub struct DeviceError {
    text: String,
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let number = |text: &str| text.strip_prefix("cuda:")?.parse().ok();
        match text {
            "cpu" => Ok(DeviceChoice::Cpu),
            "auto" => Ok(DeviceChoice::Auto),
            "cuda" => Ok(DeviceChoice::Cuda(None)),
            text => match number(text) {
                Some(ordinal) => Ok(DeviceChoice::Cuda(Some(ordinal))),
                None => Err(DeviceError { text: text.into() }),
            },
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => write!(f, "cpu"),
            DeviceChoice::Auto => write!(f, "auto"),
            DeviceChoice::Cuda(None) => write!(f, "cuda"),
            DeviceChoice::Cuda(Some(ordinal)) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = DeviceError;

    fn try_from(text: String) -> Result<Self, DeviceError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(device: DeviceChoice) -> Self {
        device.to_string()
    }
}

impl SamplingSpec {
    /// Where the model is computed.
    pub fn device(&self) -> DeviceChoice {
        self.device.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for text in ["cpu", "auto", "cuda", "cuda:0", "cuda:12"] {
            let device: DeviceChoice = text.parse().unwrap();
            assert_eq!(device.to_string(), text);
        }
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU"] {
            let error = wrong.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(error.contains("known: auto, cpu, cuda"), "{error}");
        }
    }
}
