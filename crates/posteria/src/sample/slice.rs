//! Sample uniformly under the density, one coordinate at a time.

use super::kernel::value_at;
use super::memory::{ForeignMemory, MemoryReader};
use super::{Adapt, Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// Steps out taken at most by [`Slice`] unless told otherwise.
const MAX_STEPS_OUT: usize = 100;

/// Gain of the width's recursion, t^-0.6: the first slice sets the width, later ones average.
const GAIN_POWER: f64 = -0.6;

/// Two uniform points of an interval of length 1 are e^-1.5 apart in geometric mean, since
/// ∫ 2 (1 - t) log t dt = -1.5: what turns the log of a jump into that of its slice.
const LOG_SLICE_PER_JUMP: f64 = 1.5;

/// Where one slice step went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceStep {
    /// The new value.
    pub value: f64,
    /// The log density there, as given by the caller's function.
    pub log_density: f64,
    /// How often the log density was evaluated.
    pub evaluations: u32,
}

/// One slice step of a scalar with unnormalised log density `log_density`, from `current`:
/// a level is drawn under the density, an interval of length `width` about `current` is
/// stepped out at most `max_steps_out` times in all until its ends are below the level, and
/// points drawn from it shrink it until one is above [Neal 2003, figs. 3 and 5]. Leaves the
/// density invariant for any `width`; allocates nothing.
///
/// A log density of -∞, +∞ or NaN counts as outside the support. If `current` itself is
/// outside, it is returned unchanged.
///
/// # Panics
/// If `width` is not positive and finite.
pub fn slice_sample(
    current: f64,
    mut log_density: impl FnMut(f64) -> f64,
    width: f64,
    max_steps_out: usize,
    stream: &mut Stream,
) -> SliceStep {
    let start = log_density(current);
    let step = slice_from(current, start, log_density, width, max_steps_out, stream);
    SliceStep { evaluations: step.evaluations + 1, ..step }
}

/// As [`slice_sample`], with the log density at `current` known.
fn slice_from(
    current: f64,
    start: f64,
    mut log_density: impl FnMut(f64) -> f64,
    width: f64,
    max_steps_out: usize,
    stream: &mut Stream,
) -> SliceStep {
    assert!(width > 0.0 && width.is_finite(), "a slice width must be positive, got {width}");
    let mut step = SliceStep { value: current, log_density: start, evaluations: 0 };
    if !start.is_finite() {
        return step;
    }
    let level = start - stream.exponential();
    let mut above = |value: f64| {
        step.evaluations += 1;
        let density = log_density(value);
        (density >= level && density < f64::INFINITY).then_some(density)
    };
    let mut lower = current - width * stream.uniform();
    let mut upper = lower + width;
    // The steps are divided at random between the two sides, so that the interval could have
    // arisen from any of its points with equal probability.
    let mut down = stream.index(max_steps_out + 1);
    let mut up = max_steps_out - down;
    while down > 0 && above(lower).is_some() {
        lower -= width;
        down -= 1;
    }
    while up > 0 && above(upper).is_some() {
        upper += width;
        up -= 1;
    }
    let found = loop {
        let candidate = lower + stream.uniform() * (upper - lower);
        if candidate.to_bits() == current.to_bits() {
            // Shrunk down to the present value: it is above the level by construction.
            break (current, start);
        }
        if let Some(density) = above(candidate) {
            break (candidate, density);
        }
        if candidate < current {
            lower = candidate;
        } else {
            upper = candidate;
        }
    };
    (step.value, step.log_density) = found;
    step
}

/// The order in which [`Slice`] visits the coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// First to last.
    #[default]
    InOrder,
    /// A new random order at every step.
    Shuffled,
}

/// Slice sampling of every coordinate in turn, with a width of its own each.
///
/// In stages that adapt, the widths approach the length of the slices, as judged from the
/// jumps made; outside them they are fixed. Needs no gradient and no tuning of an acceptance.
#[derive(Clone, Debug)]
pub struct Slice {
    widths: Vec<f64>,
    max_steps_out: usize,
    scan: Scan,
    adapt: Adapt,
    /// Steps of the recursion since the stage began.
    tuned: f64,
    order: Vec<usize>,
}

impl Slice {
    /// Starts with these widths, one per coordinate.
    ///
    /// # Panics
    /// If a width is not positive and finite.
    pub fn new(widths: &[f64]) -> Self {
        assert!(
            widths.iter().all(|width| *width > 0.0 && width.is_finite()),
            "widths must be positive and finite, got {widths:?}"
        );
        Slice {
            widths: widths.to_vec(),
            max_steps_out: MAX_STEPS_OUT,
            scan: Scan::InOrder,
            adapt: Adapt::Nothing,
            tuned: 0.0,
            order: (0..widths.len()).collect(),
        }
    }

    /// Limits the steps out of one interval (100 unless told).
    #[must_use]
    pub fn max_steps_out(mut self, max_steps_out: usize) -> Self {
        self.max_steps_out = max_steps_out;
        self
    }

    /// Visits the coordinates in this order.
    #[must_use]
    pub fn scan(mut self, scan: Scan) -> Self {
        self.scan = scan;
        self
    }

    /// The widths as they stand.
    pub fn widths(&self) -> &[f64] {
        &self.widths
    }
}

impl Kernel for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn needs_gradient(&self) -> bool {
        false
    }

    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        let mut step = Step::default();
        if self.scan == Scan::Shuffled {
            // From the same order every time, so that the order need not be remembered.
            self.order.iter_mut().enumerate().for_each(|(i, coordinate)| *coordinate = i);
            stream.shuffle(&mut self.order);
        }
        self.tuned += f64::from(u8::from(self.adapt != Adapt::Nothing));
        for &coordinate in &self.order {
            let current = point.position[coordinate];
            let position = &mut point.position;
            let infeasible = &mut step.infeasible;
            let density = |value: f64| {
                position[coordinate] = value;
                value_at(target, position).unwrap_or_else(|reason| {
                    *infeasible = Some(reason);
                    f64::NEG_INFINITY
                })
            };
            let width = self.widths[coordinate];
            let found =
                slice_from(current, point.log_density, density, width, self.max_steps_out, stream);
            point.position[coordinate] = found.value;
            point.log_density = found.log_density;
            step.evaluations += found.evaluations;
            let jump = (found.value - current).abs();
            if self.adapt != Adapt::Nothing && jump > 0.0 {
                let gain = self.tuned.powf(GAIN_POWER);
                let width = width * (gain * ((jump / width).ln() + LOG_SLICE_PER_JUMP)).exp();
                if width > 0.0 && width.is_finite() {
                    self.widths[coordinate] = width;
                }
            }
        }
        point.gradient.fill(f64::NAN);
        step.energy = -point.log_density;
        step
    }

    fn enter(&mut self, stage: &Stage) {
        self.adapt = stage.adapt;
        self.tuned = 0.0;
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.tuned];
        memory.extend(&self.widths);
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new("slice", memory);
        self.tuned = memory.number()?;
        memory.fill(&mut self.widths)?;
        memory.finish()
    }
}
