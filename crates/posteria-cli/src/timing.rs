//! Keep how long the chains of a run took, so that it can be told how long more of them would.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::Result;
use crate::file::write_json;

/// Name of the file of a run folder.
const FILE: &str = "time.json";

/// How long the chains of a run took so far. It is kept apart from the draws, which are the same
/// however long they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    seconds: f64,
    /// Of all chains together, warm-up among them.
    sweeps: usize,
}

impl Timing {
    /// What the run in `folder` took; `None` if that is not known.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        let timing: Timing = serde_json::from_str(&text).ok()?;
        (timing.seconds.is_finite() && timing.seconds > 0.0 && timing.sweeps > 0).then_some(timing)
    }

    /// Adds a command that made so many sweeps to what is known about the run in `folder`.
    pub fn add(folder: &Path, seconds: f64, sweeps: usize) -> Result<()> {
        if sweeps == 0 {
            return Ok(());
        }
        let before = Timing::read(folder).unwrap_or_default();
        let seconds = before.seconds + seconds;
        write_json(&folder.join(FILE), &Timing { seconds, sweeps: before.sweeps + sweeps })
    }

    /// The seconds that so many more sweeps would take, at the pace so far.
    pub fn seconds_of(&self, sweeps: usize) -> f64 {
        self.seconds / self.sweeps as f64 * sweeps as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_add_up_and_what_is_not_a_time_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Timing::read(folder.path()), None);
        Timing::add(folder.path(), 2.0, 100).expect("written");
        Timing::add(folder.path(), 4.0, 200).expect("written");
        Timing::add(folder.path(), 9.0, 0).expect("nothing to write");
        let timing = Timing::read(folder.path()).expect("there");
        assert!((timing.seconds_of(50) - 1.0).abs() < 1e-12, "{timing:?}");
        for text in ["", "{}", r#"{"seconds":0,"sweeps":3}"#, r#"{"seconds":1,"sweeps":0}"#] {
            fs::write(folder.path().join(FILE), text).expect("written");
            assert_eq!(Timing::read(folder.path()), None, "{text}");
        }
    }
}
