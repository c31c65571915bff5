//! Take one step of scaled conjugate gradients at a time.

use super::ScaledConjugateGradient;
use crate::target::{Infeasible, LogDensity, Point};

/// Length of the probe that measures curvature, relative to 1 + ‖position‖: the differences of
/// gradients keep half of their digits, and features of width 1e-4 are still seen as smooth.
const PROBE: f64 = 1e-6;

/// Agreement with the quadratic model below which the damping is raised [Møller 1993, step 8].
const POOR: f64 = 0.25;

/// Agreement above which the damping is lowered.
const GOOD: f64 = 0.75;

/// The damping is divided by this when the model is good.
const RELIEF: f64 = 4.0;

/// A rejected step is shortened at most by this factor: far away the density may be anything.
const STRONGEST: f64 = 10.0;

/// A step into an infeasible region is shortened by this factor.
const RETREAT: f64 = 4.0;

/// What one iteration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Climb {
    /// The position went uphill.
    Moved,
    /// The step was refused; the next one is shorter, or in another direction.
    Refused,
    /// The tolerances are met. Nothing more will happen.
    Converged,
    /// No step however short leads uphill, though the slope says so: a wall of the support, or
    /// a gradient that does not belong to the density. Nothing more will happen.
    Stuck,
}

impl Climb {
    /// Whether the climb has ended.
    pub fn is_over(self) -> bool {
        matches!(self, Climb::Converged | Climb::Stuck)
    }
}

/// A climb by scaled conjugate gradients that can be watched: early stopping looks at every
/// position on the way. [`ScaledConjugateGradient::maximise`] is the plain loop.
#[derive(Clone, Debug)]
pub struct Ascent {
    value_tolerance: f64,
    position_tolerance: f64,
    /// Where the climb is; never worse than where it was.
    point: Point,
    /// Where the curvature is probed and the next step is tried.
    trial: Point,
    direction: Vec<f64>,
    /// Slope along the direction, its squared length and (minus) the curvature along it.
    line: Option<Line>,
    damping: f64,
    /// Moves since the direction was last the gradient.
    since_gradient: usize,
    evaluations: usize,
    ended: Option<Climb>,
}

/// The quadratic model along a direction p.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// μ = pᵀ∇
    slope: f64,
    /// κ = pᵀp
    length_squared: f64,
    /// θ = -pᵀ∇∇p
    curvature: f64,
}

impl Ascent {
    /// Stands at `start`. The iterations of `options` are left to the caller to count.
    ///
    /// # Errors
    /// [`Infeasible`] if the density or its gradient is not usable at `start`.
    ///
    /// # Panics
    /// If `start` has another length than positions of `target`.
    #[track_caller]
    pub fn new(
        target: &mut dyn LogDensity,
        start: Vec<f64>,
        options: &ScaledConjugateGradient,
    ) -> Result<Self, Infeasible> {
        assert_eq!(start.len(), target.dim(), "the start must be a position of the target");
        let point = Point::new(target, start)?;
        Ok(Ascent {
            value_tolerance: options.value_tolerance,
            position_tolerance: options.position_tolerance,
            trial: point.clone(),
            direction: point.gradient.clone(),
            point,
            line: None,
            damping: 0.0,
            since_gradient: 0,
            evaluations: 1,
            ended: None,
        })
    }

    /// The present position.
    pub fn position(&self) -> &[f64] {
        &self.point.position
    }

    /// The log density at the present position.
    pub fn log_density(&self) -> f64 {
        self.point.log_density
    }

    /// Evaluations of the log density with its gradient so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The present position and the log density there.
    pub fn into_position(self) -> (Vec<f64>, f64) {
        (self.point.position, self.point.log_density)
    }

    /// One iteration: at most two evaluations, no allocation.
    pub fn advance(&mut self, target: &mut dyn LogDensity) -> Climb {
        if let Some(end) = self.ended {
            return end;
        }
        let climb = self.iterate(target);
        if climb.is_over() {
            self.ended = Some(climb);
        }
        climb
    }

    fn iterate(&mut self, target: &mut dyn LogDensity) -> Climb {
        let line = match self.line(target) {
            Ok(line) => line,
            Err(end) => return end,
        };
        // Make the model concave [Møller 1993, step 4]; at λ = 0 this mirrors the curvature.
        let mut damped = line.curvature + self.damping * line.length_squared;
        if damped <= 0.0 {
            self.damping = 2.0 * (self.damping - damped / line.length_squared);
            damped = line.curvature + self.damping * line.length_squared;
        }
        if damped <= 0.0 {
            // Exactly linear along the direction: nothing says how far to go, so take the
            // plain gradient step.
            damped = line.slope;
            self.damping = damped / line.length_squared;
        }
        let step = line.slope / damped;
        let usable = self.try_step(target, step);
        let gain = self.trial.log_density - self.point.log_density;
        // Δ, realised over predicted gain.
        let agreement = 2.0 * gain / (step * line.slope);
        let feasible = usable && agreement.is_finite();

        let moved = feasible && gain > 0.0;
        let settled = feasible && self.is_settled(&line, step, gain);
        let at_gradient = self.since_gradient == 0;
        if moved {
            self.accept(&line);
        }
        if settled {
            return Climb::Converged;
        }

        if !feasible {
            self.damping += damped * (RETREAT - 1.0) / line.length_squared;
        } else if agreement < POOR {
            // The parabola through value, slope and new value has its top at step / (2 - Δ).
            let shorter = (2.0 - agreement).min(STRONGEST);
            self.damping += damped * (shorter - 1.0) / line.length_squared;
        } else if agreement > GOOD {
            self.damping /= RELIEF;
        }
        if moved {
            return Climb::Moved;
        }
        // Below the resolution of the position no shorter step is another step.
        let shortest = f64::EPSILON * (1.0 + norm(&self.point.position));
        if step * line.length_squared.sqrt() > shortest {
            return Climb::Refused;
        }
        if at_gradient {
            return Climb::Stuck;
        }
        self.restart();
        Climb::Refused
    }

    /// The quadratic model along the direction, measured if the direction is new; an end of the
    /// climb where the gradient vanishes or is too long to be squared.
    fn line(&mut self, target: &mut dyn LogDensity) -> Result<Line, Climb> {
        if let Some(line) = self.line {
            return Ok(line);
        }
        let mut slope = dot(&self.direction, &self.point.gradient);
        if slope <= 0.0 {
            // Conjugacy is lost; the gradient always leads uphill.
            self.restart();
            slope = dot(&self.direction, &self.point.gradient);
        }
        let length_squared = dot(&self.direction, &self.direction);
        if !slope.is_finite() || !length_squared.is_finite() {
            return Err(Climb::Stuck);
        }
        if !slope.is_normal() {
            return Err(Climb::Converged);
        }
        let probe = PROBE * (1.0 + norm(&self.point.position)) / length_squared.sqrt();
        // With a wall right ahead nothing is known, and a line is assumed.
        let feasible = self.try_step(target, probe);
        let change = slope - dot(&self.direction, &self.trial.gradient);
        let curvature = if feasible && change.is_finite() { change / probe } else { 0.0 };
        let line = Line { slope, length_squared, curvature };
        self.line = Some(line);
        Ok(line)
    }

    /// Evaluates the target at `step` times the direction from here; whether it is feasible.
    fn try_step(&mut self, target: &mut dyn LogDensity, step: f64) -> bool {
        let from = self.point.position.iter().zip(&self.direction);
        for (to, (from, direction)) in self.trial.position.iter_mut().zip(from) {
            *to = from + step * direction;
        }
        self.evaluations += 1;
        self.trial.evaluate(target).is_ok()
    }

    /// Whether the density is concave along the direction and neither the step made nor the step
    /// without damping goes anywhere. Otherwise strong damping would look like convergence, and
    /// so would the neighbourhood of a saddle.
    fn is_settled(&self, line: &Line, step: f64, gain: f64) -> bool {
        if line.curvature <= 0.0 {
            return false;
        }
        let reach = step.max(line.slope / line.curvature);
        let promise = gain.abs().max(line.slope * line.slope / (2.0 * line.curvature));
        let largest = self.direction.iter().fold(0.0_f64, |top, d| top.max(d.abs()));
        reach * largest < self.position_tolerance && promise < self.value_tolerance
    }

    /// Moves to the trial point and turns to the next conjugate direction.
    fn accept(&mut self, line: &Line) {
        let new = &self.trial.gradient;
        let turn = (dot(new, new) - dot(new, &self.point.gradient)) / line.slope;
        std::mem::swap(&mut self.point, &mut self.trial);
        self.line = None;
        self.since_gradient += 1;
        // After n moves a quadratic has no conjugate direction left.
        if self.since_gradient >= self.direction.len() || !turn.is_finite() {
            self.restart();
            return;
        }
        for (direction, gradient) in self.direction.iter_mut().zip(&self.point.gradient) {
            *direction = gradient + turn * *direction;
        }
    }

    /// Turns to the gradient.
    fn restart(&mut self) {
        self.direction.copy_from_slice(&self.point.gradient);
        self.line = None;
        self.since_gradient = 0;
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}
