//! Tell what a fit has given, and what to be careful about.

use std::num::NonZero;
use std::path::Path;

use posteria::caution::{Caution, shell_word};
use posteria::diagnose::{Mixing, divergences};
use posteria::draws::Draws;
use posteria::fit::{Attained, Goal, Inclusion, Prepared, Stopped, judged_summary};
use posteria::model::spec::{InferenceChoice, ModelKind};
use serde::Serialize;

use super::findings::Findings;
use crate::advice::Advice;
use crate::approximation;
use crate::device::RunDevice;
use crate::text;
use crate::warning::{Warning, Warnings};

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
    /// What computed the model, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<RunDevice>,
    /// What an approximation found besides draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    approximation: Option<serde_json::Value>,
    #[serde(skip)]
    lines: String,
    #[serde(flatten)]
    findings: Findings,
    /// Why the chains have not drawn enough; none if they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip)]
    advice: Option<Advice>,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

/// How well chains have mixed where predictions depend on them: the worst, and each for itself.
#[derive(Debug, Clone, Copy, Serialize)]
struct Predictions {
    #[serde(flatten)]
    worst: Mixing,
    #[serde(flatten)]
    of: Attained,
}

impl FitReport {
    /// Summarises the draws at `path`, beside what an approximation found, what predictions by
    /// them have attained if that is `known` already, and what was to be attained.
    pub fn new(
        prepared: &Prepared,
        path: &Path,
        (draws, approximation): (&Draws, Option<&str>),
        (known, goal): (Option<Attained>, Option<Goal>),
        threads: NonZero<usize>,
    ) -> Self {
        let (inference, kind) = (prepared.spec.sampling.inference(), prepared.spec.model.kind);
        let mut summary = judged_summary(draws, inference);
        if inference == InferenceChoice::Committee {
            // Members are told of by their training; nothing is found in single ones.
            summary.variables.clear();
        }
        let is_classes = prepared.data.task.is_of_classes();
        let found = Findings::new(&summary, &draws.layout, is_classes);
        let accepted: f64 =
            draws.statistics.iter().map(|statistic| statistic.acceptance_rate).sum();
        let of_data = prepared.cautions.iter().map(Warning::from);
        let predictions = prepared.is_judged().then(|| {
            let of = known.unwrap_or_else(|| prepared.attained(draws, threads));
            Predictions { worst: of.worst(), of }
        });
        let is_short = |it: &Predictions| goal.is_some_and(|goal| !it.of.meets(&goal));
        let is_doubted =
            |it: &Predictions| is_short(it) || summary.cautions.iter().any(Caution::is_of_chains);
        let advice = predictions
            .as_ref()
            .filter(|it| is_doubted(it))
            .map(|_| Advice::new(path, (prepared, draws), goal, threads));
        let of_draws = match &advice {
            Some(advice) => advice.warnings(&summary.cautions),
            None => summary.cautions.iter().map(Warning::from).collect(),
        };
        let of_classes = advice.as_ref().and_then(|it| it.separated(&summary.cautions));
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
            predictions,
            goal: None,
            stopped: Stopped::Asked,
            seconds: 0.0,
            seed: prepared.spec.sampling.seed,
            device: RunDevice::of(prepared),
            approximation: approximation.and_then(approximation::json),
            lines: match approximation::draws_words(inference, kind, draws.draws * draws.chains) {
                Some(draws) => format!("{draws}\n{}", approximation::words(approximation)),
                None => String::new(),
            },
            findings: match inference {
                // Single draws of such weights fit far worse than what predicts.
                InferenceChoice::Laplace | InferenceChoice::Variational
                    if kind != ModelKind::Gp =>
                {
                    found.without_errors()
                }
                _ => found,
            },
            warnings: of_data.chain(of_approximation).chain(of_classes).chain(of_draws).collect(),
            cause: advice.as_ref().and_then(|it| it.cause()),
            advice,
        }
    }

    /// The same, of chains that warmed up for so many sweeps, and of a command that took so long.
    #[must_use]
    pub fn after(self, warmup: usize, seconds: f64) -> Self {
        FitReport { warmup, seconds, ..self }
    }

    /// The same, of chains whose warm-up was cut for want of time, of so many sweeps if it was.
    #[must_use]
    pub fn warmed_up(mut self, cut: Option<usize>) -> Self {
        if let Some(planned) = cut.filter(|planned| *planned > self.warmup) {
            let words = format!(
                "there was no time for all of the warm-up, {} of at most {planned}: the chains may not \
                 yet be where they belong; fit again with more --time",
                text::count(self.warmup, "sweep"),
            );
            self.warnings.push(Warning::new("warmup-cut", &words));
        }
        self
    }

    /// Whether predictions have what is enough.
    pub fn meets(&self, goal: &Goal) -> bool {
        self.predictions.is_some_and(|predictions| predictions.of.meets(goal))
    }

    /// The same, of chains that stopped for this reason on their way to this goal.
    #[must_use]
    pub fn stopped(mut self, goal: Option<Goal>, stopped: Stopped) -> Self {
        (self.goal, self.stopped) = (goal, stopped);
        if let (Some(goal), Some(predictions)) = (goal, &self.predictions)
            && !predictions.of.meets(&goal)
        {
            let run = shell_word(&self.run);
            let advised = self.advice.as_ref().and_then(Advice::of_cause);
            let (code, reason, cure) = match stopped {
                Stopped::Time => (
                    "not-enough",
                    "time ran out before the predictions had enough draws",
                    advised.unwrap_or_else(|| format!("go on with posteria resume {run}")),
                ),
                Stopped::Apart => (
                    "chains-apart",
                    "each chain keeps to its mode or leaves it too slowly, so that predictions are \
                     averages over about as many modes as chains",
                    self.advice.as_ref().map(Advice::of_modes).unwrap_or_default(),
                ),
                _ => (
                    "not-enough",
                    "the predictions have not enough draws, and the most that were allowed",
                    advised.unwrap_or_else(|| {
                        let draws = 4 * self.draws;
                        format!(
                            "go on with posteria resume {run} --ess {} --draws {draws}",
                            goal.ess
                        )
                    }),
                ),
            };
            let words = format!("{reason}: {}; {cure}", predictions.words(Some(&goal)));
            self.warnings.push(Warning::new(code, &words));
        }
        self
    }

    /// Tells what to be careful about.
    pub fn warn(&self, warnings: &Warnings) {
        self.warnings.iter().for_each(|warning| warnings.push(warning.clone()));
    }

    /// The report as text.
    pub fn render(&self) -> String {
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
            text::fixed((self.max_r_hat * 1e3).ceil() / 1e3, 3),
            text::fixed(self.min_ess_bulk.floor(), 0),
            self.accept_rate,
            self.stopped_words(),
            self.findings.render(),
        )
    }

    /// Why the chains stopped, and how many effective draws of the predictions there are.
    fn stopped_words(&self) -> String {
        let Some(predictions) = &self.predictions else { return String::new() };
        let stopped = match self.stopped {
            Stopped::Enough => ", which is enough",
            Stopped::MostDraws => ", which is not enough; no more were allowed",
            Stopped::Apart => "; it would take far more draws to bring these chains together",
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
        let inputs = self.of.inclusion.map_or(String::new(), |it| {
            let error = goal.map_or(String::new(), |goal| {
                wanted(text::significant(Inclusion::wanted(goal), 2))
            });
            format!("; probabilities of inputs known to {}{error}", text::significant(it.error, 2))
        });
        format!(
            "{agree}R-hat {}{r_hat}, {} effective draws{ess}{inputs}",
            // What falls short by a little does not read as if it did not.
            text::fixed((self.worst.r_hat * 1e3).ceil() / 1e3, 3),
            text::fixed(self.worst.ess().floor(), 0)
        )
    }
}
