//! Walk along given directions, each with a width of its own tuned in warm-up.

use super::kernel::value_at;
use super::memory::{ForeignMemory, MemoryReader};
use super::{Adapt, Kernel, Stage, Step};
use crate::random::Stream;
use crate::target::{LogDensity, Point};

/// A direction: the coordinates that move, each with its coefficient.
pub type Direction = Vec<(usize, f64)>;

/// The acceptance that the widths are tuned to.
const TARGET_ACCEPTANCE: f64 = 0.4;
/// Share of the proposals that are wider, which cross between separated regions.
const WIDE_SHARE: f64 = 0.2;
/// How many times wider they are.
const WIDE_FACTOR: f64 = 4.0;
/// The gain of the recursion falls as t^-0.6 [Andrieu & Thoms 2008 §4.2].
const GAIN_POWER: f64 = -0.6;

/// Random-walk Metropolis along one direction after the other: x' = x + w z d with z ~ N(0, 1),
/// w the width of direction d, for a fifth of the proposals four times as wide.
///
/// For few directions in which a density of many coordinates is known to be long (a scale
/// hyperparameter, say, or two that compensate each other). In stages that adapt, every width
/// follows a Robbins–Monro recursion towards an acceptance of 0.4; outside them nothing
/// changes. One evaluation of the value per proposal, no gradient.
#[derive(Clone, Debug)]
pub struct DirectionWalk {
    directions: Vec<Direction>,
    widths: Vec<f64>,
    /// Steps of the recursion so far, per direction.
    tuned: Vec<f64>,
    repeats: usize,
    adapt: Adapt,
    /// Where the coordinates of a direction were before the proposal.
    before: Vec<f64>,
}

impl DirectionWalk {
    /// A walk along `directions` that begins with widths of `width` (standard deviations).
    ///
    /// # Panics
    /// If there is no direction, one is empty or has a coefficient that is zero or not finite,
    /// or the width is not positive and finite.
    pub fn new(directions: Vec<Direction>, width: f64) -> Self {
        assert!(!directions.is_empty(), "a walk needs at least one direction");
        let usable =
            |(_, coefficient): &(usize, f64)| coefficient.is_finite() && coefficient.abs() > 0.0;
        assert!(
            directions
                .iter()
                .all(|direction| !direction.is_empty() && direction.iter().all(usable)),
            "directions have coefficients that are finite and not zero"
        );
        assert!(width > 0.0 && width.is_finite(), "a positive width, got {width}");
        let count = directions.len();
        let longest = directions.iter().map(Vec::len).max().unwrap_or(0);
        DirectionWalk {
            directions,
            widths: vec![width; count],
            tuned: vec![0.0; count],
            repeats: 1,
            adapt: Adapt::Nothing,
            before: vec![0.0; longest],
        }
    }

    /// A walk along the axes of the given coordinates.
    ///
    /// # Panics
    /// As [`DirectionWalk::new`].
    pub fn along_axes(coordinates: impl IntoIterator<Item = usize>, width: f64) -> Self {
        let axes = coordinates.into_iter().map(|coordinate| vec![(coordinate, 1.0)]);
        DirectionWalk::new(axes.collect(), width)
    }

    /// Visits all directions this many times per step.
    ///
    /// # Panics
    /// If `repeats` is zero.
    #[must_use]
    pub fn repeats(mut self, repeats: usize) -> Self {
        assert!(repeats > 0, "at least one visit per step");
        self.repeats = repeats;
        self
    }

    /// The widths, by direction.
    pub fn widths(&self) -> &[f64] {
        &self.widths
    }

    /// One proposal along a direction; adds it to `step` and returns its acceptance.
    fn propose(
        &mut self,
        index: usize,
        target: &mut dyn LogDensity,
        point: &mut Point,
        step: &mut Step,
        stream: &mut Stream,
    ) -> f64 {
        let direction = &self.directions[index];
        let wide = if stream.uniform() < WIDE_SHARE { WIDE_FACTOR } else { 1.0 };
        let distance = wide * self.widths[index] * stream.normal();
        for (before, (coordinate, coefficient)) in self.before.iter_mut().zip(direction) {
            *before = point.position[*coordinate];
            point.position[*coordinate] += distance * coefficient;
        }
        step.evaluations += 1;
        let acceptance = match value_at(target, &point.position) {
            Ok(value) => {
                let acceptance = (value - point.log_density).min(0.0).exp();
                if stream.uniform() < acceptance {
                    point.log_density = value;
                    step.accepted = true;
                    return acceptance;
                }
                acceptance
            }
            Err(infeasible) => {
                step.infeasible = Some(infeasible);
                0.0
            }
        };
        // Backwards, so that a coordinate named twice returns to where it was at first.
        for (before, (coordinate, _)) in self.before.iter().zip(direction).rev() {
            point.position[*coordinate] = *before;
        }
        acceptance
    }

    fn tune(&mut self, index: usize, acceptance: f64) {
        if self.adapt != Adapt::Nothing {
            self.tuned[index] += 1.0;
            let gain = self.tuned[index].powf(GAIN_POWER);
            self.widths[index] *= (gain * (acceptance - TARGET_ACCEPTANCE)).exp();
        }
    }
}

impl Kernel for DirectionWalk {
    fn name(&self) -> &'static str {
        "direction walk"
    }

    fn needs_gradient(&self) -> bool {
        false
    }

    /// `acceptance` is the mean over the proposals, `step_size` the geometric mean of the
    /// widths.
    fn step(
        &mut self,
        target: &mut dyn LogDensity,
        point: &mut Point,
        stream: &mut Stream,
    ) -> Step {
        let mut step = Step { accepted: false, ..Step::default() };
        let mut sum = 0.0;
        for _ in 0..self.repeats {
            for index in 0..self.directions.len() {
                let acceptance = self.propose(index, target, point, &mut step, stream);
                self.tune(index, acceptance);
                sum += acceptance;
            }
        }
        if step.accepted {
            point.gradient.fill(f64::NAN);
        }
        step.acceptance = sum / f64::from(step.evaluations);
        step.energy = -point.log_density;
        let log_widths: f64 = self.widths.iter().map(|width| width.ln()).sum();
        step.step_size = (log_widths / self.widths.len() as f64).exp();
        step
    }

    /// The step size of a stage is for other kernels: the widths stay.
    fn enter(&mut self, stage: &Stage) {
        self.adapt = stage.adapt;
    }

    fn memory(&self) -> Vec<f64> {
        [self.widths.as_slice(), &self.tuned].concat()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new(self.name(), memory);
        memory.fill(&mut self.widths)?;
        memory.fill(&mut self.tuned)?;
        if !self.widths.iter().all(|width| *width > 0.0 && width.is_finite()) {
            return Err(memory.foreign());
        }
        memory.finish()
    }
}
