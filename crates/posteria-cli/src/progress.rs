//! Show on stderr how far the chains are.

mod jobs;
mod tally;

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use posteria::diagnose::RHatMonitor;
use posteria::draws::{Layout, Role};
use posteria::fit::{Attained, Chain, Goal, Recorder, Report};
use posteria::sample::Plan;

pub use self::jobs::{JobProgress, Watched, Watcher};
use self::tally::Tally;
use crate::output::{Output, stderr_is_terminal};
use crate::text;

/// How often bars are redrawn.
const REDRAW: Duration = Duration::from_millis(100);
/// How often R-hat is computed, unless that takes long.
const JUDGE: Duration = Duration::from_secs(1);
/// Computing R-hat may take this part of the time.
const JUDGING_SHARE: u32 = 20;
/// How often a line is printed when stderr is not a terminal.
const LINE: Duration = Duration::from_secs(10);

/// Hands every sweep to another recorder and shows progress.
pub struct Progress<'a> {
    kept_by: &'a dyn Recorder,
    tally: Tally,
    draws: Mutex<RHatMonitor>,
    display: Display,
    clock: Mutex<Clock>,
    /// Whether R-hat is shown.
    judged: bool,
    /// What is enough, and what there was after so many draws per chain.
    goal: Option<(Goal, usize, Attained)>,
    /// Sweeps of other chains that follow.
    followed_by: usize,
}

enum Display {
    Nothing,
    Lines(Output),
    Bars { all: MultiProgress, chains: Vec<ProgressBar>, status: ProgressBar },
}

/// What was seen of chains before they paused.
pub struct Seen {
    clock: Clock,
    draws: RHatMonitor,
}

/// Since when chains run, and when it was shown how far they are.
struct Clock {
    started: Instant,
    shown: Instant,
    judge: Instant,
    r_hat: f64,
    /// Sweeps that all chains had done when it started.
    begun: usize,
}

impl<'a> Progress<'a> {
    /// Progress of `plan` whose chains have already done `begun` sweeps each.
    pub fn new(
        kept_by: &'a dyn Recorder,
        output: Output,
        plan: &Plan,
        layout: &Layout,
        begun: &[usize],
    ) -> Self {
        let display = if output.quiet {
            Display::Nothing
        } else if stderr_is_terminal() {
            Display::bars(plan, begun)
        } else {
            Display::Lines(output)
        };
        let now = Instant::now();
        let (judge, r_hat, begun_all) = (now + JUDGE, f64::NAN, begun.iter().sum());
        let clock = Clock { started: now, shown: now, judge, r_hat, begun: begun_all };
        Progress {
            kept_by,
            tally: Tally::new(plan, begun, layout.of_role(Role::TestError).map(|v| v.offset)),
            draws: Mutex::new(RHatMonitor::new(plan.chains, layout)),
            display,
            clock: Mutex::new(clock),
            judged: true,
            goal: None,
            followed_by: 0,
        }
    }

    /// Shows also how long about so many sweeps of other chains will take that follow.
    pub fn followed_by(self, sweeps: usize) -> Self {
        Progress { followed_by: sweeps, ..self }
    }

    /// Goes on with what was seen before these chains paused.
    pub fn since(mut self, seen: Option<Seen>) -> Self {
        if let Some(Seen { clock, draws }) = seen {
            self.tally = self.tally.since(clock.begun);
            self.clock = Mutex::new(clock);
            self.draws = Mutex::new(draws);
        }
        self
    }

    /// Shows how many effective draws there are of those that are enough, at the rate of those that
    /// there were after so many draws per chain.
    pub fn towards(mut self, goal: Option<Goal>, attained: Option<(usize, Attained)>) -> Self {
        self.goal = goal.zip(attained).map(|(goal, (draws, attained))| (goal, draws, attained));
        self
    }

    /// Shows members of a committee in the place of a chain: without R-hat, which says nothing
    /// about them, and without acceptance, since nothing is proposed.
    pub fn of_members(mut self) -> Self {
        self.judged = false;
        self.tally = self.tally.of_members();
        if let Display::Bars { chains, .. } = &self.display {
            chains.iter().for_each(|bar| bar.set_prefix("members"));
        }
        self
    }

    /// Removes the bars. Gives what [`Progress::since`] needs.
    pub fn finish(self) -> Seen {
        if let Display::Bars { all, .. } = &self.display {
            // Nothing depends on the terminal being tidy.
            let _ = all.clear();
        }
        let clock = self.clock.into_inner().expect("no chain panicked");
        Seen { clock, draws: self.draws.into_inner().expect("no chain panicked") }
    }

    fn show(&self) {
        let interval = match self.display {
            Display::Nothing => return,
            Display::Lines(_) => LINE,
            Display::Bars { .. } => REDRAW,
        };
        // Another chain that is showing right now does the work for this one too.
        let Ok(mut clock) = self.clock.try_lock() else { return };
        let now = Instant::now();
        if now - clock.shown < interval {
            return;
        }
        clock.shown = now;
        if self.judged && now >= clock.judge {
            // A copy, so that the chains need not wait.
            let draws = self.draws.lock().expect("no chain panicked").clone();
            clock.r_hat = draws.max_r_hat().map_or(f64::NAN, |largest| largest.r_hat);
            let rest = JUDGE.max(now.elapsed() * JUDGING_SHARE);
            clock.judge = Instant::now() + rest;
        }
        let effective = self.goal.map(|(goal, draws, attained)| {
            let per_draw = attained.ess() / draws as f64;
            (per_draw * self.tally.draws() as f64, goal.ess)
        });
        let elapsed = now - clock.started;
        let mut status = self.tally.status(elapsed, clock.r_hat, effective);
        let following = self.tally.seconds_of(self.followed_by, elapsed);
        if following > 0.0 {
            status.push_str(&format!(", then about {}", text::duration(following)));
        }
        match &self.display {
            Display::Nothing => {}
            Display::Lines(output) => output.message(&status),
            Display::Bars { chains, status: line, .. } => {
                for (index, bar) in chains.iter().enumerate() {
                    let chain = self.tally.chain(index);
                    bar.set_position(chain.iteration as u64);
                    bar.set_message(chain.words());
                }
                line.set_message(status);
            }
        }
    }
}

impl Recorder for Progress<'_> {
    fn goes_on(&self, sweeps: usize) -> bool {
        self.kept_by.goes_on(sweeps)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        if !matches!(self.display, Display::Nothing) {
            self.tally.add(report);
            if let Some(kept) = report.kept {
                let mut draws = self.draws.lock().expect("no chain panicked");
                draws.push(report.chain, kept.draw);
            }
            self.show();
        }
        self.kept_by.after_sweep(report, chain)
    }
}

impl Display {
    fn bars(plan: &Plan, begun: &[usize]) -> Self {
        /// Chains that get a bar of their own.
        const BARS: usize = 16;
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix:<9} {bar:24} {pos:>7}/{len}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let chains = (0..plan.chains.min(BARS))
            .map(|index| {
                let bar = ProgressBar::new(plan.iterations() as u64)
                    .with_style(style.clone())
                    .with_prefix(format!("chain {}", index + 1))
                    .with_position(begun[index] as u64);
                all.add(bar)
            })
            .collect();
        let style = ProgressStyle::with_template("{msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let status = all.add(ProgressBar::new_spinner().with_style(style));
        Display::Bars { all, chains, status }
    }
}

impl Tally {
    /// One line about all chains; `effective` are the effective draws so far and those wanted.
    fn status(&self, elapsed: Duration, r_hat: f64, effective: Option<(f64, f64)>) -> String {
        let mut parts = vec![format!("{:.0} %", 100.0 * self.fraction())];
        let total = self.total();
        if total.divergences > 0 {
            parts.push(text::count(total.divergences, "divergence"));
        }
        if total.acceptance.is_finite() {
            parts.push(format!("accept {:.2}", total.acceptance));
        }
        if r_hat.is_finite() {
            parts.push(format!("R-hat {r_hat:.3}"));
        }
        if let Some((ess, wanted)) = effective.filter(|(ess, _)| ess.is_finite()) {
            parts.push(format!("about {ess:.0} of {wanted:.0} effective draws"));
        }
        if total.mean_test_error().is_finite() {
            parts.push(format!("test error {}", text::significant(total.mean_test_error(), 3)));
        }
        let left = self.seconds_left(elapsed);
        if left.is_finite() {
            parts.push(format!("{} left", text::duration(left)));
        }
        parts.join(" · ")
    }
}
