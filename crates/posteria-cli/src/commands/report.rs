//! Write one page about runs.

mod comparison;
mod data;
mod disagreement;
mod effects;
mod kept;
mod page;
mod part;
mod posterior;
mod predictions;
mod rows;
mod selection;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use posteria_report::{Level, Report};
use serde::Serialize;

pub use comparison::kept_weights;
pub use kept::read;

use super::Context;
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::file::write_whole;
use crate::interrupt::Interrupt;
use crate::text;
use crate::warning::Warning;

/// What was written.
#[derive(Debug, Serialize)]
struct Written {
    report: String,
    figures: Vec<String>,
    #[serde(skip)]
    doubts: usize,
}

/// Runs `posteria report`.
pub fn run(arguments: &args::Report, context: &Context) -> Result<()> {
    let written = write(&arguments.runs, &arguments.out, arguments.figures.as_deref(), context)?;
    if written.doubts > 0 {
        let parts = text::count(written.doubts, "part");
        let text = format!("{parts} of the page cannot be trusted; each begins with the reason");
        context.warn(Warning::new("report", &text));
    }
    context.result(&written, || match written.figures.len() {
        0 => format!("{}\n", written.report),
        count => {
            format!("{}\n{} figures beside it, as SVG and as PNG\n", written.report, count / 2)
        }
    })
}

/// Writes a page that somebody else put together, and gives its path.
pub fn write_report(report: &Report, out: &Path, context: &Context) -> Result<String> {
    let html = report.html();
    put(out, html.as_bytes())?;
    let shown = out.display().to_string();
    let size = match html.len() {
        small @ ..1_000_000 => format!("{} kB", small.div_ceil(1000)),
        large => format!("{:.1} MB", large as f64 / 1e6),
    };
    context.output.message(&format!("{shown}: {size}; open it in a browser"));
    Ok(shown)
}

fn write(
    runs: &[PathBuf],
    out: &Path,
    figures: Option<&Path>,
    context: &Context,
) -> Result<Written> {
    check_page(out)?;
    if let Some(folder) = figures {
        check_folder(folder)?;
    }
    let interrupt = Interrupt::listen().running()?;
    let gathered =
        runs.iter().map(|folder| part::gather(folder, runs.len() > 1, context, &interrupt));
    let gathered = gathered.collect::<Result<Vec<_>>>()?;
    let doubts = gathered.iter().filter(|run| run.verdict.section().level() == Level::Bad).count();
    let parts = page::parts(runs, gathered, context.seed())?;
    let title = match runs {
        [run] => format!("posteria report: {}", run.display()),
        _ => format!("posteria report: {} runs", runs.len()),
    };
    let report = Report { title, parts };
    let shown = write_report(&report, out, context)?;
    let mut files = Vec::new();
    if let Some(folder) = figures {
        let failed = |error| anyhow!("cannot make the folder {}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(failed).bad_input()?;
        for (name, figure) in report.figures() {
            for (ending, picture) in [("svg", figure.svg().into_bytes()), ("png", figure.png())] {
                let path = folder.join(format!("{name}.{ending}"));
                put(&path, &picture)?;
                files.push(path.display().to_string());
            }
        }
    }
    Ok(Written { report: shown, figures: files, doubts })
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole(path, |writer| writer.write_all(bytes).running())
}

/// Refuses a page that could not be written, before the work is done.
fn check_page(out: &Path) -> Result<()> {
    let shown = out.display();
    let is_page = |ending: &str| ["html", "htm"].iter().any(|it| ending.eq_ignore_ascii_case(it));
    if !out.extension().and_then(|ending| ending.to_str()).is_some_and(is_page) {
        return Err(Failure::bad_input(format!(
            "{shown}: the page needs a name that ends in .html"
        )));
    }
    if out.is_dir() {
        return Err(Failure::bad_input(format!("{shown} is a folder; name a file in it")));
    }
    match out.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let folder = folder.display();
            Err(Failure::bad_input(format!(
                "there is no folder {folder}; make it, or name another"
            )))
        }
        _ => Ok(()),
    }
}

fn check_folder(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        let shown = folder.display();
        return Err(Failure::bad_input(format!("--figures {shown} is a file; name a folder")));
    }
    Ok(())
}
