//! Train an emulator on values that chains share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use posteria_linalg::Cholesky;

use super::AtMode;
use super::emulator::{Emulator, Room};
use super::kernel::value_at;
use super::moments::Moments;
use super::surrogate::{Reach, transit};
use crate::density::draw_by_log_weights;
use crate::random::{Purpose, Seed, Stream};
use crate::target::LogDensity;

/// Points of the first round, draws of the Student-t distributions about the modes.
const FIRST: usize = 100;
/// Points of every later round, draws of the emulator so far.
const NEXT: usize = 50;
/// Most rounds.
const ROUNDS: usize = 13;
/// Draws of an emulated density by which its moments are known, …
const DRAWS: usize = 300;
/// … with so many steps per coordinate between them, …
const BETWEEN: Reach = Reach::Long(12);
/// … and from a known place to one where the next value is found.
const AFAR: Reach = Reach::Long(36);
/// Acceptance beyond which another round would gain little.
const ENOUGH: f64 = 0.86;

/// The training of an emulator, in rounds: values at draws of the emulator so far say how good it is
/// there, and teach the next. The values of a round are shared out among the chains that come by,
/// and what results is the same whoever finds them.
#[derive(Debug)]
pub(super) struct Emulation {
    rounds: Vec<Round>,
    best: OnceLock<Option<Arc<Emulator>>>,
}

#[derive(Debug)]
struct Round {
    /// The emulator so far, and where to find values.
    begin: OnceLock<(Option<Emulator>, Vec<Vec<f64>>)>,
    next: AtomicUsize,
    values: Vec<OnceLock<f64>>,
}

impl Round {
    fn new(points: usize) -> Self {
        let values = (0..points).map(|_| OnceLock::new()).collect();
        Round { begin: OnceLock::new(), next: AtomicUsize::new(0), values }
    }

    /// The log density at points; -∞ where it cannot be used.
    fn values(&self, target: &mut dyn LogDensity, points: &[Vec<f64>]) -> Vec<f64> {
        let mut value = |index: usize| {
            let of = || value_at(target, &points[index]).unwrap_or(f64::NEG_INFINITY);
            *self.values[index].get_or_init(of)
        };
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= points.len() {
                break;
            }
            value(index);
        }
        // Those that others have taken are waited for.
        (0..points.len()).map(value).collect()
    }
}

impl Emulation {
    pub(super) fn new() -> Self {
        let points = |round: usize| if round == 0 { FIRST } else { NEXT };
        let rounds = (0..ROUNDS).map(|round| Round::new(points(round))).collect();
        Emulation { rounds, best: OnceLock::new() }
    }

    /// The best emulator of `target`, which has these modes; `None` if there is none.
    pub(super) fn emulator(
        &self,
        target: &mut dyn LogDensity,
        modes: &[AtMode],
    ) -> Option<&Arc<Emulator>> {
        if let Some(best) = self.best.get() {
            return best.as_ref();
        }
        let mut best: Option<Emulator> = None;
        let mut known: Vec<(Vec<f64>, f64)> = Vec::new();
        for (index, round) in self.rounds.iter().enumerate() {
            let begin = || {
                let mut stream = Seed(0).stream(Purpose::Start, [index as u64, u64::MAX - 1]);
                begin(modes, &known, round.values.len(), &mut stream)
            };
            let (emulator, points) = round.begin.get_or_init(begin);
            let values = round.values(target, points);
            if let Some(emulator) = emulator {
                let emulator = emulator.clone().accepted(acceptance(emulator, points, &values));
                if best.as_ref().is_none_or(|best| emulator.acceptance() > best.acceptance()) {
                    best = Some(emulator);
                }
            }
            if best.as_ref().is_some_and(|best| best.acceptance() > ENOUGH) {
                break;
            }
            known.extend(points.iter().cloned().zip(values));
        }
        self.best.get_or_init(|| best.map(Arc::new)).as_ref()
    }
}

/// The emulator given what is known, and draws of it; those of its Student-t distributions before
/// anything is.
fn begin(
    modes: &[AtMode],
    known: &[(Vec<f64>, f64)],
    count: usize,
    stream: &mut Stream,
) -> (Option<Emulator>, Vec<Vec<f64>>) {
    let Some(first) = modes.first() else { return (None, Vec::new()) };
    let at_mode = [(first.mode.clone(), first.log_density)];
    let is_first = known.is_empty();
    let Some(mut emulator) = Emulator::fit(modes, if is_first { &at_mode } else { known }) else {
        return (None, Vec::new());
    };
    if !is_first
        && modes.len() == 1
        && let Some(about) = about_mean(&emulator, known, stream)
        && let Some(better) = Emulator::fit(&[about], known)
    {
        emulator = better;
    }
    let mut room = Room::default();
    let mut trial = Vec::new();
    let mut draw = || {
        let mut position = vec![0.0; emulator.dim()];
        if is_first {
            emulator.guess(&mut position, stream);
            return position;
        }
        let mut log_weights: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        let chosen = draw_by_log_weights(&mut log_weights, stream).unwrap_or(0);
        position.copy_from_slice(&known[chosen].0);
        transit(&emulator, AFAR, (&mut position, &mut trial), &mut room, stream);
        position
    };
    let points = (0..count).map(|_| draw()).collect();
    ((!is_first).then_some(emulator), points)
}

/// The mean of min(1, w_j / w_i) over pairs of draws of an emulated density, w = π/s: how often
/// chains on the target would accept another draw of it.
fn acceptance(emulator: &Emulator, points: &[Vec<f64>], values: &[f64]) -> f64 {
    let mut room = Room::default();
    let weigh = |(point, value): (&Vec<f64>, &f64)| value - emulator.at(point, &mut room).value;
    let weights: Vec<f64> = points.iter().zip(values).map(weigh).collect();
    let from = weights.iter().filter(|weight| weight.is_finite());
    let ratios = from.flat_map(|from| weights.iter().map(move |to| (to - from).min(0.0).exp()));
    let (count, sum) = ratios.fold((0.0, 0.0), |(count, sum), ratio| (count + 1.0, sum + ratio));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The normal distribution with the moments of an emulated density, which has only one mode: tails
/// that reach farther to one side than the curvature at the mode says are within it.
fn about_mean(
    emulator: &Emulator,
    known: &[(Vec<f64>, f64)],
    stream: &mut Stream,
) -> Option<AtMode> {
    let (mut room, mut trial) = (Room::default(), Vec::new());
    let best = known.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut position = best.0.clone();
    let mut moments = Moments::new(position.len());
    let mut draws = Vec::new();
    for _ in 0..DRAWS {
        transit(emulator, BETWEEN, (&mut position, &mut trial), &mut room, stream);
        moments.add(&position, true);
        draws.push((position.clone(), emulator.at(&position, &mut room).value));
    }
    let covariance = moments.covariance()?;
    let factor = Cholesky::new(&covariance).ok()?;
    let mode = moments.mean().to_vec();
    let mut about = AtMode { mode, covariance, factor, log_density: 0.0 };
    let level = |(draw, value): &(Vec<f64>, f64)| value + 0.5 * about.squared_distance(draw);
    about.log_density = draws.iter().map(level).sum::<f64>() / draws.len() as f64;
    Some(about)
}
