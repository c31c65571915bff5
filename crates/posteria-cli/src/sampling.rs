//! Run chains or a committee into a run folder, with progress, until done or a signal comes.

mod findings;
mod until;

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use posteria::approximate::Independent;
use posteria::data::Task;
use posteria::diagnose::{Mixing, divergences};
use posteria::draws::Draws;
use posteria::fit::{self, Attained, ChainMemory, FitError, Goal, Outcome, Recorder};
use posteria::model::spec::{InferenceChoice, Spec};
use posteria::sample::Plan;
use posteria_store::{
    Axis, NewRun, Pointwise, Run, RunFolder, RunWriter, StoreError, TrainingArrays, WriteOptions,
};
use serde::Serialize;

use self::findings::Findings;
use self::until::{Legs, attained, is_judged};
pub use self::until::{Stopped, Until};
use crate::approximation::{self, Found};
use crate::commands::Context;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::prepare::{Conditioned, Prepared};
use crate::text;
use crate::verdict::judged;
use crate::warning::Warning;

/// What a fit reports when it ends.
#[derive(Debug, Serialize)]
pub struct FitReport {
    run: String,
    model: &'static str,
    inference: &'static str,
    chains: usize,
    draws: usize,
    max_r_hat: f64,
    min_ess_bulk: f64,
    divergences: usize,
    accept_rate: f64,
    /// Sweeps of every chain.
    warmup: usize,
    /// What predictions depend on; none for draws that are not of chains.
    #[serde(skip_serializing_if = "Option::is_none")]
    predictions: Option<Predictions>,
    /// What was to be attained of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<Goal>,
    stopped: Stopped,
    seconds: f64,
    seed: u64,
    /// What an approximation found besides draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    approximation: Option<serde_json::Value>,
    #[serde(skip)]
    lines: String,
    #[serde(flatten)]
    findings: Findings,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

/// Begins a run folder for what was prepared and will be sampled by `plan`.
pub fn begin(
    (prepared, plan): (&Prepared, &Plan),
    found: Option<&Found<'_>>,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<RunWriter> {
    let spec = prepared.spec.to_toml().bad_input()?;
    let inference = prepared.spec.sampling.inference();
    let training = TrainingArrays::new(&prepared.data, &prepared.encoder);
    let rows = prepared.posterior.rows();
    let pointwise = (rows > 0 && plan.pointwise).then(|| Pointwise {
        name: training.observed.first().map_or("y", |array| &array.name).to_string(),
        rows: Axis::rows(rows),
    });
    let attributes = [
        ("model".to_string(), prepared.spec.model.kind.name().to_string()),
        ("seed".to_string(), prepared.spec.sampling.seed.to_string()),
        training.attribute,
    ];
    let run = NewRun {
        spec: &spec,
        layout: prepared.posterior.layout(),
        extent: plan.into(),
        pointwise: pointwise.as_ref(),
        observed: &training.observed,
        constant: &training.constant,
        attributes: &attributes,
        approximation: found.filter(|_| inference.is_approximation()).map(|found| &*found.json),
    };
    RunFolder::create(path, &run, options(interrupt)).map_err(store_failure)
}

/// How a run folder is written: until `interrupt` says stop.
pub fn options(interrupt: &Interrupt) -> WriteOptions {
    WriteOptions { cancel: interrupt.flag(), ..WriteOptions::default() }
}

/// How well chains have mixed where predictions depend on them: the worst, and each for itself.
#[derive(Debug, Clone, Copy, Serialize)]
struct Predictions {
    #[serde(flatten)]
    worst: Mixing,
    #[serde(flatten)]
    of: Attained,
}

/// Runs the chains of `plan` into `writer` until there is a reason to stop, draws from what was
/// `found` in their place if anything was, and reports on all draws of the folder.
pub fn sample(
    (prepared, found): (&Prepared, Option<&Found<'_>>),
    (plan, until): (&Plan, Until),
    (path, mut writer): (&Path, RunWriter),
    interrupt: &Interrupt,
    context: &Context,
) -> Result<FitReport> {
    let started = Instant::now();
    let (plan, attained, seen) = (plan.clone(), None, None);
    let mut legs = Legs { prepared, found, plan, until, interrupt, context, attained, seen };
    let stopped = legs.run(path, &mut writer);
    let seconds = started.elapsed().as_secs_f64();
    // What stopped the chains comes first: a full disk explains why they did not finish.
    writer.finish().running()?;
    let stopped = stopped?;
    let run = open(path)?;
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
    let known = legs.attained.filter(|(judged, _)| *judged == draws.draws);
    let of = (&draws, run.approximation());
    let report = FitReport::new(prepared, path, of, known.map(|(_, attained)| attained), context);
    let warmup = run.extent().warmup;
    Ok(FitReport { seconds, warmup, ..report.stopped(until.goal, stopped) })
}

/// Runs the chains of what was prepared, trains its committee, or draws from what was `found` in
/// place of chains or as their start. `recorder` sees all of it.
pub fn run_chains(
    (prepared, found): (&Prepared, Option<&Found<'_>>),
    plan: &Plan,
    memories: &[Option<ChainMemory>],
    threads: NonZero<usize>,
    recorder: &dyn Recorder,
) -> std::result::Result<Outcome, FitError> {
    let (seed, inference) = (prepared.spec.sampling.seed(), prepared.spec.sampling.inference());
    match (&prepared.posterior, found) {
        (Conditioned::Committee(posterior), _) => {
            let memory = memories[0].as_ref();
            fit::run_committee(posterior, plan.draws, seed, memory, threads, recorder)
        }
        (posterior, Some(Found { approximation: Some(start), .. }))
            if inference == InferenceChoice::Mcmc =>
        {
            let begun = fit::begin_with((&**posterior, &**start), plan, seed)?;
            let memory = |(own, begun): (&Option<ChainMemory>, _)| own.clone().or(Some(begun));
            let memories: Vec<_> = memories.iter().zip(begun).map(memory).collect();
            fit::run(&**posterior, plan, seed, &memories, threads, recorder)
        }
        (posterior, Some(Found { approximation: Some(approximation), .. })) => {
            let independent = Independent::new(&**posterior, &**approximation);
            fit::run(&independent, plan, seed, memories, threads, recorder)
        }
        (posterior, _) => fit::run(&**posterior, plan, seed, memories, threads, recorder),
    }
}

impl FitReport {
    /// Summarises the draws at `path`, beside what an approximation found, and what predictions by
    /// them have attained if that is `known` already.
    pub fn new(
        prepared: &Prepared,
        path: &Path,
        (draws, approximation): (&Draws, Option<&str>),
        known: Option<Attained>,
        context: &Context,
    ) -> Self {
        let inference = prepared.spec.sampling.inference();
        let summary = judged(draws, inference);
        let is_classes = prepared.data.task != Task::Regression;
        let found = Findings::new(&summary, &draws.layout, is_classes);
        let accepted: f64 =
            draws.statistics.iter().map(|statistic| statistic.acceptance_rate).sum();
        let of_data = prepared.cautions.iter().map(Warning::from);
        let of_draws = summary.cautions.iter().map(Warning::from);
        let of_approximation = approximation::warnings(approximation);
        let of_approximation = of_approximation.iter().map(|it| Warning::new("approximation", it));
        FitReport {
            run: path.display().to_string(),
            model: prepared.spec.model.kind.name(),
            inference: inference.name(),
            chains: draws.chains,
            draws: draws.draws,
            max_r_hat: summary.max_r_hat(),
            min_ess_bulk: summary.min_ess_bulk(),
            divergences: divergences(draws).iter().sum(),
            accept_rate: accepted / draws.statistics.len() as f64,
            warmup: prepared.plan.warmup_iterations(),
            predictions: is_judged(prepared).then(|| {
                let of = known.unwrap_or_else(|| attained(prepared, draws, context.threads));
                Predictions { worst: of.worst(), of }
            }),
            goal: None,
            stopped: Stopped::Asked,
            seconds: 0.0,
            seed: prepared.spec.sampling.seed,
            approximation: approximation.and_then(|json| serde_json::from_str(json).ok()),
            lines: match approximation::draws_words(inference, draws.draws * draws.chains) {
                Some(draws) => format!("{draws}\n{}", approximation::words(approximation)),
                None => String::new(),
            },
            findings: match inference {
                // Single draws of such weights fit far worse than what predicts.
                InferenceChoice::Laplace | InferenceChoice::Variational => found.without_errors(),
                _ => found,
            },
            warnings: of_data.chain(of_approximation).chain(of_draws).collect(),
        }
    }

    /// The same, of chains that warmed up for so many sweeps.
    #[must_use]
    pub fn warmed_up(self, warmup: usize) -> Self {
        FitReport { warmup, ..self }
    }

    /// Whether predictions have what is enough.
    pub fn meets(&self, goal: &Goal) -> bool {
        self.predictions.is_some_and(|predictions| goal.is_met_by(&predictions.worst))
    }

    /// The same, of chains that stopped for this reason on their way to this goal.
    #[must_use]
    pub fn stopped(mut self, goal: Option<Goal>, stopped: Stopped) -> Self {
        (self.goal, self.stopped) = (goal, stopped);
        if let (Some(goal), Some(predictions)) = (goal, &self.predictions)
            && !goal.is_met_by(&predictions.worst)
        {
            let run = text::printable(&self.run);
            let (code, reason, cure) = match stopped {
                Stopped::Time => (
                    "not-enough",
                    "time ran out before the predictions had enough draws",
                    format!("go on with posteria resume {run}"),
                ),
                Stopped::Apart => (
                    "chains-apart",
                    "each chain keeps to a mode of its own, so that predictions are averages over \
                     so many modes",
                    format!("fit with more chains (--chains {})", 4 * self.chains),
                ),
                _ => (
                    "not-enough",
                    "the predictions have not enough draws, and the most that were allowed",
                    format!("go on with posteria resume {run} --ess {} --draws N", goal.ess),
                ),
            };
            let words = format!("{reason}: {}; {cure}", predictions.words(Some(&goal)));
            self.warnings.push(Warning::new(code, &words));
        }
        self
    }

    /// Tells what to be careful about.
    pub fn warn(&self, context: &Context) {
        self.warnings.iter().for_each(|warning| context.warn(warning.clone()));
    }

    /// Prints the report.
    pub fn print(&self, context: &Context) -> Result<()> {
        self.warn(context);
        context.result(self, || {
            if context.output.quiet {
                return String::new();
            }
            let time = text::duration(self.seconds);
            let run = text::printable(&self.run);
            if self.inference == "committee" {
                let members = text::committee(self.draws);
                return format!("{run}: {members} in {time}, seed {}\n", self.seed);
            }
            if let Some((draws, found)) = self.lines.split_once('\n') {
                let findings = self.findings.render();
                return format!("{run}: {draws} in {time}, seed {}\n{found}{findings}", self.seed);
            }
            let diverged = match self.divergences {
                0 => "no divergences".into(),
                count => text::count(count, "divergence"),
            };
            format!(
                "{run}: {} of {} after {} of warm-up in {time}, seed {}\nlargest R-hat {}, at least {} effective draws, \
                 {diverged}, acceptance {:.2}\n{}{}",
                text::count(self.chains, "chain"),
                text::count(self.draws, "draw"),
                text::count(self.warmup, "sweep"),
                self.seed,
                text::fixed(self.max_r_hat, 3),
                text::fixed(self.min_ess_bulk, 0),
                self.accept_rate,
                self.stopped_words(),
                self.findings.render(),
            )
        })
    }

    /// Why the chains stopped, and how many effective draws of the predictions there are.
    fn stopped_words(&self) -> String {
        let Some(predictions) = &self.predictions else { return String::new() };
        let stopped = match self.stopped {
            Stopped::Enough => ", which is enough",
            Stopped::MostDraws => ", which is not enough; no more were allowed",
            Stopped::Apart => "; more draws of these chains would not bring them together",
            Stopped::Time => "; time ran out",
            Stopped::Asked | Stopped::Interrupted => "",
        };
        format!("predictions: {}{stopped}\n", predictions.words(None))
    }
}

impl Predictions {
    /// In words, beside what was wanted.
    fn words(&self, goal: Option<&Goal>) -> String {
        let wanted = |number: String| match goal {
            Some(_) => format!(" ({number} wanted)"),
            None => String::new(),
        };
        let r_hat = goal.map_or(String::new(), |goal| wanted(format!("{}", goal.r_hat)));
        let ess = goal.map_or(String::new(), |goal| wanted(format!("{}", goal.ess)));
        // Two decimals tell all that matters: a tenth is invisible in a prediction.
        let agree = self.of.agreement.map_or(String::new(), |error| {
            format!("means known to {} standard deviations of f, ", text::fixed(error, 2))
        });
        format!(
            "{agree}R-hat {}{r_hat}, {} effective draws{ess}",
            text::fixed(self.worst.r_hat, 3),
            text::fixed(self.worst.ess(), 0)
        )
    }
}

/// Opens a run folder for reading.
pub fn open(path: &Path) -> Result<Run> {
    Run::open(path).map_err(store_failure)
}

/// The specification of the run in a folder.
pub fn spec_of((path, run): (&Path, &Run)) -> Result<Spec> {
    Spec::from_toml(run.spec())
        .with_context(|| format!("{}", path.join("spec.toml").display()))
        .bad_input()
}

/// An error about a run folder that was given: bad input, unless the system itself failed.
pub fn store_failure(error: StoreError) -> Failure {
    use io::ErrorKind::{
        IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    let given = match &error {
        StoreError::Io { source, .. } => matches!(
            source.kind(),
            IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem
        ),
        _ => true,
    };
    if given { Failure::BadInput(error.into()) } else { Failure::Running(error.into()) }
}
