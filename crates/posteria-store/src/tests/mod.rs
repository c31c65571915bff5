//! Test whole run folders: crashes, damage, hostile files.

mod crash;
mod damage;
mod folder;
mod hostile;
mod toy;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use posteria::fit::{Chain, Recorder, Report};

use crate::RunWriter;

/// Lets a number of file operations pass, then fails every one: for the folder, the process
/// is dead from there on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crash(Option<Arc<AtomicI64>>);

impl Crash {
    pub(crate) fn after(steps: i64) -> Self {
        Crash(Some(Arc::new(AtomicI64::new(steps))))
    }

    /// Operations that would still pass.
    pub(crate) fn left(&self) -> i64 {
        self.0.as_ref().map_or(i64::MAX, |left| left.load(Ordering::SeqCst))
    }

    pub(crate) fn step(&self) -> io::Result<()> {
        match &self.0 {
            Some(left) if left.fetch_sub(1, Ordering::SeqCst) <= 0 => {
                Err(io::Error::other("planned crash"))
            }
            _ => Ok(()),
        }
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
