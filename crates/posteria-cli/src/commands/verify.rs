//! Check every checksum of a run folder.

use serde::Serialize;

use super::Context;
use crate::args;
use crate::failure::{Classify, Result, store_failure};
use crate::sampling::open;
use crate::text;

#[derive(Serialize)]
struct Report {
    run: String,
    version: String,
    chains: usize,
    draws: usize,
    complete: bool,
    locked: bool,
    files: usize,
}

/// Runs `posteria verify`.
pub fn run(arguments: &args::Verify, context: &Context) -> Result<()> {
    let run = open(&arguments.run)?;
    let verified = run.verify().map_err(store_failure)?;
    let status = run.status().running()?;
    let report = Report {
        run: arguments.run.display().to_string(),
        version: run.version().to_string(),
        chains: run.extent().chains,
        draws: run.chain_draws().into_iter().min().unwrap_or(0),
        complete: status.complete,
        locked: status.locked,
        files: verified.immutable + verified.derived.unwrap_or(0),
    };
    context.result(&report, || {
        let state = match (report.complete, report.locked) {
            (_, true) => "being written",
            (true, false) => "complete",
            (false, false) => "not complete, can be resumed",
        };
        format!(
            "{}: {} as written, {} of {}, {state}\n",
            text::printable(&report.run),
            text::count(report.files, "file"),
            text::count(report.chains, "chain"),
            text::count(report.draws, "draw")
        )
    })
}
