//! Run chains or a committee into a run folder, with progress, until done or a signal comes.

mod findings;
mod legs;
mod report;

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use posteria::fit::{FittedApproximation, Prepared, Sampled, Stopped, Until};
use posteria::model::spec::{InferenceChoice, Spec};
use posteria::sample::Plan;
use posteria_store::{Run, RunFolder, RunWriter, WriteOptions};

use self::legs::ChainFolder;
pub use self::legs::LegProgress;
pub use self::report::FitReport;
use crate::failure::{Classify, Failure, Result, folder_failure, store_failure};
use crate::interrupt::Interrupt;
use crate::progress::Watched;
use crate::text;
use crate::timing::Timing;

/// Begins a run folder for what was prepared and will be sampled by `plan`.
pub fn begin(
    (prepared, plan): (&Prepared, &Plan),
    found: Option<&FittedApproximation<'_>>,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<RunWriter> {
    let found = found.filter(|_| prepared.spec.sampling.inference().is_approximation());
    let result = found.map(|found| &found.result);
    RunFolder::begin((prepared, plan), result, path, options(interrupt)).map_err(folder_failure)
}

/// How a run folder is written: until `interrupt` says stop.
pub fn options(interrupt: &Interrupt) -> WriteOptions {
    WriteOptions { cancel: interrupt.flag(), ..WriteOptions::default() }
}

/// Runs the chains of `plan` into `writer` until there is a reason to stop, draws from what was
/// `found` in their place if anything was, and reports on all draws of the folder. About so many
/// sweeps of other chains follow.
pub fn sample(
    (prepared, found): (&Prepared, Option<&FittedApproximation<'_>>),
    (plan, until, followed_by): (&Plan, Until, usize),
    (path, writer): (&Path, RunWriter),
    watched: &Watched<'_>,
) -> Result<FitReport> {
    let Watched { output, interrupt, workers, .. } = watched;
    let started = Instant::now();
    let mut folder = ChainFolder { path, writer };
    let before = folder.sweeps();
    let mut watch = LegProgress { output: *output, followed_by, seen: None };
    let sampled = prepared.sample(found, (plan, until), &mut folder, (workers, &mut watch));
    let seconds = started.elapsed().as_secs_f64();
    // What stopped the chains comes first: a full disk explains why they did not finish.
    folder.writer.finish().running()?;
    let run = open(path)?;
    if prepared.spec.sampling.inference() == InferenceChoice::Mcmc {
        let after: usize = run.chain_iterations().iter().sum();
        Timing::add(path, seconds, after.saturating_sub(before))?;
    }
    let Sampled { stopped, attained, cut, .. } =
        sampled.map_err(|failure| with_device_advice(failure, prepared, path))?;
    if stopped == Stopped::Interrupted {
        let counts = run.chain_draws();
        let [fewest, most] =
            [counts.iter().min(), counts.iter().max()].map(|it| it.copied().unwrap_or(0));
        let kept = if fewest == most {
            format!("{} of every chain are kept", text::count(most, "draw"))
        } else {
            format!("{fewest} to {} of every chain are kept", text::count(most, "draw"))
        };
        let advice = format!("{kept}; continue with: posteria resume {}", path.display());
        let signal = interrupt.signal().unwrap_or_default();
        return Err(Failure::Interrupted { signal, advice });
    }
    let draws = run.draws_of_variables().running()?;
    let known = attained.filter(|(judged, _)| *judged == draws.draws);
    let of = (&draws, run.approximation());
    let known = (known.map(|(_, attained)| attained), until.goal);
    let report = FitReport::new(prepared, path, of, known, workers.threads);
    let report = report.after(run.extent().warmup, seconds).warmed_up(cut);
    Ok(report.stopped(until.goal, stopped))
}

/// A failure of the chains, with the way out if a device was lost.
fn with_device_advice(failure: Failure, prepared: &Prepared, path: &Path) -> Failure {
    match failure {
        Failure::Running(error) if prepared.posterior.device_failure().is_some() => {
            let run = path.display();
            Failure::Running(anyhow::anyhow!(
                "{error}; what was drawn before is kept: go on with posteria resume {run}, with --device cpu \
                 if the GPU does not come back"
            ))
        }
        other => other,
    }
}

/// Opens a run folder for reading.
pub fn open(path: &Path) -> Result<Run> {
    Run::open(path).map_err(store_failure)
}

/// The specification of the run in a folder.
pub fn spec_of(run: &Run) -> Result<Spec> {
    Spec::from_toml(run.spec())
        .with_context(|| format!("{}", run.path().join("spec.toml").display()))
        .bad_input()
}
