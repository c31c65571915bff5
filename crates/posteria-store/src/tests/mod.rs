//! Test whole run folders: crashes, damage, hostile files.

mod added;
mod crash;
mod damage;
mod folder;
mod hostile;
mod toy;
mod training;
mod units;
mod valued;

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use posteria::fit::{Chain, Recorder, Report};

use crate::RunWriter;

/// Lets a number of file operations pass, then fails every one: for the folder, the process
/// is dead from there on. Remembers which files a power cut could take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crash(Option<Arc<Countdown>>);

#[derive(Debug)]
struct Countdown {
    left: AtomicI64,
    unsynced: Mutex<BTreeSet<String>>,
}

impl Crash {
    pub(crate) fn after(steps: i64) -> Self {
        let left = AtomicI64::new(steps);
        Crash(Some(Arc::new(Countdown { left, unsynced: Mutex::default() })))
    }

    /// Operations that would still pass.
    pub(crate) fn left(&self) -> i64 {
        self.0.as_ref().map_or(i64::MAX, |countdown| countdown.left.load(Ordering::SeqCst))
    }

    pub(crate) fn step(&self) -> io::Result<()> {
        match &self.0 {
            Some(countdown) if countdown.left.fetch_sub(1, Ordering::SeqCst) <= 0 => {
                Err(io::Error::other("planned crash"))
            }
            _ => Ok(()),
        }
    }

    /// Notes that the file was written, or that it has reached the disk.
    pub(crate) fn note(&self, file: String, synced: bool) {
        if let Some(countdown) = &self.0 {
            let mut unsynced = countdown.unsynced.lock().unwrap();
            if synced {
                unsynced.remove(&file)
            } else {
                unsynced.insert(file)
            };
        }
    }

    /// Files written and not yet safe.
    pub(crate) fn unsynced(&self) -> BTreeSet<String> {
        self.0.as_ref().map_or_else(BTreeSet::new, |it| it.unsynced.lock().unwrap().clone())
    }
}

/// Passes sweeps on to a writer, then ends all chains: by request, or behind its back.
pub(crate) struct Halt<'w> {
    writer: &'w RunWriter,
    left: AtomicI64,
    polite: bool,
}

impl<'w> Halt<'w> {
    pub(crate) fn after(writer: &'w RunWriter, sweeps: usize, polite: bool) -> Self {
        Halt { writer, left: AtomicI64::new(sweeps as i64), polite }
    }

    /// Whether the chains were ended.
    pub(crate) fn done(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }
}

impl Recorder for Halt<'_> {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            if !self.polite {
                return ControlFlow::Break(());
            }
            self.writer.request_stop();
        }
        self.writer.after_sweep(report, chain)
    }
}
